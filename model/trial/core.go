package trial

import (
	"iter"
	"math"
	"slices"

	"kith/model"
	"kith/ppr"
)

// core is what walks see of a graph: its nodes with an edge, numbered anew in their order. Most nodes are alone while a
// player's graph is young, and a solver that passes over all nodes would spend its time on them.
type core struct {
	node   []ID // by number
	number []ID // of each node of the graph; alone if it has no edge
	run    ppr.Run
	survey *ppr.Survey
}

const alone = math.MaxUint32

// read makes the core that of g.
func (c *core) read(g *Graph) {
	c.node, c.number = c.node[:0], slices.Grow(c.number[:0], len(g.rows))[:len(g.rows)]
	for u, row := range g.rows {
		c.number[u] = alone
		if len(row) > 0 {
			c.number[u] = ID(len(c.node))
			c.node = append(c.node, ID(u))
		}
	}
	c.run.Start, c.run.To = append(c.run.Start[:0], 0), c.run.To[:0]
	for _, u := range c.node {
		for _, v := range g.rows[u] {
			c.run.To = append(c.run.To, c.number[v])
		}
		c.run.Start = append(c.run.Start, uint32(len(c.run.To)))
	}
	c.survey = nil
}

func (c *core) NumNodes() int              { return len(c.node) }
func (c *core) Directed() bool             { return false }
func (c *core) Degree(k ID) float64        { return float64(c.run.Start[k+1] - c.run.Start[k]) }
func (c *core) Out(k ID) ([]ID, []float32) { return c.run.To[c.run.Start[k]:c.run.Start[k+1]], nil }
func (c *core) In(k ID) ([]ID, []float32)  { return c.Out(k) }
func (c *core) Runs(bool) iter.Seq2[ID, ppr.Run] {
	return func(yield func(ID, ppr.Run) bool) { yield(0, c.run) }
}

// Survey is made when a solver asks for it.
func (c *core) Survey() *ppr.Survey {
	if c.survey == nil {
		c.survey = ppr.NewSurvey(c)
	}
	return c.survey
}

// start is h without the nodes that are alone, in the memory of v.
func (c *core) start(h model.Start, v ppr.Vector) ppr.Vector {
	v.Node, v.Value = v.Node[:0], v.Value[:0]
	for i, u := range h.Node {
		if k := c.number[u]; k != alone {
			v.Node, v.Value = append(v.Node, k), append(v.Value, h.Value[i])
		}
	}
	return v
}

// value reads the walk from h, solved as st, at a node of the graph. No walk leaves a node that is alone or gets there.
func (c *core) value(st *ppr.State, h model.Start, u ID) (v, bound float64) {
	if k := c.number[u]; k != alone {
		return st.Value(c, k)
	}
	if at, found := slices.BinarySearch(h.Node, u); found {
		v = (1 - st.Alpha()) * h.Value[at]
	}
	return v, 0
}
