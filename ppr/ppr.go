package ppr

import (
	"errors"
	"fmt"
	"math"
)

// ID identifies a node. The nodes of a graph are 0..NumNodes()-1.
type ID = uint32

// Graph is an immutable snapshot of a weighted graph. It must not change while this package uses
// it.
//
// A row is sorted by node and lists each node at most once. A nil weight slice means that every
// weight is 1. Weights are finite and positive. The package only reads the returned slices.
type Graph interface {
	NumNodes() int
	// Arcs returns the number of entries of all Out rows.
	Arcs() int
	// Weighted reports whether some weight may differ from 1.
	Weighted() bool
	// Directed reports whether In differs from Out. An undirected graph lists each edge in both of
	// its rows.
	Directed() bool
	// Degree returns the sum of u's Out weights in float64. A self-loop counts once. It is 0
	// exactly when the row is empty.
	Degree(u ID) float64
	Out(u ID) (to []ID, weight []float32)
	In(u ID) (from []ID, weight []float32)
}

// Vector is a sparse vector: Value[i] is the value at Node[i]. Nodes ascend and values are finite.
type Vector struct {
	Node  []ID
	Value []float64
}

// Form says which way a graph is normalised.
type Form uint8

const (
	// Column spreads mass: v = a A^T D^-1 v + (1-a) h, solved as (Dh - a A^T) y = (1-a) h with v =
	// Dh y.
	Column Form = iota
	// Row averages over neighbours: v = a D^-1 A v + (1-a) h, solved as (Dh - a A) y = (1-a) Dh h
	// with v = y.
	Row
)

// String returns the name of the form in the query language.
func (f Form) String() string {
	switch f {
	case Column:
		return "column"
	case Row:
		return "row"
	}
	return fmt.Sprintf("form(%d)", uint8(f))
}

// Change is the weight of a pair of nodes before and after a change; 0 means no edge. An undirected
// pair is listed once, in either order. A directed edge runs from U to V.
type Change struct {
	U, V     ID
	Old, New float32
}

// Norm is the norm in which the error of a [Target] or a bound is measured.
type Norm uint8

const (
	// MaxNorm is max_j |y_j - y*_j|: the error of a column value at j is at most Dh_j times this
	// norm, and the error of a row value at most this norm. On a directed graph in column form the
	// residual gives no such bound. There a target in this norm is only the push threshold |r_u| <=
	// (1-a) eps Dh_u, and [State.Bound] returns a bound that does hold, of max_j |v_j - v*_j|.
	//
	// In column form the Eps of a target in this norm is in units of 1/[MeanWeight]: y_j may err by
	// Eps/MeanWeight, so that a common factor of all weights does not change v.
	MaxNorm Norm = iota
	// L1 is sum_j Dh_j |y_j - y*_j|: in column form |v - v*|_1, in row form the same sum weighted
	// by Dh. On a directed graph in row form there is no such bound, and a target in this norm is
	// ErrNorm.
	L1
)

// Target is the accuracy that a solution must reach: an error of at most Eps in Norm.
type Target struct {
	Norm Norm
	Eps  float64
}

// Errors to test for with errors.Is.
var (
	// ErrInput is returned when an argument is malformed: alpha outside (0,1), eps not positive, a
	// vector that is not ascending or not finite, a weight that is negative or not finite, a form
	// or norm that does not exist.
	ErrInput = errors.New("ppr: bad input")
	// ErrNode is returned when a node is not in the graph.
	ErrNode = errors.New("ppr: node out of range")
	// ErrMismatch is returned when states, graph and form do not belong together.
	ErrMismatch = errors.New("ppr: states do not match")
	// ErrNorm is returned when no certificate exists in the requested norm (L1 in row form on a
	// directed graph).
	ErrNorm = errors.New("ppr: no certificate in this norm")
	// ErrPrecision is returned, together with the state that was reached, when a target is below
	// what float64 can certify, or takes more than Solver.Memory. The bounds of the state hold.
	ErrPrecision = errors.New("ppr: target not reached")
)

// Unit returns the vector with the value 1 at u.
func Unit(u ID) Vector { return Vector{[]ID{u}, []float64{1}} }

// check verifies that h is a vector over n nodes with no magnitude above most.
func (h Vector) check(n int, most float64) error {
	if len(h.Node) != len(h.Value) {
		return fmt.Errorf("%w: %d nodes with %d values", ErrInput, len(h.Node), len(h.Value))
	}
	for i, u := range h.Node {
		switch x := h.Value[i]; {
		case int(u) >= n:
			return fmt.Errorf("%w: %d of %d", ErrNode, u, n)
		case i > 0 && h.Node[i-1] >= u:
			return fmt.Errorf("%w: nodes not ascending at %d", ErrInput, u)
		case !(math.Abs(x) <= most): // the negation also catches NaN
			return fmt.Errorf("%w: value %v at node %d", ErrInput, x, u)
		}
	}
	return nil
}

// compact returns a copy of h without zeros.
func (h Vector) compact() Vector { return h.add(1, Vector{}) }

// at returns h's value at u.
func (h Vector) at(u ID) float64 {
	if i := find(h.Node, u); i >= 0 {
		return h.Value[i]
	}
	return 0
}

// L1 returns the sum of h's magnitudes.
func (h Vector) L1() (sum float64) {
	for _, x := range h.Value {
		sum += math.Abs(x)
	}
	return sum
}

// Minus returns h - d without zeros, the argument dh of [Solver.CatchUp] for a right side that has
// moved from d to h.
func (h Vector) Minus(d Vector) Vector { return h.add(-1, d) }

// add returns h + by d without zeros.
func (h Vector) add(by float64, d Vector) Vector {
	s := Vector{make([]ID, 0, len(h.Node)+len(d.Node)), make([]float64, 0, len(h.Node)+len(d.Node))}
	for i, j := 0, 0; i < len(h.Node) || j < len(d.Node); {
		var u ID
		var x float64
		switch {
		case j == len(d.Node) || i < len(h.Node) && h.Node[i] < d.Node[j]:
			u, x, i = h.Node[i], h.Value[i], i+1
		case i == len(h.Node) || d.Node[j] < h.Node[i]:
			u, x, j = d.Node[j], by*d.Value[j], j+1
		default:
			u, x, i, j = h.Node[i], h.Value[i]+by*d.Value[j], i+1, j+1
		}
		if x != 0 {
			s.Node, s.Value = append(s.Node, u), append(s.Value, x)
		}
	}
	return s
}

// find returns the position of u in the ascending list, or -1.
func find(list []ID, u ID) int {
	if at := searchFloor(list, u); at < len(list) && list[at] == u {
		return at
	}
	return -1
}

// searchFloor returns the position of the last element of the ascending list that is at most u, or
// 0 if there is no such element. The halving compiles to conditional moves; a branch would be
// mispredicted every other time.
func searchFloor(list []ID, u ID) int {
	at, n := 0, len(list)
	for n > 1 {
		half := n >> 1
		if list[at+half] <= u {
			at += half
		}
		n -= half
	}
	return at
}
