package column

import (
	"math"

	"kith/model/graph"
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

// Similarity fills the block of a pair.
func Similarity(w graph.World, p graph.Pair, x []float32) {
	a, b := UnitOf(w, p.Source), UnitOf(w, p.Target)
	cosine, l1, l2 := 0.0, 0.0, 0.0
	for i := range max(a.Len(), b.Len()) {
		u, v := a.at(i), b.at(i)
		cosine += u * v
		l1 += math.Abs(u - v)
		l2 += (u - v) * (u - v)
	}
	x[SimCosine], x[SimManhattan], x[SimEuclid] = float32(cosine), float32(l1), float32(math.Sqrt(l2))
	x[SimLog] = float32(math.Log(l2 + 1e-3))
	x[SimNearest], x[SimMean] = neighborCosines(w, b, graph.Out(w.Graph, p.Source), p.Target)
	x[SimNearestIn], x[SimMeanIn] = neighborCosines(w, a, graph.In(w.Graph, p.Target), p.Source)
}

// neighborCosines compares a vector with those of nodes, except the node own that it belongs to.
func neighborCosines(w graph.World, a unit, nodes []graph.ID, own graph.ID) (nearest, mean float32) {
	sum, best := 0.0, 0.0
	nodes = nodes[:min(len(nodes), MaxCompared)]
	for _, u := range nodes {
		if u != own {
			c := a.Cosine(UnitOf(w, u))
			sum, best = sum+c, max(best, c)
		}
	}
	return float32(best), float32(sum / float64(len(nodes)+1))
}

// unit is a feature vector and the factor that scales it to length 1.
type unit struct {
	v  []float32
	by float64
}

// UnitOf returns the unit vector of a node's features, of length 0 if the node has none or only zeros.
func UnitOf(w graph.World, u graph.ID) unit {
	if w.Features == nil {
		return unit{}
	}
	v := w.Features(u)
	square := 0.0
	for _, x := range v {
		square += float64(x) * float64(x)
	}
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
	sum := 0.0
	for i := range min(len(a.v), len(b.v)) {
		sum += float64(a.v[i]) * float64(b.v[i])
	}
	return sum * a.by * b.by
}
