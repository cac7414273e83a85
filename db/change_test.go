package db_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/db"
	"kith/db/dbtest"
)

// A follower is at every version what the database that it follows was, whatever happened there,
// also if it is reopened or compacted between, and it can be followed itself.
func TestFollow(t *testing.T) {
	t.Parallel()
	for _, direction := range []db.Direction{db.Undirected, db.Directed} {
		for _, paged := range []bool{false, true} {
			t.Run(fmt.Sprint(direction, paged), func(t *testing.T) {
				t.Parallel()
				if !*long && paged != (direction == db.Directed) {
					t.Skip("each direction and each way to read once without -long")
				}
				testFollow(t, direction, paged, size(40, 80, 320)**times)
			})
		}
	}
}

func testFollow(t *testing.T, direction db.Direction, paged bool, steps int) {
	ctx := context.Background()
	now := newClock()
	o := feedOptions(now)
	o.Direction = direction
	g := dbtest.Reopen(t, place(t), o)
	must(t, g.Model("m").Create(ctx, db.ModelSpec{Policy: "prb"}), g.Model("belief").Create(ctx, db.ModelSpec{}))
	follow := followOptions(paged)
	follow.Now = func() time.Time { return now.now }
	path := follower(t, g)
	h := open(t, path, follow)
	seen := version(t, g)
	for i := range steps {
		if err := historyStep(g, now, i); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		made := changes(t, g, seen)
		if err := h.Apply(ctx, made...); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		if len(made) > 0 {
			seen = made[len(made)-1].Version
			must(t, h.Apply(ctx, made...)) // it has them
			alike(t, fmt.Sprint("step ", i), g, h)
		}
		switch i % 40 {
		case 13:
			must(t, h.Check(ctx), h.Close())
			h = open(t, path, follow)
		case 33:
			must(t, h.Compact(ctx))
		}
	}
	for _, in := range []*db.DB{g, h} {
		s, err := in.Stats()
		must(t, err)
		if last := changes(t, g, seen-1)[0]; s.Follower != (in == h) || !s.Committed.Equal(last.Time) || s.Version != seen {
			t.Errorf("figures of the follower or of what it follows: %+v", s)
		}
	}
	if seen < uint64(steps)/3 {
		t.Errorf("%d steps made %d versions", steps, seen)
	}
	first := uint64(2)
	if got, want := asJSON(t, changes(t, h, first)), asJSON(t, changes(t, g, first)); got != want {
		t.Error("the follower yields other changes than the database that it follows")
	}
	must(t, h.Check(ctx), h.Close())
}

// A follower resumes from every version of a backup, with one call for all changes.
func TestFollowFromEveryVersion(t *testing.T) {
	t.Parallel()
	notShort(t)
	ctx := context.Background()
	now := newClock()
	g := dbtest.Reopen(t, place(t), feedOptions(now))
	var paths []string
	for i := range size(20, 27, 80) {
		must(t, historyStep(g, now, i))
		if i%3 == 0 {
			paths = append(paths, follower(t, g))
		}
	}
	follow := followOptions(false)
	follow.Now = func() time.Time { return now.now }
	for _, path := range paths {
		h := open(t, path, follow)
		must(t, h.Apply(ctx, changes(t, g, version(t, h))...))
		alike(t, path, g, h)
		must(t, h.Check(ctx), h.Close())
	}
}

// A change tells the contents before and after it, as a transaction and a backup do.
func TestChangeContents(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	now := newClock()
	g := dbtest.Reopen(t, place(t), feedOptions(now))
	var at []string
	for i := range 40 {
		must(t, historyStep(g, now, i))
		view(t, g, func(tx *db.Tx) error {
			if c := tx.Stats().Contents; len(at) == 0 || c != at[len(at)-1] {
				at = append(at, c)
			}
			return nil
		})
	}
	all := changes(t, g, 0)
	for i, c := range all {
		if !slices.Contains(at, c.After) {
			t.Errorf("version %d has contents %q", c.Version, c.After)
		}
		if i > 0 && c.Before != all[i-1].After {
			t.Errorf("version %d follows %q, want %q", c.Version, c.Before, all[i-1].After)
		}
	}
	b, err := g.WriteTo(ctx, io.Discard)
	must(t, err)
	if want := at[len(at)-1]; b.Contents != want || !strings.HasPrefix(want, all[0].Database+" ") {
		t.Errorf("the backup has contents %q, want %q", b.Contents, want)
	}
}

