package replica_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"kith/cmd/kith-nats/replica"
	"kith/db"
	"kith/db/dbtest"
)

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// limit is how long something may take that a test waits for.
const limit = 2 * time.Minute

// serverOptions are those of a NATS server on loopback that stores in a folder.
func serverOptions(folder string) *server.Options {
	return &server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: folder, NoSigs: true, JetStreamMaxStore: 4 << 30}
}

// serve starts a NATS server, and stops it when the test ends.
func serve(t testing.TB, o *server.Options) *server.Server {
	t.Helper()
	s, err := server.NewServer(o)
	must(t, err)
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(limit) {
		t.Fatal("the NATS server does not start")
	}
	return s
}

// connect returns a connection that lasts until the test ends.
func connect(t testing.TB, url string) jetstream.JetStream {
	t.Helper()
	c, err := nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond))
	must(t, err)
	t.Cleanup(c.Close)
	js, err := jetstream.New(c)
	must(t, err)
	return js
}

// newLog returns the JetStream of a new server.
func newLog(t testing.TB) jetstream.JetStream {
	return connect(t, serve(t, serverOptions(t.TempDir())).ClientURL())
}

func logger(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), nil))
}

// options are those of a database whose changes are kept, on a machine of a given memory.
func options(follower bool) *db.Options {
	return &db.Options{Memory: 64 << 20, ChangeBytes: 64 << 20, NoRefresh: true, Follower: follower}
}

// newDatabase returns a database on the disk.
func newDatabase(t testing.TB) *db.DB {
	return dbtest.Open(t, options(false))
}

// start calls f until the returned function is called, which fails t if f has failed.
func start(t testing.TB, f func(ctx context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("it ended by itself: %v", err)
		}
	}
	t.Cleanup(stop)
	return stop
}

// publish publishes g until the returned function is called.
func publish(t testing.TB, g *db.DB, js jetstream.JetStream, o replica.Options) (stop func()) {
	o.Logger = logger(t)
	return start(t, func(ctx context.Context) error { return replica.Publish(ctx, g, js, o) })
}

// opened opens a copy, when there is a snapshot.
func opened(t testing.TB, path string, js jetstream.JetStream) *replica.Follower {
	t.Helper()
	var f *replica.Follower
	wait(t, "a snapshot", func() (err error) {
		f, err = replica.Open(t.Context(), path, js, replica.FollowOptions{DB: options(true), Logger: logger(t)})
		return err
	})
	return f
}

// follow opens a copy and applies changes until the returned function is called, which closes the
// copy.
func follow(t testing.TB, path string, js jetstream.JetStream) (f *replica.Follower, stop func()) {
	t.Helper()
	f = opened(t, path, js)
	end := start(t, f.Run)
	stop = func() { end(); must(t, f.Close()) }
	t.Cleanup(stop)
	return f, stop
}

// wait waits until holds returns nil.
func wait(t testing.TB, what string, holds func() error) {
	t.Helper()
	began := time.Now()
	for {
		err := holds()
		if err == nil {
			return
		}
		if time.Since(began) > limit {
			t.Fatalf("%s: %v", what, err)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func version(t testing.TB, g *db.DB) uint64 {
	t.Helper()
	s, err := g.Stats()
	must(t, err)
	return s.Version
}

// arrives waits until the follower has the version of g, and fails t unless they know the same.
func arrives(t testing.TB, f *replica.Follower, g *db.DB) {
	t.Helper()
	want := version(t, g)
	wait(t, fmt.Sprint("version ", want), func() error {
		if s := f.Status(); s.Version != want {
			return fmt.Errorf("status %+v", s)
		}
		return nil
	})
	expected := everything(t, g)
	must(t, f.Use(t.Context(), func(_ context.Context, h *db.DB) error {
		if got := everything(t, h); got != expected {
			t.Fatalf("the copy differs: %s", difference(got, expected))
		}
		return h.Check(t.Context())
	}))
}

func difference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d is\n%s, want\n%s", i, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	must(t, err)
	return string(b)
}

// When the log is ready, a follower finds it, though perhaps no snapshot yet.
func TestReady(t *testing.T) {
	t.Parallel()
	js := newLog(t)
	found := make(chan error, 1)
	publish(t, newDatabase(t), js, replica.Options{Ready: func() {
		f, err := replica.Open(context.Background(), filepath.Join(t.TempDir(), "copy"), js, replica.FollowOptions{})
		if err == nil {
			err = f.Close()
		}
		found <- err
	}})
	if err := <-found; err != nil && !errors.Is(err, replica.ErrNoSnapshot) {
		t.Error(err)
	}
}

// A follower has what the publisher has, from the first snapshot, while it runs and after a pause.
func TestFollow(t *testing.T) {
	t.Parallel()
	js := newLog(t)
	g, h := newDatabase(t), newHistory()
	h.steps(t, g, 20)
	publish(t, g, js, replica.Options{})
	path := filepath.Join(t.TempDir(), "copy")
	f, stop := follow(t, path, js)
	arrives(t, f, g)
	for range 5 {
		h.steps(t, g, 20)
		arrives(t, f, g)
	}
	stop()
	h.steps(t, g, 30)
	f, _ = follow(t, path, js)
	arrives(t, f, g)
	if s := f.Status(); s.Restored != 0 || s.Behind != 0 || s.Error != "" {
		t.Errorf("%+v", s)
	}
	must(t, f.Use(t.Context(), func(ctx context.Context, h *db.DB) error {
		return h.View(ctx, func(tx *db.Tx) error {
			relations, err := tx.Relations()
			if names := tx.PropertyNames(); len(relations) < 4 || len(names) < 4 {
				t.Errorf("the history has relations %+v, properties %v", relations, names)
			}
			return err
		})
	}))
}

// copied returns a copy of a database at its present version, opened with the same options.
func copied(t testing.TB, g *db.DB) *db.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "copied")
	var b bytes.Buffer
	_, err := g.WriteTo(t.Context(), &b)
	must(t, err, db.Restore(t.Context(), path, options(false), &b))
	return dbtest.Reopen(t, path, options(false))
}
