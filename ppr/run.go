package ppr

import (
	"iter"
	"slices"
)

// Run holds the rows of consecutive nodes that are stored together. The i-th row is To[Start[i]:Start[i+1]], with
// its weights at the same indexes of Weight. A nil Weight means that all weights are 1.
type Run struct {
	Start  []uint32
	To     []ID
	Weight []float32
}

// runsOf returns the Out rows of g, or its In rows, of all nodes in order, as runs with their first nodes. A
// [Graph] with the method Runs(in bool) iter.Seq2[ID, Run] provides the runs itself, so that sweeps need not copy
// its rows.
func runsOf(g Graph, in bool) iter.Seq2[ID, Run] {
	if g, ok := g.(interface {
		Runs(in bool) iter.Seq2[ID, Run]
	}); ok {
		return g.Runs(in)
	}
	run := flatten(g, in)
	return func(yield func(ID, Run) bool) { yield(0, run) }
}

// flatten returns a copy of all Out or In rows of g as one run.
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

// addWeights appends the n weights of the row whose entries are appended to To next. A nil weight means ones.
func (r *Run) addWeights(n int, weight []float32) {
	r.Weight = append(r.Weight, slices.Repeat([]float32{1}, len(r.To)+n-len(r.Weight))...)
	copy(r.Weight[len(r.To):], weight)
}
