package db

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kith/model"
)

// writers inserts m edges from each of n goroutines, each in an Update of its own.
func writers(t testing.TB, g *DB, n, m int) {
	t.Helper()
	var all sync.WaitGroup
	for w := range n {
		all.Go(func() {
			for i := range m {
				err := g.Update(context.Background(), func(tx *Tx) error { return tx.PutEdge(w, fmt.Sprint(w, "-", i)) })
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// Concurrent Updates share their syncs, and all are stored.
func TestGroupCommit(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "g")
	var syncs atomic.Int64
	g, err := Open(path, &Options{Memory: 64 << 20, Events: Events{Sync: func(time.Duration) {
		syncs.Add(1)
		time.Sleep(5 * time.Millisecond) // a slow disk: the others arrive meanwhile
	}}})
	must(t, err)
	syncs.Store(0)
	writers(t, g, 64, 10)
	if n := syncs.Load(); n > 640/16 {
		t.Errorf("%d syncs for 640 commits", n)
	}
	must(t, g.Check(context.Background()), g.Close())
	g = openTest(t, path)
	must(t, g.Check(context.Background()))
	if m := g.now.Load().Meta; m.Edges != 640 || m.Version != 640 {
		t.Errorf("%d edges, version %d", m.Edges, m.Version)
	}
	must(t, g.Close())
}

// While a sync runs, the next Update sees the commits that it will make durable, and no View does.
func TestUnsyncedVersions(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	entered, leave := make(chan struct{}), make(chan struct{})
	var slow atomic.Bool
	g, err := Open(filepath.Join(t.TempDir(), "g"), &Options{Memory: 64 << 20, Events: Events{Sync: func(time.Duration) {
		if slow.CompareAndSwap(true, false) {
			entered <- struct{}{}
			<-leave
		}
	}}})
	must(t, err)
	slow.Store(true)
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { first <- g.Update(ctx, func(tx *Tx) error { return tx.PutEdge(1, 2) }) }()
	<-entered
	saw := make(chan int64, 1)
	refused := errors.New("refused")
	go func() {
		second <- g.Update(ctx, func(tx *Tx) error {
			saw <- tx.Stats().Edges
			return refused
		})
	}()
	if n := <-saw; n != 1 {
		t.Errorf("the next update sees %d edges", n)
	}
	must(t, g.View(ctx, func(tx *Tx) error {
		if n := tx.Stats().Edges; n != 0 {
			return fmt.Errorf("a view sees %d edges that may be lost", n)
		}
		return nil
	}))
	select {
	case err := <-second:
		t.Errorf("an update that rests on what may be lost returned %v", err)
	case <-time.After(10 * time.Millisecond):
	}
	close(leave)
	must(t, <-first)
	if err := <-second; err != refused {
		t.Errorf("the second update: %v", err)
	}
	must(t, g.Close())
}

// A failing sync fails all waiters and does not change what readers see.
func TestFailedSync(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "g")
	g := openTest(t, path)
	insert(t, g, 0, 3)
	broken := errors.New("broken disk")
	must(t, g.enter(ctx)) // so that all are queued before the first is written
	results := make(chan error)
	for i := range 10 {
		go func() {
			results <- g.Update(ctx, func(tx *Tx) error {
				g.store.Fail(broken)
				return tx.PutEdge(100+i, 200+i)
			})
		}()
	}
	g.unlock()
	for range 10 {
		if err := <-results; !errors.Is(err, broken) {
			t.Errorf("an update: %v", err)
		}
	}
	must(t, g.View(ctx, func(tx *Tx) error {
		if n := tx.Stats().Edges; n != 3 {
			return fmt.Errorf("%d edges", n)
		}
		return nil
	}))
	if err := g.Close(); err != nil && !errors.Is(err, broken) {
		t.Error(err)
	}
	g = openTest(t, path)
	must(t, g.Check(ctx))
	if n := g.now.Load().Meta.Edges; n != 3 {
		t.Errorf("%d edges after reopening", n)
	}
	must(t, g.Close())
}

// Models learn in commit order, also from Updates that share a sync.
func TestGroupsLearnInOrder(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "g")
	g := openTest(t, path)
	insert(t, g, 0, 20)
	must(t, g.Model("m").Create(ctx, model.Spec{Policy: "prb"}))
	var all sync.WaitGroup
	for w := range 16 {
		all.Go(func() {
			for i := range 20 {
				o := ObserveOptions{Source: (w + i) % 20, Target: (w * i) % 20, Model: "m", Reward: float64(i % 2), Insert: true}
				if err := g.Observe(ctx, o); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	must(t, g.Check(ctx)) // replays the stored observations, in the order of the store
	must(t, g.Close())
	g = openTest(t, path)
	if n := g.now.Load().models["m"].info.Rounds; n != 320 {
		t.Errorf("%d rounds", n)
	}
	must(t, g.Check(ctx), g.Close())
}

// A transaction that fits alone is not lost among others that fill a transaction of the store.
func TestLargeGroups(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	ctx := context.Background()
	g, err := Open(filepath.Join(t.TempDir(), "g"), &Options{NoSync: true})
	must(t, err)
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			err := g.Update(ctx, func(tx *Tx) error {
				return tx.PutNode(Node{Key: Int(int64(w)), Features: make([]float32, 100_000)})
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	must(t, g.Check(ctx), g.Close())
}

// An Update that changes nothing depends on the commits that it saw: it fails if they fail, also
// while its function runs.
func TestReadOfALostCommit(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	entered, leave := make(chan struct{}), make(chan struct{})
	broken := errors.New("broken disk")
	var g *DB
	var slow atomic.Bool
	g, err := Open(filepath.Join(t.TempDir(), "g"), &Options{Memory: 64 << 20, Events: Events{Sync: func(time.Duration) {
		if slow.CompareAndSwap(true, false) {
			close(entered)
			<-leave
			g.store.Fail(broken) // fails the next group
		}
	}}})
	must(t, err)
	slow.Store(true)
	first, second, third := make(chan error, 1), make(chan error, 1), make(chan error, 1)
	go func() { first <- g.Update(ctx, func(tx *Tx) error { return tx.PutEdge(1, 2) }) }()
	<-entered
	running := make(chan struct{})
	go func() {
		second <- g.Update(ctx, func(tx *Tx) error {
			close(running)
			return tx.PutEdge(3, 4)
		})
	}()
	<-running
	go func() {
		third <- g.Update(ctx, func(tx *Tx) error {
			if tx.Stats().Edges != 2 {
				t.Errorf("the update saw %d edges", tx.Stats().Edges)
			}
			close(leave)
			if err := <-second; !errors.Is(err, broken) {
				t.Errorf("the commit that it saw: %v", err)
			}
			return nil
		})
	}()
	must(t, <-first)
	if err := <-third; !errors.Is(err, broken) {
		t.Errorf("an update that saw a commit which was lost: %v", err)
	}
	_ = g.Close()
}

// Whenever the store fails among commits, the acknowledged commits are there, and no others.
func TestFailureAmongCommits(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	ctx := context.Background()
	for range 50 {
		g := openTest(t, "")
		var acknowledged [8]int
		var all sync.WaitGroup
		for w := range acknowledged {
			all.Go(func() {
				for g.Update(ctx, func(tx *Tx) error { return tx.PutEdge(w, 100+acknowledged[w]) }) == nil {
					acknowledged[w]++
				}
			})
		}
		time.Sleep(time.Millisecond)
		g.store.Fail(errors.New("broken disk"))
		all.Wait()
		must(t, g.View(ctx, func(tx *Tx) error {
			for w, want := range acknowledged {
				if n, err := tx.Node(w); want > 0 && (err != nil || n.Edges != want) {
					t.Errorf("writer %d: %v, %d edges are there, %d were acknowledged", w, err, n.Edges, want)
				}
			}
			return nil
		}))
		must(t, g.Close())
	}
}
