package db_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
)

// Eight readers ask with and without the cache, on one snapshot each time, while a writer inserts,
// deletes and changes edges among the same nodes.
func TestReadersBesideWriter(t *testing.T) {
	t.Parallel()
	for _, direction := range []db.Direction{db.Undirected, db.Directed} {
		t.Run(fmt.Sprint(direction), func(t *testing.T) { readersBesideWriter(t, direction) })
	}
}

func readersBesideWriter(t *testing.T, direction db.Direction) {
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{InMemory: true, Direction: direction})
	must(t, g.Model("walk").Create(ctx, model.Spec{Policy: "ppr"}), g.Model("prb").Create(ctx, model.Spec{Policy: "prb"}))
	const nodes, rounds = 60, 40
	rng := rand.New(rand.NewPCG(1, 2))
	edit := func(n int) {
		update(t, g, func(tx *db.Tx) error {
			for range n {
				u, v := rng.IntN(nodes), rng.IntN(nodes)
				if rng.IntN(3) == 0 {
					_ = tx.DeleteEdge(u, v) // there may be no such edge
					continue
				}
				if err := tx.PutEdge(u, v, db.Weight(float32(1+rng.IntN(3)))); err != nil {
					return err
				}
			}
			return nil
		})
	}
	edit(300)
	var readers sync.WaitGroup
	for i := range 8 {
		readers.Go(func() {
			rng := rand.New(rand.NewPCG(3, uint64(i)))
			for range rounds {
				if err := g.View(ctx, func(tx *db.Tx) error { return askTwice(ctx, t, tx, rng, nodes) }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { readers.Wait(); close(done) }()
	for {
		select {
		case <-done:
			return
		default:
			edit(3)
		}
	}
}

// askTwice makes a prediction with and without the cache.
func askTwice(ctx context.Context, t *testing.T, tx *db.Tx, rng *rand.Rand, nodes int) error {
	p := db.PredictOptions{For: rng.IntN(nodes), Model: []string{"walk", "prb"}[rng.IntN(2)], Top: -1, Epsilon: []float64{1e-6, 1e-3}[rng.IntN(2)]}
	p.Among = db.Keys(rng.IntN(nodes), rng.IntN(nodes), rng.IntN(nodes))
	cached, err := tx.Predict(ctx, p)
	if err != nil {
		return err
	}
	p.NoCache = true
	plain, err := tx.Predict(ctx, p)
	if err != nil {
		return err
	}
	compare(t, plain, cached)
	return nil
}
