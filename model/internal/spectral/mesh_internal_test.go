package spectral

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/nn"
)

// mesh is a small graph in memory.
type mesh struct {
	directed bool
	out, in  [][]ID
}

func newMesh(n int, directed bool, edges ...[2]ID) *mesh {
	g := &mesh{directed: directed, out: make([][]ID, n), in: make([][]ID, n)}
	for _, e := range edges {
		g.add(e[0], e[1])
	}
	return g
}

func (g *mesh) add(u, v ID) {
	insert := func(row []ID, v ID) []ID {
		at, found := slices.BinarySearch(row, v)
		if found {
			return row
		}
		return slices.Insert(row, at, v)
	}
	g.out[u], g.in[v] = insert(g.out[u], v), insert(g.in[v], u)
	if !g.directed {
		g.out[v], g.in[u] = insert(g.out[v], u), insert(g.in[u], v)
	}
}

// without returns the graph without the hidden edges.
func (g *mesh) without(hidden [][2]ID) *mesh {
	c := newMesh(len(g.out), g.directed)
	for u, row := range g.out {
		for _, v := range row {
			e := [2]ID{ID(u), v}
			back := [2]ID{v, ID(u)}
			if !slices.Contains(hidden, e) && (g.directed || !slices.Contains(hidden, back)) {
				c.add(ID(u), v)
			}
		}
	}
	return c
}

func (g *mesh) NumNodes() int                    { return len(g.out) }
func (g *mesh) Directed() bool                   { return g.directed }
func (g *mesh) Degree(u ID) float64              { return float64(len(g.out[u])) }
func (g *mesh) Out(u ID) ([]ID, []float32)       { return g.out[u], nil }
func (g *mesh) In(u ID) ([]ID, []float32)        { return g.in[u], nil }
func (g *mesh) world(f func(ID) []float32) World { return World{Graph: g, Features: f} }

// twoGroups is a graph with two groups whose links stay inside the groups.
func twoGroups(directed bool) *mesh {
	rng := rand.New(rand.NewPCG(3, 3))
	g := newMesh(40, directed)
	for range 300 {
		u := ID(rng.IntN(40))
		g.add(u, ID(rng.IntN(20))+20*(u/20))
	}
	return g
}

// groups is twoGroups with words that indicate the group of a node more often than not.
func groups() (*mesh, func(ID) []float32) {
	rng := rand.New(rand.NewPCG(4, 4))
	features := make([][]float32, 40)
	for u := range features {
		features[u] = make([]float32, 12)
		for range 5 {
			features[u][rng.IntN(8)+4*(u/20)] = 1
		}
	}
	return twoGroups(false), func(u ID) []float32 { return features[u] }
}

// eachEdge calls f for every edge of an undirected graph except loops.
func eachEdge(g *mesh, f func(u, v ID)) {
	for u, row := range g.out {
		for _, v := range row {
			if ID(u) < v {
				f(ID(u), v)
			}
		}
	}
}

// featuresOf reads feature vectors of a length.
func featuresOf(length int) Features {
	return Features{Len: length, Read: func(w World, u ID, to []float32) error {
		f := w.Features(u)
		if len(f) > len(to) {
			return fmt.Errorf("node %d has %d features, want %d", u, len(f), len(to))
		}
		clear(to[copy(to, f):])
		return nil
	}}
}

// pairsOf returns the pairs of a source.
func pairsOf(source ID, targets []ID) (pairs []Pair) {
	for _, v := range targets {
		pairs = append(pairs, Pair{Source: source, Target: v})
	}
	return pairs
}

// randomRows returns a matrix of random numbers.
func randomRows(rng *rand.Rand, n, cols int) blas32.General {
	x := nn.Resize(blas32.General{}, n, cols)
	for i := range x.Data {
		x.Data[i] = float32(rng.NormFloat64())
	}
	return x
}
