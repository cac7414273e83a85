package ppr

import "iter"

// Run holds the rows of consecutive nodes that are stored together. The i-th row is To[Start[i]:Start[i+1]], with
// its weights at the same indexes of Weight. A nil Weight means that all weights are 1.
type Run struct {
	Start  []uint32
	To     []ID
	Weight []float32
}

// runsOf returns the Out rows of g, or its In rows, of all nodes in order, as runs with their first nodes. A
// [Graph] with the method Runs(in bool) iter.Seq2[ID, Run] provides longer runs than one row, which makes sweeps up to
// three times as fast.
func runsOf(g Graph, in bool) iter.Seq2[ID, Run] {
	if g, ok := g.(interface {
		Runs(in bool) iter.Seq2[ID, Run]
	}); ok {
		return g.Runs(in)
	}
	row := g.Out
	if in {
		row = g.In
	}
	return func(yield func(ID, Run) bool) {
		for u := range ID(g.NumNodes()) {
			to, weight := row(u)
			if !yield(u, Run{[]uint32{0, uint32(len(to))}, to, weight}) {
				return
			}
		}
	}
}
