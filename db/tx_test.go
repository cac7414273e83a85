package db_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kith/db"
	"kith/db/dbtest"
)

var inMemory = &db.Options{InMemory: true, Memory: 64 << 20}

// Views see the version that they began with, whatever is written meanwhile, and do not wait for
// writers.
func TestSnapshots(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, o := range map[string]*db.Options{"disk": nil, "memory": inMemory} {
		g := dbtest.Open(t, o)
		update(t, g, func(tx *db.Tx) error { return tx.PutEdge(1, 2) })
		began, finish, done := make(chan bool), make(chan bool), make(chan error)
		go func() {
			done <- g.View(ctx, func(tx *db.Tx) error {
				close(began)
				<-finish
				n := 0
				for range tx.Edges() {
					n++
				}
				if s := tx.Stats(); n != 1 || s.Edges != 1 || s.Nodes != 2 {
					return fmt.Errorf("an older view sees %d edges, %+v", n, s)
				}
				return g.Check(ctx)
			})
		}()
		<-began
		update(t, g, func(tx *db.Tx) error {
			must(t, tx.PutEdge(2, 3), tx.DeleteEdge(1, 2))
			if got := edges(t, g); !slices.Equal(got, []string{"1-2:1@0"}) {
				t.Errorf("%s: a view beside an open update sees %v", name, got)
			}
			if s := tx.Stats(); s.Edges != 1 || s.Nodes != 3 {
				t.Errorf("%s: the update itself sees %+v", name, s)
			}
			return nil
		})
		for i := range 20 {
			update(t, g, func(tx *db.Tx) error { return tx.PutEdge(3, 10+i) })
		}
		close(finish)
		must(t, <-done)
		if got := edges(t, g); len(got) != 21 || got[0] != "2-3:1@0" {
			t.Errorf("%s: afterwards %v", name, got)
		}
	}
}

// An update that fails or panics changes nothing, and the next one continues.
func TestRollback(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, nil)
	write := func(tx *db.Tx) {
		must(t, tx.PutEdge(1, "new", db.Weight(2)), tx.PutNode(db.Node{Key: db.Int(7), Label: "l", Features: []float32{1}}))
	}
	wrong := errors.New("wrong")
	wantError(t, "an update that fails", g.Update(ctx, func(tx *db.Tx) error { write(tx); return wrong }), wrong)
	func() {
		defer func() {
			if r := recover(); r != wrong {
				t.Errorf("recovered %v", r)
			}
		}()
		_ = g.Update(ctx, func(tx *db.Tx) error { write(tx); panic(wrong) })
	}()
	func() {
		defer func() { _ = recover() }()
		_ = g.View(ctx, func(*db.Tx) error { panic(wrong) })
	}()
	view(t, g, func(tx *db.Tx) error {
		if s := tx.Stats(); s.Nodes != 0 || s.Edges != 0 || s.Version != 0 || len(s.Labels) != 1 {
			t.Errorf("left behind: %+v", s)
		}
		return nil
	})
	update(t, g, func(tx *db.Tx) error { write(tx); return nil })
	update(t, g, func(*db.Tx) error { return nil })
	view(t, g, func(tx *db.Tx) error {
		if s := tx.Stats(); s.Nodes != 3 || s.Version != 1 {
			t.Errorf("then: %+v", s)
		}
		return nil
	})
}

func TestContextEndsTheWait(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, inMemory)
	ctx, cancel := context.WithCancel(context.Background())
	began, finish, done := make(chan bool), make(chan bool), make(chan error)
	go func() {
		done <- g.Update(context.Background(), func(*db.Tx) error { close(began); <-finish; return nil })
	}()
	<-began
	late, stop := context.WithTimeout(ctx, time.Millisecond)
	defer stop()
	wantError(t, "an update that waits", g.Update(late, func(*db.Tx) error { return nil }), context.DeadlineExceeded)
	cancel()
	wantError(t, "an update", g.Update(ctx, func(*db.Tx) error { return nil }), context.Canceled)
	wantError(t, "a view", g.View(ctx, func(*db.Tx) error { return nil }), context.Canceled)
	_, err := g.Load(ctx, strings.NewReader("1 2\n"), db.LoadOptions{})
	wantError(t, "a load", err, context.Canceled)
	close(finish)
	must(t, <-done)
}

