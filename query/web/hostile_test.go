package web_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"kith/db/dbtest"
	"kith/query/web"
)

// Requests as no client sends them are refused, answered in order, or cut off. None of them changes anything.
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

// Beyond the statements that run and those that wait, a statement is refused at once, and the figures are answered.
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

// A request with a body beyond those that arrive is refused at once, until one of them has ended.
func TestTooManyRequests(t *testing.T) {
	t.Parallel()
	h, load := web.Observed(web.Options{Timeout: time.Hour, MaxRequests: 2}, communities(t))
	_, url := serve(t, h)
	begin := func() (end func()) {
		c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		const headers = "POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n"
		if _, err := io.WriteString(c, headers); err != nil {
			t.Fatal(err)
		}
		r, err := http.ReadResponse(bufio.NewReader(c), nil) // once the body is being read
		if err != nil || r.StatusCode != http.StatusContinue {
			t.Fatalf("%v, %v", r, err)
		}
		return func() { c.Close() }
	}
	end := begin()
	begin()
	if status, answer := post(t, url, `{"statement": "CHECK"}`); status != http.StatusServiceUnavailable || !strings.Contains(answer, `"kind":"busy"`) {
		t.Errorf("status %d: %s", status, answer)
	}
	if status := get(t, url+"/stats"); status != http.StatusOK {
		t.Errorf("the figures: status %d", status)
	}
	end()
	await(load, func(l web.Load) bool { return l.Requests == 1 })
	if status, answer := post(t, url, `{"statement": "CHECK"}`); status != http.StatusOK {
		t.Errorf("status %d: %s", status, answer)
	}
}
