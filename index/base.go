package index

import (
	"context"
	"fmt"
	"math"
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
	g.out.base = b.out
	if b.directed {
		g.in.base = b.in
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
