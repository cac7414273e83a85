package index

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// maxEntries is the maximum number of row entries of one direction, since offsets are 32 bits.
const maxEntries = math.MaxUint32

// newBase returns the graph of n nodes with the edges that the function edges passes to its argument. The edges must
// ascend strictly by (U, V), with U <= V unless directed, and be the same in both passes. Between the passes, before it
// allocates the graph, newBase calls fits, unless that is nil, with the size of the graph in bytes. It returns
// ErrTooLarge beyond 2^32 row entries, an error of edges or fits, or ErrCorrupt if an edge is out of range or out of
// order.
func newBase(directed bool, n int, edges func(func(Edge) error) error, fits func(bytes int64) error) (*Graph, error) {
	b := baseBuilder{directed: directed, nodes: n}
	if err := edges(b.count); err != nil {
		return nil, err
	}
	if fits != nil {
		if err := fits(b.bytes()); err != nil {
			return nil, err
		}
	}
	if err := b.alloc(); err != nil {
		return nil, err
	}
	if err := edges(b.addToRows); err != nil {
		return nil, err
	}
	return b.graph(), nil
}

// edgesPerCheck is the number of edges visited between two checks of a context.
const edgesPerCheck = 1 << 13

// Compact returns the same graph with all its rows in the base, or the error of ctx.
func (g *Graph) Compact(ctx context.Context) (*Graph, error) { return g.Without(ctx, nil) }

// Without returns the graph without the given edges, which must ascend, with all its rows in the base, or the error
// of ctx. For many edges it takes less memory than [Graph.Edit], and passes over its result are several times as
// fast.
func (g *Graph) Without(ctx context.Context, edges [][2]ID) (*Graph, error) {
	return newBase(g.directed, g.nodes, func(visit func(Edge) error) error {
		left, n := edges, 0
		for e := range g.Edges() {
			if n++; n%edgesPerCheck == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if len(left) > 0 && left[0] == [2]ID{e.U, e.V} {
				left = left[1:]
				continue
			}
			if err := visit(e); err != nil {
				return err
			}
		}
		return nil
	}, nil)
}

// baseBuilder fills the compressed rows in two passes. Row u of an undirected graph first gets its neighbours below
// u, from their edges, then the neighbours from u on, so the row is in order.
type baseBuilder struct {
	directed, weights, times bool
	nodes                    int
	edges, loops             int64
	last                     Edge
	nOut, nIn                []uint32 // entries of each row; in the second pass, index of the row's next entry
	out, in                  csr
}

// check counts an edge and returns ErrCorrupt if it is out of range or out of order.
func (b *baseBuilder) check(e Edge) error {
	if int64(e.U) >= int64(b.nodes) || int64(e.V) >= int64(b.nodes) || !b.directed && e.U > e.V {
		return fmt.Errorf("%w: edge %d -> %d among %d nodes", ErrCorrupt, e.U, e.V, b.nodes)
	}
	if b.edges > 0 && (e.U < b.last.U || e.U == b.last.U && e.V <= b.last.V) {
		return fmt.Errorf("%w: edge %d -> %d after %d -> %d", ErrCorrupt, e.U, e.V, b.last.U, b.last.V)
	}
	b.last = e
	b.edges++
	return nil
}

func (b *baseBuilder) count(e Edge) error {
	if b.nOut == nil {
		b.nOut = make([]uint32, b.nodes+1)
		b.nIn = b.nOut
		if b.directed {
			b.nIn = make([]uint32, b.nodes+1)
		}
	}
	if err := b.check(e); err != nil {
		return err
	}
	b.weights = b.weights || e.Weight != 1
	b.times = b.times || e.Time != 0
	b.nOut[e.U]++
	if e.U == e.V {
		b.loops++
	}
	if b.directed || e.U != e.V {
		b.nIn[e.V]++
	}
	return nil
}

func (b *baseBuilder) alloc() error {
	if 2*b.edges > maxEntries {
		return fmt.Errorf("%w: %d edges", ErrTooLarge, b.edges)
	}
	if b.edges == 0 {
		return nil
	}
	b.out = b.rows(b.nOut, b.times)
	if b.directed {
		b.in = b.rows(b.nIn, b.times)
	}
	return nil
}

// rows allocates rows with n[u] entries each, and sets n[u] to the index of the row's first entry.
func (b *baseBuilder) rows(n []uint32, times bool) csr {
	c := csr{off: make([]uint32, len(n))}
	total := uint32(0)
	for u, k := range n {
		c.off[u] = total
		n[u] = total
		total += k
	}
	c.to = make([]ID, total)
	if b.weights {
		c.weight = make([]float32, total)
	}
	if times {
		c.time = make([]int64, total)
	}
	return c
}

func (b *baseBuilder) addToRows(e Edge) error {
	b.out.put(b.nOut, e.U, e.V, e)
	switch {
	case b.directed:
		b.in.put(b.nIn, e.V, e.U, e)
	case e.U != e.V:
		b.out.put(b.nOut, e.V, e.U, e)
	}
	return nil
}

