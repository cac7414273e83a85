package column

import (
	"testing"

	"kith/model/internal/graph"
)

// fans is a directed graph. Each node has MaxCompared edges from nodes of its own.
type fans struct {
	graph.Graph
	nodes int
}

func (g fans) Directed() bool { return true }

func (g fans) NumNodes() int { return g.nodes }

func (g fans) Out(graph.ID) ([]graph.ID, []float32) { return nil, nil }

func (g fans) In(u graph.ID) ([]graph.ID, []float32) {
	near := make([]graph.ID, MaxCompared)
	for i := range near {
		near[i] = (u*MaxCompared + graph.ID(i)) % graph.ID(g.nodes)
	}
	return near, nil
}

// The memory that the pairs of one source take does not grow with their number.
func TestSimilarityForgets(t *testing.T) {
	t.Parallel()
	g := fans{nodes: 3 * maxKnown}
	vector := []float32{1}
	var f Features
	f.Open(graph.World{Graph: g, Features: func(graph.ID) []float32 { return vector }})
	var s Similarity
	s.Read(&f, 0)
	for u := range graph.ID(g.nodes / MaxCompared) {
		var x [SimilarityLen]float32
		s.Columns(u, x[:])
		if x[SimNearestIn] != 1 {
			t.Fatalf("node %d: %v", u, x)
		}
		if len(s.known.known) > maxKnown || len(f.known) > maxKnown {
			t.Fatalf("after node %d: %d cosines and %d vectors are held, want at most %d", u, len(s.known.known), len(f.known), maxKnown)
		}
	}
}
