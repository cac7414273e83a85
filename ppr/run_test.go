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

// counted is a graph that must not be surveyed.
type counted struct {
	*csr
	t *testing.T
}

func (g counted) Survey() *Survey {
	g.t.Error("a solve makes a survey")
	return NewSurvey(g.csr)
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
			if !same(solve(counted{g, t}), want) {
				t.Errorf("directed %v, %v: another state without a survey", directed, form)
			}
			if !same(solve(struct{ Graph }{g}), want) {
				t.Errorf("directed %v, %v: another state without runs", directed, form)
			}
			for _, length := range []int{1, 7, 600} {
				if !same(solve(inRuns{g, length}), want) {
					t.Errorf("directed %v, %v: another state with runs of %d", directed, form, length)
				}
			}
		}
	}
}
