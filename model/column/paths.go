package column

import (
	"math"

	"kith/model/graph"
)

// TwoHop holds the nodes two edges away from a source, in the order of discovery.
type TwoHop struct {
	Node   []graph.ID
	flow   []flow  // flow to each of them
	slot   []int32 // hash table: index in node plus 1, 0 if free; its length is a power of two
	source graph.ID
	out    []graph.ID // nodes that source has an edge to
	known  bool       // the data is that of source
	whole  bool       // all paths were followed
}

// flow describes the paths of two edges from a source to a node u, through the intermediate nodes w.
type flow struct {
	Overlap                // of source and u, as far as the paths are followed
	Weight         float64 // sum of 1/sqrt(out-neighbours of w)
	degreeWeighted float64 // Weight / sqrt(out-neighbours of u)
}

// MaxPaths limits the edges that are followed from the neighbours of a source, because hubs can have many. The
// neighbours with the lowest ids are followed first.
const MaxPaths = 1 << 15

// Read finds the nodes two edges away from source, reusing the memory, unless they are already known.
func (s *TwoHop) Read(g graph.Graph, source graph.ID) {
	if s.known && s.source == source {
		return
	}
	clear(s.slot)
	s.source, s.known, s.Node, s.flow = source, true, s.Node[:0], s.flow[:0]
	s.out = graph.Out(g, source)
	left := MaxPaths
	s.whole = true
	for _, w := range s.out {
		if left -= graph.OutLen(g, w); left < 0 {
			s.whole = false
			break
		}
		if w == source {
			continue
		}
		next := graph.Out(g, w)
		one, weight := overlapAt(g, w), 1/math.Sqrt(float64(len(next)))
		for _, u := range next {
			if u == source || u == w {
				continue
			}
			f := &s.flow[s.place(u)]
			f.Weight += weight
			f.add(one)
		}
	}
	for i, u := range s.Node {
		s.flow[i].degreeWeighted = s.flow[i].Weight / math.Sqrt(float64(max(1, graph.OutLen(g, u))))
	}
}

// To returns the flow from the source to a node.
func (s *TwoHop) To(u graph.ID) flow {
	if len(s.Node) == 0 {
		return flow{}
	}
	if i := s.slot[s.find(u)]; i > 0 {
		return s.flow[i-1]
	}
	return flow{}
}

// place returns the index of a node in s.node. It appends the node if it is new.
func (s *TwoHop) place(u graph.ID) int {
	if 2*len(s.Node) >= len(s.slot) {
		s.slot = make([]int32, max(256, 2*len(s.slot)))
		for i, v := range s.Node {
			s.slot[s.find(v)] = int32(i + 1)
		}
	}
	at := s.find(u)
	if s.slot[at] == 0 {
		s.Node, s.flow = append(s.Node, u), append(s.flow, flow{})
		s.slot[at] = int32(len(s.Node))
	}
	return int(s.slot[at]) - 1
}

// find returns the slot of a node, or the free slot for it.
func (s *TwoHop) find(u graph.ID) int {
	mask := len(s.slot) - 1
	at := int(u*0x9E3779B1>>7) & mask
	for s.slot[at] != 0 && s.Node[s.slot[at]-1] != u {
		at = (at + 1) & mask
	}
	return at
}

// Paths sums the walks source, w, u, target that do not return to the source and contain no loop, where in are the nodes
// that have an edge to target. If the pair is linked, walks with w = target count too.
func (s *TwoHop) Paths(target graph.ID, in []graph.ID) (weight, even float64) {
	for _, u := range in {
		if u != target {
			r := s.To(u)
			weight += r.Weight
			even += r.degreeWeighted
		}
	}
	return weight, even
}