// An update that does not fit into one commit is rejected entirely, and smaller ones continue.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	slow(t)
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{Memory: 64 << 20})
	chain := func(from, n int) func(*db.Tx) error {
		return func(tx *db.Tx) error {
			for i := range n {
				if err := tx.PutEdge(from+i, from+i+1, db.Weight(0.5)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	update(t, g, chain(0, 3))
	wantError(t, "400,000 edges", g.Update(ctx, chain(1000, 400_000)), db.ErrTooLarge)
	if got := edges(t, g); len(got) != 3 {
		t.Errorf("afterwards %d edges", len(got))
	}
	update(t, g, chain(1000, 1000))
	if got := edges(t, g); len(got) != 1003 {
		t.Errorf("then %d edges", len(got))
	}
}

// The weight of one edge does not impair PageRank for its neighbours.
func TestWeights(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	for _, w := range []float32{0, -1, 0x1p-41, 0x1p41, float32(math.NaN()), float32(math.Inf(1))} {
		wantError(t, "a weight", g.Update(ctx, func(tx *db.Tx) error { return tx.PutEdge(1, 2, db.Weight(w)) }), db.ErrInput)
	}
	for i, w := range []float32{0x1p-40, 0x1p40} {
		update(t, g, func(tx *db.Tx) error {
			return errors.Join(tx.PutEdge(1, 10+i, db.Weight(w)), tx.PutEdge(1, 2), tx.PutEdge(2, 3))
		})
		for _, from := range []int{1, 3, 10 + i} {
			_, err := g.Predict(ctx, db.PredictOptions{For: from, Among: db.All()})
			must(t, err)
		}
		view(t, g, func(tx *db.Tx) error { return tx.Warm(ctx, 1, 2, 10+i) })
	}
}

// A time must be in the years 0 to 9999, wherever one is given.
func TestTimesHaveBounds(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	first, last := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	put := func(at time.Time) error {
		return g.Update(ctx, func(tx *db.Tx) error { return tx.PutEdge(db.Int(1), db.Int(2), db.At(at)) })
	}
	uses := map[string]func(time.Time) error{
		"PutEdge": put,
		"Predict": func(at time.Time) error {
			_, err := g.Predict(ctx, db.PredictOptions{For: 1, Among: db.All(), At: at})
			return err
		},
		"Choose": func(at time.Time) error {
			_, err := g.Choose(ctx, db.ChooseOptions{For: 1, Among: db.Keys(3), At: at})
			return err
		},
		"Holdout": func(at time.Time) error {
			return g.View(ctx, func(tx *db.Tx) error {
				_, err := tx.Evaluate(ctx, db.EvaluateOptions{After: at})
				return err
			})
		},
	}
	must(t, put(first))
	must(t, put(last))
	update(t, g, func(tx *db.Tx) error { return tx.PutEdge(3, 4) })
	for name, use := range uses {
		for _, at := range []time.Time{first.Add(-time.Second), last.Add(time.Second), time.UnixMilli(1700000000000000)} {
			err := use(at)
			wantError(t, name, err, db.ErrInput)
			if err != nil && !strings.Contains(err.Error(), "not in the years 0 to 9999") {
				t.Errorf("%s at %v: %v", name, at, err)
			}
		}
	}
}

// A node may change its label and its vector in one call.
func TestPutNodeMovesToAnotherLabel(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, inMemory)
	update(t, g, func(tx *db.Tx) error {
		return errors.Join(
			tx.AddNode(db.Node{Key: db.Int(1), Label: "user", Features: []float32{1, 2, 3}}),
			tx.AddNode(db.Node{Key: db.Int(2), Label: "item", Features: []float32{1, 2}}),
			tx.PutNode(db.Node{Key: db.Int(1), Label: "item", Features: []float32{4, 5}}),
			tx.PutNode(db.Node{Key: db.Int(1), Label: "new", Features: []float32{6}}),
		)
	})
	view(t, g, func(tx *db.Tx) error {
		n, err := tx.Node(1)
		if n.Label != "new" || !slices.Equal(n.Features, []float32{6}) {
			t.Errorf("%+v", n)
		}
		return err
	})
}

// A graph may grow only as far as it can be opened again with the same options.
func TestOptionsMemory(t *testing.T) {
	t.Parallel()
	ctx, path, o := context.Background(), place(t), &db.Options{Memory: 64 << 20, NoSync: true}
	g := open(t, path, o)
	features, n, limit := make([]float32, 5000), 0, error(nil)
	for limit == nil && n < 10_000 {
		limit = g.Update(ctx, func(tx *db.Tx) error {
			for range 30 {
				if err := tx.AddNode(db.Node{Key: db.Int(int64(n)), Features: features}); err != nil {
					return err
				}
				n++
			}
			return nil
		})
	}
	wantError(t, "a graph without an end", limit, db.ErrTooLarge)
	must(t, g.Close())
	g = dbtest.Reopen(t, path, o)
	update(t, g, func(tx *db.Tx) error { return tx.DeleteNode(0) })
	update(t, g, func(tx *db.Tx) error { return tx.SetFeatures(1, nil) })
}

// A deleted node leaves no traces, and its key can be used again.
func TestDeleteAndRevive(t *testing.T) {
	t.Parallel()
	path := place(t)
	g := open(t, path, &db.Options{Direction: db.Directed})
	update(t, g, func(tx *db.Tx) error {
		return errors.Join(tx.PutEdge(1, 2), tx.PutEdge(2, 1), tx.PutEdge(1, 1), tx.PutEdge(2, 3),
			tx.PutNode(db.Node{Key: db.Int(1), Label: "l", Features: []float32{1, 2}}))
	})
	update(t, g, func(tx *db.Tx) error { return tx.DeleteNode(1) })
	if got := edges(t, g); !slices.Equal(got, []string{"2-3:1@0"}) {
		t.Errorf("deleted: %v", got)
	}
	_, err := g.Predict(context.Background(), db.PredictOptions{For: 1})
	wantError(t, "a prediction for it", err, db.ErrNotFound)
	must(t, g.Close())
	g = dbtest.Reopen(t, path, nil)
	update(t, g, func(tx *db.Tx) error {
		if _, err := tx.Node(1); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("after a reopen: %v", err)
		}
		return tx.AddNode(db.Node{Key: db.Int(1)})
	})
	view(t, g, func(tx *db.Tx) error {
		n, err := tx.Node(1)
		must(t, err)
		if n.Label != "" || n.Features != nil || n.Edges != 0 || n.Degree != 0 {
			t.Errorf("back: %+v", n)
		}
		if s := tx.Stats(); s.Nodes != 3 || s.Edges != 1 {
			t.Errorf("back: %+v", s)
		}
		return nil
	})
}

func TestReading(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, inMemory)
	at := time.Unix(1e9, 0).UTC()
	update(t, g, func(tx *db.Tx) error {
		return errors.Join(
			tx.PutEdge(db.Int(5), db.Str("a"), db.Weight(2.5), db.At(at)),
			tx.PutEdge(int8(5), uint16(6)), tx.PutEdge(5, 5, db.Weight(0.5)),
			tx.PutNode(db.Node{Key: db.Str("a"), Label: "letter", Features: []float32{1, 2}}))
	})
	view(t, g, func(tx *db.Tx) error {
		n, err := tx.Node(5)
		must(t, err)
		if n.Degree != 4 || n.Edges != 3 || n.Label != "" || n.Features != nil {
			t.Errorf("node 5: %+v", n)
		}
		e, err := tx.Edge("a", 5)
		must(t, err)
		if e.Src != db.Str("a") || e.Dst != db.Int(5) || e.Weight != 2.5 || !e.Time.Equal(at) {
			t.Errorf("edge: %+v", e)
		}
		var found, nodes []string
		for e, err := range tx.Neighbors(5) {
			must(t, err)
			found = append(found, edgeString(e))
		}
		for n, err := range tx.Nodes() {
			must(t, err)
			nodes = append(nodes, fmt.Sprint(n.Key.Literal(), n.Label, n.Features))
		}
		if got := fmt.Sprint(found); got != "[5-5:0.5@0 5-'a':2.5@1000000000 5-6:1@0]" {
			t.Errorf("neighbours %s", got)
		}
		if got := fmt.Sprint(nodes); got != "[5[] 'a'letter[1 2] 6[]]" {
			t.Errorf("nodes %s", got)
		}
		s := tx.Stats()
		if s.Nodes != 3 || s.Edges != 3 || s.Loops != 1 || fmt.Sprint(s.Labels) != "[{ 2 0} {letter 1 2}]" {
			t.Errorf("stats %+v", s)
		}
		return nil
	})
	update(t, g, func(tx *db.Tx) error {
		n := 0
		for e, err := range tx.Neighbors(5) {
			must(t, err, tx.PutEdge(5, 100+n))
			if n == 0 {
				must(t, tx.DeleteEdge(5, 6))
			}
			if n++; e.Dst == db.Int(6) {
				t.Error("saw an edge that was deleted meanwhile")
			}
		}
		if n != 2 {
			t.Errorf("walked over %d edges of a row that changed", n)
		}
		return nil
	})
}

