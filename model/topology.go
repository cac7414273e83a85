package model

import (
	"math"
	"slices"
)

// Columns of the topology block, in order. Those of arcs are 0 on an undirected graph, where they would add no
// information.
const (
	topResource      = iota                  // log1p of resource allocation over 1e-4
	topSquare                                // log1p of the sum of 1/degree² of the common neighbours, over 1e-6
	topPart                                  // root of the pair's share of the resource that the source gives to all nodes
	topJaccard                               // common neighbours divided by all neighbours of both ends (Jaccard, 1901)
	topSmaller                               // common neighbours divided by the smaller of both counts
	topLarger                                // common neighbours divided by the larger of both counts
	topPaths                                 // log1p of the paths of three edges, each divided by the root of its inner degrees, over 1e-4
	topSpread                                // log1p of the proximity of the candidate divided by its neighbours, over 1e-8
	topReverse                               // 1 if the candidate has an arc to the source
	topSuccessors                            // log1p of the number of nodes that both have an arc to
	topSuccessorRA                           // their resource allocation, scaled as topResource
	topPredecessors                          // log1p of the number of nodes that have an arc to both
	topPredecessorRA                         // their resource allocation
	topReturns                               // log1p of the number of nodes with candidate→w→source
	topReturnRA                              // their resource allocation
	topSourceIn                              // log1p of the source's in-neighbours
	topTargetOut                             // log1p of the candidate's out-neighbours
	topDirected                              // 1 on a directed graph
	topMostCommon                            // common neighbours divided by the maximum over the rivals; see rivals.go
	topMostAdamic                            // the same for Adamic-Adar
	topMostResource                          // the same for resource allocation
	topRivals                                // log1p of the number of rivals
	topClosed                                // share of the source's neighbours that are also two edges away
	topMutual                                // share of the source's neighbours with arcs both ways
	topTargetMutual                          // share of the candidate's neighbours with arcs both ways
	topRank                                  // log1p of the number of rivals above the candidate, by each yardstick
	topAbove         = topRank + yardsticks  // log of the share of the source's neighbours two edges away that are above the candidate
	topHabit         = topAbove + yardsticks // mean of log1p of the number of rivals above a neighbour of the source
	topologyLen      = topHabit + yardsticks
)

// Values below a floor are scaled nearly linearly, so they count for little.
const (
	resourceFloor = 1e-4
	squareFloor   = 1e-6
	spreadFloor   = 1e-8
)

// logAbove is 0 at 0 and approaches the logarithm of x/floor far above the floor.
func logAbove(x, floor float64) float64 { return math.Log1p(max(x, 0) / floor) }

// topology fills the topology block of the pair. total is the resource that the source gives to all nodes.
func (l *glance) topology(g Graph, p Pair, total float64, r *rivals, x []float32) {
	clear(x[:topologyLen])
	for col, v := range [...]float64{
		topResource: logAbove(l.overlap.resource, resourceFloor),
		topSquare:   logAbove(l.square, squareFloor),
		topPart:     math.Sqrt(l.overlap.resource / max(total, resourceFloor)),
		topJaccard:  l.overlap.common / max(1, l.out+l.in-l.overlap.common),
		topSmaller:  l.overlap.common / max(1, min(l.out, l.in)),
		topLarger:   l.overlap.common / max(1, l.out, l.in),
		topPaths:    logAbove(l.evenPaths, resourceFloor),
		topSpread:   logAbove(l.to/max(1, l.in), spreadFloor),
	} {
		x[col] = float32(v)
	}
	l.rivals(g, p, r, x)
	if g.Directed() {
		arcs(g, p, x)
	}
}

// arcs fills the columns that exist only on directed graphs.
func arcs(g Graph, p Pair, x []float32) {
	sourceOut, _ := g.Out(p.Source)
	sourceIn, _ := g.In(p.Source)
	targetOut, _ := g.Out(p.Target)
	targetIn, _ := g.In(p.Target)
	if _, back := slices.BinarySearch(targetOut, p.Source); back {
		x[topReverse] = 1
	}
	for _, c := range [...]struct {
		count, resource int
		source, target  []ID
	}{
		{topSuccessors, topSuccessorRA, sourceOut, targetOut},
		{topPredecessors, topPredecessorRA, sourceIn, targetIn},
		{topReturns, topReturnRA, sourceIn, targetOut},
	} {
		o := overlapOfRows(g, p, c.source, c.target)
		x[c.count], x[c.resource] = float32(math.Log1p(o.common)), float32(logAbove(o.resource, resourceFloor))
	}
	x[topSourceIn] = float32(math.Log1p(float64(len(sourceIn))))
	x[topTargetOut] = float32(math.Log1p(float64(len(targetOut))))
	x[topDirected] = 1
}

// resourceOf returns the resource allocation of source v summed over all other nodes.
func resourceOf(g Graph, v ID) (sum float64) {
	out, _ := g.Out(v)
	for _, w := range out {
		if w == v {
			continue
		}
		next, _ := g.Out(w)
		others := len(next)
		for _, u := range [...]ID{v, w} {
			if _, there := slices.BinarySearch(next, u); there {
				others--
			}
		}
		sum += float64(others) / float64(max(neighbors(g, w), 2))
	}
	return sum
}

func topologyNames() []string {
	names := [topologyLen]string{
		topResource: "log resource allocation", topSquare: "sum of 1 over degree squared", topPart: "share of resource",
		topJaccard: "jaccard", topSmaller: "common over smaller degree", topLarger: "common over larger degree",
		topPaths: "paths of three over degrees", topSpread: "log pagerank over degree", topReverse: "reverse link",
		topSuccessors: "common successors", topSuccessorRA: "resource of common successors", topPredecessors: "common predecessors",
		topPredecessorRA: "resource of common predecessors", topReturns: "paths back", topReturnRA: "resource of paths back",
		topSourceIn: "source in-degree", topTargetOut: "target out-degree", topDirected: "directed",
		topMostCommon: "common over largest", topMostAdamic: "adamic-adar over largest", topMostResource: "resource over largest",
		topRivals: "rivals", topClosed: "closed neighbors", topMutual: "source mutual arcs", topTargetMutual: "target mutual arcs",
	}
	for k, by := range [yardsticks]string{byResource: "resource", byAdamic: "adamic-adar", byEven: "even paths", byDegree: "degree"} {
		names[topRank+k], names[topAbove+k], names[topHabit+k] = "rank by "+by, "neighbors above by "+by, "rank of neighbors by "+by
	}
	return names[:]
}

// topologyScales returns the factor that scales each column to about 1.
func topologyScales() []float32 {
	s := [topologyLen]float32{
		topResource: 0.2, topSquare: 0.15, topPart: 2, topJaccard: 3, topSmaller: 2, topLarger: 3, topPaths: 0.2,
		topSpread: 0.12, topReverse: 1, topSuccessors: 0.5, topSuccessorRA: 0.2, topPredecessors: 0.5, topPredecessorRA: 0.2,
		topReturns: 0.5, topReturnRA: 0.2, topSourceIn: 0.25, topTargetOut: 0.25, topDirected: 1,
		topMostCommon: 2, topMostAdamic: 2, topMostResource: 2, topRivals: 0.2, topClosed: 1, topMutual: 1, topTargetMutual: 1,
	}
	for k := range yardsticks {
		s[topRank+k], s[topAbove+k], s[topHabit+k] = 0.2, 0.3, 0.2
	}
	return s[:]
}
