package db_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
)

// On every graph the trained default ranks hidden edges among the nodes two steps away at least
// about as well as the best heuristic: no heuristic's mean reciprocal rank exceeds the default's by
// more than 3 %.
func TestDefaultIsNotBelowHeuristics(t *testing.T) {
	notShort(t)
	if raceDetector {
		t.Skip("trains a model for each graph")
	}
	for _, c := range []struct {
		file      string
		direction db.Direction
		slow      bool
	}{
		{"snap/facebook_combined.txt", db.Undirected, true},
		{"snap/CA-GrQc.txt", db.Undirected, true},
		{"snap/wiki-Vote.txt", db.Directed, true},
	} {
		t.Run(c.file, func(t *testing.T) {
			if c.slow {
				slow(t)
			}
			t.Parallel()
			f := shared(t, c.file)
			g := dbtest.Open(t, &db.Options{InMemory: true, Direction: c.direction})
			_, err := g.Load(context.Background(), f, db.LoadOptions{})
			must(t, err)
			notBelowHeuristics(t, g)
		})
	}
	t.Run("circles", func(t *testing.T) {
		t.Parallel()
		g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
		circles(t, g)
		notBelowHeuristics(t, g)
	})
}

func notBelowHeuristics(t *testing.T, g *db.DB) {
	t.Helper()
	own := db.Contender{Spec: &db.ModelSpec{}, Plan: model.EdgePlan{Samples: size(0, 500, 1000)}}
	o := db.EvaluateOptions{
		Share: 0.1, Sample: size(0, 150, 300), Seed: 5, Among: []db.Candidates{db.Neighbors(2)}, Contenders: []db.Contender{own},
	}
	for _, name := range []string{"common_neighbors", "adamic_adar", "resource_allocation", "preferential_attachment", "ppr"} {
		o.Contenders = append(o.Contenders, db.Contender{Model: name})
	}
	of, err := g.Evaluate(context.Background(), o)
	must(t, err)
	best := of.Results[0].MRR
	for _, r := range of.Results[1:] {
		t.Logf("%s: %.4f, the default %.4f", r.Name, r.MRR, best)
		if r.MRR > 1.03*best {
			t.Errorf("%s: %.4f, the default %.4f", r.Name, r.MRR, best)
		}
	}
}

// circles makes a graph of 600 people, each in some of 100 circles of varying density, with a few
// random acquaintances.
func circles(t *testing.T, g *db.DB) {
	t.Helper()
	const people, all, size = 600, 100, 14
	rng := rand.New(rand.NewPCG(3, 3))
	update(t, g, func(tx *db.Tx) error {
		for range all {
			members, close := rng.Perm(people)[:size], 0.2+0.6*rng.Float64()
			for i, u := range members {
				for _, v := range members[:i] {
					if rng.Float64() < close {
						must(t, tx.PutEdge(u, v))
					}
				}
			}
		}
		for range people {
			must(t, tx.PutEdge(rng.IntN(people), rng.IntN(people)))
		}
		return nil
	})
}
