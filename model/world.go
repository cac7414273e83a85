package model

import "kith/model/graph"

// Types of what a model reads; see package graph.
type (
	ID     = graph.ID     // dense number of a node
	Pair   = graph.Pair   // candidate link
	Graph  = graph.Graph  // immutable snapshot of a graph
	Timed  = graph.Timed  // Graph whose edges may have times
	Walk   = graph.Walk   // parameters of a walk
	Start  = graph.Start  // right-hand side of a walk
	Walker = graph.Walker // computes personalised PageRank
	World  = graph.World  // input of a policy in one round
)

// Errors to test for with errors.Is.
var (
	ErrOption = graph.ErrOption // an unknown policy, preset or option, or a value that it does not accept
	ErrInput  = graph.ErrInput  // a node, a feature vector, an outcome or a walk's answer that cannot be used
)

// Pairs returns the candidate links of one source.
func Pairs(source ID, targets []ID) []Pair { return graph.Pairs(source, targets) }