func (c *csr) put(next []uint32, u, v ID, e Edge) {
	i := next[u]
	next[u]++
	c.to[i] = v
	if c.weight != nil {
		c.weight[i] = e.Weight
	}
	if c.time != nil {
		c.time[i] = e.Time
	}
}

func (b *baseBuilder) graph() *Graph {
	g := NewGraph(b.directed)
	g.nodes, g.edges, g.loops = b.nodes, b.edges, b.loops
	b.out.degree = degrees(b.out)
	g.out.base = inMemory(b.out)
	if b.directed {
		g.in.base = inMemory(b.in)
	}
	return g
}

func degrees(c csr) []float64 {
	if c.weight == nil {
		return nil
	}
	d := make([]float64, len(c.off)-1)
	for u := range d {
		w := c.weight[c.off[u]:c.off[u+1]]
		d[u] = sum(w, len(w))
	}
	return d
}

// bytes returns the memory that the graph of the counted edges will take, in bytes.
func (b *baseBuilder) bytes() int64 {
	n, entries := int64(b.nodes), b.edges
	if !b.directed {
		entries -= b.loops
	}
	entry := int64(4)
	if b.weights {
		entry += 4
	}
	size := 2*4*n + 2*entry*entries
	if b.times {
		size += 8 * entries
	}
	return size
}

// rowBuilder collects the rows of one direction, which must be added in order.
type rowBuilder struct {
	csr
	entries int // expected number of entries
}

// add adds entries to row u. The rows between the last row and u are empty.
func (b *rowBuilder) add(u ID, to []ID, weight []float32, time []int64) error {
	if len(b.to)+len(to) > maxEntries {
		return fmt.Errorf("%w: more than %d entries", ErrTooLarge, maxEntries)
	}
	if b.to == nil {
		b.to = make([]ID, 0, b.entries)
	}
	b.begin(u)
	b.weight = appendRun(b.weight, len(b.to), weight, len(to), 1)
	b.time = appendRun(b.time, len(b.to), time, len(to), 0)
	b.to = append(b.to, to...)
	return nil
}

// begin ends the rows below u.
func (b *rowBuilder) begin(u ID) {
	for len(b.off) <= int(u) {
		b.off = append(b.off, uint32(len(b.to)))
	}
}

// appendRun appends n values to a plane of length entries. Both may be nil, for planes that are not stored.
func appendRun[T any](plane []T, length int, values []T, n int, absent T) []T {
	if plane == nil && values == nil {
		return nil
	}
	if plane == nil {
		plane = slices.Repeat([]T{absent}, length)
	}
	if values == nil {
		values = slices.Repeat([]T{absent}, n)
	}
	return append(plane, values...)
}

// rows returns the rows of n nodes.
func (b *rowBuilder) rows(n int) csr {
	if len(b.to) == 0 {
		return csr{}
	}
	b.begin(ID(n))
	return b.csr
}

// graphOf returns the graph of n nodes with these rows. An undirected graph has no in-rows of its own.
func graphOf(directed bool, n int, out, in csr) *Graph {
	g := NewGraph(directed)
	g.nodes = n
	out.degree = degrees(out)
	g.out.base = inMemory(out)
	if directed {
		g.in.base = inMemory(in)
	}
	for u := range ID(n) {
		to, _, _ := out.row(u)
		if _, ok := slices.BinarySearch(to, u); ok {
			g.loops++
		}
	}
	g.edges = int64(len(out.to))
	if !directed {
		g.edges = (g.edges + g.loops) / 2
	}
	return g
}

// balanced returns ErrCorrupt unless each edge is in the rows of both of its nodes, with the same weight and time. It
// compares sums of hashes.
func (g *Graph) balanced() error {
	sum := uint64(0)
	for u := range ID(g.nodes) {
		to, w, t := g.out.base.row(u)
		for i, v := range to {
			if g.directed || u < v {
				sum += entryHash(u, v, planeAt(w, i, 1), planeAt(t, i, 0))
			}
		}
		to, w, t = g.in.base.row(u)
		for i, v := range to {
			if g.directed || u > v {
				sum -= entryHash(v, u, planeAt(w, i, 1), planeAt(t, i, 0))
			}
		}
	}
	if sum != 0 {
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
		to, w, t := g.out.base.row(u)
		for i, v := range to {
			edges = append(edges, g.edge(u, v, planeAt(w, i, 1), planeAt(t, i, 0)))
		}
		if !g.directed {
			continue
		}
		from, w, t := g.in.base.row(u)
		for i, v := range from {
			edges = append(edges, Edge{U: v, V: u, Weight: planeAt(w, i, 1), Time: planeAt(t, i, 0)})
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
	b := rowBuilder{entries: len(entries)}
	for _, e := range entries {
		var weight []float32
		var time []int64
		if e.Weight != 1 {
			weight = []float32{e.Weight}
		}
		if e.Time != 0 {
			time = []int64{e.Time}
		}
		_ = b.add(e.U, []ID{e.V}, weight, time) // the entries were in rows before, so there are not too many
	}
	return b.rows(n)
}
