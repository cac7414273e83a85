package ppr

import (
	"fmt"
	"iter"
	"math"
)

// kernel is what a state and the system it solves have in common.
type kernel struct {
	form     Form
	alpha    float64
	directed bool
}

// system is the linear system Q y = b of a graph, a form and a damping factor.
type system struct {
	g Graph
	kernel
	weighted bool    // the graph has weights
	unit     float64 // unit of weight: MeanWeight of the right side
}

func newSystem(g Graph, form Form, alpha float64) (system, error) {
	if form > Row {
		return system{}, fmt.Errorf("%w: %v", ErrInput, form)
	}
	if !(alpha > 0 && alpha < 1) {
		return system{}, fmt.Errorf("%w: alpha %v, want between 0 and 1", ErrInput, alpha)
	}
	return system{g: g, kernel: kernel{form, alpha, g.Directed()}, weighted: g.Weighted(), unit: 1}, nil
}

// scaled reports whether degrees count in units of weight.
func (q *system) scaled() bool { return q.form == Column && q.weighted }

// MeanWeight returns the mean weight of the edges out of the nodes of h, where each node counts as
// its value in h. It is 1 if the nodes have no edges, and on a graph without weights.
func MeanWeight(g Graph, h Vector) float64 {
	if !g.Weighted() {
		return 1
	}
	sum, count := 0.0, 0.0
	for i, u := range h.Node {
		to, _ := g.Out(u)
		sum += math.Abs(h.Value[i]) * g.Degree(u)
		count += math.Abs(h.Value[i]) * float64(len(to))
	}
	if sum > 0 {
		return sum / count
	}
	return 1
}

// size returns the size of a node in the push threshold, whose pivot is dh: its degree, but at most
// the degree that it would have if its edges had the unit of weight. Without that limit no walk
// would leave, or pass through, a node whose edges weigh much more than the others.
func (q *system) size(u ID, dh float64) float64 {
	if !q.scaled() {
		return dh
	}
	if dh <= q.unit && !q.sink(u, dh) {
		return dh
	}
	to, _ := q.g.Out(u)
	return q.scaledSize(dh, len(to))
}

// scaledSize is size in a scaled system, for a node with a number of edges.
func (q *system) scaledSize(dh float64, edges int) float64 {
	if edges == 0 {
		return q.unit
	}
	return min(dh, q.unit*float64(edges))
}

// leastSize returns a lower bound of the sizes of nodes with the pivot dh.
func (q *system) leastSize(dh float64) float64 {
	if !q.scaled() {
		return dh
	}
	return min(dh, q.unit)
}

// sink reports whether a node with the pivot dh has no edge, or no edge out of it on a directed
// graph.
func (q *system) sink(u ID, dh float64) bool { return dh == 1 && q.g.Degree(u) == 0 }

// divisor returns what the residual of u is divided by in norms.li: its pivot dh. In column form on
// a directed graph, where li is no certificate, it is the unit of weight at a node without edges
// out of it: the pivot 1 has no unit.
func (q *system) divisor(u ID, dh float64) float64 {
	if q.scaled() && q.directed && q.sink(u, dh) {
		return q.unit
	}
	return dh
}

// checkArgs verifies the arguments of a computation, and returns its system and its goal.
func checkArgs(g Graph, form Form, alpha float64, h Vector, t Target) (q system, to goal, err error) {
	if q, err = newSystem(g, form, alpha); err != nil {
		return q, to, err
	}
	if err = h.check(g.NumNodes(), maxValue); err != nil {
		return q, to, err
	}
	q.unit = MeanWeight(q.g, h)
	to, err = q.goal(t)
	return q, to, err
}

// pivot returns Dh_u: the degree, or 1 if the degree is 0.
func pivot(g Graph, u ID) float64 {
	if d := g.Degree(u); d > 0 {
		return d
	}
	return 1
}

func (q *system) pivot(u ID) float64 { return pivot(q.g, u) }

