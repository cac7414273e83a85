package model

import "context"

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

// Graph is the part of a graph that contexts are read from. It is an immutable snapshot; rows are ascending by node
// and free of duplicates, nil weights mean that every weight is 1. An undirected graph has In(u) equal to Out(u).
type Graph interface {
	NumNodes() int
	Directed() bool
	Degree(u ID) float64
	Out(u ID) (to []ID, weight []float32)
	In(u ID) (from []ID, weight []float32)
}

// Walk names a random walk: v = αPv + (1-α)h with P = D⁻¹A (row) or P = AᵀD⁻¹ (column).
type Walk struct {
	Alpha  float64
	Column bool
	OneWay bool // an undirected graph's edges lead only from the source they were added with to the target
}

// Start is the signed right side h of a walk, ascending by node.
type Start struct {
	Node  []ID
	Value []float64
}

// Walker answers questions about personalised PageRank on the graph of its World. An answer may lie in the Walker's own
// memory, and is read before the next question of that kind.
type Walker interface {
	// Proximity returns, for each node of at, the personalised PageRank of that node seen from source (to) and of
	// source seen from that node (from): column form, damping alpha, every walk starting with mass 1.
	Proximity(ctx context.Context, alpha float64, source ID, at []ID) (to, from []float64, err error)

	// Propagate solves v = αPv + (1-α)h and returns v at the nodes of at, each with a certified bound on |v - v*|.
	Propagate(ctx context.Context, w Walk, h Start, at []ID) (v, bound []float64, err error)
}

// World is what a policy sees of the world in one round.
type World struct {
	Graph    Graph
	Features func(ID) []float32 // nil, or nil for a node: no feature vector, which counts as zeros
	Walk     Walker
	Now      int64 // time of the question, in seconds since 1970, which a Timed graph is read at; 0: none
}
