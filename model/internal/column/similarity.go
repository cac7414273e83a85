package column

import (
	"math"
	"slices"

	"kith/model/internal/graph"
	"kith/model/nn"
)

// Columns of the similarity block. They compare the contents of nodes, scaled to unit length; a
// node without content has similarity 0 to all nodes.
const (
	SimCosine    = iota // cosine of source and target
	SimManhattan        // L1 distance of source and target
	SimEuclid           // L2 distance of source and target
	SimLog              // log of the squared L2 distance plus 1e-3
	SimNearest          // largest cosine between the target and a neighbour of the source
	SimMean             // sum of these cosines, divided by their number plus one
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

// MaxCompared limits the neighbours that a node is compared with. The neighbours with the lowest
// ids are compared.
const MaxCompared = 128

// Similarity computes the similarity block of pairs with the same source. Its time for a pair
// depends on the number of nonzero entries of the target's vector, and on the nodes near the target
// that no earlier pair has met.
type Similarity struct {
	features  *Features // nil: no source was read
	source    graph.ID
	own       []float32      // content of the source
	unit      float64        // factor that scales it to length 1
	l1, l2    float64        // sums of the absolute values and of the squares of its entries, scaled
	neighbors neighborMatrix // of the source
	known     Memo[float64]  // cosines of the source and other nodes
	cosines   []float32      // of a target and the neighbours of the source
}

// Read reads the vectors of a source and its neighbours. It does nothing if that source was read
// last, since the last Release.
func (s *Similarity) Read(f *Features, source graph.ID) {
	if s.features != nil && s.source == source {
		return
	}
	own := f.Of(source)
	s.features, s.source, s.own, s.unit, s.l1, s.l2 = f, source, own.vector(s.own), own.Unit, 0, 0
	for _, v := range own.Value {
		s.l1 += math.Abs(float64(v)) * own.Unit
	}
	if own.Unit > 0 {
		s.l2 = 1
	}
	s.known.Clear()
	s.neighbors.read(f, compared(graph.Out(f.World.Graph, source)))
}

// Release forgets the source. The caller must call it before it reads another world.
func (s *Similarity) Release() { s.features, s.neighbors.nodes = nil, nil }

// compared returns the nodes that are compared.
func compared(nodes []graph.ID) []graph.ID { return nodes[:min(len(nodes), MaxCompared)] }

// Columns fills the block of the pair with a target.
func (s *Similarity) Columns(target graph.ID, x []float32) {
	b := s.features.Of(target)
	cosine, l1, l2 := 0.0, s.l1, s.l2 // of the source and a node without features
	for i, at := range b.At {
		u, v := s.at(at), float64(b.Value[i])*b.Unit
		cosine += u * v
		l1 += math.Abs(u-v) - math.Abs(u)
		l2 += (u-v)*(u-v) - u*u
	}
	if s.features.Words && (s.unit == 0 || b.Unit == 0) { // as if they shared nothing
		l1, l2 = max(2*l1, 2), 2
	}
	l1, l2 = max(l1, 0), max(l2, 0)
	x[SimCosine], x[SimManhattan], x[SimEuclid] = float32(cosine), float32(l1), float32(math.Sqrt(l2))
	x[SimLog] = float32(math.Log(l2 + 1e-3))
	x[SimNearest], x[SimMean] = s.toNeighbors(b, target)
	x[SimNearestIn], x[SimMeanIn] = s.fromNeighbors(target)
}

// at returns an entry of the source's unit vector.
func (s *Similarity) at(i uint32) float64 {
	if int(i) >= len(s.own) {
		return 0
	}
	return float64(s.own[i]) * s.unit
}

// toNeighbors compares a target with the neighbours of the source, except with itself.
func (s *Similarity) toNeighbors(b Entries, target graph.ID) (nearest, mean float32) {
	n := len(s.neighbors.nodes)
	s.cosines = slices.Grow(s.cosines[:0], n)[:n]
	clear(s.cosines)
	for i, at := range b.At {
		if row := s.neighbors.entry(at); row != nil {
			nn.Axpy(float32(float64(b.Value[i])*b.Unit), row, s.cosines)
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
	nodes := compared(graph.In(s.features.World.Graph, target))
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
	if s.unit == 0 {
		return 0
	}
	c, known := s.known.Get(u)
	if !known {
		e := s.features.Of(u)
		c = e.Times(s.own) * e.Unit * s.unit
		s.known.Put(u, c)
	}
	return c
}

// neighborMatrix has a column for each of some nodes, its unit vector, and a row for each entry of
// the vectors. Rows of zeros are not stored.
type neighborMatrix struct {
	nodes []graph.ID
	row   []int32 // for each entry, the number of its row plus 1, or 0
	rows  []float32
}

// read fills the matrix.
func (m *neighborMatrix) read(f *Features, nodes []graph.ID) {
	m.nodes, m.row, m.rows = nodes, m.row[:0], m.rows[:0]
	for k, u := range nodes {
		e := f.Of(u)
		for i, at := range e.At {
			m.row = append(m.row, make([]int32, max(0, int(at)+1-len(m.row)))...)
			if m.row[at] == 0 {
				m.rows = append(m.rows, make([]float32, len(nodes))...)
				m.row[at] = int32(len(m.rows) / len(nodes))
			}
			m.entry(at)[k] = float32(float64(e.Value[i]) * e.Unit)
		}
	}
}

// entry returns the row of an entry, or nil if all of it is 0.
func (m *neighborMatrix) entry(i uint32) []float32 {
	if int(i) >= len(m.row) || m.row[i] == 0 {
		return nil
	}
	end := int(m.row[i]) * len(m.nodes)
	return m.rows[end-len(m.nodes) : end]
}
