package model

import "kith/model/internal/graph"

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

// Pairs returns the candidate links of one source.
func Pairs(source ID, targets []ID) []Pair { return graph.Pairs(source, targets) }

// Score is the score of one candidate and its parts.
type Score struct {
	Score   float64 // value to rank by
	Exploit float64 // estimated reward
	Explore float64 // estimated gain of trying
	PPR     float64 // contribution of the walk: Score = (1-α)(Exploit+Explore) + PPR; without a walk 0, and Score = Exploit+Explore
	// Bound is a certified bound of the error of Score, given the contexts: numerical for a walk,
	// by truncation for katz. +Inf means that no bound is known.
	Bound float64
}
