package model

import "math"

// second are the nodes two edges out of a source, each with the sum of 1/sqrt(neighbours of w) over the nodes w between.
type second struct {
	weight map[ID]float64
	source ID
	known  bool // weight is that of source
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
	if s.weight == nil {
		s.weight = make(map[ID]float64)
	}
	clear(s.weight)
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
				s.weight[u] += by
			}
		}
	}
}

// paths returns the weight of the ways source, w, u, target that do not come back to source, or stay where they are. Where
// the pair is linked, those by way of target itself (w is target) count too.
func (s *second) paths(g Graph, p Pair) float64 {
	if len(s.weight) == 0 {
		return 0
	}
	in, _ := g.In(p.Target)
	sum := 0.0
	for _, u := range in {
		if u != p.Target {
			sum += s.weight[u]
		}
	}
	return sum
}
