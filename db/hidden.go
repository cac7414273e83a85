package db

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

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

// toBeFound returns the links to find for some edges. An undirected edge is to be found from both of its ends.
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

// changeBytes is the memory of a change until it is in a base, in bytes.
const changeBytes = 256

// without returns the graph without the given edges, which must ascend. It returns ErrTooLarge if memory does not
// suffice for both graphs, or the error of ctx.
func (tx *Tx) without(ctx context.Context, edges [][2]index.ID) (*index.Graph, error) {
	g := tx.snap.Graph
	changes, _ := tx.snap.Log.Since(tx.snap.Meta.Base) // the log reaches back further
	bytes := tx.snap.Bytes() + g.LoadedBytes() + changeBytes*int64(len(changes))
	if err := tx.db.within("a holdout with a second graph needs", bytes, tx.db.opts.memory(graphPart, workPart)); err != nil {
		return nil, err
	}
	return g.Without(ctx, edges)
}

// drawHidden draws exactly the given share of the edges, without loops, in the order of the graph (Knuth, The Art of
// Computer Programming, vol. 2, algorithm 3.4.2 S).
func (tx *Tx) drawHidden(ctx context.Context, share float64, rng *rand.Rand) (pairs [][2]index.ID, err error) {
	left := tx.snap.Meta.Edges - tx.snap.Meta.Loops
	if left < 2 {
		return nil, inputf("the graph has %d edges, loops left out: too few to hide some and keep some", left)
	}
	want := min(max(int64(share*float64(left)+0.5), 1), left-1)
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
