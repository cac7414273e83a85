package model

import (
	"cmp"
	"context"
	"slices"

	"kith/model/column"
	"kith/model/nn"
)

// Similar returns up to n nodes that are similar to source and that accept admits, most similar first. It compares the
// vectors of a training if the model has some, otherwise feature vectors. It returns nil if neither has data about
// source. It scans all nodes and calls accept concurrently.
func (s *Scorer) Similar(ctx context.Context, w World, source ID, n int, accept func(ID) bool) ([]ID, error) {
	switch v := s.vectors(); {
	case v != nil && (v.knows(w, source) || len(neighboursOf(w.Graph, source)) > 0):
		return nearest(ctx, w, v.closeness(w, source), source, n, accept)
	}
	own := column.UnitOf(w, source)
	if own.Len() == 0 {
		return nil, nil
	}
	return nearest(ctx, w, func(u ID) float32 { return float32(own.Cosine(column.UnitOf(w, u))) }, source, n, accept)
}

// knows reports whether the profile has words for a node.
func (v *vectors) knows(w World, u ID) bool { return v.profile != nil && v.profile.normOf(w, u) > 0 }

// nearest returns the n closest nodes other than source that accept admits, closest first. Nodes at a right angle or
// more are left out, so that a source without edges and features has no nearest nodes.
func nearest(ctx context.Context, w World, closeness func(ID) float32, source ID, n int, accept func(ID) bool) ([]ID, error) {
	close := make([]float32, w.Graph.NumNodes())
	err := nn.InBlocks(ctx, len(close), func(first, end int) {
		for u := first; u < end; u++ {
			if ID(u) != source && accept(ID(u)) {
				close[u] = closeness(ID(u))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return closest(close, n), nil
}

// closeness returns a function that measures how close a node is to source: by the profile if it knows the source,
// otherwise by the spectrum. The function is safe for concurrent use.
func (v *vectors) closeness(w World, source ID) func(ID) float32 {
	if v.knows(w, source) {
		own := v.profile.partsOf(w, source)
		return func(u ID) (sum float32) {
			for i, part := range v.profile.partsOf(w, u) {
				sum += nn.Dot(own[i], part)
			}
			return sum
		}
	}
	s := v.spectrum
	own := entries(s.outOf(w.Graph, source, make([]float32, len(s.value))), s.filter[middleRidge])
	return func(u ID) float32 {
		if int(u) >= s.in.Rows {
			return nn.Dot(own, s.inOf(w.Graph, u, make([]float32, len(s.value))))
		}
		return nn.Dot(own, nn.Row(s.in, int(u)))
	}
}

// minClose is an upper bound of the closeness of unrelated nodes, allowing for rounding errors.
const minClose = 1e-5

// closest returns the indices of the n largest entries above minClose, largest first. Equal entries are in order of
// their index.
func closest(of []float32, n int) []ID {
	var at []ID // contains the n best so far
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
