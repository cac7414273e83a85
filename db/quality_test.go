package db_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
	"kith/model/metric"
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
		{"snap/CA-GrQc.txt", db.Undirected, false},
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
	h := db.HoldoutOptions{Share: 0.1, Sample: size(0, 150, 300), Seed: 5, Among: []db.Candidates{db.Neighbors(2)}}
	view(t, g, func(tx *db.Tx) error {
		set, err := tx.Holdout(context.Background(), h)
		must(t, err)
		own := reciprocalRank(t, set, db.Contender{Spec: &db.ModelSpec{}, Plan: model.EdgePlan{Samples: size(0, 500, 3000)}})
		for _, name := range []string{"common_neighbors", "adamic_adar", "resource_allocation", "preferential_attachment", "ppr"} {
			other := reciprocalRank(t, set, db.Contender{Model: name})
			t.Logf("%s: %.4f, the default %.4f", name, other, own)
			if other > 1.03*own {
				t.Errorf("%s: %.4f, the default %.4f", name, other, own)
			}
		}
		return nil
	})
}

// reciprocalRank returns the mean over all hidden links. A link that is not among the candidates
// counts as 0.
func reciprocalRank(t *testing.T, set *db.Holdout, c db.Contender) float64 {
	t.Helper()
	_, all := answersOf(t, set, c)
	sum, links := 0.0, 0
	for _, out := range all {
		if len(out.Found) > 0 {
			sum += float64(len(out.Found)) * metric.MRR(out.Found, out.Others)
		}
		links += len(out.Hidden)
	}
	return sum / float64(links)
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
