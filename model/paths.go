package model

import "math"

// second holds the nodes two edges away from a source, in the order of discovery.
type second struct {
	node   []ID
	flow   []flow  // flow to each of them
	slot   []int32 // hash table: index in node plus 1, 0 if free; its length is a power of two
	source ID
	known  bool // the data is that of source
}

// flow describes the paths of two edges from a source to a node u, through the intermediate nodes w.
type flow struct {
	weight   float64 // sum of 1/sqrt(out-neighbours of w)
	even     float64 // weight / sqrt(out-neighbours of u)
	common   float64 // number of intermediate nodes
	adamic   float64 // sum of 1/log(neighbours of w)
	resource float64 // sum of 1/neighbours of w
}

// maxPaths limits the edges that are followed from the neighbours of a source, because hubs can have many. The
// neighbours with the lowest ids are followed first.
const maxPaths = 1 << 15

// of finds the nodes two edges away from source, reusing the memory, unless they are already known.
func (s *second) of(g Graph, source ID) {
	if s.known && s.source == source {
		return
	}
	s.forget()
	s.source, s.known = source, true
	left := maxPaths
	out, _ := g.Out(source)
	for _, w := range out {
		next, _ := g.Out(w)
		if left -= len(next); left < 0 || w == source {
			continue
		}
		d := float64(max(neighbors(g, w), 2))
		by, adamic, resource := 1/math.Sqrt(float64(len(next))), 1/math.Log(d), 1/d
		for _, u := range next {
			if u == source || u == w {
				continue
			}
			f := &s.flow[s.place(u)]
			f.weight += by
			f.common++
			f.adamic += adamic
			f.resource += resource
		}
	}
	for i, u := range s.node {
		next, _ := g.Out(u)
		s.flow[i].even = s.flow[i].weight / math.Sqrt(float64(max(1, len(next))))
	}
}

// to returns the flow from the source to a node.
func (s *second) to(u ID) flow {
	if len(s.node) == 0 {
		return flow{}
	}
	if i := s.slot[s.find(u)]; i > 0 {
		return s.flow[i-1]
	}
	return flow{}
}

// place returns the index of a node in s.node. It appends the node if it is new.
func (s *second) place(u ID) int {
	if 2*len(s.node) >= len(s.slot) {
		s.slot = make([]int32, max(256, 2*len(s.slot)))
		for i, v := range s.node {
			s.slot[s.find(v)] = int32(i + 1)
		}
	}
	at := s.find(u)
	if s.slot[at] == 0 {
		s.node, s.flow = append(s.node, u), append(s.flow, flow{})
		s.slot[at] = int32(len(s.node))
	}
	return int(s.slot[at]) - 1
}

// find returns the slot of a node, or the free slot for it.
func (s *second) find(u ID) int {
	mask := len(s.slot) - 1
	at := int(u*0x9E3779B1>>7) & mask
	for s.slot[at] != 0 && s.node[s.slot[at]-1] != u {
		at = (at + 1) & mask
	}
	return at
}

// forget resets s for another source.
func (s *second) forget() {
	s.known, s.node, s.flow = false, s.node[:0], s.flow[:0]
	clear(s.slot)
}

// paths sums the walks source, w, u, target that do not return to the source and contain no loop. If the pair is
// linked, walks with w = target count too.
func (s *second) paths(g Graph, p Pair) (weight, even float64) {
	if len(s.node) == 0 {
		return 0, 0
	}
	in, _ := g.In(p.Target)
	for _, u := range in {
		if u != p.Target {
			r := s.to(u)
			weight += r.weight
			even += r.even
		}
	}
	return weight, even
}
