package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"kith/db"
)

// madeGraph is a graph made by a rule: what the rules of public graphs have in common is learned better beside rules that
// stand alone.
type madeGraph struct {
	name     string
	directed bool
	edges    func(rng *rand.Rand, edge func(u, v int))
}

// madeLen is the number of nodes of a made graph.
const madeLen = 4000

func madeGraphs() []madeGraph {
	return []madeGraph{
		{"copies", true, madeOfCopies},
		{"popularity", true, madeOfPopularity},
		{"distance", false, madeOfDistance},
		{"groups", false, madeOfGroups},
		{"pieces", false, madeOfPieces},
		{"steps", false, madeOfSteps},
	}
}

// load makes a database in memory of the graph.
func (g madeGraph) load(ctx context.Context, seed uint64) (*db.DB, error) {
	return loadEdges(ctx, g.directed, func(edge func(u, v int)) { g.edges(rand.New(rand.NewPCG(seed, 17)), edge) })
}

// loadEdges makes a database in memory of edges.
func loadEdges(ctx context.Context, directed bool, edges func(edge func(u, v int))) (*db.DB, error) {
	o := db.Options{InMemory: true}
	if directed {
		o.Direction = db.Directed
	}
	store, err := db.Open("", &o)
	if err != nil {
		return nil, err
	}
	var list strings.Builder
	edges(func(u, v int) { fmt.Fprintln(&list, u, v) })
	if _, err := store.Load(ctx, strings.NewReader(list.String()), db.LoadOptions{}); err != nil {
		store.Close() // the error of the load tells more
		return nil, err
	}
	return store, nil
}

// madeOfCopies has each node link to an earlier one, to some of those that this one links to, and to three at random
// (Kleinberg et al., The Web as a graph, 1999).
func madeOfCopies(rng *rand.Rand, edge func(u, v int)) {
	out := make([][]int, madeLen)
	for u := 5; u < madeLen; u++ {
		model := rng.IntN(u)
		to := []int{model}
		for _, v := range out[model] {
			if rng.Float64() < 0.6 {
				to = append(to, v)
			}
		}
		for range 3 {
			to = append(to, rng.IntN(u))
		}
		slices.Sort(to)
		out[u] = slices.Compact(to)
		for _, v := range out[u] {
			edge(u, v)
		}
	}
}

// madeOfPopularity has nodes link to earlier ones by how often these are linked to already, to those of their own tenth more
// often (Barabási and Albert, Science 286, 1999).
func madeOfPopularity(rng *rand.Rand, edge func(u, v int)) {
	urn := []int{0, 1, 2} // nodes, each as often as it is popular
	for u := 3; u < madeLen; u++ {
		for range 1 + rng.IntN(20) {
			v := urn[rng.IntN(len(urn))]
			if rng.Float64() < 0.3 || v%10 == u%10 {
				edge(u, v)
				urn = append(urn, v)
			}
		}
		urn = append(urn, u)
	}
}

// madeOfDistance joins points of a square that are close, and a few others.
func madeOfDistance(rng *rand.Rand, edge func(u, v int)) {
	x, y := make([]float64, madeLen), make([]float64, madeLen)
	for u := range madeLen {
		x[u], y[u] = rng.Float64(), rng.Float64()
		for v := range u {
			dx, dy := x[u]-x[v], y[u]-y[v]
			if dx*dx+dy*dy < 0.0009 && rng.Float64() < 0.8 || rng.Float64() < 3e-4 {
				edge(u, v)
			}
		}
	}
}

// madeOfGroups joins members of a group by their degrees; a node is in two groups (a stochastic block model with degrees:
// Karrer and Newman, Phys. Rev. E 83, 2011).
func madeOfGroups(rng *rand.Rand, edge func(u, v int)) {
	degree := make([]float64, madeLen)
	for u := range madeLen {
		degree[u] = 0.3 / (0.05 + rng.Float64())
		for v := range u {
			p := 4e-4
			if u%60 == v%60 {
				p += 0.12
			}
			if u%37 == v%37 {
				p += 0.05
			}
			if rng.Float64() < p*degree[u]*degree[v] {
				edge(u, v)
			}
		}
	}
}

// madeOfPieces makes trees of eight nodes, and joins the ends of half of the paths of two edges.
func madeOfPieces(rng *rand.Rand, edge func(u, v int)) {
	const size = 8
	for first := 0; first < madeLen; first += size {
		var parent [size]int
		for i := 1; i < size; i++ {
			parent[i] = rng.IntN(i)
			edge(first+i, first+parent[i])
			for j := 1; j < i; j++ {
				if parent[j] == parent[i] && rng.IntN(2) == 0 {
					edge(first+i, first+j)
				}
			}
			if parent[i] > 0 && rng.IntN(2) == 0 {
				edge(first+i, first+parent[parent[i]])
			}
		}
	}
}

// madeOfSteps joins nodes on a circle to the next one, and some to the one after.
func madeOfSteps(rng *rand.Rand, edge func(u, v int)) {
	for u := range madeLen {
		for step, p := range []float64{1: 0.95, 0.3, 0.05} {
			if rng.Float64() < p {
				edge(u, (u+step)%madeLen)
			}
		}
	}
}
