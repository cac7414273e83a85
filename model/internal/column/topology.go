package column

import (
	"math"
	"slices"

	"kith/model/internal/graph"
)

// Columns of the topology block, in order. The columns of arcs are 0 on an undirected graph, where
// they would add no information.
const (
	TopResource      = iota                   // log1p of resource allocation over 1e-4
	TopSquare                                 // log1p of the sum of 1/degree² of the common neighbours, over 1e-6
	TopShare                                  // root of the pair's share of the resource that the source gives to all nodes
	TopJaccard                                // common neighbours divided by all neighbours of both ends (Jaccard, 1901)
	TopSmaller                                // common neighbours divided by the smaller of both counts
	TopLarger                                 // common neighbours divided by the larger of both counts
	TopPaths                                  // log1p of the paths of three edges, each divided by the root of its inner degrees, over 1e-4
	TopSpread                                 // log1p of the proximity of the candidate divided by its neighbours, over 1e-8
	TopReverse                                // 1 if the candidate has an arc to the source
	TopSuccessors                             // log1p of the number of nodes that both have an arc to
	topSuccessorRA                            // their resource allocation, scaled as TopResource
	TopPredecessors                           // log1p of the number of nodes that have an arc to both
	topPredecessorRA                          // their resource allocation
	TopReturns                                // log1p of the number of nodes with candidate→w→source
	topReturnRA                               // their resource allocation
	TopSourceIn                               // log1p of the source's in-neighbours
	TopTargetOut                              // log1p of the candidate's out-neighbours
	TopDirected                               // 1 on a directed graph
	TopMostCommon                             // common neighbours divided by the maximum over the rivals; see rivals.go
	TopMostAdamic                             // the same for Adamic-Adar
	TopMostResource                           // the same for resource allocation
	TopRivals                                 // log1p of the number of rivals
	TopClosed                                 // share of the source's neighbours that are also two edges away
	TopMutual                                 // share of the source's neighbours with arcs both ways
	TopTargetMutual                           // share of the candidate's neighbours with arcs both ways
	TopRank                                   // log1p of the number of rivals above the candidate, by each measure
	TopAbove         = TopRank + NumMeasures  // log of the share of the source's neighbours two edges away that are above the candidate
	TopNeighborRank  = TopAbove + NumMeasures // mean of log1p of the number of rivals above a neighbour of the source
	TopologyLen      = TopNeighborRank + NumMeasures
)

// Values below a floor are scaled nearly linearly, so they count for little.
const (
	ResourceFloor = 1e-4
	squareFloor   = 1e-6
	spreadFloor   = 1e-8
)

// logAbove is 0 at 0 and approaches the logarithm of x/floor far above the floor.
func logAbove(x, floor float64) float64 { return math.Log1p(max(x, 0) / floor) }

// Topology fills the topology block of a pair. l must be the result of PairStats for this pair.
func (t *Reader) Topology(g graph.Graph, p graph.Pair, l *PairStats, x []float32) {
	s := t.surroundings(g, p.Source)
	r := &s.rivals
	r.read(g, &s.twoHop, &t.logs)
	clear(x[:TopologyLen])
	for col, v := range [...]float64{
		TopResource: logAbove(l.Overlap.Resource, ResourceFloor),
		TopSquare:   logAbove(l.square, squareFloor),
		TopShare:    math.Sqrt(l.Overlap.Resource / max(r.resource, ResourceFloor)),
		TopJaccard:  l.Overlap.Common / max(1, l.out+l.in-l.Overlap.Common),
		TopSmaller:  l.Overlap.Common / max(1, min(l.out, l.in)),
		TopLarger:   l.Overlap.Common / max(1, l.out, l.in),
		TopPaths:    logAbove(l.weightedPaths, ResourceFloor),
		TopSpread:   logAbove(l.to/max(1, l.in), spreadFloor),
	} {
		x[col] = float32(v)
	}
	l.rivals(r, &t.logs, x)
	if g.Directed() {
		t.arcs(g, p, s.twoHop.out, l.ends, x)
	}
}

