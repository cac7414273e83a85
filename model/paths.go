package model

import "math"

// second are the nodes two edges out of a source.
type second struct {
	flow   map[ID]flow
	source ID
	known  bool // flow is that of source
}

// flow says how a source reaches a node u in two edges.
type flow struct {
	weight float64 // the sum of 1/sqrt(neighbours of w) over the nodes w between
	even   float64 // weight over the root of the neighbours of u
}

// maxPaths bounds the edges that are followed from the neighbours of a source, which a hub may have many of: those of the
// first neighbours by number.
const maxPaths = 1 << 15

// of finds those of a source, in the memory of the ones before, unless they are known.
func (s *second) of(g Graph, source ID) {
	if s.known && s.source == source {
		return
	}
	s.source, s.known = source, true
	if s.flow == nil {
		s.flow = make(map[ID]flow)
	}
	clear(s.flow)
	left := maxPaths
	out, _ := g.Out(source)
	for _, w := range out {
		next, _ := g.Out(w)
		if left -= len(next); left < 0 || w == source {
			continue
		}
		by := 1 / math.Sqrt(float64(len(next)))
		for _, u := range next {
			if u != source && u != w {
				s.flow[u] = flow{weight: s.flow[u].weight + by}
			}
		}
	}
	for u, r := range s.flow {
		next, _ := g.Out(u)
		s.flow[u] = flow{r.weight, r.weight / math.Sqrt(float64(max(1, len(next))))}
	}
}

// paths sums the ways source, w, u, target that do not come back to source, or stay where they are. Where the pair is
// linked, those by way of target itself (w is target) count too.
func (s *second) paths(g Graph, p Pair) (sum flow) {
	if len(s.flow) == 0 {
		return sum
	}
	in, _ := g.In(p.Target)
	for _, u := range in {
		if u != p.Target {
			r := s.flow[u]
			sum.weight += r.weight
			sum.even += r.even
		}
	}
	return sum
}
