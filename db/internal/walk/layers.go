package walk

import (
	"context"
	"iter"
	"math/bits"
	"slices"

	"kith/index"
)

// entriesPerCheck is the number of entries of rows between two checks of the context.
const entriesPerCheck = 1 << 16

// Layers yields the nodes at 1, 2, ... n steps from the nearest of the given nodes, each layer
// ascending, until a layer is empty. In a directed graph, steps follow the direction of the edges.
// Layers yields the error of ctx if that ends. While few nodes are in reach, its time and memory
// depend on these alone; then it takes two bits of memory for each node of the graph.
func Layers(ctx context.Context, g *index.Graph, n int, from ...index.ID) iter.Seq2[[]index.ID, error] {
	return func(yield func([]index.ID, error) bool) {
		r := reach{g: g}
		for layer := from; n > 0; n-- {
			var err error
			if layer, err = r.step(ctx, layer); err != nil || len(layer) == 0 {
				if err != nil {
					yield(nil, err)
				}
				return
			}
			if !yield(layer, nil) {
				return
			}
		}
	}
}

// reach is a set of nodes that grows by layers.
type reach struct {
	g          *index.Graph
	seen       []index.ID // ascending, without the last layer, until there are sets
	sets, next nodeSet    // nil while few nodes are in reach
}

// step adds the nodes at one step from a layer, and returns the new ones, ascending.
func (r *reach) step(ctx context.Context, layer []index.ID) ([]index.ID, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if r.sets == nil {
		r.seen = append(r.seen, layer...)
		slices.Sort(r.seen)
		few := r.g.NumNodes()/64 - len(r.seen) // entries that are sorted faster than sets are read
		for _, u := range layer {
			to, _ := r.g.Out(u)
			if few -= len(to); few < 0 {
				break
			}
		}
		if few >= 0 {
			return r.sorted(layer), nil
		}
		r.sets, r.next = newNodeSet(r.g.NumNodes()), newNodeSet(r.g.NumNodes())
		r.sets.addAll(r.seen)
	}
	left := entriesPerCheck
	for _, u := range layer {
		to, _ := r.g.Out(u)
		if left -= len(to); left <= 0 {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			left = entriesPerCheck
		}
		r.next.addAll(to)
	}
	return r.next.moveTo(r.sets), nil
}

// sorted is step for a layer with few entries.
func (r *reach) sorted(layer []index.ID) (fresh []index.ID) {
	for _, u := range layer {
		to, _ := r.g.Out(u)
		fresh = append(fresh, to...)
	}
	if len(layer) > 1 { // or else it is a row
		slices.Sort(fresh)
		fresh = slices.Compact(fresh)
	}
	return Without(fresh, r.seen)
}

// Recent is Layers with steps along the edges of some graphs of the same nodes whose time is later
// than since and not later than until. Edges without a time are not.
func Recent(ctx context.Context, graphs []*index.Graph, since, until int64, n int, from ...index.ID) iter.Seq2[[]index.ID, error] {
	return func(yield func([]index.ID, error) bool) {
		seen := slices.Clone(from)
		slices.Sort(seen)
		for layer := from; n > 0; n-- {
			var next []index.ID
			for _, u := range layer {
				if ctx.Err() != nil {
					yield(nil, ctx.Err())
					return
				}
				for _, g := range graphs {
					to, times := g.OutTimed(u)
					for i, t := range times {
						if t != 0 && since < t && t <= until {
							next = append(next, to[i])
						}
					}
				}
			}
			slices.Sort(next)
			layer = Without(slices.Compact(next), seen)
			if len(layer) == 0 || !yield(layer, nil) {
				return
			}
			seen = append(seen, layer...)
			slices.Sort(seen)
		}
	}
}

// Without returns the nodes of a that are not in b, in the memory of a. Both ascend. It moves the
// nodes between two of b together, so a may be much longer than b.
func Without(a, b []index.ID) []index.ID {
	left := a[:0]
	for _, u := range b {
		most := 1
		for most < len(a) && a[most-1] < u {
			most *= 2
		}
		i, found := slices.BinarySearch(a[:min(most, len(a))], u)
		left = append(left, a[:i]...)
		if found {
			i++
		}
		a = a[i:]
	}
	return append(left, a...)
}

// Shortest returns the nodes of a shortest path from a to b, including both, of at most the given
// number of steps; 0 means no limit. It returns none if there is no such path.
//
// The search proceeds in layers from both ends, always from the end whose last layer is smaller. It
// visits about the square root of the nodes that a search from one end would visit.
func Shortest(ctx context.Context, g *index.Graph, a, b index.ID, most int) ([]index.ID, error) {
	if a == b {
		return []index.ID{a}, nil
	}
	there, back := newSearch(g.Out, a), newSearch(g.In, b)
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
			path := there.pathTo(met)
			slices.Reverse(path)
			return append(path, back.pathTo(met)[1:]...), nil
		}
	}
	return nil, nil
}

// search is a breadth-first search from one end of a path.
type search struct {
	row      func(index.ID) ([]index.ID, []float32)
	cameFrom map[index.ID]index.ID // the start comes from itself
	front    []index.ID            // the last layer reached
}

func newSearch(row func(index.ID) ([]index.ID, []float32), start index.ID) *search {
	return &search{row: row, cameFrom: map[index.ID]index.ID{start: start}, front: []index.ID{start}}
}

// pathTo returns the nodes from a node that was reached back to the start.
func (s *search) pathTo(id index.ID) []index.ID {
	path := []index.ID{id}
	for ; s.cameFrom[id] != id; id = s.cameFrom[id] {
		path = append(path, s.cameFrom[id])
	}
	return path
}

// advance takes one more step, and returns the first node that the other search has reached too.
// That node is on a shortest path: both searches have completed whole layers, so on a shorter path
// they would have met before.
func (s *search) advance(ctx context.Context, other *search) (met index.ID, ok bool, err error) {
	var next []index.ID
	visited := 0
	for _, u := range s.front {
		to, _ := s.row(u)
		for _, v := range to {
			if visited%entriesPerCheck == 0 && ctx.Err() != nil {
				return 0, false, ctx.Err()
			}
			visited++
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

// nodeSet is a set of nodes, one bit each.
type nodeSet []uint64

func newNodeSet(nodes int) nodeSet { return make(nodeSet, (nodes+63)/64) }

// members returns the nodes of the set, ascending.
func (s nodeSet) members() []index.ID {
	n := 0
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	all := make([]index.ID, 0, n)
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			all = append(all, index.ID(i*64+bits.TrailingZeros64(word)))
		}
	}
	return all
}

// moveTo adds the nodes of s to t, and returns the nodes that t did not have, ascending. s is then
// empty.
func (s nodeSet) moveTo(t nodeSet) (fresh []index.ID) {
	for i, word := range s {
		s[i] &^= t[i]
		t[i] |= word
	}
	fresh = s.members()
	clear(s)
	return fresh
}

func (s nodeSet) addAll(nodes []index.ID) {
	for _, u := range nodes {
		s.add(u)
	}
}

func (s nodeSet) add(u index.ID)      { s[u/64] |= 1 << (u % 64) }
func (s nodeSet) has(u index.ID) bool { return s[u/64]>>(u%64)&1 != 0 }
