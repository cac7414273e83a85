package trial

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"kith/model"
	"kith/ppr"
)

// RepairingWalker is a Walker that keeps the solution of each kind of walk, and repairs it for the
// edges that were added and the start values that have moved since, instead of solving from
// scratch: the evolving PageRank that the PRB paper refers to (Li, Fu and He, WWW 2023). The error
// is certified as for a Walker, so two rankings differ only where the bounds of the values overlap.
// Walks along the edges as they were added (OneWay) are solved from scratch.
type RepairingWalker struct {
	*Walker
	tracked map[model.Walk]*tracked
	repair  *ppr.Solver
}

// tracked is the last solution of a walk.
type tracked struct {
	state *ppr.State
	since int // number of edges of the graph that the state was brought up to
	start ppr.Vector
}

// NewRepairingWalker returns a walker on g with maximum error eps.
func NewRepairingWalker(g *Graph, eps float64) *RepairingWalker {
	return &RepairingWalker{Walker: NewWalker(g, eps), tracked: make(map[model.Walk]*tracked), repair: ppr.NewSolver()}
}

// Propagate solves for h, from the last solution of the same walk if there is one.
func (w *RepairingWalker) Propagate(ctx context.Context, walk model.Walk, h model.Start, at []ID) (v, bound []float64, err error) {
	if w.OneWay {
		return w.Walker.Propagate(ctx, walk, h, at)
	}
	form, target := ppr.Row, ppr.Target{Norm: ppr.MaxNorm, Eps: w.eps}
	if walk.Column {
		form = ppr.Column
	}
	start := ppr.Vector{Node: slices.Clone(h.Node), Value: slices.Clone(h.Value)}
	t := w.tracked[walk]
	if t == nil {
		t = &tracked{}
		t.state, err = w.repair.Solve(ctx, w.graph, form, walk.Alpha, start, target)
	} else {
		changes := ppr.NewChangeSet(w.graph.added[t.since:])
		t.state, _, err = w.repair.CatchUp(ctx, w.graph, t.state, changes, difference(start, t.start), target)
	}
	if err != nil {
		delete(w.tracked, walk)
		return nil, nil, fmt.Errorf("trial: walk: %w", err)
	}
	t.since, t.start = len(w.graph.added), start
	w.tracked[walk] = t
	v, bound = t.state.Values(w.graph, at)
	return v, bound, nil
}

// difference returns a - b, whose nodes ascend.
func difference(a, b ppr.Vector) (d ppr.Vector) {
	for i, j := 0, 0; i < len(a.Node) || j < len(b.Node); {
		order := -1
		switch {
		case i == len(a.Node):
			order = 1
		case j < len(b.Node):
			order = cmp.Compare(a.Node[i], b.Node[j])
		}
		u, value := ID(0), 0.0
		if order <= 0 {
			u, value = a.Node[i], a.Value[i]
			i++
		}
		if order >= 0 {
			u, value = b.Node[j], value-b.Value[j]
			j++
		}
		if value != 0 {
			d.Node, d.Value = append(d.Node, u), append(d.Value, value)
		}
	}
	return d
}
