// Package gonum presents a snapshot of a graph to the algorithms of gonum.org/v1/gonum/graph.
// Nothing of the graph is copied but the ids of the nodes, while they are iterated over.
package gonum

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/iterator"
	"gonum.org/v1/gonum/graph/simple"

	"kith/index"
)

// Node is a node of a graph that [New] returns.
type Node struct {
	Key index.Key
	id  index.ID
}

// NewNode returns the node with an id and a key.
func NewNode(id index.ID, key index.Key) Node { return Node{key, id} }

// ID implements [graph.Node]. The id of a node is the same in all versions of the database.
func (n Node) ID() int64 { return int64(n.id) }

// New returns the graph of a snapshot, a [graph.WeightedUndirected] or, if it is directed, a
// [graph.WeightedDirected]. Both have a method WeightedEdges. key returns the key of a node.
func New(v *index.Snapshot, key func(index.ID) index.Key) graph.Weighted {
	w := weightedGraph{v, key}
	if v.Graph.Directed() {
		return directedGraph{w}
	}
	return undirectedGraph{w}
}

// weightedGraph is the common part of both kinds of graphs. The exported methods of this file
// implement the interfaces of package graph.
type weightedGraph struct {
	v   *index.Snapshot
	key func(index.ID) index.Key
}

type (
	undirectedGraph struct{ weightedGraph }
	directedGraph   struct{ weightedGraph }
)

// lookUp returns the internal id of a node and whether the node exists.
func (g weightedGraph) lookUp(id int64) (index.ID, bool) {
	u := index.ID(id)
	return u, int64(u) == id && g.v.Live(u)
}

func (g weightedGraph) node(u index.ID) graph.Node { return Node{g.key(u), u} }

// between returns the edge from u to v and whether it exists.
func (g weightedGraph) between(u, v int64) (index.Edge, bool) {
	from, ok := g.lookUp(u)
	to, also := g.lookUp(v)
	if !ok || !also {
		return index.Edge{}, false
	}
	return g.v.Graph.Edge(from, to)
}

func (g weightedGraph) Node(id int64) graph.Node {
	u, ok := g.lookUp(id)
	if !ok {
		return nil
	}
	return g.node(u)
}

func (g weightedGraph) Nodes() graph.Nodes { return g.nodes(slices.Collect(g.v.Nodes()), nil) }

func (g weightedGraph) From(id int64) graph.Nodes {
	u, ok := g.lookUp(id)
	if !ok {
		return graph.Empty
	}
	return g.nodes(g.v.Graph.Out(u))
}

// nodes returns an iterator over nodes, such as the nodes of a row.
func (g weightedGraph) nodes(ids []index.ID, _ []float32) graph.Nodes {
	if len(ids) == 0 {
		return graph.Empty
	}
	return iterator.NewImplicitNodes(0, len(ids), func(i int) graph.Node { return g.node(ids[i]) })
}

// HasEdgeBetween considers both directions.
func (g weightedGraph) HasEdgeBetween(x, y int64) bool {
	_, there := g.between(x, y)
	_, back := g.between(y, x)
	return there || back
}

func (g weightedGraph) Edge(u, v int64) graph.Edge {
	return g.WeightedEdge(u, v)
}

func (g weightedGraph) WeightedEdge(u, v int64) graph.WeightedEdge {
	e, ok := g.between(u, v)
	if !ok {
		return nil
	}
	return g.edge(index.ID(u), index.ID(v), e.Weight)
}

func (g weightedGraph) edge(u, v index.ID, weight float32) graph.WeightedEdge {
	return simple.WeightedEdge{F: g.node(u), T: g.node(v), W: float64(weight)}
}

func (g weightedGraph) Weight(x, y int64) (w float64, ok bool) {
	if e, there := g.between(x, y); there {
		return float64(e.Weight), true
	}
	if x == y {
		return 0, true
	}
	return math.Inf(1), false
}

// WeightedEdges returns an iterator over the edges, each once. Edges of several relations between
// two nodes are one edge.
func (g weightedGraph) WeightedEdges() graph.WeightedEdges {
	n := g.numEdges()
	if n == 0 {
		return graph.Empty
	}
	return &edges{g: g, count: n}
}

// numEdges returns the number of edges, where those of several relations between two nodes are one.
func (g weightedGraph) numEdges() (n int64) {
	if len(g.v.Meta.Relations) == 1 {
		return g.v.Meta.Edges
	}
	for u := range index.ID(g.v.Graph.NumNodes()) {
		row, _ := g.v.Graph.Out(u)
		if n += int64(len(row)); !g.v.Graph.Directed() {
			before, _ := slices.BinarySearch(row, u)
			n -= int64(before)
		}
	}
	return n
}

func (g undirectedGraph) EdgeBetween(x, y int64) graph.Edge { return g.Edge(x, y) }

func (g undirectedGraph) WeightedEdgeBetween(x, y int64) graph.WeightedEdge {
	return g.WeightedEdge(x, y)
}

func (g directedGraph) HasEdgeFromTo(u, v int64) bool {
	_, ok := g.between(u, v)
	return ok
}

func (g directedGraph) To(id int64) graph.Nodes {
	u, ok := g.lookUp(id)
	if !ok {
		return graph.Empty
	}
	return g.nodes(g.v.Graph.In(u))
}

// edges iterates over the edges of the graph in the order of the nodes that they are stored with.
// An undirected edge is stored with its end of the smaller number.
type edges struct {
	g      weightedGraph
	count  int64
	seen   int64      // number of edges visited, including the present one
	next   index.ID   // node after the node of row
	row    []index.ID // row of the present edge
	weight []float32  // weights of row; nil means all 1
	at     int        // place of the present edge in row
}

func (e *edges) Next() bool {
	if e.Len() == 0 {
		return false
	}
	e.seen++
	for e.at++; e.at >= len(e.row); e.next++ {
		e.row, e.weight = e.g.v.Graph.Out(e.next)
		if e.at = 0; !e.g.v.Graph.Directed() {
			e.at, _ = slices.BinarySearch(e.row, e.next)
		}
	}
	return true
}

func (e *edges) WeightedEdge() graph.WeightedEdge {
	if e.seen == 0 {
		return nil
	}
	weight := float32(1)
	if e.weight != nil {
		weight = e.weight[e.at]
	}
	return e.g.edge(e.next-1, e.row[e.at], weight)
}

func (e *edges) Len() int { return int(e.count - e.seen) }

func (e *edges) Reset() { *e = edges{g: e.g, count: e.count} }
