package db_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kith/db"
	"kith/db/dbtest"
)

// Path is as long as a search from one end finds, along existing edges.
func TestPath(t *testing.T) {
	t.Parallel()
	for _, direction := range []db.Direction{db.Undirected, db.Directed} {
		rapid.Check(t, func(rt *rapid.T) {
			const nodes = 14
			g, err := db.Open("", &db.Options{InMemory: true, Direction: direction, Memory: 64 << 20})
			must(t, err)
			defer g.Close()
			update(t, g, func(tx *db.Tx) error {
				for i := range nodes {
					must(t, tx.AddNode(db.Node{Key: db.Int(int64(i))}))
				}
				for range rapid.IntRange(0, 20).Draw(rt, "edges") {
					end := rapid.IntRange(0, nodes-1)
					must(t, tx.PutEdge(end.Draw(rt, "from"), end.Draw(rt, "to")))
				}
				return nil
			})
			from, to := rapid.IntRange(0, nodes-1).Draw(rt, "a"), rapid.IntRange(0, nodes-1).Draw(rt, "b")
			most := rapid.IntRange(0, 5).Draw(rt, "most")
			view(t, g, func(tx *db.Tx) error {
				path, err := tx.Path(t.Context(), from, to, most)
				must(t, err)
				want := distance(t, tx, from, to)
				if most > 0 && want > most {
					want = -1
				}
				if len(path)-1 != want {
					rt.Fatalf("path %v, want %d steps", path, want)
				}
				for i := range len(path) - 1 {
					_, err := tx.Edge(path[i], path[i+1])
					must(t, err)
				}
				if want >= 0 && (path[0] != db.Int(int64(from)) || path[want] != db.Int(int64(to))) {
					rt.Fatalf("path %v from %d to %d", path, from, to)
				}
				return nil
			})
		})
	}
}

// distance returns the number of steps from one node to another, or -1 if there is no path.
func distance(t testing.TB, tx *db.Tx, from, to int) int {
	if from == to {
		return 0
	}
	for r, err := range tx.Reach(context.Background(), from, 100, 0) {
		must(t, err)
		if r.Key == db.Int(int64(to)) {
			return r.Depth
		}
	}
	return -1
}

func TestPathErrors(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	load(t, g, 20)
	ctx, cancel := context.WithCancel(context.Background())
	view(t, g, func(tx *db.Tx) error {
		_, err := tx.Path(ctx, 1, 999, 0)
		wantError(t, "no such node", err, db.ErrNotFound)
		_, err = tx.Path(ctx, 1, 2, -1)
		wantError(t, "negative", err, db.ErrInput)
		cancel()
		_, err = tx.Path(ctx, 1, 10, 0)
		wantError(t, "cancelled", err, context.Canceled)
		return nil
	})
}

// Steps within a duration go along the edges of that time, whichever relation they have.
func TestReachWithin(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	g := dbtest.Open(t, &db.Options{InMemory: true, Direction: db.Directed, Now: func() time.Time { return now }})
	update(t, g, func(tx *db.Tx) error {
		return errors.Join(
			tx.AddEdge(1, 2, db.At(time.Unix(999_990, 0)), db.Weight(2)), tx.AddEdge(1, 2, db.Via("old"), db.At(time.Unix(5, 0)), db.Weight(7)),
			tx.AddEdge(2, 3, db.Via("likes"), db.At(time.Unix(999_950, 0))), tx.AddEdge(1, 4), tx.AddEdge(1, 5, db.At(time.Unix(2_000_000, 0))), tx.AddEdge(1, 6, db.Via("old"), db.At(time.Unix(6, 0))),
		)
	})
	reached := func(within time.Duration) (found string) {
		view(t, g, func(tx *db.Tx) error {
			for n, err := range tx.Reach(context.Background(), 1, 3, within) {
				must(t, err)
				found += fmt.Sprintf("%v/%d/%v ", n.Key, n.Depth, n.Weight)
			}
			return nil
		})
		return found
	}
	for within, want := range map[time.Duration]string{
		20 * time.Second: "2/1/2 ", 100 * time.Second: "2/1/2 3/2/0 ", 11 * 24 * time.Hour: "2/1/2 3/2/0 ",
		365 * 24 * time.Hour: "2/1/9 6/1/1 3/2/0 ", 0: "2/1/9 4/1/1 5/1/1 6/1/1 3/2/0 ",
	} {
		if got := reached(within); got != want {
			t.Errorf("%v: got %s, want %s", within, got, want)
		}
	}
	view(t, g, func(tx *db.Tx) error {
		for _, err := range tx.Reach(context.Background(), 1, 1, -1) {
			wantError(t, "a negative duration", err, db.ErrInput)
		}
		return nil
	})
}