// Changes waits for the next commit, and ends with its context and with the database.
func TestChangesWait(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	g := open(t, place(t), feedOptions(newClock()))
	got, ended := make(chan uint64), make(chan error)
	read := func(ctx context.Context) {
		for c, err := range g.Changes(ctx, 0) {
			if err != nil {
				ended <- err
				return
			}
			got <- c.Version
		}
	}
	readers := func() int {
		s, err := g.Stats()
		must(t, err)
		return s.Changes.Readers
	}
	go read(ctx)
	for i := range uint64(5) {
		update(t, g, func(tx *db.Tx) error { return tx.PutEdge(i, i+1) })
		if v := <-got; v != i+1 {
			t.Fatalf("version %d, want %d", v, i+1)
		}
	}
	if n := readers(); n != 1 {
		t.Errorf("%d readers of changes, want 1", n)
	}
	cancel()
	wantError(t, "a context that ends", <-ended, context.Canceled)
	for readers() > 0 {
		runtime.Gosched() // the reader returns
	}
	go read(context.Background())
	for range 5 {
		<-got
	}
	must(t, g.Close())
	wantError(t, "a database that is closed", <-ended, db.ErrClosed)
}

// Changes says what it cannot yield, and Apply what it cannot repeat; neither changes anything.
func TestChangesRefuse(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	now := newClock()
	g := dbtest.Reopen(t, place(t), feedOptions(now))
	other := dbtest.Reopen(t, place(t), feedOptions(now))
	plain := dbtest.Open(t, &db.Options{InMemory: true})
	for i := range 6 {
		now.now = now.now.Add(time.Second)
		for _, in := range []*db.DB{g, other, plain} {
			update(t, in, func(tx *db.Tx) error { return tx.PutEdge(i, i+1) })
		}
	}
	path := follower(t, g)
	h := open(t, path, followOptions(false))
	fork := open(t, follower(t, g), feedOptions(now))
	defer func() { must(t, h.Close(), fork.Close()) }()
	before := everything(t, h)
	for _, in := range []*db.DB{g, other, fork} {
		now.now = now.now.Add(time.Second)
		update(t, in, func(tx *db.Tx) error { return errors.Join(tx.PutEdge(1, 9), tx.PutEdge(8, 2)) })
		update(t, in, func(tx *db.Tx) error { return tx.PutEdge(2, 9) })
	}
	first := func(g *db.DB, since uint64) error {
		for _, err := range g.Changes(ctx, since) {
			return err
		}
		return nil
	}
	wantError(t, "changes of a database that keeps none", first(plain, 0), db.ErrInput)
	wantError(t, "changes after a version to come", first(g, 99), db.ErrMismatch)
	wantError(t, "a change made by hand", h.Apply(ctx, db.Change{Version: 7}), db.ErrInput)
	wantError(t, "a change for a database that follows none", g.Apply(ctx, changes(t, fork, 6)...), db.ErrInput)
	wantError(t, "a gap", h.Apply(ctx, changes(t, g, 7)...), db.ErrGap)
	wantError(t, "another database", h.Apply(ctx, changes(t, other, 6)...), db.ErrMismatch)
	if got := everything(t, h); got != before {
		t.Error("a change that was refused left something")
	}
	must(t, h.Apply(ctx, changes(t, g, 6)[0]))
	wantError(t, "a copy that went another way", h.Apply(ctx, changes(t, fork, 7)...), db.ErrMismatch)
	must(t, h.Apply(ctx, changes(t, fork, 5)[:1]...)) // a version that it has
	wantError(t, "its own version in a copy that went another way", h.Apply(ctx, changes(t, fork, 6)[0]), db.ErrMismatch)
	must(t, h.Apply(ctx, changes(t, g, 7)...))
	alike(t, "after refusals", g, h)
	_, err := h.Load(ctx, strings.NewReader("1 2\n"), db.LoadOptions{})
	for what, err := range map[string]error{
		"update": h.Update(ctx, func(*db.Tx) error { return nil }), "model": h.Model("m").Create(ctx, db.ModelSpec{}), "load": err,
		"deploy": h.Model("m").Deploy(ctx, 0),
	} {
		wantError(t, what+" of a follower", err, db.ErrReadOnly)
	}
	_, err = db.Open(place(t), dbtest.Small(followOptions(false)))
	wantError(t, "a new follower", err, db.ErrNotFound)
}

