package index

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"kith/index/internal/block"
)

// The limits of the layout, since ids and offsets have 32 bits.
const (
	MaxNodes = math.MaxUint32 // nodes, deleted ones included
	// MaxEntries is the number of entries of the rows in one direction that fit into memory; the
	// store has no limit.
	MaxEntries = math.MaxUint32
)

// tooManyNodes returns ErrTooLarge for a node that cannot be numbered.
func tooManyNodes() error {
	return fmt.Errorf("%w: the graph has %d nodes, deleted ones included, and cannot have more", ErrTooLarge, MaxNodes)
}

// Loadable reports whether all rows can be in memory, as far as the layout goes.
func (g *Graph) Loadable() bool { return max(g.out.base.entries(), g.in.base.entries()) <= MaxEntries }

// edgesPerCheck is the number of edges visited between two checks of a context.
const edgesPerCheck = 1 << 13

// Without returns the graph without the given edges, which must ascend, with all its rows in
// memory, or the error of ctx. For many edges it takes less memory than [Graph.Edit], and passes
// over its result are several times as fast.
func (g *Graph) Without(ctx context.Context, edges [][2]ID) (*Graph, error) {
	back := make([][2]ID, 0, len(edges))
	for _, e := range edges {
		if g.directed || e[0] != e[1] {
			back = append(back, [2]ID{e[1], e[0]})
		}
	}
	if !g.directed {
		edges, back = slices.Concat(edges, back), nil
		slices.SortFunc(edges, byEnds)
	}
	slices.SortFunc(back, byEnds)
	out, err := g.rowsWithout(ctx, g.out, edges)
	in := csr{}
	if err == nil && g.directed {
		in, err = g.rowsWithout(ctx, g.in, back)
	}
	if err != nil {
		return nil, err
	}
	return graphOf(g.directed, g.nodes, out, in), nil
}

// byEnds compares entries of rows by row and neighbour.
func byEnds(a, b [2]ID) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }

// rowsWithout returns the rows in one direction without the given entries, which must ascend.
func (g *Graph) rowsWithout(ctx context.Context, a *adjacency, hidden [][2]ID) (csr, error) {
	b, visited := rowBuilder{expected: block.RowDirectory{Entries: uint64(g.Arcs())}}, 0
	for u := range ID(g.nodes) {
		row := a.row(u)
		if visited += 1 + len(row.To); visited >= edgesPerCheck {
			if visited = 0; ctx.Err() != nil {
				return csr{}, ctx.Err()
			}
		}
		lo := 0
		for ; len(hidden) > 0 && hidden[0][0] == u; hidden = hidden[1:] {
			if i, ok := slices.BinarySearch(row.To, hidden[0][1]); ok {
				if err := b.add(u, row.Sub(lo, i)); err != nil {
					return csr{}, err
				}
				lo = i + 1
			}
		}
		if err := b.add(u, row.Sub(lo, len(row.To))); err != nil {
			return csr{}, err
		}
	}
	return b.rows(g.nodes), nil
}

func degrees(c csr) []float64 {
	if c.Weight == nil {
		return nil
	}
	d := make([]float64, len(c.off)-1)
	for u := range d {
		row := c.row(ID(u))
		d[u] = row.Sum()
	}
	return d
}

// rowBuilder collects the rows in one direction, which must be added in order.
type rowBuilder struct {
	csr
	expected block.RowDirectory // says how many entries and which planes are expected
}

// add adds entries to row u. The rows between the last row and u are empty.
func (b *rowBuilder) add(u ID, e block.Entries) error {
	if len(b.To)+len(e.To) > MaxEntries {
		return fmt.Errorf("%w: the rows have more than %d entries", ErrTooLarge, MaxEntries)
	}
	if b.To == nil {
		b.alloc()
	}
	b.begin(u)
	b.Append(e)
	return nil
}

// alloc makes room for the expected entries.
func (b *rowBuilder) alloc() {
	n := b.expected.Entries
	b.To = make([]ID, 0, n)
	if b.expected.Weights {
		b.Weight = make([]float32, 0, n)
	}
	if b.expected.Times {
		b.Time = make([]int64, 0, n)
	}
}