// With concurrent writers and readers, every reader sees complete commits, in order.
func TestConcurrently(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{NoSync: true})
	const writers, rounds = 3, 30
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range rounds {
				err := g.Update(ctx, func(tx *db.Tx) error {
					k := 1000*w + i
					return errors.Join(tx.PutEdge(k, "left"), tx.PutEdge(k, "right"))
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			last := db.Stats{}
			for range rounds {
				err := g.View(ctx, func(tx *db.Tx) error {
					s := tx.Stats()
					if s.Edges%2 != 0 || s.Version < last.Version || s.Edges != 2*int64(s.Version) {
						t.Errorf("saw %+v after %+v", s, last)
					}
					last = s
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got := edges(t, g); len(got) != 2*writers*rounds {
		t.Errorf("%d edges", len(got))
	}
}

// Add refuses what exists and changes nothing then. Put replaces it.
func TestAddAndPut(t *testing.T) {
	t.Parallel()
	for _, direction := range []db.Direction{db.Undirected, db.Directed} {
		g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20, Direction: direction})
		at := time.Unix(1e9, 0).UTC()
		update(t, g, func(tx *db.Tx) error {
			must(t, tx.AddEdge("a", 7), tx.AddNode(db.Node{Key: db.Str("b")}), tx.AddEdge("b", 7, db.Weight(2), db.At(at)))
			var named *db.Error
			err := tx.AddEdge("a", 7, db.Weight(3))
			if wantError(t, "an edge twice", err, db.ErrExists); !errors.As(err, &named) || named.Kind != "edge" {
				t.Errorf("%v is not about an edge", err)
			}
			wantError(t, "a node twice", tx.AddNode(db.Node{Key: db.Int(7), Label: "x"}), db.ErrExists)
			if err := tx.AddEdge(7, "a"); (err == nil) != (direction == db.Directed) {
				t.Errorf("the other direction: %v", err)
			}
			for _, want := range []db.Edge{{db.Str("a"), db.Int(7), "", 1, time.Time{}}, {db.Str("b"), db.Int(7), "", 2, at}} {
				if e, err := tx.Edge(want.Src, want.Dst); err != nil || e != want {
					t.Errorf("%+v, %v, want %+v", e, err, want)
				}
			}
			must(t, tx.PutEdge("b", 7), tx.PutNode(db.Node{Key: db.Int(7), Label: "x"}))
			if e, err := tx.Edge("b", 7); err != nil || e.Weight != 1 || !e.Time.IsZero() {
				t.Errorf("%+v, %v", e, err)
			}
			return nil
		})
	}
}