// Changes that take more than ChangeBytes are forgotten, and so are those before a load. The error
// names the version after which changes are kept.
func TestChangesAreForgotten(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	now := newClock()
	o := feedOptions(now)
	o.ChangeBytes, o.ObservationBytes = 10<<10, 4<<10
	path := place(t)
	g := open(t, path, o)
	kept := func(since uint64) (int, error) { return keptSince(g, since) }
	for i := range 100 {
		must(t, historyStep(g, now, i))
	}
	last := version(t, g)
	_, err := kept(0)
	wantError(t, "the first changes", err, db.ErrForgotten)
	var oldest uint64
	if _, scan := fmt.Sscanf(err.Error()[strings.Index(err.Error(), "those after version 0"):],
		"those after version 0 are asked for, those after version %d are kept", &oldest); scan != nil {
		t.Fatal(err, scan)
	}
	_, err = kept(oldest - 1)
	wantError(t, "the change before", err, db.ErrForgotten)
	if n, err := kept(oldest); err != nil || n != int(last-oldest) || n < 3 {
		t.Errorf("%d changes after version %d of %d: %v", n, oldest, last, err)
	}
	must(t, g.Check(ctx), g.Close())
	g = open(t, path, o)
	if n, err := kept(oldest); err != nil || n != int(last-oldest) {
		t.Errorf("after a reopen: %d changes after version %d of %d: %v", n, oldest, last, err)
	}
	_, err = g.Load(ctx, strings.NewReader("1 2\n"), db.LoadOptions{})
	must(t, err)
	_, err = kept(last)
	wantError(t, "a load", err, db.ErrForgotten)
	update(t, g, func(tx *db.Tx) error { return tx.PutEdge(0, 1, db.Weight(7)) })
	if n, err := kept(last + 1); err != nil || n != 1 {
		t.Errorf("after a load: %d changes, %v", n, err)
	}
	must(t, g.Check(ctx), g.Close())
}

// keptSince returns the number of changes after a version.
func keptSince(g *db.DB, since uint64) (n int, err error) {
	err = g.View(context.Background(), func(tx *db.Tx) error {
		for _, err := range tx.Changes(since) {
			if err != nil {
				return err
			}
			n++
		}
		return nil
	})
	return n, err
}

