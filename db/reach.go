package db

import (
	"context"
	"iter"
	"slices"

	"kith/index"
)

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
