package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/query/web"
)

// subscribe requests the figures and returns the answer and a function that reads the next event.
func subscribe(t *testing.T, ctx context.Context, url string) (*http.Response, func() (db.Stats, error)) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	in := bufio.NewReader(answer.Body)
	return answer, func() (s db.Stats, err error) {
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return s, err
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				return s, json.Unmarshal([]byte(data), &s)
			}
		}
	}
}

// Events bring the figures as they change, to a bounded number of clients.
func TestEvents(t *testing.T) {
	t.Parallel()
	g := dbtest.Friends(t)
	_, url := serve(t, web.Handler(g))
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	answer, next := subscribe(t, ctx, url)
	if kind := answer.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Errorf("Content-Type %s", kind)
	}
	if s, err := next(); err != nil || s.Nodes != 7 {
		t.Errorf("%d nodes, error %v", s.Nodes, err)
	}
	if err := g.Update(t.Context(), func(tx *db.Tx) error { return tx.PutEdge("ann", "new") }); err != nil {
		t.Fatal(err)
	}
	if s, err := next(); err != nil || s.Nodes != 8 {
		t.Errorf("%d nodes after a commit, error %v", s.Nodes, err)
	}
	for range 15 {
		subscribe(t, ctx, url)
	}
	if answer, _ := subscribe(t, ctx, url); answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("client 17 has %s", answer.Status)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	for err := error(nil); err == nil; { // the answer ends
		_, err = next()
	}
}

// A shutdown of the server ends the events, so that it does not wait for them.
func TestEventsShutdown(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: web.Handler(dbtest.Friends(t))}
	go func() { _ = server.Serve(l) }() // Shutdown ends it
	_, next := subscribe(t, t.Context(), "http://"+l.Addr().String())
	if _, err := next(); err != nil {
		t.Fatal(err)
	}
	if err := server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	for err := error(nil); err == nil; {
		_, err = next()
	}
}
