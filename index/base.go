package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"kith/index/internal/block"
	"kith/index/internal/spill"
)

// Loadable reports whether all rows can be in memory, as far as the layout goes.
func (g *Graph) Loadable() bool { return max(g.out.base.entries(), g.in.base.entries()) <= MaxEntries }

// edgesPerCheck is the number of edges visited between two checks of a context.
const edgesPerCheck = 1 << 13

// Without returns the graph without the given edges, of which only endpoints and relation matter,
// with all its rows in memory, or the error of ctx. For many edges it takes less memory than
// [Graph.Edit], and passes over its result are several times as fast.
func (g *Graph) Without(ctx context.Context, edges []Edge) (*Graph, error) {
	var from, to []Edge // entries of out-rows and of in-rows
	for _, e := range edges {
		back := Edge{Ends: Ends{U: e.V, V: e.U}, Relation: e.Relation}
		from = append(from, e)
		if g.directed {
			to = append(to, back)
		}
		if e.U != e.V && !g.directions[e.Relation] {
			from = append(from, back)
			if g.directed {
				to = append(to, e)
			}
		}
	}
	out, err := g.rowsWithout(ctx, g.out, from)
	in := csr{}
	if err == nil && g.directed {
		in, err = g.rowsWithout(ctx, g.in, to)
	}
	if err != nil {
		return nil, err
	}
	return graphOf(g.directions, g.nodes, out, in), nil
}

// byEntry compares entries of rows by row, neighbour and relation.
func byEntry(a, b Edge) int {
	return cmp.Or(cmp.Compare(a.U, b.U), cmp.Compare(a.V, b.V), cmp.Compare(a.Relation, b.Relation))
}

// rowsWithout returns the rows in one direction without the given entries.
func (g *Graph) rowsWithout(ctx context.Context, a *adjacency, hidden []Edge) (csr, error) {
	slices.SortFunc(hidden, byEntry)
	b, visited := rowBuilder{expected: block.RowDirectory{Entries: uint64(g.Arcs())}}, 0
	for u := range ID(g.nodes) {
		row := a.edges(u)
		if visited += 1 + len(row.To); visited >= edgesPerCheck {
			if visited = 0; ctx.Err() != nil {
				return csr{}, ctx.Err()
			}
		}
		n := 0
		for n < len(hidden) && hidden[n].U == u {
			n++
		}
		if n > 0 {
			row = withoutEdges(row, hidden[:n])
			hidden = hidden[n:]
		}
		if err := b.add(u, row); err != nil {
			return csr{}, err
		}
	}
	return b.rows(g.nodes), nil
}

// withoutEdges returns the edges of a row without the given entries, which ascend.
func withoutEdges(row block.Entries, hidden []Edge) block.Entries {
	empty := row.Sub(0, 0)
	rest, lo := empty.Grown(len(row.To)), 0
	for _, e := range hidden {
		if i, ok := row.Find(e.V, e.Relation); ok && i >= lo {
			rest.Append(row.Sub(lo, i))
			lo = i + 1
		}
	}
	rest.Append(row.Sub(lo, len(row.To)))
	return rest
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

// rowBuilder collects the edges in one direction, which must be added in order.
type rowBuilder struct {
	csr
	expected block.RowDirectory // says how many entries and which planes are expected
	last     block.Entries      // the edges of the last row, if edges have several relations
	any      bool               // an edge has been added
}

// add adds edges to row u: all edges to the neighbours that they have. The rows between the last
// row and u are empty.
func (b *rowBuilder) add(u ID, e block.Entries) error {
	if len(b.To)+len(e.To) > MaxEntries {
		return fmt.Errorf("%w: the rows have more than %d entries", ErrTooLarge, MaxEntries)
	}
	if b.To == nil {
		b.alloc()
	}
	b.begin(u)
	if len(e.To) == 0 {
		return nil
	}
	if b.segments == nil {
		b.separate(e)
	}
	if b.segments != nil {
		b.last.Append(e)
	}
	joined := e
	if b.segments == nil {
		joined.Relation = nil
	}
	b.AppendJoined(joined)
	return nil
}

// separate begins to keep segments if the edges do not all have the relation of the edges before.
func (b *rowBuilder) separate(e block.Entries) {
	for i := range e.To {
		r := e.RelationAt(i)
		if !b.any {
			b.relation, b.any = r, true
		}
		if r == b.relation {
			continue
		}
		b.segments = &segments{Entries: block.Entries{To: make([]ID, 0, b.expected.Entries+b.expected.Parallel)}}
		for u := range b.off {
			lo, hi := int(b.off[u]), len(b.To)
			if u+1 < len(b.off) {
				hi = int(b.off[u+1])
			}
			b.last = b.Sub(lo, hi)
			b.last = b.last.Of(b.relation)
			if u+1 < len(b.off) {
				b.endRow(ID(u))
			}
		}
		b.last = b.last.Grown(len(e.To))
		return
	}
}

// endRow moves the edges of the last row, row u, to the segments.
func (b *rowBuilder) endRow(u ID) {
	if b.segments != nil {
		b.segments.add(u, b.last)
		b.last = b.last.Sub(0, 0)
	}
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
		if n := len(b.off); n > 0 {
			b.endRow(ID(n - 1))
		}
		b.off = append(b.off, uint32(len(b.To)))
	}
}

