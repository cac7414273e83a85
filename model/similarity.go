package model

import "math"

// Columns of the similarity block. They compare feature vectors scaled to unit length; a node without a vector has
// similarity 0 to all nodes.
const (
	simCosine    = iota // cosine of source and target
	simManhattan        // L1 distance of source and target
	simEuclid           // L2 distance of source and target
	simLog              // log of the squared L2 distance plus 1e-3
	simNearest          // largest cosine between the target and a neighbour of the source
	simMean             // sum of those cosines, divided by their number plus one
	simNearestIn        // the same two for the source and the target's neighbours
	simMeanIn
	similarityLen
)

// maxCompared limits the neighbours that a node is compared with to those with the lowest ids.
const maxCompared = 128

// similarity fills the block of a pair.
func similarity(w World, p Pair, x []float32) {
	a, b := unitOf(w, p.Source), unitOf(w, p.Target)
	cosine, l1, l2 := 0.0, 0.0, 0.0
	for i := range max(a.len(), b.len()) {
		u, v := a.at(i), b.at(i)
		cosine += u * v
		l1 += math.Abs(u - v)
		l2 += (u - v) * (u - v)
	}
	x[simCosine], x[simManhattan], x[simEuclid] = float32(cosine), float32(l1), float32(math.Sqrt(l2))
	x[simLog] = float32(math.Log(l2 + 1e-3))
	out, _ := w.Graph.Out(p.Source)
	in, _ := w.Graph.In(p.Target)
	x[simNearest], x[simMean] = closeness(w, b, out, p.Target)
	x[simNearestIn], x[simMeanIn] = closeness(w, a, in, p.Source)
}

// closeness compares a vector with those of nodes, except the node own that it belongs to.
func closeness(w World, a unit, nodes []ID, own ID) (nearest, mean float32) {
	sum, best := 0.0, 0.0
	nodes = nodes[:min(len(nodes), maxCompared)]
	for _, u := range nodes {
		if u != own {
			c := a.cosine(unitOf(w, u))
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

func unitOf(w World, u ID) unit {
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

func (a unit) len() int { return len(a.v) }

func (a unit) at(i int) float64 {
	if i >= len(a.v) {
		return 0
	}
	return float64(a.v[i]) * a.by
}

func (a unit) cosine(b unit) float64 {
	sum := 0.0
	for i := range min(len(a.v), len(b.v)) {
		sum += float64(a.v[i]) * float64(b.v[i])
	}
	return sum * a.by * b.by
}
