package serve

import (
	"net"
	"net/http"
	"sync"
)

// connections bounds the number of connections of a server. Beyond it, a new connection replaces
// another: among the connections of the address with most idle ones, the connection that has been
// without a request for longest. So clients that send nothing, or send their headers slowly, do not
// shut out others. If all have a request, a connection of the address with most connections gives
// way.
type connections struct {
	most int // maximum number of connections

	mu sync.Mutex // protects following fields
	// open holds the moment since which a connection has had no request; 0 means that it has one.
	open    map[net.Conn]uint64
	moments uint64 // number of moments so far
}

func newConnections(most int) *connections {
	return &connections{most: most, open: map[net.Conn]uint64{}}
}

// note is the ConnState of an http.Server, which calls it with StateNew before it reads from a
// connection.
func (s *connections) note(c net.Conn, state http.ConnState) {
	if excess := s.record(c, state); excess != nil {
		excess.Close() // the server notices
	}
}

// record records the state of a connection. It returns a connection to close, or nil.
func (s *connections) record(c net.Conn, state http.ConnState) net.Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, open := s.open[c]; !open && state != http.StateNew {
		return nil // it gave way, and the server notices only now
	}
	switch state {
	case http.StateClosed, http.StateHijacked:
		delete(s.open, c)
	case http.StateActive:
		s.open[c] = 0
	case http.StateNew, http.StateIdle:
		s.moments++
		s.open[c] = s.moments
	}
	if len(s.open) <= s.most {
		return nil
	}
	excess := s.excess(c)
	delete(s.open, excess)
	return excess
}

// excess returns the connection that gives way, which is c if no address has more connections than
// the address of c and all others have a request. The caller holds mu.
func (s *connections) excess(c net.Conn) net.Conn {
	all, idle := map[string]int{}, map[string]int{}
	for other, since := range s.open {
		all[hostOf(other)]++
		if since != 0 {
			idle[hostOf(other)]++
		}
	}
	worst := c
	for other, since := range s.open {
		host, than := hostOf(other), hostOf(worst)
		switch more := idle[host] - idle[than]; {
		case since == 0 || other == c:
		case worst == c || more > 0 || more == 0 && since < s.open[worst]:
			worst = other
		}
	}
	if worst != c {
		return worst
	}
	for other := range s.open {
		if all[hostOf(other)] > all[hostOf(worst)] {
			worst = other
		}
	}
	return worst
}

// hostOf returns the address of the other end of a connection without its port.
func hostOf(c net.Conn) string {
	host, _, err := net.SplitHostPort(c.RemoteAddr().String())
	if err != nil {
		return "" // a socket that is a file
	}
	return host
}
