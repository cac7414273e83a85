package trial

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"kith/model"
	"kith/ppr"
)

// ID is a dense node number.
type ID = model.ID

// Pair is a candidate link, an arm of a round.
type Pair = model.Pair

// Graph is an undirected unweighted graph in memory that grows edge by edge. Between changes it
// implements ppr.Graph and model.Graph.
type Graph struct {
	rows  [][]ID       // neighbours, ascending
	out   [][]ID       // neighbours of the edges that were added from the node, ascending
	arcs  int          // number of entries of rows
	added []ppr.Change // the edges in the order in which they were added; their number identifies the state of the graph
}

// NewGraph returns a graph of n nodes without edges.
func NewGraph(n int) *Graph { return &Graph{rows: make([][]ID, n), out: make([][]ID, n)} }

// NumNodes returns the number of nodes.
func (g *Graph) NumNodes() int { return len(g.rows) }

// Arcs returns the number of pairs of a node and a neighbour of it.
func (g *Graph) Arcs() int { return g.arcs }

// Directed returns false.
func (g *Graph) Directed() bool { return false }

// Weighted returns false.
func (g *Graph) Weighted() bool { return false }

// Degree returns the number of neighbours of u. A loop counts once.
func (g *Graph) Degree(u ID) float64 { return float64(len(g.rows[u])) }

// Out returns the neighbours of u. The caller must not modify the slice.
func (g *Graph) Out(u ID) ([]ID, []float32) { return g.rows[u], nil }

// In is the same as Out.
func (g *Graph) In(u ID) ([]ID, []float32) { return g.rows[u], nil }

// Has reports whether u and v are linked.
func (g *Graph) Has(u, v ID) bool {
	_, found := slices.BinarySearch(g.rows[u], v)
	return found
}

// Add links u and v and reports whether they were not linked before.
func (g *Graph) Add(u, v ID) bool {
	at, found := slices.BinarySearch(g.rows[u], v)
	if found {
		return false
	}
	g.added = append(g.added, ppr.Change{U: u, V: v, New: 1})
	g.rows[u] = slices.Insert(g.rows[u], at, v)
	g.out[u] = insert(g.out[u], v)
	g.arcs++
	if u != v {
		g.rows[v] = insert(g.rows[v], u)
		g.arcs++
	}
	return true
}

// insert inserts u and keeps the row ascending.
func insert(row []ID, u ID) []ID {
	at, _ := slices.BinarySearch(row, u)
	return slices.Insert(row, at, u)
}

// Without returns a copy of the graph without the given edges.
func (g *Graph) Without(edges [][2]ID) *Graph {
	c := NewGraph(len(g.rows))
	for u := range g.rows {
		c.rows[u], c.out[u] = slices.Clone(g.rows[u]), slices.Clone(g.out[u])
	}
	drop := func(u, v ID) {
		for _, rows := range [][][]ID{c.rows, c.out} {
			if at, found := slices.BinarySearch(rows[u], v); found {
				rows[u] = slices.Delete(rows[u], at, at+1)
			}
		}
	}
	for _, e := range edges {
		drop(e[0], e[1])
		drop(e[1], e[0])
	}
	for _, row := range c.rows {
		c.arcs += len(row)
	}
	return c
}

// Walker is a model.Walker on a Graph. It solves to a certified maximum error. It caches the
// solution for the last source until an edge is added. It is not safe for concurrent use.
type Walker struct {
	// OneWay makes Propagate walk as the authors' program does: in column form, along the edges in
	// the direction in which they were added.
	OneWay bool

	graph  *Graph
	eps    float64
	solver *ppr.Solver
	core   core       // for walks in both directions
	oneWay core       // for walks in the direction in which edges were added
	edges  int        // number of edges when the cores were read
	h      ppr.Vector // memory of a start vector

	state  *ppr.State // solution for source; nil if there is no valid one
	source ID
	alpha  float64

	to, from, v, bound []float64 // memory of results, valid until the next call of the same method
}

// NewWalker returns a walker on g with maximum error eps.
func NewWalker(g *Graph, eps float64) *Walker {
	return &Walker{graph: g, eps: eps, solver: ppr.NewSolver(), edges: -1, oneWay: core{oneWay: true}}
}

// follow invalidates the cores and the solution if an edge was added.
func (w *Walker) follow() {
	if w.edges != len(w.graph.added) {
		w.core.stale, w.oneWay.stale = true, true
		w.state, w.edges = nil, len(w.graph.added)
	}
}

func (w *Walker) solve(ctx context.Context, c *core, form ppr.Form, alpha float64, h model.Start) (*ppr.State, error) {
	if c.stale {
		c.read(w.graph)
	}
	w.h = c.start(h, w.h)
	return w.solver.Solve(ctx, c, form, alpha, w.h, ppr.Target{Norm: ppr.MaxNorm, Eps: w.eps})
}

