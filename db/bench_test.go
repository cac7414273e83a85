package db_test

import (
	"context"
	"math/rand/v2"
	"os"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
)

// BenchmarkPredict measures predictions of 100 candidates by trained models: with warm states, just
// after an edge was inserted at a neighbour of the source, and without the cache.
func BenchmarkPredict(b *testing.B) {
	for _, policy := range []string{"default", "prb_greedy"} {
		b.Run("policy="+policy, func(b *testing.B) { benchmarkPredict(b, policy) })
	}
}

// BenchmarkHeuristic measures the 10 best within two steps of a node by heuristics.
func BenchmarkHeuristic(b *testing.B) {
	g := facebook(b)
	for _, policy := range []string{"adamic_adar", "jaccard"} {
		b.Run("policy="+policy, func(b *testing.B) {
			b.ReportAllocs()
			random := rand.New(rand.NewPCG(1, 2))
			for b.Loop() {
				_, err := g.Predict(context.Background(), db.PredictOptions{For: random.IntN(4000), Among: db.Neighbors(2), Model: policy})
				must(b, err)
			}
		})
	}
}

// facebook returns a database of the friendships of ego-Facebook.
func facebook(b *testing.B) *db.DB {
	file, err := os.Open("../../shared/data/snap/facebook_combined.txt")
	if err != nil {
		b.Skip(err)
	}
	defer func() { must(b, file.Close()) }()
	g := dbtest.Open(b, &db.Options{InMemory: true, Memory: 1 << 30})
	_, err = g.Load(context.Background(), file, db.LoadOptions{})
	must(b, err)
	return g
}

func benchmarkPredict(b *testing.B, policy string) {
	ctx, g := context.Background(), facebook(b)
	must(b, g.Model("m").Create(ctx, model.Spec{Policy: policy}))
	_, err := g.Model("m").Train(ctx, db.TrainOptions{Deploy: db.DeployAlways, Plan: model.EdgePlan{Samples: 200, Epochs: 1}})
	must(b, err)
	const sources = 200
	random := rand.New(rand.NewPCG(1, 2))
	view(b, g, func(tx *db.Tx) error {
		for u := range sources {
			must(b, tx.Warm(ctx, u))
		}
		return nil
	})
	measure := func(name string, noCache, insert bool) {
		b.Run(name, func(b *testing.B) {
			before := cacheStats(b, g)
			for b.Loop() {
				b.StopTimer()
				source := random.IntN(sources)
				if insert {
					view(b, g, func(tx *db.Tx) error { return tx.Warm(ctx, source) })
					insertNear(b, g, random, source)
				}
				candidates := make([]any, 0, 100)
				for _, u := range random.Perm(4000)[:cap(candidates)] {
					candidates = append(candidates, u)
				}
				b.StartTimer()
				_, err := g.Predict(ctx, db.PredictOptions{For: source, Among: db.Keys(candidates...), Model: "m", NoCache: noCache})
				must(b, err)
			}
			after := cacheStats(b, g)
			b.ReportMetric(float64(after.Hits-before.Hits)/float64(b.N), "hits/op")
			b.ReportMetric(float64(after.CatchUps-before.CatchUps)/float64(b.N), "repairs/op")
			b.ReportMetric(float64(after.Computed-before.Computed)/float64(b.N), "misses/op")
		})
	}
	measure("states=none", true, false)
	measure("states=warm", false, false)
	measure("states=changed", false, true)
}

// insertNear adds an edge between a neighbour of a node and a random node.
func insertNear(b *testing.B, g *db.DB, random *rand.Rand, source int) {
	update(b, g, func(tx *db.Tx) error {
		n := 0
		var near db.Key
		for e, err := range tx.Neighbors(source) {
			must(b, err)
			n++
			if random.IntN(n) == 0 {
				if near = e.Dst; near == db.Int(int64(source)) {
					near = e.Src
				}
			}
		}
		return tx.PutEdge(near, random.IntN(4000))
	})
}