// arcs fills the columns that exist only on directed graphs, where ends are the first in-neighbours
// of the candidate.
func (t *Reader) arcs(g graph.Graph, p graph.Pair, sourceOut, ends []graph.ID, x []float32) {
	sourceIn, targetOut := graph.In(g, p.Source), graph.OutHead(g, p.Target, MaxEnds, t.targetOut)
	if _, back := slices.BinarySearch(sourceIn, p.Target); back {
		x[TopReverse] = 1
	}
	for _, c := range [...]struct {
		count, resource int
		source, target  []graph.ID
	}{
		{TopSuccessors, topSuccessorRA, sourceOut, targetOut},
		{TopPredecessors, topPredecessorRA, sourceIn, ends},
		{TopReturns, topReturnRA, sourceIn, targetOut},
	} {
		o := overlapOfRows(g, p, c.source, c.target)
		x[c.count], x[c.resource] = float32(math.Log1p(o.Common)), float32(logAbove(o.Resource, ResourceFloor))
	}
	x[TopSourceIn] = float32(math.Log1p(float64(len(sourceIn))))
	x[TopTargetOut] = float32(math.Log1p(float64(graph.OutLen(g, p.Target))))
	x[TopTargetMutual] = float32(mutual(g, p.Target, targetOut, ends))
	x[TopDirected] = 1
}

// CountWithout counts the nodes of an ascending row except the given others.
func CountWithout(row []graph.ID, others ...graph.ID) int {
	n := len(row)
	for i, u := range others {
		if _, there := slices.BinarySearch(row, u); there && !slices.Contains(others[:i], u) {
			n--
		}
	}
	return n
}

// TopologyColumns describes the columns of the topology block.
func TopologyColumns() []Column {
	columns := [TopologyLen]Column{
		TopResource: {"log resource allocation", 0.2, Shared}, TopSquare: {"sum of 1 over degree squared", 0.15, Shared},
		TopShare: {"share of resource", 2, Shared}, TopJaccard: {"jaccard", 3, Shared},
		TopSmaller: {"common over smaller degree", 2, Shared}, TopLarger: {"common over larger degree", 3, Shared},
		TopPaths: {"paths of three over degrees", 0.2, Paths}, TopSpread: {"log pagerank over degree", 0.12, Walks},
		TopReverse: {"reverse link", 1, Back}, TopReturns: {"paths back", 0.5, Back}, topReturnRA: {"resource of paths back", 0.2, Back},
		TopSuccessors: {"common successors", 0.5, Shared}, topSuccessorRA: {"resource of common successors", 0.2, Shared},
		TopPredecessors: {"common predecessors", 0.5, Shared}, topPredecessorRA: {"resource of common predecessors", 0.2, Shared},
		TopSourceIn: {"source in-degree", 0.25, General}, TopTargetOut: {"target out-degree", 0.25, TargetDegree},
		TopDirected: {"directed", 1, General}, TopRivals: {"rivals", 0.2, Rivals}, TopClosed: {"closed neighbors", 1, Rivals},
		TopMostCommon: {"common over largest", 2, Rivals}, TopMostAdamic: {"adamic-adar over largest", 2, Rivals},
		TopMostResource: {"resource over largest", 2, Rivals},
		TopMutual:       {"source mutual arcs", 1, General}, TopTargetMutual: {"target mutual arcs", 1, TargetMutual},
	}
	for k, by := range [NumMeasures]string{ByResource: "resource", ByAdamic: "adamic-adar", ByEven: "even paths", ByDegree: "degree"} {
		columns[TopRank+k], columns[TopAbove+k] = Column{"rank by " + by, 0.2, Rivals}, Column{"neighbors above by " + by, 0.3, Rivals}
		columns[TopNeighborRank+k] = Column{"rank of neighbors by " + by, 0.2, Rivals}
	}
	return columns[:]
}
