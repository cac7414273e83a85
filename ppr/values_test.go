package ppr

import (
	"context"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestValues verifies that values read without a state equal those read from one, to the bit.
func TestValues(t *testing.T) {
	t.Parallel()
	explore(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 14).Draw(rt, "n")
		s := stream{t: rt, a: newAdjacency(n, rapid.Bool().Draw(rt, "directed"))}
		for range rapid.IntRange(0, 3*n).Draw(rt, "edges") {
			s.edit()
		}
		g, form := s.a.snapshot(), rapid.SampledFrom([]Form{Column, Row}).Draw(rt, "form")
		compareValues(rt, g, form, s.vector(n), s.target(g, form))
	})
}

// TestValuesOfSweeps does the same on a graph that is large enough for sweeps.
func TestValuesOfSweeps(t *testing.T) {
	t.Parallel()
	for _, directed := range []bool{false, true} {
		g := community(400, directed, 3).snapshot()
		h := Vector{[]ID{0, 9, 30, 200}, []float64{1, -0.5, 0, -1.5}}
		for _, form := range []Form{Column, Row} {
			for _, eps := range []float64{1e-3, 1e-7} {
				compareValues(t, g, form, h, Target{MaxNorm, eps})
			}
		}
	}
}

func compareValues(t rapid.TB, g *csr, form Form, h Vector, target Target) {
	sv := NewSolver()
	st, err := sv.Solve(context.Background(), g, form, 0.85, h, target)
	if err != nil {
		t.Fatal(err)
	}
	at := []ID{ID(g.NumNodes() - 1)} // in any order
	for u := range ID(g.NumNodes()) {
		at = append(at, u)
	}
	v, bound, err := sv.Values(context.Background(), g, form, 0.85, h, target, at)
	if err != nil {
		t.Fatal(err)
	}
	for i, j := range at {
		want, certified := st.Value(g, j)
		if v[i] != want || bound[i] != certified {
			t.Fatalf("node %d: %v ± %v, want %v ± %v", j, v[i], bound[i], want, certified)
		}
	}
	if same, err := sv.Estimates(context.Background(), g, form, 0.85, h, target, at); err != nil || !slices.Equal(same, v) {
		t.Errorf("without bounds: %v, %v, want %v", same, err, v)
	}
	compareEstimates(t, g, st)
}

// compareEstimates compares the estimates of many and of few nodes, in any order, with the values.
func compareEstimates(t rapid.TB, g Graph, st *State) {
	var all, odd []ID
	for u := range ID(g.NumNodes()) {
		if all = append(all, u); u%2 == 1 {
			odd = append(odd, u)
		}
	}
	repeated := slices.Concat(all, odd)
	for _, at := range [][]ID{nil, all, odd, all[:1], repeated, slices.Sorted(slices.Values(repeated))} {
		for i, v := range st.Estimates(g, at) {
			if want, _ := st.Value(g, at[i]); v != want {
				t.Errorf("estimate of node %d of %v is %v, want %v", at[i], at, v, want)
			}
		}
	}
}

func TestValuesInput(t *testing.T) {
	t.Parallel()
	g, sv := community(30, true, 1).snapshot(), NewSolver()
	if _, _, err := sv.Values(t.Context(), g, Row, 0.85, source(3), Target{L1, 1}, nil); !errors.Is(err, ErrNorm) {
		t.Errorf("%v, want ErrNorm", err)
	}
	if _, _, err := sv.Values(t.Context(), g, Column, 0.85, source(30), Target{MaxNorm, 1e-3}, nil); !errors.Is(err, ErrNode) {
		t.Errorf("%v, want ErrNode", err)
	}
	v, _, err := sv.Values(t.Context(), g, Column, 0.85, source(3), Target{MaxNorm, 1e-40}, []ID{3})
	if len(v) != 1 || err != nil && !errors.Is(err, ErrPrecision) {
		t.Errorf("below what float64 holds: %v, %v", v, err)
	}
}
