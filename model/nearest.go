package model

import (
	"cmp"
	"context"
	"slices"
)

// nearest returns the n nodes whose vectors are closest to those of a source, the closest first, of those that accept takes:
// by the profile if the source has one, otherwise by the spectrum. Nodes at a right angle or beyond are none, so that a
// source without edges and features has no nearest nodes. It scans all nodes.
func (v *vectors) nearest(ctx context.Context, w World, source ID, n int, accept func(ID) bool) ([]ID, error) {
	of := v.closeness(w, source)
	close := make([]float32, w.Graph.NumNodes())
	err := inBlocks(ctx, len(close), func(first, end int) {
		for u := first; u < end; u++ {
			if ID(u) != source && accept(ID(u)) {
				close[u] = of(ID(u))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return closest(close, n), nil
}

// closeness returns how close nodes are to a source; it may be called by several goroutines.
func (v *vectors) closeness(w World, source ID) func(ID) float32 {
	if v.profile != nil && v.profile.normOf(w, source) > 0 {
		own := v.profile.partsOf(w, source)
		return func(u ID) (sum float32) {
			for i, part := range v.profile.partsOf(w, u) {
				sum += dot(own[i], part)
			}
			return sum
		}
	}
	s := v.spectrum
	own := entries(s.outOf(w.Graph, source, make([]float32, len(s.value))), s.filter[middleRidge])
	return func(u ID) float32 {
		if int(u) >= s.in.Rows {
			return dot(own, s.inOf(w.Graph, u, make([]float32, len(s.value))))
		}
		return dot(own, row(s.in, int(u)))
	}
}

// minClose is the closeness of unrelated nodes, but for rounding errors.
const minClose = 1e-5

// closest returns where the n largest entries above minClose are, largest first, the first of equal ones.
func closest(of []float32, n int) []ID {
	var at []ID // at least the n best so far
	prune := func() {
		slices.SortFunc(at, func(a, b ID) int { return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b)) })
		at = at[:min(n, len(at))]
	}
	bar := float32(minClose)
	for v, x := range of {
		if x <= bar {
			continue
		}
		if at = append(at, ID(v)); len(at) >= 4*n+64 {
			if prune(); len(at) > 0 {
				bar = of[at[len(at)-1]]
			}
		}
	}
	prune()
	return at
}
