package main

import (
	"math"
	"slices"

	"kith/cmd/prbench/gnn/internal/grad"
	"kith/cmd/prbench/internal/trial"
)

// pair is two nodes.
type pair = [2]trial.ID

// graph is an undirected graph without loops. The neighbors of a node are sorted and distinct.
type graph struct{ near [][]int32 }

func newGraph(nodes int, edges []pair) *graph {
	g := &graph{make([][]int32, nodes)}
	for _, e := range edges {
		if e[0] != e[1] {
			g.near[e[0]] = append(g.near[e[0]], int32(e[1]))
			g.near[e[1]] = append(g.near[e[1]], int32(e[0]))
		}
	}
	for u, row := range g.near {
		slices.Sort(row)
		g.near[u] = slices.Compact(row)
	}
	return g
}

func (g *graph) has(p pair) bool {
	_, found := slices.BinarySearch(g.near[p[0]], int32(p[1]))
	return found
}

// without returns the graph without some edges. It shares the rows that do not change.
func (g *graph) without(edges []pair) *graph {
	less := &graph{slices.Clone(g.near)}
	remove := func(u, v trial.ID) {
		row := less.near[u]
		if i, found := slices.BinarySearch(row, int32(v)); found {
			less.near[u] = slices.Concat(row[:i], row[i+1:])
		}
	}
	for _, e := range edges {
		remove(e[0], e[1])
		remove(e[1], e[0])
	}
	return less
}

// symmetric returns D^-1/2 (A + I) D^-1/2, where D holds the degrees of A + I (Kipf and Welling,
// 2017).
func (g *graph) symmetric() *grad.CSR {
	scale := make([]float32, len(g.near))
	for u, row := range g.near {
		scale[u] = float32(1 / math.Sqrt(float64(len(row)+1)))
	}
	s := &grad.CSR{Cols: len(g.near)}
	for u, row := range g.near {
		val := make([]float32, len(row)+1)
		for i, v := range row {
			val[i] = scale[u] * scale[v]
		}
		val[len(row)] = scale[u] * scale[u]
		s.Append(slices.Concat(row, []int32{int32(u)}), val)
	}
	return s
}

// mean returns D^-1 A.
func (g *graph) mean() *grad.CSR {
	s := &grad.CSR{Cols: len(g.near)}
	for _, row := range g.near {
		s.Append(row, slices.Repeat([]float32{1 / float32(max(len(row), 1))}, len(row)))
	}
	return s
}

// common returns the neighbors that u and v share, and the neighbors of each alone, without u and v
// themselves.
func (g *graph) common(p pair) (both, onlyU, onlyV []int32) {
	a, b := g.near[p[0]], g.near[p[1]]
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			if a[0] != int32(p[1]) {
				onlyU = append(onlyU, a[0])
			}
			a = a[1:]
		case len(a) == 0 || b[0] < a[0]:
			if b[0] != int32(p[0]) {
				onlyV = append(onlyV, b[0])
			}
			b = b[1:]
		default:
			both = append(both, a[0])
			a, b = a[1:], b[1:]
		}
	}
	return both, onlyU, onlyV
}

// distances finds how far nodes are from a node, up to a limit. It is reused to save memory.
type distances struct {
	far     []int8 // 0 means not reached; otherwise the distance plus 1
	reached []int32
}

// walk computes the distances from u. It does not use the edge between u and skip.
func (d *distances) walk(g *graph, u, skip int32, limit int) {
	if d.far == nil {
		d.far = make([]int8, len(g.near))
	}
	for _, v := range d.reached {
		d.far[v] = 0
	}
	d.reached = append(d.reached[:0], u)
	d.far[u] = 1
	for at := 0; at < len(d.reached); at++ {
		v := d.reached[at]
		if int(d.far[v]) > limit {
			break
		}
		for _, w := range g.near[v] {
			if d.far[w] == 0 && !(v == u && w == skip) {
				d.far[w] = d.far[v] + 1
				d.reached = append(d.reached, w)
			}
		}
	}
}
