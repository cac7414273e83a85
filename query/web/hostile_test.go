package web_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"kith/db/dbtest"
	"kith/query/web"
)

// Requests as no client sends them are refused, answered in order, or cut off. None of them changes
// anything.
func TestHostileRequests(t *testing.T) {
	t.Parallel()
	g := dbtest.Friends(t)
	_, url := serve(t, web.Options{Token: token, Timeout: 5 * time.Second}.Handler(g))
	before := figures(t, g)
	const insert = `{"statement": "INSERT NODE 1"}`
	post := "POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	for name, c := range map[string]struct {
		request string
		status  []int // of the answers, in order; 0: the connection ends
	}{
		"a path above the root":    {"GET /../stats HTTP/1.1\r\nHost: localhost\r\n\r\n", []int{404}},
		"a path that goes back":    {"GET /x/../stats HTTP/1.1\r\nHost: localhost\r\n\r\n", []int{404}},
		"two slashes":              {"GET //stats HTTP/1.1\r\nHost: localhost\r\n\r\n", []int{404}},
		"an encoded path":          {"GET /%2e%2e/stats HTTP/1.1\r\nHost: localhost\r\n\r\n", []int{404}},
		"an encoded slash":         {"GET /%2fstats HTTP/1.1\r\nHost: localhost\r\n\r\n", []int{404}},
		"a zero byte":              {"GET /stats%00 HTTP/1.1\r\nHost: localhost\r\n\r\n", []int{404}},
		"a backslash":              {"GET /\\stats HTTP/1.1\r\nHost: localhost\r\n\r\n", []int{404}},
		"a file":                   {"GET /etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", []int{404}},
		"a foreign absolute path":  {"GET http://evil.example/stats HTTP/1.1\r\nHost: localhost\r\n\r\n", []int{403}},
		"two hosts":                {"GET /stats HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", []int{400, 0}},
		"no host":                  {"GET /stats HTTP/1.1\r\n\r\n", []int{400, 0}},
		"an old version":           {"GET /stats HTTP/1.0\r\n\r\n", []int{403, 0}},
		"a tunnel":                 {"CONNECT localhost:22 HTTP/1.1\r\nHost: localhost:22\r\n\r\n", []int{404}},
		"a trace":                  {"TRACE /stats HTTP/1.1\r\nHost: localhost\r\n\r\n", []int{405}},
		"the methods":              {"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", []int{200}},
		"a preflight":              {"OPTIONS /query HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\nAccess-Control-Request-Method: POST\r\n\r\n", []int{403}},
		"no token":                 {post + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(insert)) + insert, []int{401}},
		"two lengths":              {post + "Content-Length: 3\r\nContent-Length: 30\r\n\r\n" + insert, []int{400, 0}},
		"a length and chunks":      {post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", []int{400}},
		"chunks that are none":     {post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n" + insert, []int{400, 0}},
		"an unknown encoding":      {post + "Transfer-Encoding: gzip\r\n\r\n" + insert, []int{501, 0}},
		"a body that is too large": {post + "Content-Length: 5000000\r\n\r\n" + insert, []int{413, 0}},
		"a body that is endless":   {post + "Content-Length: 9223372036854775807\r\n\r\n" + insert, []int{413, 0}},
		"a body of a GET":          {"GET /stats HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n", []int{400, 0}},
		"many at once":             {strings.Repeat("GET /stats HTTP/1.1\r\nHost: localhost\r\n\r\n", 3) + "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", []int{200, 200, 200, 403}},
		"headers that are large":   {"GET /stats HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 2<<20) + "\r\n\r\n", []int{431, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			answers := sendRaw(t, url, c.request)
			for _, want := range c.status {
				r, err := http.ReadResponse(answers, nil)
				if timeout := net.Error(nil); err != nil && want == 0 && !(errors.As(err, &timeout) && timeout.Timeout()) {
					continue
				}
				if err != nil || r.StatusCode != want {
					t.Fatalf("%v, %v, want status %d", r, err, want)
				}
				if _, err := io.Copy(io.Discard, r.Body); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	if after := figures(t, g); after != before {
		t.Errorf("the figures are %s, were %s", after, before)
	}
}

// sendRaw writes bytes to a server and returns what it answers within ten seconds.
func sendRaw(t testing.TB, url, text string) *bufio.Reader {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.WriteString(c, text) }() // fails if the server has had enough
	return bufio.NewReader(c)
}

// Beyond the statements that run and those that wait, a statement is refused at once, and the
// figures are answered.
func TestTooManyStatements(t *testing.T) {
	t.Parallel()
	_, url := serve(t, web.Options{Timeout: time.Hour, MaxRunning: 1, MaxWaiting: 2}.Handler(communities(t)))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan bool)
	const heavy = 8
	refused := make(chan http.Header, heavy)
	for range heavy {
		go func() {
			defer func() { ended <- true }()
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/query", strings.NewReader(`{"statement": "`+endless+`"}`))
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("Content-Type", "application/json")
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				return // it ran or waited until it was cancelled
			}
			answer.Body.Close()
			if answer.StatusCode != http.StatusServiceUnavailable {
				t.Errorf("%s", answer.Status)
			}
			refused <- answer.Header
		}()
	}
	for range heavy - 3 {
		if h := <-refused; h.Get("Retry-After") == "" {
			t.Errorf("no Retry-After: %v", h)
		}
	}
	for _, path := range []string{"/stats", "/metrics", "/openapi.json"} {
		if status := get(t, url+path); status != http.StatusOK {
			t.Errorf("%s: status %d", path, status)
		}
	}
	cancel()
	for range heavy {
		<-ended
	}
}

