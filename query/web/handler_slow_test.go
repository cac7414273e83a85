package web_test

import (
	"bufio"
	"context"
	"errors"
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

// A statement ends when its client disconnects, even if the end of the request arrived late.
func TestHandlerCancelChunked(t *testing.T) {
	t.Parallel()
	h, load := web.Observed(web.Options{Timeout: time.Hour, MaxRunning: 1}, communities(t))
	_, url := serve(t, h)
	ctx, cancel := context.WithCancel(t.Context())
	body, end := io.Pipe()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/query", body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	failed := make(chan error)
	go func() {
		_, err := http.DefaultClient.Do(r)
		failed <- err
	}()
	if _, err := io.WriteString(end, `{"statement": "`+endless+`"}`); err != nil {
		t.Fatal(err)
	}
	await(load, func(l web.Load) bool { return l.Requests == 1 })
	end.Close()
	await(load, func(l web.Load) bool { return l.Running == 1 })
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("who has gone gets %v", err)
	}
	await(load, func(l web.Load) bool { return l == web.Load{} })
}

// The handler does not wait longer than the timeout of bodies for the end of a request.
func TestHandlerSlowRequest(t *testing.T) {
	t.Parallel()
	_, url := serve(t, web.Options{BodyTimeout: 20 * time.Millisecond}.Handler(dbtest.Friends(t)))
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	half := "POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
	if _, err := io.WriteString(c, half); err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if r.StatusCode != http.StatusRequestTimeout || !strings.Contains(string(b), "the body arrives too slowly: it must arrive within 20ms") {
		t.Errorf("%s: %s, %v", r.Status, b, err)
	}
}

// A picture that takes too long is refused with the reason.
func TestLookTimeout(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodGet, "/neighborhood?node='ann'", nil)
	r.RemoteAddr, r.Host = "127.0.0.1:99", "localhost"
	w := httptest.NewRecorder()
	web.Options{Timeout: 1}.Handler(dbtest.Friends(t)).ServeHTTP(w, r)
	if w.Code != http.StatusGatewayTimeout || !strings.Contains(w.Body.String(), "took longer than 1ns") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}

// unread is the writer of an answer that its client does not read for a time.
type unread struct {
	http.ResponseWriter
	begun, read chan struct{}
}

// Write implements http.ResponseWriter.
func (u *unread) Write(b []byte) (int, error) {
	close(u.begun)
	<-u.read
	return u.ResponseWriter.Write(b)
}

// Pictures that are not read count, as other answers do.
func TestUnreadPictures(t *testing.T) {
	t.Parallel()
	h := web.Options{MaxBytes: 5000}.Handler(communities(t))
	ask := func(w http.ResponseWriter) {
		r := httptest.NewRequest(http.MethodGet, "/neighborhood?node=1", nil)
		r.RemoteAddr, r.Host = "127.0.0.1:99", "localhost"
		h.ServeHTTP(w, r)
	}
	first := &unread{httptest.NewRecorder(), make(chan struct{}), make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		ask(first)
		close(ended)
	}()
	<-first.begun
	second, third := httptest.NewRecorder(), httptest.NewRecorder()
	ask(second)
	close(first.read)
	<-ended
	ask(third)
	if second.Code != http.StatusServiceUnavailable || third.Code != http.StatusOK {
		t.Errorf("status %d beside an answer that is not read, want 503; %d afterwards, want 200", second.Code, third.Code)
	}
}