// column returns the off-diagonal entries of column u of Q, without the factor -a: the nodes whose
// residual a push at u changes.
func (q *system) column(u ID) ([]ID, []float32) {
	if q.reverse() {
		return q.g.In(u)
	}
	return q.g.Out(u)
}

// reverse reports whether the columns of Q are In rows.
func (q *system) reverse() bool { return q.form == Row && q.directed }

// rhs returns b_u for h_u = x.
func (q *system) rhs(u ID, x float64) float64 {
	if q.form == Row {
		x *= pivot(q.g, u)
	}
	return (1 - q.alpha) * x
}

// mass returns |b|_1.
func (q *system) mass(h Vector) (sum float64) {
	for i, u := range h.Node {
		sum += math.Abs(q.rhs(u, h.Value[i]))
	}
	return sum
}

// slack is the relative margin for rounding in every certificate.
const slack = 1e-12

// norms holds norms of a residual r. Each field is at least the true value.
type norms struct {
	l1 float64 // sum |r_u|
	li float64 // max |r_u| / Dh_u, see system.divisor
	n2 float64 // sum r_u^2 / Dh_u
}

// norms returns the norms of the residuals of some entries.
func (q *system) norms(entries iter.Seq[entry]) (m norms) {
	for e := range entries {
		if e.r != 0 {
			dh := q.pivot(e.node)
			m.add(e.r, dh, q.divisor(e.node, dh))
		}
	}
	return m
}

// add adds the residual of a node with the given pivot and divisor.
func (m *norms) add(r, dh, divisor float64) {
	r = math.Abs(r)
	m.l1 += r
	m.li = max(m.li, r/divisor)
	m.n2 += r * r / dh
}

// bound returns a certified bound of |y_j - y*_j| at a node with Dh_j = dh: the smallest of the
// inequalities that hold for the system (undirected: all three; directed: L1 in column form,
// L-infinity in row form).
func (m norms) bound(k kernel, dh float64) float64 {
	e := m.li
	switch {
	case !k.directed:
		e = min(m.li, m.l1/dh, math.Sqrt(m.n2/dh))
	case k.form == Column:
		e = m.l1 / dh
	}
	return e / (1 - k.alpha) * (1 + slack)
}

// errorBound returns the certified error in norm n, +Inf if there is no certificate.
func (m norms) errorBound(n Norm, k kernel) float64 {
	e := m.l1
	switch {
	case n == L1 && k.directed && k.form == Row:
		return math.Inf(1)
	case n == MaxNorm && !(k.directed && k.form == Column):
		e = m.li
	}
	return e / (1 - k.alpha) * (1 + slack)
}

// reached returns ErrPrecision unless the norms meet the goal t.
func (m norms) reached(t goal) error {
	if !t.met(m) {
		return fmt.Errorf("%w: |r|_1 %.2g, max |r|/d %.2g, want %.2g", ErrPrecision, m.l1, m.li, t.limit)
	}
	return nil
}

// goal is a target expressed as a limit on the residual.
type goal struct {
	norm  Norm
	limit float64 // MaxNorm: limit on |r_u|/Dh_u; L1: limit on |r|_1
}

func (q *system) goal(t Target) (goal, error) {
	switch {
	case t.Norm > L1:
		return goal{}, fmt.Errorf("%w: norm %d", ErrInput, t.Norm)
	case !(t.Eps > 0) || math.IsInf(t.Eps, 0):
		return goal{}, fmt.Errorf("%w: eps %v, want a positive number", ErrInput, t.Eps)
	case t.Norm == L1 && q.directed && q.form == Row:
		return goal{}, ErrNorm
	}
	limit := t.Eps * (1 - q.alpha) * (1 - 4*slack) // slightly lower, so that Bound <= Eps
	if t.Norm == MaxNorm && q.form == Column {
		limit /= q.unit
	}
	return goal{t.Norm, limit}, nil
}

func (t goal) met(m norms) bool {
	if t.norm == L1 {
		return m.l1 <= t.limit
	}
	return m.li <= t.limit
}