// half begins to send a request whose body does not arrive. It returns once the handler reads the
// body, and a function that returns the status of the answer.
func half(t *testing.T, url, authorization string) (status func() int) {
	t.Helper()
	headers := "POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n"
	if authorization != "" {
		headers += "Authorization: " + authorization + "\r\n"
	}
	answers := sendRaw(t, url, headers+"\r\n")
	if r, err := http.ReadResponse(answers, nil); err != nil || r.StatusCode != http.StatusContinue {
		t.Fatalf("%v, %v", r, err)
	}
	return func() int {
		r, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		return r.StatusCode
	}
}

// Clients that send half of their bodies keep nobody from an answer, with the token or without it:
// beyond a number of bodies the one that has been arriving for longest gives way.
func TestHalfSentBodies(t *testing.T) {
	t.Parallel()
	const most = 4
	h, load := web.Observed(web.Options{Timeout: time.Hour, BodyTimeout: time.Hour, MaxRequests: most, Token: token}, communities(t))
	_, url := serve(t, h)
	trusted := half(t, url, "Bearer "+token)
	var halves []func() int
	for range 5 * most {
		halves = append(halves, half(t, url, ""))
	}
	for i, status := range halves[:len(halves)-most] {
		if got := status(); got != http.StatusServiceUnavailable {
			t.Errorf("body %d: status %d", i, got)
		}
	}
	if l := load(); l.Requests != most+1 {
		t.Errorf("%d bodies arrive, want %d without the token and one with it", l.Requests, most)
	}
	for _, authorization := range []string{"", "Bearer " + token} {
		if status, _, answer := send(t, url, authorization, `{"statement": "CHECK"}`); status != http.StatusOK {
			t.Errorf("%q: status %d: %s", authorization, status, answer)
		}
	}
	for range most { // only those with the token take the place of the one with it
		_ = half(t, url, "Bearer "+token)
	}
	if got := trusted(); got != http.StatusServiceUnavailable {
		t.Errorf("status %d", got)
	}
}

// Clients without the token keep those that have it from nothing, nor do large statements keep
// small ones.
func TestLanes(t *testing.T) {
	t.Parallel()
	h, load := web.Observed(web.Options{Timeout: time.Hour, MaxRunning: 1, MaxWaiting: 2, Token: token}, communities(t))
	c, url := serve(t, h)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	const heavy = 3
	for range heavy {
		go func() {
			_, err := c.Run(ctx, endless)
			ended <- err
		}()
	}
	await(load, func(l web.Load) bool { return l.Running == 1 && l.Waiting == 2 })
	for _, authorization := range []string{"", "Bearer " + token} {
		for range 3 {
			if status, _, answer := send(t, url, authorization, `{"statement": "NEIGHBORS OF 1"}`); status != http.StatusOK {
				t.Errorf("%q: status %d: %s", authorization, status, answer)
			}
		}
	}
	const all = `{"statement": "PREDICT LINKS FOR ALL AMONG NEIGHBORS(2) USING adamic_adar TOP 1"}`
	if status, answer := post(t, url, all); status != http.StatusServiceUnavailable || !strings.Contains(answer, `"kind":"busy"`) {
		t.Errorf("another large one: status %d: %s", status, answer)
	}
	if status, _, answer := send(t, url, "Bearer "+token, all); status != http.StatusOK {
		t.Errorf("a large one with the token: status %d: %s", status, answer)
	}
	cancel()
	for range heavy {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

// One client, by its address, does not keep others from a feed, nor from watching the figures.
func TestFeedsOfClients(t *testing.T) {
	t.Parallel()
	h := web.Handler(fed(t))
	ctx, cancel := context.WithCancel(t.Context())
	for _, path := range []string{"/changes", "/events"} {
		ended := make(chan string)
		follow := func(address string) (begun chan bool) {
			begun = make(chan bool, 1)
			go func() {
				r := httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
				r.RemoteAddr, r.Host = address+":99", "localhost"
				w := &started{ResponseRecorder: httptest.NewRecorder(), begun: begun}
				h.ServeHTTP(w, r)
				ended <- w.Body.String()
			}()
			return begun
		}
		const most = 16
		for range most {
			<-follow("127.0.0.1")
		}
		refused := follow("127.0.0.1")
		if text := <-ended; !strings.Contains(text, `"kind":"busy"`) {
			t.Errorf("%s: one more of the same client ends with %s", path, text)
		}
		<-refused
		<-follow("127.0.0.2")
		if text := <-ended; path == "/changes" && !strings.Contains(text, `"kind":"busy"`) {
			t.Errorf("%s: the feed that gives way ends with %s", path, text)
		}
		cancel()
		for range most {
			<-ended
		}
		ctx, cancel = context.WithCancel(t.Context())
	}
	cancel()
}

// started is a recorder that tells when something is written.
type started struct {
	*httptest.ResponseRecorder
	begun chan bool
}

// Write implements http.ResponseWriter.
func (s *started) Write(b []byte) (int, error) {
	select {
	case s.begun <- true:
	default:
	}
	return s.ResponseRecorder.Write(b)
}
