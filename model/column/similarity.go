package column

import (
	"math"
	"slices"

	"kith/model/graph"
	"kith/model/nn"
)

// Columns of the similarity block. They compare feature vectors scaled to unit length; a node without a vector has
// similarity 0 to all nodes.
const (
	SimCosine    = iota // cosine of source and target
	SimManhattan        // L1 distance of source and target
	SimEuclid           // L2 distance of source and target
	SimLog              // log of the squared L2 distance plus 1e-3
	SimNearest          // largest cosine between the target and a neighbour of the source
	SimMean             // sum of those cosines, divided by their number plus one
	SimNearestIn        // the same two for the source and the target's neighbours
	SimMeanIn
	SimilarityLen
)

// SimilarityColumns describes the columns of the similarity block.
func SimilarityColumns() []Column {
	return []Column{
		SimCosine: {"cosine", 2, AlikeFeatures}, SimManhattan: {"l1", 1, AlikeFeatures}, SimEuclid: {"l2", 1, AlikeFeatures},
		SimLog: {"log l2", 1, AlikeFeatures}, SimNearest: {"source neighbors largest cosine", 2, AlikeFeatures},
		SimMean: {"source neighbors mean cosine", 2, AlikeFeatures}, SimNearestIn: {"target neighbors largest cosine", 2, AlikeFeatures},
		SimMeanIn: {"target neighbors mean cosine", 2, AlikeFeatures},
	}
}

// MaxCompared limits the neighbours that a node is compared with to those with the lowest ids.
const MaxCompared = 128

// Similarity computes the similarity block of pairs with the same source. Its time for a pair depends on the number of
// nonzero entries of the target's vector, and on the nodes near the target that no earlier pair has met.
type Similarity struct {
	w         graph.World
	source    graph.ID
	own       unit                 // of the source
	l1, l2    float64              // sums of the absolute values and of the squares of own
	neighbors neighborMatrix       // of the source
	known     map[graph.ID]float64 // cosines of the source and other nodes
	at        []int                // nonzero entries of a target
	cosines   []float32            // of a target and the neighbours of the source
}

// Read reads the vectors of a source and its neighbours.
func (s *Similarity) Read(w graph.World, source graph.ID) {
	s.w, s.source, s.own, s.l1, s.l2 = w, source, UnitOf(w, source), 0, 0
	for i := range s.own.v {
		s.l1 += math.Abs(s.own.at(i))
	}
	if s.own.Len() > 0 {
		s.l2 = 1
	}
	clear(s.known)
	s.neighbors.read(w, compared(graph.Out(w.Graph, source)))
}

// Release forgets the vectors, for a scratch that outlives them.
func (s *Similarity) Release() { s.w, s.own, s.neighbors.nodes = graph.World{}, unit{}, nil }

// compared returns the nodes that are compared.
func compared(nodes []graph.ID) []graph.ID { return nodes[:min(len(nodes), MaxCompared)] }

// Columns fills the block of the pair with a target.
func (s *Similarity) Columns(target graph.ID, x []float32) {
	b := UnitOf(s.w, target)
	s.at = s.at[:0]
	cosine, l1, l2 := 0.0, s.l1, s.l2 // of the source and a node without features
	for i, v := range b.v {
		if v == 0 {
			continue
		}
		s.at = append(s.at, i)
		u, v := s.own.at(i), b.at(i)
		cosine += u * v
		l1 += math.Abs(u-v) - math.Abs(u)
		l2 += (u-v)*(u-v) - u*u
	}
	l1, l2 = max(l1, 0), max(l2, 0)
	x[SimCosine], x[SimManhattan], x[SimEuclid] = float32(cosine), float32(l1), float32(math.Sqrt(l2))
	x[SimLog] = float32(math.Log(l2 + 1e-3))
	x[SimNearest], x[SimMean] = s.toNeighbors(b, target)
	x[SimNearestIn], x[SimMeanIn] = s.fromNeighbors(target)
}

