package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"kith/index/internal/block"
)

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

// openGraph returns the graph of a generation of n nodes, whose rows are read when they are asked
// for.
func openGraph(r Reader, cache *blockCache, m *Meta) (*Graph, error) {
	out, err := readDirectory(r, prefixOut, m.Generation, block.DecodeRowDirectory)
	var in *block.RowDirectory
	if err == nil && m.Directed {
		in, err = readDirectory(r, prefixIn, m.Generation, block.DecodeRowDirectory)
	}
	if err != nil {
		return nil, err
	}
	return pagedGraph(int(m.BaseNodes), out, in, cache), nil
}

// pagedGraph returns the graph of the blocks of a generation with the given directories, whose rows
// are read when they are asked for. in is nil for an undirected graph.
func pagedGraph(n int, out, in *block.RowDirectory, cache *blockCache) *Graph {
	open := func(kind byte, dir *block.RowDirectory) *base {
		s := &storedRows{RowDirectory: *dir, nodes: n, cache: cache, kind: kind}
		s.blocks = block.NewSet(&cache.Cache, len(dir.First), func(i int, b *block.Rows) (bytes int64, err error) {
			err = s.read(i, b)
			return b.Bytes(), err
		})
		s.joined = block.NewSet(&cache.Cache, len(dir.First), s.join)
		return &base{stored: s}
	}
	g := NewGraph(in != nil)
	g.nodes = n
	g.out.base = open(prefixOut, out)
	g.out.base.degrees = openDegrees(n, cache)
	if in != nil {
		g.in.base = open(prefixIn, in)
	}
	g.edges, g.loops = out.Edges(in != nil)
	return g
}

// Loaded reports whether all rows are in memory.
func (g *Graph) Loaded() bool {
	return g.out.base.memory.Load() != nil && g.in.base.memory.Load() != nil
}

// err returns the error of the first row that could not be read, after which answers may be wrong.
func (g *Graph) err() error {
	if s := g.out.base.stored; s != nil {
		return s.cache.Err()
	}
	return nil
}

// Load reads all rows of the base into memory. All versions with this base use them from then on.
// It returns ErrCorrupt, which Err returns from then on, too, ErrTooLarge unless the graph is
// Loadable, or the error of ctx.
func (g *Graph) Load(ctx context.Context) error {
	if g.Loaded() {
		return g.err()
	}
	if !g.Loadable() {
		return fmt.Errorf("%w: the rows have more than %d entries", ErrTooLarge, MaxEntries)
	}
	stored := g.out.base.stored
	out, in := rowBuilder{expected: stored.RowDirectory}, rowBuilder{expected: g.in.base.stored.RowDirectory}
	if err := g.eachStored(ctx, out.add, in.add); err != nil {
		return err
	}
	n := stored.nodes
	loaded := graphOf(g.directed, n, out.rows(n), in.rows(n))
	if g.directed {
		g.in.base.memory.Store(loaded.in.base.memory.Load())
	}
	g.out.base.memory.Store(loaded.out.base.memory.Load())
	stored.cache.Clear()
	return nil
}

// Check reads all blocks of the rows of the base. It returns ErrCorrupt, which Err returns from
// then on, too, or the error of ctx.
func (g *Graph) Check(ctx context.Context) error {
	none := func(ID, block.Entries) error { return nil }
	return g.eachStored(ctx, none, none)
}

// eachStored reads the blocks of all rows of the base, and passes the rows to out and in. An
// undirected graph has no in-rows. It returns ErrCorrupt, which Err returns from then on, too, or
// the error of ctx.
func (g *Graph) eachStored(ctx context.Context, out, in func(ID, block.Entries) error) error {
	sum := balance{directed: g.directed}
	err := g.out.base.stored.each(ctx, func(u ID, e block.Entries) error {
		sum.add(u, e, false)
		return out(u, e)
	})
	if err == nil && g.directed {
		err = g.in.base.stored.each(ctx, func(u ID, e block.Entries) error {
			sum.add(u, e, true)
			return in(u, e)
		})
	}
	if err == nil {
		err = sum.err()
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, ErrTooLarge) {
		g.out.base.stored.cache.Fail(err)
	}
	return err
}
