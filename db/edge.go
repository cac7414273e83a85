package db

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"gonum.org/v1/gonum/graph"

	"kith/db/edgelist"
	"kith/db/internal/gonum"
	"kith/index"
)

// Edge is a stored edge. In an undirected graph either end may be Src.
type Edge struct {
	Src    Key       `json:"src"`
	Dst    Key       `json:"dst"`
	Weight float32   `json:"weight"`        // from 2^-40 to 2^40
	Time   time.Time `json:"time,omitzero"` // precision of a second; from the year 0 to 9999; zero means no time
}

// EdgeOption says something of an edge that [Tx.AddEdge] or [Tx.PutEdge] writes.
type EdgeOption func(*Edge)

// Weight gives an edge a weight from 2^-40 to 2^40, 9.1e-13 to 1.1e12.
func Weight(w float32) EdgeOption { return func(e *Edge) { e.Weight = w } }

// At gives an edge a time in the years 0 to 9999.
func At(t time.Time) EdgeOption { return func(e *Edge) { e.Time = t } }

// AddEdge adds an edge between src and dst; in a directed graph, from src to dst. Without options
// the edge has weight 1 and no time. AddEdge adds missing nodes. It returns ErrExists if there is
// such an edge, and ErrInput for a key, a weight or a time that is not valid.
func (tx *Tx) AddEdge(src, dst any, opts ...EdgeOption) error {
	return tx.writeEdge(src, dst, opts, true)
}

// PutEdge is AddEdge that replaces an edge that exists.
func (tx *Tx) PutEdge(src, dst any, opts ...EdgeOption) error {
	return tx.writeEdge(src, dst, opts, false)
}

// writeEdge adds an edge, which must not exist if it is new.
func (tx *Tx) writeEdge(src, dst any, opts []EdgeOption, isNew bool) error {
	b, err := tx.writable()
	if err != nil {
		return err
	}
	e := Edge{Weight: 1}
	for _, o := range opts {
		o(&e)
	}
	if e.Src, err = KeyOf(src); err == nil {
		e.Dst, err = KeyOf(dst)
	}
	if err != nil {
		return err
	}
	if !index.ValidWeight(e.Weight) {
		return inputf("edge %v -> %v: weight %v is not a number from 2^-40 to 2^40", e.Src.Literal(), e.Dst.Literal(), e.Weight)
	}
	at, err := unixSeconds(e.Time)
	if err != nil {
		return err
	}
	var ends [2]index.ID
	for i, k := range []Key{e.Src, e.Dst} {
		if ends[i], _, err = b.AddNode(k); err != nil {
			return inputError(err)
		}
	}
	if _, exists := b.Edge(ends[0], ends[1]); exists && isNew {
		return missing(kindEdge, fmt.Sprintf("%v -> %v", e.Src.Literal(), e.Dst.Literal()), nil, ErrExists, "edge %v -> %v exists already", e.Src.Literal(), e.Dst.Literal())
	}
	_, err = b.SetEdge(ends[0], ends[1], e.Weight, at)
	return err
}

// unixSeconds returns a time as it is stored with an edge; 0 means no time. It returns ErrInput for
// a time that is not in the years 0 to 9999.
func unixSeconds(t time.Time) (int64, error) {
	if t.IsZero() {
		return 0, nil
	}
	_, err := given(t, edgelist.CheckTime(t.Unix()))
	return t.Unix(), err
}

// DeleteEdge deletes an edge. It returns ErrNotFound if there is no such edge.
func (tx *Tx) DeleteEdge(src, dst any) error {
	b, err := tx.writable()
	if err != nil {
		return err
	}
	u, v, err := tx.ends(src, dst)
	if err != nil {
		return err
	}
	old, err := b.SetEdge(u, v, 0, 0)
	if err == nil && old == 0 {
		return noEdge(tx.key(u), tx.key(v))
	}
	return err
}

// Edge returns the edge from src to dst. It returns ErrNotFound if there is no such edge.
func (tx *Tx) Edge(src, dst any) (Edge, error) {
	u, v, err := tx.ends(src, dst)
	if err != nil {
		return Edge{}, err
	}
	e, ok := tx.between(u, v)
	if !ok {
		return Edge{}, noEdge(tx.key(u), tx.key(v))
	}
	e.U, e.V = u, v
	return tx.edge(e), nil
}

