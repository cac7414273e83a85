package ppr

import (
	"iter"
	"slices"
)

// Run is rows of neighbouring nodes that are stored together: the i-th of them is To[Start[i]:Start[i+1]], with the
// weights at the same places, all 1 where Weight is nil.
type Run struct {
	Start  []uint32
	To     []ID
	Weight []float32
}

// runsOf returns the Out rows of g, or its In rows, of all nodes in order, each run with its first node. A [Graph] that
// has a method Runs(in bool) iter.Seq2[ID, Run], which does that, spares sweeps a copy of its rows.
func runsOf(g Graph, in bool) iter.Seq2[ID, Run] {
	if g, ok := g.(interface {
		Runs(in bool) iter.Seq2[ID, Run]
	}); ok {
		return g.Runs(in)
	}
	run := flatten(g, in)
	return func(yield func(ID, Run) bool) { yield(0, run) }
}

// flatten copies all rows of a graph.
func flatten(g Graph, in bool) Run {
	row := g.Out
	if in {
		row = g.In
	}
	all := Run{Start: make([]uint32, 1, g.NumNodes()+1)}
	for u := range ID(g.NumNodes()) {
		to, weight := row(u)
		if weight != nil || all.Weight != nil {
			all.addWeights(len(to), weight)
		}
		all.To = append(all.To, to...)
		all.Start = append(all.Start, uint32(len(all.To)))
	}
	return all
}

// addWeights appends the weights of a row that is about to follow, nil for ones.
func (r *Run) addWeights(n int, weight []float32) {
	r.Weight = append(r.Weight, slices.Repeat([]float32{1}, len(r.To)+n-len(r.Weight))...)
	copy(r.Weight[len(r.To):], weight)
}
