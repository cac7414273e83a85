// Package graph declares what the packages of a model read: a graph, the feature vectors of its
// nodes and a walker.
package graph

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
)

// ID is a dense node number, 0 to NumNodes()-1 of the graph it belongs to.
type ID = uint32

// Pair is a candidate link.
type Pair struct{ Source, Target ID }

// Pairs returns the candidate links of one source.
func Pairs(source ID, targets []ID) []Pair {
	pairs := make([]Pair, len(targets))
	for i, t := range targets {
		pairs[i] = Pair{source, t}
	}
	return pairs
}

// BySource yields the runs of adjacent pairs with the same source, each with the index of its first
// pair.
func BySource(pairs []Pair) iter.Seq2[int, []Pair] {
	return func(yield func(int, []Pair) bool) {
		for first := 0; first < len(pairs); {
			end := first + 1
			for end < len(pairs) && pairs[end].Source == pairs[first].Source {
				end++
			}
			if !yield(first, pairs[first:end]) {
				return
			}
			first = end
		}
	}
}

// Graph is the part of a graph that contexts are read from. It is an immutable snapshot. Rows are
// ascending by node and free of duplicates. Nil weights mean that every weight is 1. In an
// undirected graph In(u) equals Out(u).
type Graph interface {
	NumNodes() int
	Directed() bool
	Out(u ID) (to []ID, weight []float32)
	In(u ID) (from []ID, weight []float32)
}

// Out returns the nodes that u has an edge to.
func Out(g Graph, u ID) []ID {
	to, _ := g.Out(u)
	return to
}

// In returns the nodes that have an edge to u.
func In(g Graph, u ID) []ID {
	from, _ := g.In(u)
	return from
}

// Counted is a Graph that knows its size and the lengths of rows without reading the rows, and that
// can read a part of a long row.
type Counted interface {
	Graph
	OutLen(u ID) int // number of nodes of Out(u)
	InLen(u ID) int  // number of nodes of In(u)

	// OutHead returns the first n nodes of Out(u), or all if there are fewer. A nil buffer means
	// that u will probably be asked for again soon. Otherwise, what the graph keeps in memory does
	// not change, and the result may use the memory of buffer.
	OutHead(u ID, n int, buffer []ID) []ID
	InHead(u ID, n int, buffer []ID) []ID // the same of In(u)

	NumEdges() int64 // loops included; an undirected edge counts once
	NumLoops() int64
}

// Noted is a Graph that keeps what is computed of it, by keys that are types of the package that
// computes. Notes may return nil, which keeps nothing.
type Noted interface {
	Graph
	Notes() *sync.Map
}

// Kept returns what compute returns, which must depend on the graph and the key only. A Noted graph
// keeps the result.
func Kept[T any](g Graph, key any, compute func() T) T {
	n, ok := g.(Noted)
	if !ok || n.Notes() == nil {
		return compute()
	}
	if known, ok := n.Notes().Load(key); ok {
		return known.(T)
	}
	v := compute()
	n.Notes().Store(key, v)
	return v
}

// OutLen returns the number of nodes that u has an edge to.
func OutLen(g Graph, u ID) int {
	if c, ok := g.(Counted); ok {
		return c.OutLen(u)
	}
	return len(Out(g, u))
}

// InLen returns the number of nodes that have an edge to u.
func InLen(g Graph, u ID) int {
	if c, ok := g.(Counted); ok {
		return c.InLen(u)
	}
	return len(In(g, u))
}

// OutHead returns the first n nodes that u has an edge to, or all if there are fewer. See [Counted]
// for buffer.
func OutHead(g Graph, u ID, n int, buffer []ID) []ID {
	if c, ok := g.(Counted); ok {
		return c.OutHead(u, n, buffer)
	}
	to := Out(g, u)
	return to[:min(n, len(to))]
}

// InHead returns the first n nodes that have an edge to u, in the form of OutHead.
func InHead(g Graph, u ID, n int, buffer []ID) []ID {
	if c, ok := g.(Counted); ok {
		return c.InHead(u, n, buffer)
	}
	from := In(g, u)
	return from[:min(n, len(from))]
}

// Timed is a Graph whose edges may have times, in seconds since 1970. OutTimes(u) is parallel to
// Out(u), and InTimes(u) to In(u). An edge without a time has time 0. A row without times is nil.
type Timed interface {
	Graph
	OutTimes(u ID) []int64
	InTimes(u ID) []int64
}

