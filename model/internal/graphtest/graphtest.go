// Package graphtest has small graphs in memory for tests.
package graphtest

import (
	"math/rand/v2"
	"slices"

	"kith/model/internal/graph"
)

// Mesh is a graph in memory. The zero value has no nodes.
type Mesh struct {
	IsDirected bool
	Succ, Pred [][]graph.ID // successors and predecessors of each node, ascending
}

// New returns a graph with n nodes.
func New(n int, directed bool, edges ...[2]graph.ID) *Mesh {
	g := &Mesh{IsDirected: directed, Succ: make([][]graph.ID, n), Pred: make([][]graph.ID, n)}
	for _, e := range edges {
		g.Add(e[0], e[1])
	}
	return g
}

// Add adds an edge, unless it exists.
func (g *Mesh) Add(u, v graph.ID) {
	insert := func(row []graph.ID, v graph.ID) []graph.ID {
		at, found := slices.BinarySearch(row, v)
		if found {
			return row
		}
		return slices.Insert(row, at, v)
	}
	g.Succ[u], g.Pred[v] = insert(g.Succ[u], v), insert(g.Pred[v], u)
	if !g.IsDirected {
		g.Succ[v], g.Pred[u] = insert(g.Succ[v], u), insert(g.Pred[u], v)
	}
}

// Without returns the graph without the hidden edges.
func (g *Mesh) Without(hidden [][2]graph.ID) *Mesh {
	c := New(len(g.Succ), g.IsDirected)
	for u, row := range g.Succ {
		for _, v := range row {
			e := [2]graph.ID{graph.ID(u), v}
			back := [2]graph.ID{v, graph.ID(u)}
			if !slices.Contains(hidden, e) && (g.IsDirected || !slices.Contains(hidden, back)) {
				c.Add(graph.ID(u), v)
			}
		}
	}
	return c
}

// NumNodes implements graph.Graph, as the methods below do.
func (g *Mesh) NumNodes() int                          { return len(g.Succ) }
func (g *Mesh) Directed() bool                         { return g.IsDirected }
func (g *Mesh) Degree(u graph.ID) float64              { return float64(len(g.Succ[u])) }
func (g *Mesh) Out(u graph.ID) ([]graph.ID, []float32) { return g.Succ[u], nil }
func (g *Mesh) In(u graph.ID) ([]graph.ID, []float32)  { return g.Pred[u], nil }

// TwoGroups returns a graph with two groups of 20 nodes whose links stay inside the groups.
func TwoGroups(directed bool) *Mesh {
	rng := rand.New(rand.NewPCG(3, 3))
	g := New(40, directed)
	for range 300 {
		u := graph.ID(rng.IntN(40))
		g.Add(u, graph.ID(rng.IntN(20))+20*(u/20))
	}
	return g
}

// Groups returns TwoGroups with words that indicate the group of a node more often than not.
func Groups() (*Mesh, func(graph.ID) []float32) {
	rng := rand.New(rand.NewPCG(4, 4))
	features := make([][]float32, 40)
	for u := range features {
		features[u] = make([]float32, 12)
		for range 5 {
			features[u][rng.IntN(8)+4*(u/20)] = 1
		}
	}
	return TwoGroups(false), func(u graph.ID) []float32 { return features[u] }
}