func noEdge(src, dst Key) error {
	return missing(kindEdge, fmt.Sprintf("%v -> %v", src.Literal(), dst.Literal()), nil, ErrNotFound, "no edge %v -> %v", src.Literal(), dst.Literal())
}

// between returns the edge from u to v and whether it exists.
func (tx *Tx) between(u, v index.ID) (index.Edge, bool) {
	if tx.batch != nil {
		return tx.batch.Edge(u, v)
	}
	return tx.snap.Graph.Edge(u, v)
}

func (tx *Tx) ends(src, dst any) (u, v index.ID, err error) {
	if u, err = tx.id(src); err != nil {
		return 0, 0, err
	}
	v, err = tx.id(dst)
	return u, v, err
}

func (tx *Tx) edge(e index.Edge) Edge {
	return Edge{Src: tx.key(e.U), Dst: tx.key(e.V), Weight: e.Weight, Time: edgeTime(e.Time)}
}

// edgeTime is the inverse of unixSeconds.
func edgeTime(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

// Assuming calls f with a read-only transaction that sees the database with more edges. Edges that
// exist already get the given weights and times. Nothing is written. Missing end nodes exist only
// for f. The cached PageRank states do not include the edges, so answers are computed from scratch.
//
// It returns ErrInput for an invalid edge, and in an Update that has changed something. In that
// case, write the edges and return an error from the function to discard them.
func (tx *Tx) Assuming(edges []Edge, f func(*Tx) error) error {
	switch {
	case tx.ended:
		return ErrClosed
	case tx.batch != nil && !tx.batch.Empty():
		return inputf("edges cannot be assumed beside changes that are not committed")
	}
	over := &Tx{db: tx.db, snap: tx.snap, reader: tx.reader, batch: tx.snap.Begin()}
	defer over.expire()
	for _, e := range edges {
		if err := over.PutEdge(e.Src, e.Dst, Weight(e.Weight), At(e.Time)); err != nil {
			return err
		}
	}
	over.assumed = true
	return f(over)
}

// Neighbors yields the edges of a node, with the node as Src. In a directed graph these are the
// outgoing edges. It yields a single ErrNotFound if there is no such node. The transaction may
// write during the iteration, which goes over the row as it was at the start.
func (tx *Tx) Neighbors(key any) iter.Seq2[Edge, error] {
	return func(yield func(Edge, error) bool) {
		u, err := tx.id(key)
		if err != nil {
			yield(Edge{}, err)
			return
		}
		to, _ := tx.view().Graph.Out(u)
		if tx.batch != nil {
			to = slices.Clone(to)
		}
		for _, v := range to {
			e, ok := tx.between(u, v)
			if !ok {
				continue // deleted by the caller during the iteration
			}
			e.U, e.V = u, v
			if !yield(tx.edge(e), nil) {
				return
			}
		}
	}
}

// Edges yields every edge once. The transaction must not write during the iteration.
func (tx *Tx) Edges() iter.Seq2[Edge, error] {
	return func(yield func(Edge, error) bool) {
		if tx.ended {
			yield(Edge{}, ErrClosed)
			return
		}
		for e := range tx.view().Graph.Edges() {
			if !yield(tx.edge(e), nil) {
				return
			}
		}
	}
}

// GonumNode is a node of the graph that [Tx.Gonum] returns.
type GonumNode = gonum.Node

// Gonum returns the graph for the algorithms of gonum.org/v1/gonum/graph, as a
// [graph.WeightedUndirected] or, for a directed database, a [graph.WeightedDirected]. Both have a
// method WeightedEdges that lists the edges. The graph is not copied, so the transaction must not
// write while it is in use. It is valid until the transaction ends. Nodes are [GonumNode]s.
//
// Weights are the stored ones. Algorithms that take weights as lengths, such as shortest paths,
// therefore treat a strong link as a long way. A self-loop is an edge. A node without a self-loop
// has weight 0 to itself, and nodes without an edge between them have weight +Inf.
func (tx *Tx) Gonum() graph.Weighted { return gonum.New(tx.view(), tx.key) }

// GonumNode returns the node as an element of the graph of [Tx.Gonum]. It returns ErrNotFound if
// there is no such node.
func (tx *Tx) GonumNode(key any) (GonumNode, error) {
	id, err := tx.id(key)
	if err != nil {
		return GonumNode{}, err
	}
	return gonum.NewNode(id, tx.key(id)), nil
}
