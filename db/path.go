package db

import (
	"context"
	"iter"
	"slices"

	"kith/index"
)

// Path returns the nodes of a shortest path between two nodes, including both ends. In a directed graph, paths follow
// the direction of the edges. The result is empty if there is no path of at most the given number of steps; 0 means no
// limit. Path returns ErrNotFound for a missing node.
//
// The search proceeds in layers from both ends, always from the end whose last layer is smaller. It visits about the
// square root of the nodes that a search from one end would visit.
func (tx *Tx) Path(ctx context.Context, from, to any, most int) ([]Key, error) {
	a, b, err := tx.ends(from, to)
	if err != nil {
		return nil, err
	}
	if most < 0 {
		return nil, inputf("a path of at most %d steps", most)
	}
	if a == b {
		return []Key{tx.key(a)}, nil
	}
	g := tx.view().Graph
	there, back := newSearch(a, g.Out), newSearch(b, g.In)
	for steps := 0; len(there.front) > 0 && len(back.front) > 0 && (most == 0 || steps < most); steps++ {
		s, other := there, back
		if len(back.front) < len(there.front) {
			s, other = back, there
		}
		met, ok, err := s.advance(ctx, other)
		if err != nil {
			return nil, err
		}
		if ok {
			return tx.joined(there, back, met), nil
		}
	}
	return nil, nil
}

// joined returns the path through a node that both searches have reached.
func (tx *Tx) joined(there, back *search, met index.ID) []Key {
	var path []Key
	for id := met; ; id = there.cameFrom[id] {
		path = append(path, tx.key(id))
		if id == there.cameFrom[id] {
			break
		}
	}
	slices.Reverse(path)
	for id := met; id != back.cameFrom[id]; {
		id = back.cameFrom[id]
		path = append(path, tx.key(id))
	}
	return path
}

// search is a breadth-first search.
type search struct {
	row      func(index.ID) ([]index.ID, []float32)
	cameFrom map[index.ID]index.ID // the start comes from itself
	front    []index.ID            // the last layer reached
}

func newSearch(start index.ID, row func(index.ID) ([]index.ID, []float32)) *search {
	return &search{row: row, cameFrom: map[index.ID]index.ID{start: start}, front: []index.ID{start}}
}

// advance takes one more step, and returns the first node that the other search has reached too. That node is on a
// shortest path: both searches have completed whole layers, so on a shorter path they would have met before.
func (s *search) advance(ctx context.Context, other *search) (met index.ID, ok bool, err error) {
	var next []index.ID
	for i, u := range s.front {
		if i%1024 == 0 && ctx.Err() != nil {
			return 0, false, ctx.Err()
		}
		to, _ := s.row(u)
		for _, v := range to {
			if _, seen := s.cameFrom[v]; seen {
				continue
			}
			s.cameFrom[v] = u
			if _, both := other.cameFrom[v]; both {
				return v, true, nil
			}
			next = append(next, v)
		}
	}
	s.front = next
	return 0, false, nil
}

// Reached is a node that a walk along edges reaches.
type Reached struct {
	Node
	Depth  int     `json:"depth"`  // number of steps on a shortest path
	Weight float32 `json:"weight"` // weight of the edge at depth 1, otherwise 0
}

// Reach yields the nodes within depth steps of a node, without the node, in order of their distance. In a directed
// graph, steps follow the direction of the edges. It yields a single error if there is no such node, if depth is below
// 1, or when ctx ends.
func (tx *Tx) Reach(ctx context.Context, key any, depth int) iter.Seq2[Reached, error] {
	return func(yield func(Reached, error) bool) {
		source, err := tx.id(key)
		if err == nil && depth < 1 {
			err = inputf("depth %d: want at least 1", depth)
		}
		if err != nil {
			yield(Reached{}, err)
			return
		}
		g, steps := tx.view().Graph, 0
		for layer, err := range tx.layers(ctx, source, depth) {
			if err != nil {
				yield(Reached{}, err)
				return
			}
			steps++
			for _, id := range layer {
				r := Reached{Node: tx.node(id), Depth: steps}
				if e, ok := g.Edge(source, id); ok && steps == 1 {
					r.Weight = e.Weight
				}
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// layers yields the nodes at 1, 2, ... n steps from source, each layer in ascending order.
func (tx *Tx) layers(ctx context.Context, source index.ID, n int) iter.Seq2[[]index.ID, error] {
	return func(yield func([]index.ID, error) bool) {
		g := tx.view().Graph
		seen, visited := map[index.ID]struct{}{source: {}}, 0
		for front := []index.ID{source}; n > 0; n-- {
			var next []index.ID
			for _, u := range front {
				to, _ := g.Out(u)
				for _, v := range to {
					if visited%checkEvery == 0 && ctx.Err() != nil {
						yield(nil, ctx.Err())
						return
					}
					visited++
					if _, ok := seen[v]; !ok {
						seen[v] = struct{}{}
						next = append(next, v)
					}
				}
			}
			slices.Sort(next)
			if len(next) == 0 || !yield(next, nil) {
				return
			}
			front = next
		}
	}
}
