package spectral

import (
	"fmt"

	"kith/model/internal/graphtest"
)

type mesh = graphtest.Mesh

func worldOf(g Graph, f func(ID) []float32) World { return World{Graph: g, Features: f} }

// eachEdge calls f for every edge of an undirected graph except loops.
func eachEdge(g *mesh, f func(u, v ID)) {
	for u, row := range g.Succ {
		for _, v := range row {
			if ID(u) < v {
				f(ID(u), v)
			}
		}
	}
}

// featuresOf reads feature vectors of a length.
func featuresOf(length int) Features {
	return Features{Len: length, Fits: func(u ID, f []float32) error {
		if len(f) > length {
			return fmt.Errorf("node %d has %d features, want %d", u, len(f), length)
		}
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
