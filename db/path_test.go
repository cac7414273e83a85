package db_test

import (
	"context"
	"testing"

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
	for r, err := range tx.Reach(context.Background(), from, 100) {
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