// Direction is a relation as seen from one of its ends: 2r leads along the edges of relation r, and
// 2r+1 against them. An undirected relation has direction 2r only.
type Direction = int32

// Typed is a graph whose edges have relations. It is an immutable snapshot, safe for concurrent
// use.
type Typed interface {
	NumNodes() int
	NumRelations() int

	// Inverse returns the direction in which the edges of d lead back.
	Inverse(d Direction) Direction

	// Row returns the nodes that edges of u lead to in a direction, ascending.
	Row(u ID, d Direction) []ID

	// Rows yields the rows of u that are not empty: first along relations, then against them, each
	// ascending by relation.
	Rows(u ID) iter.Seq2[Direction, []ID]

	// Ends returns the nodes of all rows of u, in the order of Rows.
	Ends(u ID) []ID
}

// Walk describes a random walk: v = αPv + (1-α)h with P = D⁻¹A (row) or P = AᵀD⁻¹ (column).
type Walk struct {
	Alpha  float64
	Column bool
}

// Start is the signed right-hand side h of a walk, ascending by node.
type Start struct {
	Node  []ID
	Value []float64
}

// Walker computes personalised PageRank on the graph of its World. Results may share the Walker's
// memory and are valid until the next call of the same method.
type Walker interface {
	// Proximity returns, for each node of at, the personalised PageRank of that node seen from
	// source (to) and of source seen from that node (from): column form, damping alpha, every walk
	// starting with mass 1.
	Proximity(ctx context.Context, alpha float64, source ID, at []ID) (to, from []float64, err error)

	// Propagate solves v = αPv + (1-α)h. It returns v at the nodes of at, each with a certified
	// bound on |v - v*|.
	Propagate(ctx context.Context, w Walk, h Start, at []ID) (v, bound []float64, err error)
}

// NumWords is the number of different words that describe nodes.
const NumWords = 1 << 14

// World is the input of a policy in one round. Graph, Features and Words must be safe for
// concurrent use.
type World struct {
	Graph    Graph
	Features func(ID) []float32 // feature vector of a node; a nil function or result counts as zeros
	// Words appends the words that describe a node to a list: numbers below NumWords, ascending and
	// different. A nil function appends none. Models without words do not call it.
	Words func(ID, []uint32) []uint32
	Walk  Walker
	Now   int64   // time at which a Timed graph is read, in seconds since 1970; 0: none
	Pace  float64 // pace of a Timed graph, in seconds; 0: to be computed

	// Typed, if not nil, has the edges of all relations where Graph has those of one, and links of
	// direction Head are asked for.
	Typed Typed
	Head  Direction
	Whole *World // the edges of all relations, as without Typed; nil: unknown
	Found *Found // what Scorer.Reached has found for this question; nil: not kept
}

// Found holds what a network says of candidates of one question, so that the evidence for them is
// read once. It is for one goroutine at a time.
type Found struct {
	By      any // the part of a model that the network belongs to
	Typed   Typed
	Source  ID
	Head    Direction
	Nodes   []ID // ascending
	Outputs []float64
	Known   float64 // column of the known targets of the source
}

// Errors to test for with errors.Is.
var (
	// ErrOption is returned for an unknown policy, preset or option, and for a value that it does
	// not accept.
	ErrOption = errors.New("model: bad option")

	// ErrInput is returned when a node, a feature vector, an outcome or a walk's answer cannot be
	// used.
	ErrInput = errors.New("model: bad input")
)

// Neighbours returns the nodes other than u that are linked with u in either direction,
// ascending.
func Neighbours(g Graph, u ID) []ID {
	near := Out(g, u)
	if g.Directed() {
		near = Union(near, In(g, u))
	}
	if at, loop := slices.BinarySearch(near, u); loop {
		return slices.Concat(near[:at], near[at+1:])
	}
	return near
}

// Union returns the union of two ascending rows.
func Union(a, b []ID) []ID {
	all := make([]ID, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			all, a = append(all, a[0]), a[1:]
		case a[0] > b[0]:
			all, b = append(all, b[0]), b[1:]
		default:
			all, a, b = append(all, a[0]), a[1:], b[1:]
		}
	}
	return append(append(all, a...), b...)
}
