package serve

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// Clients that send no request, or not all of one, give way to others; those that wait for an
// answer do not.
func TestConnections(t *testing.T) {
	t.Parallel()
	const most = 8
	release := make(chan struct{})
	answer := sync.OnceFunc(func() { close(release) })
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			<-release
		}
	}))
	c := newConnections(most)
	s.Config.ConnState = c.note
	s.Start()
	defer s.Close()
	defer answer() // Close waits for the request that runs

	dial := func(text string) net.Conn {
		c, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
		return c
	}
	until := func(what string, holds func() bool) {
		t.Helper()
		for began := time.Now(); !holds(); time.Sleep(time.Millisecond) {
			if time.Since(began) > 10*time.Second {
				t.Fatalf("it does not happen: %s", what)
			}
		}
	}
	count := func(active bool) (n int) {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, since := range c.open {
			if (since == 0) == active {
				n++
			}
		}
		return n
	}
	waits := dial("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
	until("a request runs", func() bool { return count(true) == 1 })
	oldest := dial("GET / HTTP/1.1\r\nHo")
	until("a connection without a request is counted", func() bool { return count(false) == 1 })
	for range 3 * most {
		dial("GET / HTTP/1.1\r\nHost")
	}
	if err := oldest.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if n, err := oldest.Read(make([]byte, 1)); err == nil || n > 0 {
		t.Errorf("the oldest connection is open")
	}
	for range most { // each takes the place of a slow one
		r, err := http.Get(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		http.DefaultClient.CloseIdleConnections()
	}
	if n := count(true) + count(false); n > most {
		t.Errorf("%d connections, want at most %d", n, most)
	}
	answer()
	if n, err := waits.Read(make([]byte, 8)); err != nil || n == 0 {
		t.Errorf("the request that ran has no answer: %v", err)
	}
	for _, c := range []net.Conn{waits, oldest} {
		c.Close()
	}
}

// A connection that gave way takes no other one with it: the server says that a slow one is active
// when it finds it closed.
func TestConnectionThatGaveWay(t *testing.T) {
	t.Parallel()
	c := newConnections(2)
	slow, next, last := &peer{address: "192.0.2.1"}, &peer{address: "192.0.2.1"}, &peer{address: "192.0.2.1"}
	for _, p := range []*peer{slow, next, last} {
		if excess := c.record(p, http.StateNew); (excess == net.Conn(slow)) != (p == last) {
			t.Fatalf("%v gives way", excess)
		}
	}
	for _, state := range []http.ConnState{http.StateActive, http.StateClosed} {
		if excess := c.record(slow, state); excess != nil || len(c.open) != 2 {
			t.Errorf("%v: another one gives way, %d are open", state, len(c.open))
		}
	}
}

// peer is a connection from an address.
type peer struct {
	net.Conn
	address string
}

// RemoteAddr implements net.Conn.
func (p peer) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(p.address), Port: 1} }

// One address does not shut out others, whether or not its connections have requests.
func TestConnectionsOfAddresses(t *testing.T) {
	t.Parallel()
	for _, active := range []bool{false, true} {
		c := newConnections(4)
		var greedy []*peer
		for range 3 {
			p := &peer{address: "192.0.2.1"}
			greedy = append(greedy, p)
			c.record(p, http.StateNew)
			if active {
				c.record(p, http.StateActive)
			}
		}
		other, third := &peer{address: "192.0.2.2"}, &peer{address: "192.0.2.2"}
		if excess := c.record(other, http.StateNew); excess != nil {
			t.Fatalf("a connection within the number is closed")
		}
		c.record(other, http.StateActive)
		excess := c.record(third, http.StateNew)
		if excess == nil || excess.(*peer).address != "192.0.2.1" || !active && excess != net.Conn(greedy[0]) {
			t.Errorf("requests %t: %v gives way, want the earliest of the address with most", active, excess)
		}
	}
}
