package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/query/web"
)

// kith changes --follow writes changes as they are committed. It ends without an error when it is
// interrupted, and with one that says how far it came when the server ends.
func TestChangesFollow(t *testing.T) {
	t.Parallel()
	for _, interrupted := range []bool{true, false} {
		g := dbtest.Open(t, &db.Options{InMemory: true, ChangeBytes: 1 << 20})
		s := httptest.NewServer(web.Handler(g))
		t.Cleanup(s.Close)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		in, out := io.Pipe()
		ended := make(chan error)
		go func() { ended <- (&changes{since: -1, follow: true, attach: s.URL, stdout: out}).ask(ctx) }()
		lines := bufio.NewReader(in)
		for i := range 5 {
			if err := g.Update(ctx, func(tx *db.Tx) error { return tx.PutEdge(i, i+1) }); err != nil {
				t.Fatal(err)
			}
			if line, err := lines.ReadString('\n'); err != nil || !strings.HasPrefix(line, `{"database":`) {
				t.Fatalf("%s, %v", line, err)
			}
		}
		if interrupted {
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("interrupted: %v", err)
			}
			continue
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; !errors.Is(err, db.ErrClosed) || !strings.HasPrefix(err.Error(), "after version 5: ") {
			t.Errorf("the server ends: %v", err)
		}
	}
}

// A reader that closes the output is no error to tell of.
func TestChangesBrokenPipe(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, ChangeBytes: 1 << 20})
	if err := g.Update(t.Context(), func(tx *db.Tx) error { return tx.PutEdge(1, 2) }); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(web.Handler(g))
	defer s.Close()
	in, out := io.Pipe()
	in.CloseWithError(syscall.EPIPE)
	for _, follow := range []bool{false, true} {
		if err := (&changes{follow: follow, attach: s.URL, stdout: out}).ask(t.Context()); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("--follow=%v: %v", follow, err)
		}
	}
}
