// Package hidden chooses edges to hide from models, asks for them, and sums how well they are
// found.
//
// [Select], [Draw] and [Lowest] choose edges of a graph. [ToBeFound] makes [Links] of them, which
// are to be found from their sources. [NewQuestions] draws candidates for them, and a [Quality]
// sums answers. The package reads graphs of package index, and knows nothing of transactions.
package hidden

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"kith/index"
)

// checkEvery is the number of edges between two checks of the context.
const checkEvery = 1 << 14

// Links are pairs of a source and a node that it has a hidden link to, ascending.
type Links [][2]index.ID

// Sources returns the nodes with hidden links, ascending.
func (h Links) Sources() (all []index.ID) {
	for _, p := range h {
		if n := len(all); n == 0 || all[n-1] != p[0] {
			all = append(all, p[0])
		}
	}
	return all
}

// Of returns the nodes that source has hidden links to, ascending. The caller owns the slice.
func (h Links) Of(source index.ID) (to []index.ID) {
	at, _ := slices.BinarySearchFunc(h, source, func(p [2]index.ID, u index.ID) int { return cmp.Compare(p[0], u) })
	for ; at < len(h) && h[at][0] == source; at++ {
		to = append(to, h[at][1])
	}
	return to
}

// ToBeFound returns the links to find for some edges. An undirected edge is to be found from both
// of its ends.
func ToBeFound(ctx context.Context, pairs [][2]index.ID, directed bool) (links Links, err error) {
	for i, p := range pairs {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		links = append(links, p)
		if !directed {
			links = append(links, [2]index.ID{p[1], p[0]})
		}
	}
	slices.SortFunc(links, Ascending)
	return links, nil
}

// Select returns the edges that take accepts, without loops, in the order of the graph.
func Select(ctx context.Context, g *index.Graph, take func(index.Edge) bool) (pairs [][2]index.ID, err error) {
	visited := 0
	for e := range g.Edges() {
		if visited++; visited%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if e.U != e.V && take(e) {
			pairs = append(pairs, [2]index.ID{e.U, e.V})
		}
	}
	return pairs, nil
}

// Ascending compares pairs by their first node, then by the second.
func Ascending(a, b [2]index.ID) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }

// Draw draws exactly want edges, without loops, in the order of the graph, which has the given
// number of them (Knuth, The Art of Computer Programming, vol. 2, algorithm 3.4.2 S).
func Draw(ctx context.Context, g *index.Graph, edges, want int64, rng *rand.Rand) (pairs [][2]index.ID, err error) {
	return Select(ctx, g, func(index.Edge) bool {
		take := rng.Int64N(edges) < want
		edges--
		if take {
			want--
		}
		return take
	})
}

// Lowest returns the share of the edges with the lowest hash values, without loops. Whether an edge
// is among them is a function of the seed and of the edge.
func Lowest(ctx context.Context, g *index.Graph, seed uint64, share float64) (pairs [][2]index.ID, err error) {
	bar := uint64(share * math.MaxUint64)
	return Select(ctx, g, func(e index.Edge) bool { return hashed(seed, e.U, e.V) < bar })
}

// hashed mixes an edge with a seed (SplitMix64: Steele, Lea and Flood, OOPSLA 2014).
func hashed(seed uint64, u, v index.ID) uint64 {
	mix := func(z uint64) uint64 {
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return z ^ z>>31
	}
	const gamma = 0x9e3779b97f4a7c15
	return mix(mix(seed+gamma) + gamma*(uint64(u)<<32|uint64(v)))
}

// Together returns the edges of both lists in the graph's orientation, ascending and each once.
func Together(a, b [][2]index.ID, directed bool) [][2]index.ID {
	all := slices.Concat(a, b)
	for i, e := range all {
		if !directed && e[0] > e[1] {
			all[i] = [2]index.ID{e[1], e[0]}
		}
	}
	slices.SortFunc(all, Ascending)
	return slices.Compact(all)
}
