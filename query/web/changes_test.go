package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
	"kith/query/web"
)

// fed returns a database at version 8 that keeps its changes, which are of all kinds, except that
// of version 1.
func fed(t testing.TB) *db.DB {
	t.Helper()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20, ChangeBytes: 1 << 20})
	if _, err := g.Load(t.Context(), strings.NewReader("1 2\n2 3\n"), db.LoadOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"INSERT NODE 'a<b' LABEL person FEATURES (1, 0.5)", "INSERT EDGES 1 -> 'a<b' WEIGHT 2 AT 1000000000", "CREATE MODEL m USING prb",
		"OBSERVE 3 -> 1 = 1 USING m AND INSERT", "CHOOSE LINK FOR 2 AMONG ALL USING m", "REWARD 1 = 0.5", "DELETE NODE 3",
	} {
		if _, err := query.Run(t.Context(), g, text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	return g
}

// asJSON returns a value as JSON.
func asJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A client gets the changes that the database yields, those that are there and those to come.
func TestChanges(t *testing.T) {
	t.Parallel()
	g := fed(t)
	c, _ := serve(t, web.Handler(g))
	here, stopHere := iter.Pull2(g.Changes(t.Context(), 1))
	there, stopThere := iter.Pull2(c.Changes(t.Context(), 1))
	defer stopHere()
	defer stopThere()
	for i := range 12 {
		if i >= 7 {
			if err := g.Update(t.Context(), func(tx *db.Tx) error { return tx.PutEdge(10, 10+i) }); err != nil {
				t.Fatal(err)
			}
		}
		want, wantErr, _ := here()
		got, err, _ := there()
		if got, want := asJSON(t, got), asJSON(t, want); got != want || err != nil || wantErr != nil {
			t.Fatalf("change %d is\n%s (%v), want\n%s (%v)", i, got, err, want, wantErr)
		}
	}
	if s, err := c.Stats(t.Context()); err != nil || s.Version != 13 || s.Changes.Kept != 12 || s.Changes.Readers != 2 {
		t.Errorf("figures %+v, %v", s, err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err, _ := there(); !errors.Is(err, db.ErrClosed) {
		t.Errorf("after the database was closed: %v", err)
	}
}

// With keys=text all nodes of a change are strings, so a client whose numbers are floating-point
// reads large ones.
func TestChangesKeys(t *testing.T) {
	t.Parallel()
	g := fed(t)
	_, url := serve(t, web.Handler(g))
	for _, text := range []string{
		"CREATE MODEL big", "INSERT EDGES 9007199254740993 -> '7', 9007199254740993 -> 5", "MERGE NODE 9007199254740993 FEATURES (1, 2)",
		"OBSERVE 9007199254740993 -> 2 = 1 AMONG (2, 5) USING big", "CHOOSE LINK FOR 9007199254740993 AMONG (1, 2) USING big",
	} {
		if _, err := query.Run(t.Context(), g, text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	for form, want := range map[string][]string{
		"text": {`"node":"9007199254740993"`, `"src":"9007199254740993"`, `"dst":"'7'"`, `"dst":"5"`, `"source":"9007199254740993"`, `"offered":["2","5"]`, `"target":"1"`},
		"json": {`"node":9007199254740993`, `"src":9007199254740993`, `"dst":"7"`, `"dst":5`, `"source":9007199254740993`, `"offered":[2,5]`, `"target":1`},
	} {
		answer, err := http.Get(fmt.Sprintf("%s/changes?since=8&until=13&keys=%s", url, form))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := io.ReadAll(answer.Body)
		if err = errors.Join(err, answer.Body.Close()); err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: status %d, %v", form, answer.StatusCode, err)
		}
		for _, part := range want {
			if !strings.Contains(string(doc), part) {
				t.Errorf("keys=%s: no %s in\n%s", form, part, doc)
			}
		}
		if other := strings.Contains(string(doc), "9007199254740992"); other {
			t.Errorf("keys=%s: another node in\n%s", form, doc)
		}
	}
	if status := get(t, url+"/changes?since=8&until=13&keys=names"); status != http.StatusBadRequest {
		t.Errorf("keys=names: status %d", status)
	}
}

// A client learns why there is no feed, with the error that the database has.
func TestChangesRefused(t *testing.T) {
	t.Parallel()
	g := fed(t)
	c, url := serve(t, web.Options{Token: token, TokenForReads: true}.Handler(g))
	none, _ := serve(t, web.Handler(dbtest.Friends(t)))
	first := func(c *web.Client, since uint64) (err error) {
		for _, err = range c.Changes(t.Context(), since) {
			break
		}
		return err
	}
	if status := get(t, url+"/changes"); status != http.StatusUnauthorized {
		t.Errorf("without the token: status %d", status)
	}
	if _, err := c.Stats(t.Context()); err == nil || !strings.Contains(err.Error(), "token") {
		t.Errorf("figures without the token: %v", err)
	}
	c.Token = token
	for _, e := range []struct {
		c     *web.Client
		since uint64
		is    error
		text  string
	}{
		{c, 0, db.ErrForgotten, "after version 1 are kept"}, {c, 9, db.ErrMismatch, "the database is at version 8"},
		{none, 0, db.ErrInput, "kith changes --keep"},
	} {
		if err := first(e.c, e.since); !errors.Is(err, e.is) || !strings.Contains(err.Error(), e.text) {
			t.Errorf("since %d: %v, want %v and %q", e.since, err, e.is, e.text)
		}
	}
}

// Empty lines show that the server is there. A server that sends nothing is given up.
func TestChangesHeartbeat(t *testing.T) {
	t.Parallel()
	_, url := serve(t, web.Beating(fed(t), time.Millisecond))
	answer, err := http.Get(url + "/changes?since=8")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b := make([]byte, 5)
	if _, err := io.ReadFull(answer.Body, b); err != nil || string(b) != "\n\n\n\n\n" {
		t.Errorf("%q, %v", b, err)
	}
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/jsonl")
		fmt.Fprintln(w)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	for _, err := range web.ChangesWithin(t.Context(), c, 0, 20*time.Millisecond) {
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "nothing arrives") {
			t.Errorf("a server that is silent: %v", err)
		}
	}
}

// There are at most 16 feeds at a time.
func TestChangesAreBounded(t *testing.T) {
	t.Parallel()
	g := fed(t)
	_, url := serve(t, web.Handler(g))
	for range 16 {
		answer, err := http.Get(url + "/changes")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Fatal(answer.Status)
		}
	}
	if status := get(t, url+"/changes"); status != http.StatusServiceUnavailable {
		t.Errorf("feed 17 has status %d", status)
	}
}

// pipes is a listener of connections that hold nothing that their peer has not read.
type pipes struct {
	net.Listener
	server chan net.Conn
}

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p.server; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

// A feed whose client does not read ends when its time is over, and holds no transaction until
// then.
func TestChangesSlowClient(t *testing.T) {
	t.Parallel()
	g := fed(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := pipes{l, make(chan net.Conn)}
	ended := make(chan struct{})
	server := &http.Server{Handler: web.Options{Remote: true, Timeout: 200 * time.Millisecond}.Handler(g), ConnState: func(_ net.Conn, now http.ConnState) {
		if now == http.StateClosed {
			close(ended)
		}
	}}
	go func() { _ = server.Serve(p) }() // Close ends it
	defer server.Close()
	defer close(p.server)
	slow, peer := net.Pipe()
	defer slow.Close()
	p.server <- peer
	if _, err := io.WriteString(slow, "GET /changes HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReaderSize(slow, 16).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
		t.Fatalf("%s, %v", line, err)
	}
	if s, err := g.Stats(); s.Activity.Transactions != 1 || err != nil { // that of the figures
		t.Errorf("%d transactions, %v", s.Activity.Transactions, err)
	}
	<-ended
}

// A shutdown of the server ends the feeds, so that it does not wait for them.
func TestChangesShutdown(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: web.Handler(fed(t))}
	go func() { _ = server.Serve(l) }() // Shutdown ends it
	c, err := web.Dial(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for change, err := range c.Changes(t.Context(), 7) {
		switch {
		case change.Version == 8:
			go func() { _ = server.Shutdown(t.Context()) }() // the feed tells whether it works
		case !errors.Is(err, db.ErrClosed) || !strings.Contains(err.Error(), "shuts down"):
			t.Errorf("%v", err)
		}
	}
}
