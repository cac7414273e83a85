package trial

import (
	"iter"
	"math"
	"slices"

	"kith/model"
	"kith/ppr"
)

// core is the graph that walks read: the nodes with an edge, numbered consecutively in their order. Most nodes have no
// edge while a player's graph is young, and a solver that passes over all nodes would waste its time on them.
type core struct {
	node   []ID // node of each number
	number []ID // number of each node of the graph; alone if it has no edge
	out    ppr.Run
	in     ppr.Run // out, unless oneWay
	survey *ppr.Survey
	oneWay bool // edges lead only in the direction in which they were added
	stale  bool // the graph has changed since read
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
	c.survey, c.stale = nil, false
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
func (c *core) Directed() bool             { return c.oneWay }
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

// Survey returns the survey of the core. It is computed on the first call after read.
func (c *core) Survey() *ppr.Survey {
	if c.survey == nil {
		c.survey = ppr.NewSurvey(c)
	}
	return c.survey
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

// value returns the solution st of the walk from h at a node of the graph. Walks neither leave nor reach a node without
// edges.
func (c *core) value(st *ppr.State, h model.Start, u ID) (v, bound float64) {
	if k := c.number[u]; k != noEdge {
		return st.Value(c, k)
	}
	if at, found := slices.BinarySearch(h.Node, u); found {
		v = (1 - st.Alpha()) * h.Value[at]
	}
	return v, 0
}
