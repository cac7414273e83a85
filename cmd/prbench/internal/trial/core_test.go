package trial_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"kith/cmd/prbench/internal/trial"
	"kith/model"
)

// With OneWay, edges lead only from the source that they were added with. The mass at a candidate
// without outgoing edges stays there.
func TestWalkOneWay(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := trial.NewGraph(6)
	for _, e := range [][2]trial.ID{{0, 3}, {0, 4}, {1, 4}, {4, 2}} {
		g.Add(e[0], e[1])
	}
	w := trial.NewWalker(g, 1e-9)
	w.OneWay = true
	h := model.Start{Node: []trial.ID{0, 3, 5}, Value: []float64{1, 2, 4}}
	all := []trial.ID{0, 1, 2, 3, 4, 5}
	v, bound, err := w.Propagate(ctx, model.Walk{Alpha: 0.5, Column: true}, h, all)
	if err != nil {
		t.Fatal(err)
	}
	// 0 passes an eighth to 3 and to 4, and 4 passes half of its value to 2. Nothing reaches 1 and
	// 5.
	for u, want := range []float64{0.5, 0, 0.0625, 1.125, 0.125, 2} {
		if math.Abs(v[u]-want) > bound[u]+1e-12 || bound[u] > 1e-8 {
			t.Errorf("node %d: %v, want %v within %v", u, v[u], want, bound[u])
		}
	}
}

// A walker follows every added edge, at nodes with and without earlier edges.
func TestWalkerFollowsTheGraph(t *testing.T) {
	t.Parallel()
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

// A repairing walker has the values of a walker that solves from scratch, within the bounds of
// both, whatever edges are added and however the start values move. They may be negative.
func TestRepairingWalker(t *testing.T) {
	t.Parallel()
	ctx, rng := context.Background(), rand.New(rand.NewPCG(5, 1))
	g := trial.NewGraph(40)
	solve, repair := trial.NewWalker(g, 1e-7), trial.NewRepairingWalker(g, 1e-7)
	for round := range 300 {
		var h model.Start
		for u := range trial.ID(40) {
			if rng.IntN(3) == 0 {
				h.Node, h.Value = append(h.Node, u), append(h.Value, rng.NormFloat64())
			}
		}
		for _, walk := range []model.Walk{{Alpha: 0.85}, {Alpha: 0.85, Column: true}, {Alpha: 0.3}} {
			want, wide, err := solve.Propagate(ctx, walk, h, h.Node)
			if err != nil {
				t.Fatal(err)
			}
			v, bound, err := repair.Propagate(ctx, walk, h, h.Node)
			if err != nil {
				t.Fatal(err)
			}
			for i, u := range h.Node {
				if bound[i] > 1.001e-7*max(g.Degree(u), 1) || math.Abs(v[i]-want[i]) > bound[i]+wide[i]+1e-12 {
					t.Fatalf("round %d, %+v, node %d: %v ± %v, want %v ± %v", round, walk, u, v[i], bound[i], want[i], wide[i])
				}
			}
		}
		for range rng.IntN(4) {
			g.Add(trial.ID(rng.IntN(40)), trial.ID(rng.IntN(40)))
		}
	}
}

// With repaired walks a run makes the choices that it makes with solved ones.
func TestRepairedRunIsTheSame(t *testing.T) {
	t.Parallel()
	d := communities(t, 6)
	run := trial.Trial{Data: d, Protocol: trial.Paper(), Rounds: 300}
	spec := model.Spec{Policy: "prb", Preset: "paper", FeatureLen: 6}
	r, err := run.Play(context.Background(), []trial.Entrant{trial.NewEntrant(d, spec), trial.Entry{Spec: spec, Repaired: true}.Entrant(d)}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.Curves[0].Regret, r.Curves[1].Regret) {
		t.Errorf("regret %d with repaired walks, %d with solved ones", r.Curves[1].Final(), r.Curves[0].Final())
	}
}
