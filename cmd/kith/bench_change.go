package main

import (
	"math/rand/v2"

	"kith/index"
)

// change is a kind of edits: so many edges, inserted or deleted, with an end within so many hops of a
// source or anywhere.
type change struct {
	kind  string // insert or delete
	edges int
	hops  int // anywhere: -1
}

const anywhere = -1

// near returns the nodes within hops of u; nil for anywhere.
func (c change) near(g *index.Graph, u index.ID) []index.ID {
	if c.hops == anywhere {
		return nil
	}
	nodes, seen, begin := []index.ID{u}, map[index.ID]bool{u: true}, 0
	for range c.hops {
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

// fits reports whether a graph has enough edges, or room for them, that the change leaves most of it
// alone.
func (c change) fits(s *subject) bool {
	if c.kind == "delete" {
		return int64(c.edges) <= s.snap.Graph.NumEdges()/4
	}
	return float64(c.edges) <= float64(len(s.linked))*float64(len(s.linked)-1)/4
}

// apply makes the changes in a batch on top of the snapshot, with one end of each among near (nil:
// anywhere), and returns the next version. It gives up where near has not enough.
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
		if _, err := b.SetEdge(u, v, w, 0); err != nil {
			return nil, 0, err
		}
		done++
	}
	if err := b.Write(discard{}); err != nil {
		return nil, 0, err
	}
	return b.Snapshot(), done, nil
}

// pick draws an edge to insert or delete, if there is one where it looks.
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

// discard is a store that keeps nothing.
type discard struct{}

func (discard) Set(_, _ []byte) error { return nil }
func (discard) Delete(_ []byte) error { return nil }
