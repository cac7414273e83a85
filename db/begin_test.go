package db_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"testing"
	"time"

	"kith/db"
	"kith/db/dbtest"
)

// begin begins a transaction or fails t.
func begin(t testing.TB, g *db.DB, writable bool) *db.Tx {
	t.Helper()
	tx, err := g.Begin(context.Background(), writable)
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// A transaction sees its own writes. No other transaction sees them before the commit, and rolled
// back writes are never visible.
func TestBegin(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]*db.Options{"disk": nil, "memory": inMemory} {
		t.Run(name, func(t *testing.T) {
			g := dbtest.Open(t, o)
			count := func() (n int64) {
				view(t, g, func(tx *db.Tx) error {
					_, n = tx.Counts()
					return nil
				})
				return n
			}
			tx := begin(t, g, true)
			must(t, tx.PutEdge(1, 2), tx.PutEdge(2, 3))
			if _, edges := tx.Counts(); edges != 2 || count() != 0 {
				t.Errorf("it sees %d edges, others %d", edges, count())
			}
			reader := begin(t, g, false)
			must(t, tx.Commit())
			if _, edges := reader.Counts(); edges != 0 || count() != 2 {
				t.Errorf("a reader from before sees %d edges, others %d", edges, count())
			}
			wantError(t, "write in a reader", reader.PutEdge(5, 6), db.ErrReadOnly)
			must(t, reader.Rollback())
			tx = begin(t, g, true)
			must(t, tx.PutEdge(1, 3), tx.Rollback())
			if count() != 2 {
				t.Errorf("%d edges after a rollback", count())
			}
			wantError(t, "commit after rollback", tx.Commit(), db.ErrClosed)
			wantError(t, "rollback again", tx.Rollback(), db.ErrClosed)
			wantError(t, "write after rollback", tx.PutEdge(1, 3), db.ErrClosed)
		})
	}
}

// Only one transaction writes at a time. Waiting for it ends with the context, and with Close.
func TestBeginWaits(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, inMemory)
	tx := begin(t, g, true)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	_, err := g.Begin(ctx, true)
	wantError(t, "begin beside a writer", err, context.DeadlineExceeded)
	_, err = g.Begin(ctx, false)
	wantError(t, "begin when time is over", err, context.DeadlineExceeded)
	waiting := make(chan error)
	go func() {
		waiting <- g.Update(context.Background(), func(tx *db.Tx) error {
			_, err := tx.Edge(1, 2)
			return err
		})
	}()
	must(t, tx.PutEdge(1, 2), tx.Commit(), <-waiting)

	tx = begin(t, g, true)
	closed := make(chan error)
	go func() { closed <- g.Close() }()
	must(t, tx.PutEdge(1, 3))
	time.Sleep(time.Millisecond) // the test holds whether or not Close has begun
	select {
	case err := <-closed:
		t.Errorf("closed beside an open transaction: %v", err)
	default:
	}
	must(t, tx.Commit(), <-closed)
	_, err = g.Begin(context.Background(), true)
	wantError(t, "begin after close", err, db.ErrClosed)
	_, err = g.Begin(context.Background(), false)
	wantError(t, "begin after close", err, db.ErrClosed)
}

// A transaction that was passed to a function ends with the function.
func TestManagedTransactions(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, inMemory)
	update(t, g, func(tx *db.Tx) error {
		wantError(t, "commit in Update", tx.Commit(), db.ErrInput)
		return tx.PutEdge(1, 2)
	})
	view(t, g, func(tx *db.Tx) error {
		wantError(t, "rollback in View", tx.Rollback(), db.ErrInput)
		return tx.Assuming([]db.Edge{{Src: db.Int(1), Dst: db.Int(3), Weight: 1}}, func(tx *db.Tx) error {
			wantError(t, "rollback of an assumption", tx.Rollback(), db.ErrInput)
			return nil
		})
	})
}

// A savepoint undoes what failed, including observations and decisions, and nothing else.
func TestSavepoint(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	must(t, g.Model("m").Create(ctx, db.ModelSpec{}))
	update(t, g, func(tx *db.Tx) error { return errors.Join(tx.PutEdge(1, 2), tx.PutEdge(2, 3)) })
	fault := errors.New("on purpose")
	update(t, g, func(tx *db.Tx) error {
		must(t, tx.PutEdge(3, 4), tx.Observe(ctx, db.ObserveOptions{Source: 1, Target: 3, Model: "m", Reward: 1}))
		err := tx.Savepoint(func() error {
			d, err := tx.Choose(ctx, db.ChooseOptions{For: 1, Among: db.Keys(3, 4)})
			must(t, err, tx.PutEdge(1, "new", db.Weight(2)), tx.DeleteEdge(1, 2), tx.DeleteNode(3))
			err = tx.Reward(ctx, d.ID, 1)
			must(t, err, tx.Observe(ctx, db.ObserveOptions{Source: 1, Target: 4, Model: "m", Reward: 0}))
			return fault
		})
		wantError(t, "savepoint", err, fault)
		if nodes, edges := tx.Counts(); nodes != 4 || edges != 3 || tx.Has(db.Str("new")) {
			t.Errorf("%d nodes and %d edges are left", nodes, edges)
		}
		return tx.Savepoint(func() error { return tx.PutEdge(4, 5) })
	})
	view(t, g, func(tx *db.Tx) error {
		if nodes, edges := tx.Counts(); nodes != 5 || edges != 4 {
			t.Errorf("%d nodes, %d edges", nodes, edges)
		}
		m, err := tx.Model("m").Info(ctx)
		if err != nil || m.Rounds != 1 {
			t.Errorf("the model has seen %d outcomes, %v", m.Rounds, err)
		}
		_, err = tx.Decision(1)
		wantError(t, "the decision that was taken back", err, db.ErrNoDecision)
		wantError(t, "savepoint of a reader", tx.Savepoint(func() error { return nil }), db.ErrReadOnly)
		return nil
	})
}

// A transaction that spans several functions is committed or, on an error, rolled back.
func ExampleDB_Begin() {
	ctx := context.Background()
	g, err := db.Open("", &db.Options{InMemory: true, Memory: 64 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	tx, err := g.Begin(ctx, true)
	if err != nil {
		log.Fatal(err)
	}
	defer tx.Rollback()
	if err := tx.PutEdge("ann", "bob"); err != nil {
		log.Fatal(err)
	}
	err = tx.Savepoint(func() error {
		if err := tx.PutEdge("ann", "cid"); err != nil {
			return err
		}
		return tx.PutEdge("ann", "dan", db.Weight(-1)) // also undoes the edge to cid
	})
	fmt.Println(err)
	if err := tx.Commit(); err != nil {
		log.Fatal(err)
	}
	err = g.View(ctx, func(tx *db.Tx) error {
		fmt.Println(tx.Counts())
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// edge 'ann' -> 'dan': weight -1 is not a number from 2^-40 to 2^40
	// 2 1
}