// rows returns the rows of n nodes.
func (b *rowBuilder) rows(n int) csr {
	if len(b.To) == 0 {
		return csr{}
	}
	b.begin(ID(n))
	if b.segments != nil {
		b.segments.finish()
	}
	return b.csr
}

// graphOf returns the graph of n nodes with these rows. An undirected graph has no in-rows of its
// own.
func graphOf(directions spill.Directions, n int, out, in csr) *Graph {
	g := NewGraph(slices.Contains(directions, true))
	g.directions = directions
	out.degree = degrees(out)
	g.out.base = inMemory(out)
	g.nodes, g.arcs = n, int64(g.out.base.numEdges())
	if g.directed {
		g.in.base = inMemory(in)
	}
	for u := range ID(n) {
		edges, loops := g.rowEdges(u)
		g.edges, g.loops = g.edges+edges, g.loops+loops
	}
	return g
}

// rowEdges returns the number of edges that Edges yields for a row, and of loops among them.
func (g *Graph) rowEdges(u ID) (edges, loops int64) {
	row := g.out.edges(u)
	for i, v := range row.To {
		if u == v {
			loops++
		}
		if u <= v || g.directions[row.RelationAt(i)] {
			edges++
		}
	}
	return edges, loops
}

// balance verifies that each edge is in the rows of both of its nodes, with the same weight and
// time. It compares sums of hashes: sum is the sum over the entries of an edge from U to V less the
// sum over the entries from V to U. If the graph is directed, sum is over out-rows and in-rows, and
// undirected the same for the entries of undirected edges in out-rows.
type balance struct {
	directions      spill.Directions
	directed        bool
	sum, undirected uint64
}

func newBalance(directions spill.Directions) balance {
	return balance{directions: directions, directed: slices.Contains(directions, true)}
}

// add adds edges of row u; in says that they arrive.
func (b *balance) add(u ID, e block.Entries, in bool) {
	for i, v := range e.To {
		w, t := e.At(i)
		relation := e.RelationAt(i)
		switch {
		case b.directed && in:
			b.sum -= entryHash(v, u, relation, w, t)
		case b.directed:
			b.sum += entryHash(u, v, relation, w, t)
		}
		switch {
		case in || int(relation) < len(b.directions) && b.directions[relation]:
		case u > v:
			b.undirected -= entryHash(v, u, relation, w, t)
		case u < v:
			b.undirected += entryHash(u, v, relation, w, t)
		}
	}
}

// err returns ErrCorrupt unless the sums are equal.
func (b *balance) err() error {
	if b.sum != 0 || b.undirected != 0 {
		return fmt.Errorf("%w: an edge is missing in the row of one of its nodes, or differs", ErrCorrupt)
	}
	return nil
}

// entryHash returns a hash of an edge.
func entryHash(u, v ID, relation uint16, w float32, t int64) uint64 {
	h := (uint64(u)<<32|uint64(v))*0x9e3779b97f4a7c15 + uint64(relation)*0xd6e8feb86659fd93
	h = (h ^ h>>29 ^ uint64(math.Float32bits(w))) * 0xbf58476d1ce4e5b9
	return (h ^ h>>32 ^ uint64(t)) * 0x94d049bb133111eb
}

