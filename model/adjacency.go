package model

import "slices"

// adjacency holds the neighbours of every node in ascending order, without the node itself. Each edge counts in both
// directions; weights are ignored.
type adjacency [][]ID

func adjacencyOf(g Graph) adjacency {
	a := make(adjacency, g.NumNodes())
	for u := range a {
		out, _ := g.Out(ID(u))
		row := slices.Clone(out)
		if g.Directed() {
			in, _ := g.In(ID(u))
			row = append(row, in...)
			slices.Sort(row)
			row = slices.Compact(row)
		}
		a[u] = slices.DeleteFunc(row, func(v ID) bool { return v == ID(u) })
	}
	return a
}
