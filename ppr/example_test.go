package ppr_test

import (
	"context"
	"fmt"
	"slices"

	"kith/ppr"
)

// friends is an undirected, unweighted graph.
type friends [][]ppr.ID

func (g friends) NumNodes() int                      { return len(g) }
func (g friends) Directed() bool                     { return false }
func (g friends) Weighted() bool                     { return false }
func (g friends) Arcs() int                          { return len(slices.Concat(g...)) }
func (g friends) Degree(u ppr.ID) float64            { return float64(len(g[u])) }
func (g friends) Out(u ppr.ID) ([]ppr.ID, []float32) { return g[u], nil }
func (g friends) In(u ppr.ID) ([]ppr.ID, []float32)  { return g[u], nil }

// A state is solved once and repaired when an edge arrives.
func Example() {
	ctx, sv := context.Background(), ppr.NewSolver()
	target := ppr.Target{Norm: ppr.MaxNorm, Eps: 1e-6}
	from0 := ppr.Vector{Node: []ppr.ID{0}, Value: []float64{1}}

	before := friends{{1}, {0, 2}, {1, 3}, {2}}
	st, err := sv.Solve(ctx, before, ppr.Row, 0.85, from0, target)
	if err != nil {
		panic(err)
	}
	v, bound := st.Value(before, 3)
	fmt.Printf("before: %.4f, certain to 1e-6: %v\n", v, bound <= 1e-6)

	after := friends{{1, 3}, {0, 2}, {1, 3}, {0, 2}} // 0 and 3 have met
	st, _, err = sv.CatchUp(ctx, after, st, ppr.NewChangeSet([]ppr.Change{{U: 0, V: 3, Old: 0, New: 1}}), ppr.Vector{}, target)
	if err != nil {
		panic(err)
	}
	v, bound = st.Value(after, 3)
	fmt.Printf("after: %.4f, certain to 1e-6: %v\n", v, bound <= 1e-6)
	// Output:
	// before: 0.1013, certain to 1e-6: true
	// after: 0.2297, certain to 1e-6: true
}
