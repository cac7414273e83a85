package column

import (
	"math"
	"slices"

	"kith/model/internal/graph"
)

// TwoHop holds the nodes two edges away from a source, in the order of discovery.
type TwoHop struct {
	Node   []graph.ID
	flow   []flow   // flow to each of them
	slot   []slot   // hash table of Node; its length is a power of two, and at most a quarter is filled
	filter []uint64 // Bloom filter of Node, 4 bits a slot: most nodes of a long row are not in Node
	source graph.ID
	out    []graph.ID   // nodes that source has an edge to
	next   [][]graph.ID // their rows; nil if whole, or if they have more than maxRows nodes
	// resource is the resource allocation of source, summed over all other nodes. It assumes that
	// neighbours whose edges are not followed have no loops.
	resource float64
	back     float64 // sum of 1/sqrt(d(w)) over the neighbours w with an edge back to source
	// reach holds Weight and degreeWeighted of every node, 0 for nodes that are not in Node, in a
	// graph of up to maxReach nodes. It is nil in a larger graph.
	reach [][2]float64
	valid bool // the data describes source
	whole bool // all paths were followed
}

// slot is an entry of a hash table: a node and its index plus 1, or 0 if the entry is free.
type slot struct {
	node graph.ID
	at   uint32
}

// flow describes the paths of two edges from a source to a node u, through the intermediate nodes
// w.
type flow struct {
	Overlap                // of source and u, as far as the paths are followed
	Weight         float64 // sum of 1/sqrt(out-neighbours of w)
	degreeWeighted float64 // Weight / sqrt(out-neighbours of u)
}

// Limits of how much is read of hubs.
const (
	// MaxPaths limits the edges that are followed from the neighbours of a source. The neighbours
	// with the lowest ids are followed first.
	MaxPaths = 1 << 15

	// MaxEnds limits the nodes that are read of a target's row. The nodes with the lowest ids are
	// read. Paths of three edges arrive through these, and the overlaps of a directed pair count
	// these; the overlap from the source to the target counts all.
	MaxEnds = 1 << 12

	// maxRows limits the total length of the neighbours' rows that are kept to search them for
	// common neighbours.
	maxRows = 1 << 20
)

// maxReach bounds the memory of TwoHop.reach, to a megabyte.
const maxReach = 1 << 16

// Read finds the nodes two edges away from source, reusing the memory, unless it has just read
// them.
func (s *TwoHop) Read(g graph.Graph, source graph.ID) {
	if s.valid && s.source == source {
		return
	}
	s.forget()
	clear(s.slot)
	clear(s.filter)
	s.source, s.valid = source, true
	s.out = graph.Out(g, source)
	followed := s.follow(g)
	s.whole = followed == len(s.out)
	for i, u := range s.Node {
		s.flow[i].degreeWeighted = s.flow[i].Weight / math.Sqrt(float64(max(1, graph.OutLen(g, u))))
	}
	s.fillReach(g.NumNodes())
	if !s.whole {
		s.addResource(g, followed)
		s.keepRows(g)
	}
}

// fillReach fills reach in a graph of n nodes.
func (s *TwoHop) fillReach(n int) {
	if n > maxReach {
		s.reach = nil
		return
	}
	if len(s.reach) < n {
		s.reach = make([][2]float64, n)
	}
	for i, u := range s.Node {
		s.reach[u] = [2]float64{s.flow[i].Weight, s.flow[i].degreeWeighted}
	}
}

// forget forgets the source and its rows.
func (s *TwoHop) forget() {
	if s.reach != nil {
		for _, u := range s.Node {
			s.reach[u] = [2]float64{}
		}
	}
	clear(s.next)
	s.valid, s.out, s.next, s.Node, s.flow = false, nil, s.next[:0], s.Node[:0], s.flow[:0]
}

// follow follows the paths from the source's neighbours, and returns the number of neighbours whose
// edges it followed.
func (s *TwoHop) follow(g graph.Graph) int {
	s.resource, s.back = 0, 0
	left := MaxPaths
	for i, w := range s.out {
		if left -= graph.OutLen(g, w); left < 0 {
			return i
		}
		if w == s.source {
			continue
		}
		next := graph.Out(g, w)
		one, weight, others := overlapAt(g, w), 1/math.Sqrt(float64(len(next))), 0
		for _, u := range next {
			if u == w {
				continue
			}
			if u == s.source {
				s.back += weight
				continue
			}
			f := &s.flow[s.place(u)]
			f.Weight += weight
			f.add(one)
			others++
		}
		s.resource += float64(others) / float64(max(neighbors(g, w), 2))
	}
	return len(s.out)
}

// addResource adds the resource allocation through the neighbours whose edges were not followed.
func (s *TwoHop) addResource(g graph.Graph, followed int) {
	in := graph.In(g, s.source)
	for _, w := range s.out[followed:] {
		if w == s.source {
			continue
		}
		n := graph.OutLen(g, w)
		if _, back := slices.BinarySearch(in, w); back {
			n--
		}
		s.resource += float64(n) / float64(max(neighbors(g, w), 2))
	}
}

