package db_test

import (
	"context"
	"math"
	"testing"

	"kith/db"
	"kith/db/dbtest"
)

// iterated returns v = αPv + (1-α)e by iteration, for a graph of nodes 0 to n-1 with edges of
// weight 1.
func iterated(t testing.TB, tx *db.Tx, n, source int, alpha float64, row bool) []float64 {
	t.Helper()
	out := make([][]int, n)
	for i := range n {
		for e, err := range tx.Neighbors(i) {
			must(t, err)
			for j := range n {
				if e.Dst == db.Int(int64(j)) {
					out[i] = append(out[i], j)
				}
			}
		}
	}
	v := make([]float64, n)
	for range 400 {
		next := make([]float64, n)
		next[source] = 1 - alpha
		for i := range n {
			for _, j := range out[i] {
				if d := float64(len(out[i])); row {
					next[i] += alpha * v[j] / d
				} else {
					next[j] += alpha * v[i] / d
				}
			}
		}
		v = next
	}
	return v
}

// PageRank equals the result of iterating its equation, within the bounds, with and without the
// cache.
func TestPageRank(t *testing.T) {
	t.Parallel()
	const nodes = 30
	for _, direction := range []db.Direction{db.Undirected, db.Directed} {
		g := dbtest.Open(t, &db.Options{InMemory: true, Direction: direction})
		update(t, g, func(tx *db.Tx) error {
			for i := range nodes {
				must(t, tx.PutEdge(i, (i+1)%nodes), tx.PutEdge(i, i*i%nodes))
			}
			return tx.AddNode(db.Node{Key: db.Str("alone")})
		})
		for _, q := range []db.PageRankOptions{
			{From: 3, Top: -1}, {From: 3, Top: -1, Row: true}, {From: 3, Top: 5, Alpha: 0.5, NoCache: true}, {From: 3, Top: -1, Epsilon: 1e-9},
		} {
			view(t, g, func(tx *db.Tx) error {
				r, err := tx.PageRank(context.Background(), q)
				must(t, err)
				want := iterated(t, tx, nodes, 3, r.Alpha, q.Row)
				if q.Top > 0 && len(r.Nodes) != q.Top {
					t.Errorf("%+v: %d nodes", q, len(r.Nodes))
				}
				for i, n := range r.Nodes {
					exact := math.NaN()
					for j := range nodes {
						if n.Node == db.Int(int64(j)) {
							exact = want[j]
						}
					}
					if !(math.Abs(n.Score-exact) <= n.Error+1e-12) || n.Rank != i+1 {
						t.Errorf("%v %+v: %+v, want %v", direction, q, n, exact)
					}
				}
				return nil
			})
		}
		view(t, g, func(tx *db.Tx) error {
			_, err := tx.PageRank(context.Background(), db.PageRankOptions{From: 99})
			wantError(t, "no such node", err, db.ErrNotFound)
			_, err = tx.PageRank(context.Background(), db.PageRankOptions{From: 1, Alpha: 1})
			wantError(t, "alpha", err, db.ErrInput)
			_, err = tx.PageRank(context.Background(), db.PageRankOptions{From: 1, Epsilon: -1})
			wantError(t, "epsilon", err, db.ErrInput)
			r, err := tx.PageRank(context.Background(), db.PageRankOptions{From: "alone"})
			must(t, err)
			if len(r.Nodes) != 1 || r.Nodes[0].Node != db.Str("alone") {
				t.Errorf("a node without edges: %+v", r.Nodes)
			}
			return nil
		})
	}
}
