package walk

import (
	"cmp"
	"context"
	"slices"

	"kith/index"
	"kith/ppr"
)

// pathSearch finds the paths to a target that carry most of its PageRank, the best first, by an A*
// search over prefixes of paths. All walks that begin with a prefix and end at the target carry
// together the prefix's probability times the PageRank of the target as seen from the end of the
// prefix, so no path that extends the prefix carries more. A path that is found while the bounds of
// all open prefixes are lower is therefore a best one.
type pathSearch struct {
	g      *index.Graph
	alpha  float64
	target index.ID
	// upper returns the PageRank of the target as seen from a node, or an upper bound of it.
	upper func(index.ID) float64

	prefixes []prefix
	// open holds indexes in prefixes, the largest bound first and equal bounds in the order of
	// insertion.
	open queue[int]
}

// prefix is the beginning of a path. It extends another prefix by one step.
type prefix struct {
	before int // index of the other prefix; -1 means none
	node   index.ID
	// mass is the probability that a walk begins with it, times the start value of its first node.
	mass float64
	// bound is an upper bound of the mass of a path that begins with it; for a complete path, it is
	// the mass.
	bound    float64
	complete bool
}

// Path is a path without repeated nodes.
type Path struct {
	Nodes []index.ID // including both ends
	Mass  float64    // probability that a walk follows the path and ends at its end
}

// maxPrefixes bounds the memory of a search: 40 bytes for each prefix.
const maxPrefixes = 1 << 20

// best returns the n paths of most mass, or fewer if there are fewer or the search has become too
// large, and the most mass that any other path may carry.
func (s *pathSearch) best(ctx context.Context, start ppr.Vector, n int) (found []Path, unseen float64, err error) {
	s.open.before = func(a, b int) bool {
		return cmp.Or(cmp.Compare(s.prefixes[b].bound, s.prefixes[a].bound), cmp.Compare(a, b)) < 0
	}
	for i, source := range start.Node {
		if source != s.target {
			s.add(prefix{-1, source, start.Value[i], start.Value[i] * s.upper(source), false})
		}
	}
	for s.open.Len() > 0 {
		at := s.open.items[0]
		p := s.prefixes[at]
		if len(found) == n || len(s.prefixes) > maxPrefixes {
			return found, p.bound, nil
		}
		s.open.pop()
		if p.complete {
			found = append(found, Path{s.nodes(at), p.mass})
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		s.extend(at)
	}
	return found, 0, nil
}

// extend adds the prefixes that are one step longer and do not repeat a node.
func (s *pathSearch) extend(at int) {
	p := s.prefixes[at]
	been := s.nodes(at)
	to, weight := s.g.Out(p.node)
	step := s.alpha * p.mass / s.g.Degree(p.node)
	for i, v := range to {
		mass := step
		if weight != nil {
			mass *= float64(weight[i])
		}
		if v == s.target {
			mass *= 1 - s.alpha
			s.add(prefix{at, v, mass, mass, true})
		} else if bound := mass * s.upper(v); bound > 0 && !slices.Contains(been, v) {
			s.add(prefix{at, v, mass, bound, false})
		}
	}
}

// nodes returns the nodes of a prefix in order.
func (s *pathSearch) nodes(at int) (ids []index.ID) {
	for ; at >= 0; at = s.prefixes[at].before {
		ids = append(ids, s.prefixes[at].node)
	}
	slices.Reverse(ids)
	return ids
}

func (s *pathSearch) add(p prefix) {
	s.prefixes = append(s.prefixes, p)
	s.open.push(len(s.prefixes) - 1)
}

// Paths explains the PageRank of a target as seen from a start vector, whose values are positive:
// it returns the PageRank, up to n paths that carry most of it, and an upper bound of the mass of
// any other path.
func (w *Walker) Paths(ctx context.Context, alpha float64, start ppr.Vector, target index.ID, n int) (value float64, paths []Path, unseen float64, err error) {
	g := w.View.Graph
	if !g.HasEdges(target) && !slices.Contains(start.Node, target) {
		return 0, nil, 0, nil
	}
	form := ppr.Column
	if g.Directed() {
		form = ppr.Row
	}
	st, err := w.state(ctx, index.StateID{Form: form, Alpha: alpha, Source: target})
	if err != nil {
		return 0, nil, 0, err
	}
	seenFrom := func(u index.ID, v float64) float64 {
		if form == ppr.Column { // d_u π_u(t) = d_t π_t(u)
			v *= degree(g, target) / degree(g, u)
		}
		return v
	}
	s := pathSearch{g: g, alpha: alpha, target: target}
	s.upper = func(u index.ID) float64 {
		v, bound := st.Value(g, u)
		return min(seenFrom(u, v+bound), 1)
	}
	for i, u := range start.Node {
		v, _ := st.Value(g, u)
		value += start.Value[i] * seenFrom(u, v)
	}
	paths, unseen, err = s.best(ctx, start, n)
	return value, paths, unseen, err
}
