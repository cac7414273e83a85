package db_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"kith/db"
	"kith/db/dbtest"
)

// A BulkWriter writes what an Update with the same calls would write, in several commits, also if
// the writes are too large for one.
func TestBulkWriter(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	o := &db.Options{Memory: 64 << 20, NoSync: true}
	g, want := dbtest.Open(t, o), dbtest.Open(t, o)
	w := g.BulkWriter(ctx)
	for part := range 4 {
		update(t, want, func(tx *db.Tx) error {
			var err error
			for i := 5000 * part; i < 5000*(part+1); i++ {
				n := db.Node{Key: db.Str(fmt.Sprint("n", i%500)), Label: "user", Features: []float32{float32(i), 1}, Properties: map[string]any{"of": i, "tags": []string{"a"}}}
				err = errors.Join(err, w.PutNode(n), tx.PutNode(n),
					w.PutEdge(n.Key, i%70, db.Via("likes"), db.Weight(2)), tx.PutEdge(n.Key, i%70, db.Via("likes"), db.Weight(2)))
			}
			return err
		})
	}
	view(t, g, func(tx *db.Tx) error {
		if nodes, _ := tx.Counts(); nodes == 0 {
			t.Error("nothing is committed before Flush, whatever its size")
		}
		return nil
	})
	must(t, w.Flush(), w.Flush())
	view(t, g, func(tx *db.Tx) error {
		got := strings.Join(contents(tx), "\n")
		view(t, want, func(tx *db.Tx) error {
			if all := strings.Join(contents(tx), "\n"); got != all {
				t.Errorf("written\n%s\nwant\n%s", got, all)
			}
			return nil
		})
		return nil
	})
	must(t, g.Check(ctx))
}

// Writes that are larger than a commit are split.
func TestBulkWriterSplits(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{Memory: 64 << 20, NoSync: true})
	text := strings.Repeat("x", 30<<10)
	put := func(n int, put func(db.Node) error) (err error) {
		for i := range n {
			err = errors.Join(err, put(db.Node{Key: db.Int(int64(i)), Properties: map[string]any{"text": fmt.Sprint(i, text)}}))
		}
		return err
	}
	wantError(t, "an update of 1 MB", g.Update(ctx, func(tx *db.Tx) error { return put(35, tx.PutNode) }), db.ErrTooLarge)
	w := g.BulkWriter(ctx)
	must(t, put(80, w.PutNode), w.Flush(), g.Check(ctx))
	if s, err := g.Stats(); err != nil || s.Nodes != 80 || s.Version < 4 {
		t.Errorf("%+v, %v", s, err)
	}
}

// The first error ends a writer, and Flush returns it. What was committed before stays.
func TestBulkWriterErrors(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, inMemory)
	ctx, cancel := context.WithCancel(context.Background())
	w := g.BulkWriter(ctx)
	must(t, w.PutEdge(1, 2), w.Flush(), w.PutEdge(3, 4), w.PutEdge(5, 6, db.Weight(-1)))
	err := w.Flush()
	wantError(t, "a bad weight", err, db.ErrInput)
	if again := w.PutEdge(7, 8); again != err || w.Flush() != err {
		t.Errorf("then %v, want %v", again, err)
	}
	bad := g.BulkWriter(ctx)
	must(t, bad.PutEdge(9, 10))
	wantError(t, "a bad key", bad.PutEdge("", 1), db.ErrInput)
	wantError(t, "Flush after it", bad.Flush(), db.ErrInput)
	canceled := g.BulkWriter(ctx)
	must(t, canceled.PutNode(db.Node{Key: db.Int(9)}))
	cancel()
	wantError(t, "a context that has ended", canceled.Flush(), context.Canceled)
	view(t, g, func(tx *db.Tx) error {
		if nodes, edges := tx.Counts(); nodes != 2 || edges != 1 {
			t.Errorf("%d nodes, %d edges", nodes, edges)
		}
		return nil
	})
}

// Several goroutines may write to one BulkWriter, beside other writers.
func TestBulkWriterOfMany(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	w := g.BulkWriter(ctx)
	var all sync.WaitGroup
	failed := make([]error, 4)
	for part := range failed {
		all.Go(func() {
			for i := range 5000 {
				failed[part] = errors.Join(failed[part], w.PutEdge(part, 10+i))
			}
			failed[part] = errors.Join(failed[part], g.Update(ctx, func(tx *db.Tx) error { return tx.PutEdge(part, 1) }))
		})
	}
	all.Wait()
	must(t, errors.Join(failed...), w.Flush(), g.Check(ctx))
	if s, err := g.Stats(); err != nil || s.Edges < 4*5000 {
		t.Errorf("%+v, %v", s, err)
	}
}