// keepRows keeps the rows of the source's neighbours if they are not too long.
func (s *TwoHop) keepRows(g graph.Graph) {
	left := maxRows
	for _, w := range s.out {
		if left -= graph.OutLen(g, w); left < 0 {
			return
		}
	}
	for _, w := range s.out {
		s.next = append(s.next, graph.Out(g, w))
	}
}

// To returns the flow from the source to a node.
func (s *TwoHop) To(u graph.ID) flow {
	if i := s.index(u); i >= 0 {
		return s.flow[i]
	}
	return flow{}
}

// index returns the index of a node in s.Node, or -1.
func (s *TwoHop) index(u graph.ID) int {
	if len(s.Node) == 0 {
		return -1
	}
	if word, bit := s.bit(u); s.filter[word]>>bit&1 == 0 {
		return -1
	}
	return int(s.slot[s.find(u)].at) - 1
}

// bit returns the bit of a node in the filter.
func (s *TwoHop) bit(u graph.ID) (word int, bit uint32) {
	h := u * 0x85EBCA6B
	return int(h>>8) & (len(s.filter) - 1), h >> 2 & 63
}

// place returns the index of a node in s.Node. It appends the node if it is new.
func (s *TwoHop) place(u graph.ID) int {
	if 4*len(s.Node) >= len(s.slot) {
		s.slot = make([]slot, max(256, 2*len(s.slot)))
		s.filter = make([]uint64, len(s.slot)/16)
		for i, v := range s.Node {
			s.put(s.find(v), v, i)
		}
	}
	at := s.find(u)
	if s.slot[at].at == 0 {
		s.Node, s.flow = append(s.Node, u), append(s.flow, flow{})
		s.put(at, u, len(s.Node)-1)
	}
	return int(s.slot[at].at) - 1
}

// put fills a free slot with a node and its index.
func (s *TwoHop) put(at int, u graph.ID, i int) {
	s.slot[at] = slot{u, uint32(i + 1)}
	word, bit := s.bit(u)
	s.filter[word] |= 1 << bit
}

// find returns the slot of a node, or the free slot for it.
func (s *TwoHop) find(u graph.ID) int {
	mask := len(s.slot) - 1
	at := int(u*0x9E3779B1>>7) & mask
	for s.slot[at].at != 0 && s.slot[at].node != u {
		at = (at + 1) & mask
	}
	return at
}

// Paths sums the walks source, w, u, target that do not return to the source and contain no loop,
// where in are nodes that have an edge to target, ascending. If the pair is linked, walks with w =
// target count too. Each counts for 1/sqrt(d(w)) in weight and for 1/sqrt(d(w) d(u)) in even, where
// d is the number of out-neighbours.
func (s *TwoHop) Paths(target graph.ID, in []graph.ID) (weight, even float64) {
	switch {
	case len(s.Node) == 0:
		return 0, 0
	case s.reach != nil:
		for _, u := range in {
			if u != target {
				weight += s.reach[u][0]
				even += s.reach[u][1]
			}
		}
		return weight, even
	}
	var near [1 << 8]graph.ID
	for part := range slices.Chunk(in, len(near)) {
		n := uint64(0) // how many of the part are in the filter; a branch on each would be mispredicted often
		for _, u := range part {
			near[n%uint64(len(near))] = u
			word, bit := s.bit(u)
			n += s.filter[word] >> bit & 1
		}
		for _, u := range near[:n] {
			if i := int(s.slot[s.find(u)].at) - 1; i >= 0 && u != target {
				weight += s.flow[i].Weight
				even += s.flow[i].degreeWeighted
			}
		}
	}
	return weight, even
}

// Returning is even of Paths for the walks source, w, source, target, which exist if the pair is
// linked.
func (s *TwoHop) Returning(target graph.ID, in []graph.ID) float64 {
	if _, linked := slices.BinarySearch(in, s.source); !linked || s.source == target {
		return 0
	}
	return s.back / math.Sqrt(float64(len(s.out)))
}

// overlap returns the overlap of the source and a target, where in are the target's first
// in-neighbours.
func (s *TwoHop) overlap(g graph.Graph, target graph.ID, in []graph.ID) (o Overlap) {
	p := graph.Pair{Source: s.source, Target: target}
	switch {
	case target != s.source && s.whole:
		return s.To(target).Overlap
	case len(in) < MaxEnds:
		return overlapOfRows(g, p, s.out, in)
	case len(s.next) == 0: // the rows of the neighbours are too long to keep
		return overlapOfRows(g, p, s.out, graph.In(g, target))
	}
	for i, w := range s.out {
		if _, ok := slices.BinarySearch(s.next[i], target); ok && w != s.source && w != target {
			o.add(overlapAt(g, w))
		}
	}
	return o
}
