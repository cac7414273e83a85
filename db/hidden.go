package db

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"kith/db/words"
	"kith/index"
)

// hiddenLinks are pairs of a source and a node that it has a hidden link to, ascending.
type hiddenLinks [][2]index.ID

// sources returns the nodes with hidden links, ascending.
func (h hiddenLinks) sources() (all []index.ID) {
	for _, p := range h {
		if n := len(all); n == 0 || all[n-1] != p[0] {
			all = append(all, p[0])
		}
	}
	return all
}

// of returns the nodes that source has hidden links to, ascending. The caller owns the slice.
func (h hiddenLinks) of(source index.ID) (to []index.ID) {
	at, _ := slices.BinarySearchFunc(h, source, func(p [2]index.ID, u index.ID) int { return cmp.Compare(p[0], u) })
	for ; at < len(h) && h[at][0] == source; at++ {
		to = append(to, h[at][1])
	}
	return to
}

// toBeFound returns the links to find for some edges. An undirected edge is to be found from both
// of its ends.
func toBeFound(ctx context.Context, pairs [][2]index.ID, directed bool) (links hiddenLinks, err error) {
	for i, p := range pairs {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		links = append(links, p)
		if !directed {
			links = append(links, [2]index.ID{p[1], p[0]})
		}
	}
	slices.SortFunc(links, ascending)
	return links, nil
}

// changeBytes is the memory of a change until it is in a base. hiddenBytes is about the largest
// memory of an edge that is hidden by changes of the rows of its nodes. Both are in bytes.
const (
	changeBytes = 256
	hiddenBytes = 4 << 10
)

// without returns the graph without the given edges, which must ascend: a second graph if there is
// memory for it, otherwise the same graph with changed rows. It returns ErrTooLarge if there is no
// memory for these either, or the error of ctx.
func (tx *Tx) without(ctx context.Context, edges [][2]index.ID) (*index.Graph, error) {
	if tx.fitsSecond() {
		return tx.snap.Graph.Without(ctx, edges)
	}
	if len(edges) > tx.mostHidden() {
		what := fmt.Sprintf("the graph is too large to be copied, and to hide %s takes", words.Count(len(edges), "edge"))
		return nil, tx.db.checkMemory(what, hiddenBytes*int64(len(edges)), tx.db.opts.memory(workPart)/2)
	}
	return tx.snap.Graph.Hide(ctx, edges)
}

// fitsSecond reports whether there is memory for the graph and a second one. The result does not
// depend on which rows were read before.
func (tx *Tx) fitsSecond() bool {
	g := tx.snap.Graph
	changes, _ := tx.snap.Log.Since(tx.snap.Meta.Base) // the log reaches back further
	first := min(tx.snap.LoadedBytes(), tx.db.opts.memory(graphPart))
	return first+g.LoadedBytes()+changeBytes*int64(len(changes)) <= tx.db.opts.memory(graphPart, workPart)
}

// mostHidden returns the number of edges that can be hidden without a second graph.
func (tx *Tx) mostHidden() int { return int(tx.db.opts.memory(workPart) / 2 / hiddenBytes) }

// drawHidden draws exactly the given share of the edges, without loops, in the order of the graph
// (Knuth, The Art of Computer Programming, vol. 2, algorithm 3.4.2 S). Without memory for a second
// graph it draws at most mostHidden edges.
func (tx *Tx) drawHidden(ctx context.Context, share float64, rng *rand.Rand) (pairs [][2]index.ID, err error) {
	left := tx.snap.Meta.Edges - tx.snap.Meta.Loops
	if left < 2 {
		return nil, inputf("the graph has %d edges, loops left out: too few to hide some and keep some", left)
	}
	want := min(max(int64(share*float64(left)+0.5), 1), left-1)
	if !tx.fitsSecond() {
		want = min(want, int64(tx.mostHidden()))
	}
	return tx.selectEdges(ctx, func(index.Edge) bool {
		take := rng.Int64N(left) < want
		left--
		if take {
			want--
		}
		return take
	})
}

// selectEdges returns the edges that take accepts, without loops, in the order of the graph.
func (tx *Tx) selectEdges(ctx context.Context, take func(index.Edge) bool) (pairs [][2]index.ID, err error) {
	visited := 0
	for e := range tx.snap.Graph.Edges() {
		if visited++; visited%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if e.U != e.V && take(e) {
			pairs = append(pairs, [2]index.ID{e.U, e.V})
		}
	}
	return pairs, nil
}

// ascending compares pairs by their first node, then by the second.
func ascending(a, b [2]index.ID) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }
