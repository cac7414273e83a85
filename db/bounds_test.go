package db_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"kith/db"
	"kith/db/dbtest"
)

// Answers are within their bounds, whatever the history of the graph and of the cache, and also
// with weights so different that no state keeps the tolerance.
func TestBoundsHold(t *testing.T) {
	t.Parallel()
	notShort(t)
	ctx, rng := context.Background(), rand.New(rand.NewPCG(8, 7))
	g := dbtest.Open(t, inMemory)
	const nodes = 120
	for range 150 {
		update(t, g, func(tx *db.Tx) error {
			for range 4 {
				u, v := rng.IntN(nodes), rng.IntN(nodes)
				if _, err := tx.Edge(u, v); err == nil && rng.IntN(3) == 0 {
					return tx.DeleteEdge(u, v)
				}
				if err := tx.PutEdge(u, v, db.Weight(float32(math.Pow(10, 23*rng.Float64()-11.5)))); err != nil {
					return err
				}
			}
			return nil
		})
		view(t, g, func(tx *db.Tx) error {
			for n := range tx.Nodes() {
				if rng.IntN(20) != 0 {
					continue
				}
				among := []db.Candidates{db.All(), db.Neighbors(2), db.Keys(n.Key, n.Key)}[rng.IntN(3)]
				p := db.PredictOptions{For: n.Key, Among: among, Top: -1, UntilExact: rng.IntN(2) == 0}
				got, err := tx.Predict(ctx, p)
				must(t, err)
				p.UntilExact, p.NoCache, p.Epsilon = false, true, 1e-13
				truth, err := tx.Predict(ctx, p)
				must(t, err)
				checkBounds(t, got.Links, truth.Links)
			}
			return nil
		})
	}
}

func checkBounds(t *testing.T, got, truth []db.Link) {
	t.Helper()
	at := map[db.Key]db.Link{}
	for _, l := range truth {
		at[l.Target] = l
	}
	for _, l := range got {
		if want := at[l.Target]; !(math.Abs(l.Score-want.Score) <= l.Error+want.Error) {
			t.Errorf("%+v, in truth %+v", l, want)
		}
	}
}