// toNeighbors compares a target with the neighbours of the source, except with itself.
func (s *Similarity) toNeighbors(b unit, target graph.ID) (nearest, mean float32) {
	n := len(s.neighbors.nodes)
	s.cosines = slices.Grow(s.cosines[:0], n)[:n]
	clear(s.cosines)
	for _, i := range s.at {
		if row := s.neighbors.entry(i); row != nil {
			nn.Axpy(float32(b.at(i)), row, s.cosines)
		}
	}
	if i, is := slices.BinarySearch(s.neighbors.nodes, target); is {
		s.cosines[i] = 0
	}
	sum := float32(0)
	for _, c := range s.cosines {
		sum, nearest = sum+c, max(nearest, c)
	}
	return nearest, sum / float32(n+1)
}

// fromNeighbors compares the source with the neighbours of a target, except with itself.
func (s *Similarity) fromNeighbors(target graph.ID) (nearest, mean float32) {
	nodes := compared(graph.In(s.w.Graph, target))
	sum, best := 0.0, 0.0
	for _, u := range nodes {
		if u != s.source {
			c := s.cosine(u)
			sum, best = sum+c, max(best, c)
		}
	}
	return float32(best), float32(sum / float64(len(nodes)+1))
}

// cosine returns the cosine of the source and a node.
func (s *Similarity) cosine(u graph.ID) float64 {
	if s.own.Len() == 0 {
		return 0
	}
	c, known := s.known[u]
	if !known {
		c = s.own.Cosine(UnitOf(s.w, u))
		if s.known == nil {
			s.known = map[graph.ID]float64{}
		}
		s.known[u] = c
	}
	return c
}

// neighborMatrix has a column for each of some nodes, its unit vector, and a row for each entry of the vectors. Rows of
// zeros are not stored.
type neighborMatrix struct {
	nodes []graph.ID
	row   []int32 // for each entry, the number of its row plus 1, or 0
	rows  []float32
}

// read fills the matrix.
func (m *neighborMatrix) read(w graph.World, nodes []graph.ID) {
	m.nodes, m.row, m.rows = nodes, m.row[:0], m.rows[:0]
	for k, u := range nodes {
		a := UnitOf(w, u)
		m.row = append(m.row, make([]int32, max(0, len(a.v)-len(m.row)))...)
		for i, v := range a.v {
			if v == 0 {
				continue
			}
			if m.row[i] == 0 {
				m.rows = append(m.rows, make([]float32, len(nodes))...)
				m.row[i] = int32(len(m.rows) / len(nodes))
			}
			m.entry(i)[k] = float32(a.at(i))
		}
	}
}

// entry returns the row of an entry, or nil if all of it is 0.
func (m *neighborMatrix) entry(i int) []float32 {
	if i >= len(m.row) || m.row[i] == 0 {
		return nil
	}
	end := int(m.row[i]) * len(m.nodes)
	return m.rows[end-len(m.nodes) : end]
}

// unit is a feature vector and the factor that scales it to length 1.
type unit struct {
	v  []float32
	by float64
}

// UnitOf returns the unit vector of a node's features. It has no entries if the node has no features or if all are zero.
func UnitOf(w graph.World, u graph.ID) unit {
	if w.Features == nil {
		return unit{}
	}
	v := w.Features(u)
	square := nn.Product64(v, v)
	if square == 0 {
		return unit{}
	}
	return unit{v, 1 / math.Sqrt(square)}
}

// Len returns the number of entries.
func (a unit) Len() int { return len(a.v) }

func (a unit) at(i int) float64 {
	if i >= len(a.v) {
		return 0
	}
	return float64(a.v[i]) * a.by
}

// Cosine returns the cosine of the angle between a and b.
func (a unit) Cosine(b unit) float64 {
	n := min(len(a.v), len(b.v))
	return nn.Product64(a.v[:n], b.v[:n]) * a.by * b.by
}