// Proximity solves for source; the other direction follows from d_s π_s(c) = d_c π_c(s).
func (w *Walker) Proximity(ctx context.Context, alpha float64, source ID, at []ID) (to, from []float64, err error) {
	w.follow()
	h := model.Start{Node: []ID{source}, Value: []float64{1}}
	if w.state == nil || w.source != source || w.alpha != alpha {
		w.state, err = w.solve(ctx, &w.core, ppr.Column, alpha, h)
		if err != nil {
			return nil, nil, fmt.Errorf("trial: proximity of %d: %w", source, err)
		}
		w.source, w.alpha = source, alpha
	}
	w.to, w.from = resize(w.to, len(at)), resize(w.from, len(at))
	to, from = w.to, w.from
	for i, c := range at {
		to[i], _ = w.core.value(w.state, h, c)
		from[i] = to[i] * max(w.graph.Degree(source), 1) / max(w.graph.Degree(c), 1)
	}
	return to, from, nil
}

// Propagate solves for h.
func (w *Walker) Propagate(ctx context.Context, walk model.Walk, h model.Start, at []ID) (v, bound []float64, err error) {
	form := ppr.Row
	if walk.Column || w.OneWay {
		form = ppr.Column
	}
	c := &w.core
	if w.OneWay {
		c = &w.oneWay
	}
	w.follow()
	st, err := w.solve(ctx, c, form, walk.Alpha, h)
	if err != nil {
		return nil, nil, fmt.Errorf("trial: walk: %w", err)
	}
	w.v, w.bound = resize(w.v, len(at)), resize(w.bound, len(at))
	v, bound = w.v, w.bound
	for i, u := range at {
		v[i], bound[i] = c.value(st, h, u)
	}
	return v, bound, nil
}

func resize(v []float64, n int) []float64 { return slices.Grow(v[:0], n)[:n] }

// core is the graph that walks read: the nodes with an edge, numbered consecutively in their order.
// Most nodes have no edge while a player's graph is young, and a solver that passes over all nodes
// would waste its time on them.
type core struct {
	node   []ID // node of each number
	number []ID // number of each node of the graph; alone if it has no edge
	out    ppr.Run
	in     ppr.Run // out, unless oneWay
	oneWay bool    // edges lead only in the direction in which they were added
	stale  bool    // the graph has changed since read
}

const noEdge = math.MaxUint32

// read rebuilds the core from g.
func (c *core) read(g *Graph) {
	c.node, c.number = c.node[:0], slices.Grow(c.number[:0], len(g.rows))[:len(g.rows)]
	for u, row := range g.rows {
		c.number[u] = noEdge
		if len(row) > 0 {
			c.number[u] = ID(len(c.node))
			c.node = append(c.node, ID(u))
		}
	}
	rows := g.rows
	if c.oneWay {
		rows = g.out
	}
	c.out.Start, c.out.To = append(c.out.Start[:0], 0), c.out.To[:0]
	for _, u := range c.node {
		for _, v := range rows[u] {
			c.out.To = append(c.out.To, c.number[v])
		}
		c.out.Start = append(c.out.Start, uint32(len(c.out.To)))
	}
	c.in = c.out
	if c.oneWay {
		c.in = reversed(c.out)
	}
	c.stale = false
}

// reversed returns the rows of the reversed edges.
func reversed(r ppr.Run) ppr.Run {
	n := len(r.Start) - 1
	in := ppr.Run{Start: make([]uint32, n+1), To: make([]ID, len(r.To))}
	for _, v := range r.To {
		in.Start[v+1]++
	}
	for k := range n {
		in.Start[k+1] += in.Start[k]
	}
	next := slices.Clone(in.Start)
	for u := range n {
		for _, v := range r.To[r.Start[u]:r.Start[u+1]] {
			in.To[next[v]] = ID(u)
			next[v]++
		}
	}
	return in
}

func (c *core) NumNodes() int              { return len(c.node) }
func (c *core) Arcs() int                  { return len(c.out.To) }
func (c *core) Directed() bool             { return c.oneWay }
func (c *core) Weighted() bool             { return false }
func (c *core) Degree(k ID) float64        { return float64(c.out.Start[k+1] - c.out.Start[k]) }
func (c *core) Out(k ID) ([]ID, []float32) { return c.out.To[c.out.Start[k]:c.out.Start[k+1]], nil }
func (c *core) In(k ID) ([]ID, []float32)  { return c.in.To[c.in.Start[k]:c.in.Start[k+1]], nil }

// Runs yields all rows in one run.
func (c *core) Runs(in bool) iter.Seq2[ID, ppr.Run] {
	run := c.out
	if in {
		run = c.in
	}
	return func(yield func(ID, ppr.Run) bool) { yield(0, run) }
}

// start returns h without the nodes that have no edge, reusing the memory of v.
func (c *core) start(h model.Start, v ppr.Vector) ppr.Vector {
	v.Node, v.Value = v.Node[:0], v.Value[:0]
	for i, u := range h.Node {
		if k := c.number[u]; k != noEdge {
			v.Node, v.Value = append(v.Node, k), append(v.Value, h.Value[i])
		}
	}
	return v
}

// value returns the solution st of the walk from h at a node of the graph. Walks neither leave nor
// reach a node without edges.
func (c *core) value(st *ppr.State, h model.Start, u ID) (v, bound float64) {
	if k := c.number[u]; k != noEdge {
		return st.Value(c, k)
	}
	if at, found := slices.BinarySearch(h.Node, u); found {
		v = (1 - st.Alpha()) * h.Value[at]
	}
	return v, 0
}