// mended returns the graph of all edges that the row of at least one of their nodes has.
func (g *Graph) mended() *Graph {
	var edges []Edge
	collect := func(a *adjacency, arriving bool) {
		for u := range ID(g.nodes) {
			row := a.base.edges(u)
			for i := range row.To {
				e := edgeAt(u, &row, i)
				if arriving {
					e.U, e.V = e.V, e.U
				}
				edges = append(edges, g.inOrder(e))
			}
		}
	}
	collect(g.out, false)
	if g.directed {
		collect(g.in, true)
	}
	slices.SortStableFunc(edges, byEntry)
	edges = slices.CompactFunc(edges, func(a, b Edge) bool { return byEntry(a, b) == 0 })
	var out, in []Edge
	for _, e := range edges {
		back := e
		back.U, back.V = e.V, e.U
		out = append(out, e)
		in = append(in, back)
		if e.U != e.V && !g.directions[e.Relation] {
			out, in = append(out, back), append(in, e)
		}
	}
	return graphOf(g.directions, g.nodes, rowsOf(out, g.nodes), rowsOf(in, g.nodes))
}

// rowsOf returns the rows of n nodes with the given entries.
func rowsOf(entries []Edge, n int) csr {
	slices.SortFunc(entries, byEntry)
	b := rowBuilder{expected: block.RowDirectory{Entries: uint64(len(entries))}}
	for lo := 0; lo < len(entries); {
		var all block.Entries // the edges of two nodes
		hi := lo
		for ; hi < len(entries) && entries[hi].U == entries[lo].U && entries[hi].V == entries[lo].V; hi++ {
			e := &entries[hi]
			all.Add(e.V, e.Relation, e.Weight, e.Time)
		}
		_ = b.add(entries[lo].U, all) // the entries were in rows before, so there are not too many
		lo = hi
	}
	return b.rows(n)
}

// openGraph returns the graph of a generation of n nodes, whose rows are read when they are asked
// for.
func openGraph(r Reader, cache *blockCache, m *Meta) (*Graph, error) {
	out, err := readDirectory(r, prefixOut, m.Generation, block.DecodeRowDirectory)
	var in *block.RowDirectory
	if err == nil && m.InRows {
		in, err = readDirectory(r, prefixIn, m.Generation, block.DecodeRowDirectory)
	}
	if err != nil {
		return nil, err
	}
	return pagedGraph(m.directions(), int(m.BaseNodes), out, in, cache), nil
}

// pagedGraph returns the graph of the blocks of a generation with the given directories, whose rows
// are read when they are asked for. in is nil if no edge of the generation is directed.
func pagedGraph(directions spill.Directions, n int, out, in *block.RowDirectory, cache *blockCache) *Graph {
	open := func(kind byte, dir *block.RowDirectory) *base {
		return &base{stored: openRows(dir, n, kind, cache)}
	}
	g := NewGraph(slices.Contains(directions, true))
	g.directions, g.nodes = directions, n
	g.out.base = open(prefixOut, out)
	g.out.base.degrees = openDegrees(n, cache)
	g.typed = &typedRows{cache: &cache.Cache}
	switch {
	case in != nil:
		g.in.base = open(prefixIn, in)
	case g.directed:
		g.in.base = g.out.base
	}
	g.edges, g.loops, g.arcs = int64(out.Edges), int64(out.Loops), int64(out.Entries+out.Parallel)
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
	if g.in.base != g.out.base {
		rows := in.rows(n)
		g.in.base.memory.Store(&rows)
	}
	rows := out.rows(n)
	rows.degree = degrees(rows)
	g.out.base.memory.Store(&rows)
	stored.cache.Clear()
	return nil
}

// Check reads all blocks of the rows of the base. It returns ErrCorrupt, which Err returns from
// then on, too, or the error of ctx.
func (g *Graph) Check(ctx context.Context) error {
	none := func(ID, block.Entries) error { return nil }
	return g.eachStored(ctx, none, none)
}

// eachStored reads the blocks of all rows of the base, and passes their edges to out and in. A base
// without directed edges has no in-rows. It returns ErrCorrupt, which Err returns from then on,
// too, or the error of ctx.
func (g *Graph) eachStored(ctx context.Context, out, in func(ID, block.Entries) error) error {
	sum := balance{directions: g.directions, directed: g.in.base != g.out.base}
	err := g.out.base.stored.each(ctx, func(u ID, e block.Entries) error {
		sum.add(u, e, false)
		return out(u, e)
	})
	if err == nil && sum.directed {
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
