package trial_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"kith/model"
	"kith/model/trial"
)

// A walker sees every edge as it comes, at nodes that were alone before and at those that are.
func TestWalkerFollowsTheGraph(t *testing.T) {
	ctx, rng := context.Background(), rand.New(rand.NewPCG(3, 1))
	g := trial.NewGraph(20)
	w := trial.NewWalker(g, 1e-9)
	all := make([]trial.ID, 20)
	for i := range all {
		all[i] = trial.ID(i)
	}
	for range 30 {
		source := trial.ID(rng.IntN(20))
		h := model.Start{Node: []trial.ID{source}, Value: []float64{1}}
		for _, column := range []bool{true, false} {
			want := iterate(g, column, source)
			v, bound, err := w.Propagate(ctx, model.Walk{Alpha: 0.85, Column: column}, h, all)
			if err != nil {
				t.Fatal(err)
			}
			for u := range v {
				if math.Abs(v[u]-want[u]) > bound[u]+1e-12 {
					t.Fatalf("column %v, source %d, node %d: %v, want %v within %v", column, source, u, v[u], want[u], bound[u])
				}
			}
		}
		to, _, err := w.Proximity(ctx, 0.85, source, all)
		if err != nil {
			t.Fatal(err)
		}
		for u, want := range iterate(g, true, source) {
			if math.Abs(to[u]-want) > 1e-6 {
				t.Fatalf("source %d, node %d: %v, want %v", source, u, to[u], want)
			}
		}
		g.Add(trial.ID(rng.IntN(15)), trial.ID(rng.IntN(15)))
	}
}