// begin ends the rows below u.
func (b *rowBuilder) begin(u ID) {
	for len(b.off) <= int(u) {
		b.off = append(b.off, uint32(len(b.To)))
	}
}

// rows returns the rows of n nodes.
func (b *rowBuilder) rows(n int) csr {
	if len(b.To) == 0 {
		return csr{}
	}
	b.begin(ID(n))
	return b.csr
}

// graphOf returns the graph of n nodes with these rows. An undirected graph has no in-rows of its
// own.
func graphOf(directed bool, n int, out, in csr) *Graph {
	g := NewGraph(directed)
	g.nodes = n
	out.degree = degrees(out)
	g.out.base = inMemory(out)
	if directed {
		g.in.base = inMemory(in)
	}
	for u := range ID(n) {
		if _, ok := slices.BinarySearch(out.row(u).To, u); ok {
			g.loops++
		}
	}
	g.edges = int64(len(out.To))
	if !directed {
		g.edges = (g.edges + g.loops) / 2
	}
	return g
}

// balance verifies that each edge is in the rows of both of its nodes, with the same weight and
// time. It compares sums of hashes: sum is the sum over the rows in one direction less the sum over
// the rows in the other.
type balance struct {
	directed bool
	sum      uint64
}

// add adds entries of row u; in says that they are of edges that arrive. In an undirected graph,
// the edge of an entry arrives from the lower node.
func (b *balance) add(u ID, e block.Entries, in bool) {
	for i, v := range e.To {
		w, t := e.At(i)
		switch {
		case b.directed && in, !b.directed && u > v:
			b.sum -= entryHash(v, u, w, t)
		case b.directed, u < v:
			b.sum += entryHash(u, v, w, t)
		}
	}
}

// err returns ErrCorrupt unless the sums are equal.
func (b *balance) err() error {
	if b.sum != 0 {
		return fmt.Errorf("%w: an edge is missing in the row of one of its nodes, or differs", ErrCorrupt)
	}
	return nil
}

// entryHash returns a hash of an edge.
func entryHash(u, v ID, w float32, t int64) uint64 {
	h := (uint64(u)<<32 | uint64(v)) * 0x9e3779b97f4a7c15
	h = (h ^ h>>29 ^ uint64(math.Float32bits(w))) * 0xbf58476d1ce4e5b9
	return (h ^ h>>32 ^ uint64(t)) * 0x94d049bb133111eb
}

// mended returns the graph of all edges that the row of at least one of their nodes has.
func (g *Graph) mended() *Graph {
	var edges []Edge
	for u := range ID(g.nodes) {
		out := g.out.base.row(u)
		for i, v := range out.To {
			w, t := out.At(i)
			edges = append(edges, g.edge(u, v, w, t))
		}
		if !g.directed {
			continue
		}
		in := g.in.base.row(u)
		for i, v := range in.To {
			w, t := in.At(i)
			edges = append(edges, Edge{U: v, V: u, Weight: w, Time: t})
		}
	}
	byPair := func(a, b Edge) int { return cmp.Or(cmp.Compare(a.U, b.U), cmp.Compare(a.V, b.V)) }
	slices.SortStableFunc(edges, byPair)
	edges = slices.CompactFunc(edges, func(a, b Edge) bool { return byPair(a, b) == 0 })
	mirrored := make([]Edge, 0, len(edges))
	for _, e := range edges {
		if g.directed || e.U != e.V {
			mirrored = append(mirrored, Edge{U: e.V, V: e.U, Weight: e.Weight, Time: e.Time})
		}
	}
	if !g.directed {
		edges, mirrored = append(edges, mirrored...), nil
		slices.SortFunc(edges, byPair)
	}
	slices.SortFunc(mirrored, byPair)
	return graphOf(g.directed, g.nodes, rowsOf(edges, g.nodes), rowsOf(mirrored, g.nodes))
}

// rowsOf returns the rows of n nodes with the given entries, which must ascend.
func rowsOf(entries []Edge, n int) csr {
	b := rowBuilder{expected: block.RowDirectory{Entries: uint64(len(entries))}}
	for _, e := range entries {
		var entry block.Entries
		entry.Add(e.V, e.Weight, e.Time)
		_ = b.add(e.U, entry) // the entries were in rows before, so there are not too many
	}
	return b.rows(n)
}
