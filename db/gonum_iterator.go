package db

import (
	"slices"

	"gonum.org/v1/gonum/graph"

	"kith/index"
)

// nodeCursor is the position of a node iterator.
type nodeCursor struct {
	g    weightedGraph
	seen int // number of nodes visited, including the present one
	at   index.ID
}

// Node implements [graph.Nodes].
func (c *nodeCursor) Node() graph.Node {
	if c.seen == 0 {
		return nil
	}
	return c.g.node(c.at)
}

// nodeRow iterates over a row of the graph.
type nodeRow struct {
	nodeCursor
	row []index.ID
}

// Next implements [graph.Iterator].
func (r *nodeRow) Next() bool {
	if r.seen >= len(r.row) {
		return false
	}
	r.at = r.row[r.seen]
	r.seen++
	return true
}

// Len implements [graph.Iterator].
func (r *nodeRow) Len() int { return len(r.row) - r.seen }

// Reset implements [graph.Iterator].
func (r *nodeRow) Reset() { r.seen = 0 }

// everyNode iterates over the nodes of the graph.
type everyNode struct{ nodeCursor }

// Next implements [graph.Iterator].
func (e *everyNode) Next() bool {
	if e.Len() == 0 {
		return false
	}
	if e.seen > 0 {
		e.at++
	}
	for !e.g.v.Live(e.at) {
		e.at++
	}
	e.seen++
	return true
}

// Len implements [graph.Iterator].
func (e *everyNode) Len() int { return int(e.g.v.Meta.Live) - e.seen }

// Reset implements [graph.Iterator].
func (e *everyNode) Reset() { e.seen, e.at = 0, 0 }

// everyEdge iterates over the edges of the graph in the order of the nodes that they are stored with. An undirected
// edge is stored with its end of the smaller number.
type everyEdge struct {
	g    weightedGraph
	seen int64      // number of edges visited, including the present one
	u    index.ID   // node of the row
	row  []index.ID // rest of the row, beginning with the present edge
	of   []float32  // weights of row; nil means all 1
}

// Next implements [graph.Iterator].
func (e *everyEdge) Next() bool {
	if e.Len() == 0 {
		return false
	}
	if e.seen == 0 {
		e.begin(0)
	} else {
		e.drop(1)
	}
	for len(e.row) == 0 {
		e.begin(e.u + 1)
	}
	e.seen++
	return true
}

// begin moves to the row of u.
func (e *everyEdge) begin(u index.ID) {
	e.u = u
	e.row, e.of = e.g.v.Graph.Out(u)
	if !e.g.v.Meta.Directed {
		first, _ := slices.BinarySearch(e.row, u)
		e.drop(first)
	}
}

// drop skips n edges of the row.
func (e *everyEdge) drop(n int) {
	e.row = e.row[n:]
	if e.of != nil {
		e.of = e.of[n:]
	}
}

// WeightedEdge implements [graph.WeightedEdges].
func (e *everyEdge) WeightedEdge() graph.WeightedEdge {
	if e.seen == 0 {
		return nil
	}
	weight := float32(1)
	if e.of != nil {
		weight = e.of[0]
	}
	return e.g.edge(e.u, e.row[0], weight)
}

// Len implements [graph.Iterator].
func (e *everyEdge) Len() int { return int(e.g.v.Meta.Edges - e.seen) }

// Reset implements [graph.Iterator].
func (e *everyEdge) Reset() { e.seen, e.row, e.of = 0, nil, nil }