// The database stores ChangeBytes, for all who open it and for its backups, until another value or
// none is set.
func TestChangeBytesIsStored(t *testing.T) {
	t.Parallel()
	notShort(t)
	ctx := context.Background()
	path := place(t)
	for i, c := range []struct {
		set  int64 // Options.ChangeBytes
		kept int   // number of changes after the commit that follows
	}{{0, -1}, {1 << 20, 1}, {0, 2}, {1 << 20, 3}, {2 << 20, 4}, {1, 0}, {1 << 20, 1}, {-1, -1}, {0, -1}, {-7, -1}, {1 << 20, 1}} {
		g := open(t, path, &db.Options{Memory: 64 << 20, ChangeBytes: c.set})
		update(t, g, func(tx *db.Tx) error { return tx.PutEdge(i, i+1) })
		s, err := g.Stats()
		must(t, err)
		if k := s.Changes; (k.Limit > 0) != (c.kept >= 0) || (k.Bytes > 0) != (c.kept > 0) || int(k.Kept) != max(c.kept, 0) || k.After+k.Kept != s.Version {
			t.Errorf("opening %d: version %d, %+v", i, s.Version, k)
		}
		check := func(what string, g *db.DB) {
			n, err := keptSince(g, version(t, g)-uint64(max(c.kept, 0)))
			if c.kept < 0 {
				wantError(t, what, err, db.ErrInput)
			} else if _, before := keptSince(g, version(t, g)-uint64(c.kept)-1); n != c.kept || err != nil || !errors.Is(before, db.ErrForgotten) {
				t.Errorf("opening %d, %s: %d changes, %v, before them %v", i, what, n, err, before)
			}
			must(t, g.Check(ctx))
		}
		check("the database", g)
		copied := open(t, follower(t, g), nil)
		check("a copy", copied)
		must(t, copied.Close(), g.Close())
		g = open(t, path, &db.Options{Memory: 64 << 20, ReadOnly: true})
		check("a reader", g)
		must(t, g.Close())
		_, err = db.Open(path, &db.Options{Memory: 64 << 20, ReadOnly: true, ChangeBytes: 5})
		wantError(t, "a reader that sets it", err, db.ErrMismatch)
	}
}

// Restore sets ChangeBytes in the copy only.
func TestRestoreSetsChangeBytes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Reopen(t, place(t), feedOptions(newClock()))
	update(t, g, func(tx *db.Tx) error { return tx.PutEdge(1, 2) })
	var b bytes.Buffer
	_, err := g.WriteTo(ctx, &b)
	path := place(t)
	must(t, err, db.Restore(ctx, path, &db.Options{Memory: 64 << 20, ChangeBytes: -1}, &b))
	h := open(t, path, nil)
	_, err = keptSince(h, 1)
	wantError(t, "a copy without changes", err, db.ErrInput)
	if n, err := keptSince(g, 0); n != 1 || err != nil {
		t.Errorf("%d changes, %v", n, err)
	}
	must(t, h.Check(ctx), h.Close())
}

// A change says what a commit did, by keys.
func TestChangeSays(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	now := newClock()
	g := dbtest.Reopen(t, place(t), feedOptions(now))
	update(t, g, func(tx *db.Tx) error {
		return errors.Join(tx.PutEdge(db.Str("ann"), db.Int(7), db.Weight(2), db.At(time.Unix(1e9, 0))),
			tx.PutNode(db.Node{Key: db.Str("bob"), Label: "person", Features: []float32{1, 2}}))
	})
	must(t, g.Model("m").Create(ctx, db.ModelSpec{}))
	update(t, g, func(tx *db.Tx) error {
		return errors.Join(tx.Observe(ctx, db.ObserveOptions{Source: "ann", Target: "bob", Reward: 1, Model: "m"}), tx.DeleteNode(7))
	})
	must(t, g.Model("m").Drop(ctx))
	var got []string
	for _, c := range changes(t, g, 0) {
		c.Database = ""
		got = append(got, asJSON(t, c))
	}
	want := []string{
		`{"database":"","version":1,"time":"2023-11-14T22:13:20Z","nodes":[{"node":"ann","label":""},{"node":7,"label":""},{"node":"bob","label":"person"}],` +
			`"edges":[{"src":"ann","dst":7,"weight":2,"time":"2001-09-09T01:46:40Z"}],"features":[{"node":"bob","features":[1,2]}]}`,
		`{"database":"","version":2,"time":"2023-11-14T22:13:20Z","model":{"model":"m","model_version":1,"made":[1],"answering":""}}`,
		`{"database":"","version":3,"time":"2023-11-14T22:13:20Z","nodes":[{"node":7,"label":"","deleted":true}],` +
			`"edges":[{"src":"ann","dst":7,"weight":0,"deleted":true}],` +
			`"observations":[{"graph_version":3,"model":"m","model_version":1,"source":"ann","target":"bob","reward":1,"learned":true}]}`,
		`{"database":"","version":4,"time":"2023-11-14T22:13:20Z","model":{"model":"m","dropped":true,"answering":""}}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s, want\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
