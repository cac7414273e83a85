package ppr

import (
	"iter"
	"testing"
)

// inRuns is a graph that provides its rows in runs of at most length rows.
type inRuns struct {
	*csr
	length int
}

func (g inRuns) Runs(in bool) iter.Seq2[ID, Run] {
	f := &g.out
	if in {
		f = &g.in
	}
	return func(yield func(ID, Run) bool) {
		for u := 0; u < g.NumNodes(); u += g.length {
			end := min(u+g.length, g.NumNodes())
			if !yield(ID(u), Run{f.start[u : end+1], f.to, f.weight}) {
				return
			}
		}
	}
}

// TestRuns verifies that a state does not depend, to the bit, on how a graph stores its rows.
func TestRuns(t *testing.T) {
	t.Parallel()
	for _, directed := range []bool{false, true} {
		for _, form := range []Form{Column, Row} {
			g := community(600, directed, 9).snapshot()
			solve := func(g Graph) *State {
				st, err := NewSolver().Solve(t.Context(), g, form, 0.85, source(3), Target{MaxNorm, 1e-9})
				if err != nil {
					t.Fatal(err)
				}
				return st
			}
			want := solve(g)
			for _, length := range []int{1, 7, 600} {
				if !same(solve(inRuns{g, length}), want) {
					t.Errorf("directed %v, %v: another state with runs of %d", directed, form, length)
				}
			}
		}
	}
}

// TestFlatten flattens rows of which only some have weights.
func TestFlatten(t *testing.T) {
	t.Parallel()
	g := fromEdges(300, true, [][2]ID{{0, 5}, {1, 7}, {1, 8}, {3, 299}}).withEdits([]Change{{1, 9, 0, 0.5}, {4, 2, 0, 3}})
	for _, in := range []bool{false, true} {
		row, all := g.Out, flatten(g, in)
		if in {
			row = g.In
		}
		for u := range ID(300) {
			to, weight := row(u)
			lo, hi := all.Start[u], all.Start[u+1]
			if len(to) != int(hi-lo) {
				t.Fatalf("row of %d has %d entries, want %d", u, hi-lo, len(to))
			}
			for i := range to {
				w := float32(1)
				if weight != nil {
					w = weight[i]
				}
				if k := int(lo) + i; all.To[k] != to[i] || all.Weight[k] != w {
					t.Errorf("%d: %d with %v, want %d with %v", u, all.To[k], all.Weight[k], to[i], w)
				}
			}
		}
	}
}
