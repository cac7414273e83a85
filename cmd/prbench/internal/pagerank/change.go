package pagerank

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"kith/index"
	"kith/ppr"
)

// change describes an edit of the graph: a number of edges to insert or delete at a place.
type change struct {
	kind  string // insert or delete
	edges int
	at    place
}

// place says where the edges of a change have one end: anywhere, at a source, at the source or a
// neighbour of it, within three hops of it, or at one of the 50 nodes with the highest values of
// its PageRank.
type place string

const (
	anywhere   place = "anywhere"
	atSource   place = "source"
	atNeighbor place = "neighbor"
	within3    place = "3-hops"
	top50      place = "top-50"
)

// nodes returns the nodes of a place relative to u, or nil for anywhere.
func (s *subject) nodes(ctx context.Context, p place, u index.ID) ([]index.ID, error) {
	switch p {
	case atSource:
		return []index.ID{u}, nil
	case atNeighbor:
		return within(s.snap.Graph, u, 1), nil
	case within3:
		return within(s.snap.Graph, u, 3), nil
	case top50:
		return s.highest(ctx, u, 50)
	}
	return nil, nil
}

// within returns the nodes within hops of u.
func within(g *index.Graph, u index.ID, hops int) []index.ID {
	nodes, seen, begin := []index.ID{u}, map[index.ID]bool{u: true}, 0
	for range hops {
		end := len(nodes)
		for _, v := range nodes[begin:end] {
			to, _ := g.Out(v)
			for _, w := range to {
				if !seen[w] {
					seen[w] = true
					nodes = append(nodes, w)
				}
			}
		}
		begin = end
	}
	return nodes
}

// highest returns the k nodes with the highest values of u's PageRank.
func (s *subject) highest(ctx context.Context, u index.ID, k int) ([]index.ID, error) {
	st, err := s.source(ctx, s.snap.Graph, u, benchEps)
	if err != nil {
		return nil, err
	}
	nodes, _ := st.Estimate()
	nodes = slices.Clone(nodes)
	value := func(v index.ID) float64 { x, _ := st.Value(s.snap.Graph, v); return x }
	slices.SortFunc(nodes, func(a, b index.ID) int { return cmp.Or(cmp.Compare(value(b), value(a)), cmp.Compare(a, b)) })
	return nodes[:min(k, len(nodes))], nil
}

// source computes the PageRank state of a source.
func (s *subject) source(ctx context.Context, g *index.Graph, u index.ID, eps float64) (*ppr.State, error) {
	return s.solver.Solve(ctx, g, ppr.Column, benchAlpha, indicator(u), ppr.Target{Norm: ppr.MaxNorm, Eps: eps})
}

// fits reports whether a graph has enough edges, or enough room for new ones, that the change
// leaves most of it unchanged.
func (c change) fits(s *subject) bool {
	if c.kind == "delete" {
		return int64(c.edges) <= s.snap.Graph.NumEdges()/4
	}
	n := float64(len(s.linked))
	return float64(c.edges) <= n*(n-1)/4
}

// apply applies the change in a batch on top of the snapshot, with one end of each edge among near
// (nil means anywhere). It returns the next version and the number of edges changed.
func (s *subject) apply(r *rand.Rand, c change, near []index.ID) (next *index.Snapshot, done int, err error) {
	b := s.snap.Begin()
	for tries := 0; done < c.edges && tries < 20*c.edges+100; tries++ {
		u, v, ok := s.pick(r, b.View().Graph, c, near)
		if !ok {
			continue
		}
		w := float32(1)
		if c.kind == "delete" {
			w = 0
		}
		if _, err := b.SetEdge(index.Edge{Ends: index.Ends{U: u, V: v}, Weight: w}); err != nil {
			return nil, 0, err
		}
		done++
	}
	if err := b.Write(memoryStore{}, index.Commit{}); err != nil {
		return nil, 0, err
	}
	return b.Snapshot(), done, nil
}

// pick draws an edge to insert or delete. ok is false if the draw found none.
func (s *subject) pick(r *rand.Rand, g *index.Graph, c change, near []index.ID) (u, v index.ID, ok bool) {
	if near == nil {
		near = s.linked
	}
	u = near[r.IntN(len(near))]
	if c.kind == "delete" {
		to, _ := g.Out(u)
		if len(to) == 0 {
			return 0, 0, false
		}
		return u, to[r.IntN(len(to))], true
	}
	v = s.draw(r)
	_, there := g.Edge(u, v)
	return u, v, u != v && !there
}
