package model

import (
	"cmp"
	"errors"
	"fmt"

	"kith/model/internal/graph"
)

// Errors to test for with errors.Is.
var (
	ErrOption = graph.ErrOption // an unknown policy, preset or option, or a value that it does not accept
	ErrInput  = graph.ErrInput  // an invalid node, feature vector, outcome or result of a Walker

	// ErrVersion is returned by Decode for a document of a version that this program does not read.
	ErrVersion = errors.New("model: document version")
)

// Errors that no other package tests for.
var (
	errCorrupt     = errors.New("model: corrupt document")
	errNotLearning = errors.New("model: policy does not learn")
)

// NameError is an ErrOption: the name of a policy, preset, option, explorer or estimator is
// unknown.
type NameError struct {
	Kind     string // policy, preset, option, explorer or estimator
	Name     string
	Accepted []string
}

func (e *NameError) Error() string {
	return fmt.Sprintf("unknown %s %q (accepted: %s)", e.Kind, e.Name, list(e.Accepted))
}

func (e *NameError) Unwrap() error { return ErrOption }

// optionError is any other ErrOption.
type optionError struct{ cause error }

func (e *optionError) Error() string   { return e.cause.Error() }
func (e *optionError) Unwrap() []error { return []error{ErrOption, e.cause} }

func optionf(format string, args ...any) error { return &optionError{fmt.Errorf(format, args...)} }

// VectorError is an ErrInput: a node's feature vector is longer than the model's feature length.
type VectorError struct {
	Node      ID
	Len, Want int
}

func (e *VectorError) Error() string {
	return fmt.Sprintf("%v: node %d has a feature vector of length %d, the model wants %d", ErrInput, e.Node, e.Len, e.Want)
}

func (e *VectorError) Unwrap() error { return ErrInput }

// Types of what a model reads; see package graph.
type (
	ID     = graph.ID     // dense number of a node
	Pair   = graph.Pair   // candidate link
	Graph  = graph.Graph  // immutable snapshot of a graph
	Timed  = graph.Timed  // Graph whose edges may have times
	Typed  = graph.Typed  // graph whose edges have relations
	Walk   = graph.Walk   // parameters of a walk
	Start  = graph.Start  // right-hand side of a walk
	Walker = graph.Walker // computes personalised PageRank
	World  = graph.World  // input of a policy in one round
	Found  = graph.Found  // what Scorer.Reached has found for a question
)

// NumWords is the number of different words of nodes; see [World].
const NumWords = graph.NumWords

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

// Ranked is a node with its score.
type Ranked struct {
	Node  ID
	Score float64
}

// compare orders nodes by score, the highest first, and equal ones by node.
func (r Ranked) compare(o Ranked) int {
	switch {
	case r.Score > o.Score:
		return -1
	case r.Score < o.Score:
		return 1
	}
	return cmp.Compare(r.Node, o.Node)
}
