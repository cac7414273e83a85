package ppr

import (
	"cmp"
	"fmt"
	"math"
)

// Combine returns v = sum_i h_i v^(i) at the given nodes, where states[i] is the source state (h =
// e_s) of s = h.Node[i]. h may have negative values. The bounds certify |v_j - v*_j| on g, which
// all states must have been brought up to.
//
// The states must have the same form and alpha. On an undirected graph, states of either form serve
// both, since the same y solves both systems up to the source's degree. On a directed graph the
// states must have the requested form.
func Combine(g Graph, form Form, h Vector, states []*State, at []ID) (value, bound []float64, err error) {
	mix, err := newMixture(g, form, h, states)
	if err != nil {
		return nil, nil, err
	}
	return mix.values(at)
}

// mixture is a weighted sum of source states: sum_i weight_i y_i estimates y of the combined right
// side.
type mixture struct {
	sys    system
	weight []float64
	states []*State
	norms  norms // of the combined residual, by the triangle inequality
}

func newMixture(g Graph, form Form, h Vector, states []*State) (*mixture, error) {
	if err := h.check(g.NumNodes(), maxValue); err != nil {
		return nil, err
	}
	if len(states) != len(h.Node) {
		return nil, fmt.Errorf("%w: %d states for %d sources", ErrMismatch, len(states), len(h.Node))
	}
	m := &mixture{states: states, weight: make([]float64, len(states))}
	if len(states) == 0 {
		m.sys = system{g: g, kernel: kernel{form, 0.5, g.Directed()}}
		return m, nil
	}
	var err error
	if m.sys, err = newSystem(g, form, states[0].alpha); err != nil {
		return nil, err
	}
	n2 := 0.0
	for i, s := range states {
		if err := m.checkState(s, h.Node[i]); err != nil {
			return nil, err
		}
		w := h.Value[i]
		switch {
		case s.form == Column && form == Row:
			w *= pivot(g, h.Node[i])
		case s.form == Row && form == Column:
			w /= pivot(g, h.Node[i])
		}
		m.weight[i] = w
		w = math.Abs(w)
		m.norms.l1 += w * s.norms.l1
		m.norms.li += w * s.norms.li
		n2 += w * math.Sqrt(s.norms.n2)
	}
	m.norms.n2 = n2 * n2
	return m, nil
}

// values returns the estimates at the given nodes, and their bounds.
func (m *mixture) values(at []ID) (value, bound []float64, err error) {
	q := &m.sys
	value, bound = make([]float64, len(at)), make([]float64, len(at))
	for k, j := range at {
		if int(j) >= q.g.NumNodes() {
			return nil, nil, fmt.Errorf("%w: %d of %d", ErrNode, j, q.g.NumNodes())
		}
		dh := q.pivot(j)
		for i, s := range m.states {
			value[k] += m.weight[i] * s.estimate(j)
		}
		bound[k] = m.norms.bound(q.kernel, dh)
		if q.form == Column {
			value[k] *= dh
			bound[k] *= dh
		}
	}
	return value, bound, nil
}

// checkState verifies that s is the source state of u and fits the first state and the graph.
func (m *mixture) checkState(s *State, u ID) error {
	first := m.states[0]
	switch {
	case len(s.h.Node) != 1 || s.h.Node[0] != u || s.h.Value[0] != 1:
		return fmt.Errorf("%w: not the source state of node %d", ErrMismatch, u)
	case s.alpha != first.alpha || s.form != first.form:
		return fmt.Errorf("%w: %v %v beside %v %v", ErrMismatch, s.form, s.alpha, first.form, first.alpha)
	case s.directed != m.sys.directed:
		return fmt.Errorf("%w: directed %v on a graph with directed %v", ErrMismatch, s.directed, m.sys.directed)
	case s.directed && s.form != m.sys.form:
		return fmt.Errorf("%w: %v states cannot answer in %v form on a directed graph", ErrMismatch, s.form, m.sys.form)
	}
	return nil
}

// CombineTwoSided is [Combine] on an undirected graph with a second-order correction: ends[k] is
// the source state of the candidate at[k], and it carries the residual of the combined states to
// the candidate. The remaining error at j is r_j Q^-1 R / (1-a), the product of two small residuals
// (as in bidirectional PageRank, Lofgren et al., WSDM 2016, with both walks replaced by solves).
//
// If the graph has a [Survey], the constant vector of its giant component is solved exactly as
// well, which gains a further factor where walks mix fast. A value keeps the result of Combine if
// the correction does not certify a smaller bound, or if the residuals of the states do not fit
// into sv.Memory.
func (sv *Solver) CombineTwoSided(
	g Graph, form Form, h Vector, states []*State, at []ID, ends []*State,
) (value, bound []float64, err error) {
	mix, err := newMixture(g, form, h, states)
	if err != nil {
		return nil, nil, err
	}
	if value, bound, err = mix.values(at); err != nil || len(states) == 0 {
		return value, bound, err
	}
	if mix.sys.directed {
		return nil, nil, fmt.Errorf("%w: a two-sided correction needs an undirected graph", ErrMismatch)
	}
	if len(ends) != len(at) {
		return nil, nil, fmt.Errorf("%w: %d end states for %d candidates", ErrMismatch, len(ends), len(at))
	}
	for k, s := range ends {
		if err := mix.checkState(s, at[k]); err != nil {
			return nil, nil, err
		}
	}
	sv.mixed.grow(g.NumNodes(), sv.mixedRoom())
	defer sv.mixed.clear()
	left := sv.residue(mix)
	if left == nil {
		return value, bound, nil
	}
	for k, j := range at {
		v, b := left.correct(ends[k], j)
		if form == Column {
			dh := pivot(g, j)
			v, b = v*dh, b*dh
		}
		if b < bound[k] {
			value[k], bound[k] = value[k]+v, b
		}
	}
	return value, bound, nil
}

// residue is the combined residual R of a mixture.
type residue struct {
	g     Graph
	alpha float64
	r     *sparse[float64] // R
	giant *Survey
	plain norms   // of R
	flat  norms   // of R - share d on the giant component
	share float64 // S/vol
}

// residue computes R in the workspace. It returns nil if there is no room for it.
func (sv *Solver) residue(mix *mixture) *residue {
	for i, s := range mix.states {
		if !sv.mixed.fits(s.lists.rNode) {
			return nil
		}
		sv.addResidual(s, mix.weight[i])
	}
	g := mix.sys.g
	left := &residue{g: g, alpha: mix.sys.alpha, r: &sv.mixed, giant: surveyOf(g)}
	sum := 0.0
	for u, r := range left.r.all() {
		d := g.Degree(u)
		dh := cmp.Or(d, 1)
		left.plain.add(*r, dh, dh)
		if d > 0 && left.giant != nil && left.giant.member.has(u) {
			sum += *r
		}
	}
	left.flat = left.plain
	if c := left.giant; c != nil {
		left.share = sum / c.volume
		left.flat = norms{left.plain.l1 + math.Abs(sum), left.plain.li + math.Abs(left.share), deflated(left.plain.n2, sum, c)}
	}
	return left
}

// addResidual adds w times a state's residual.
func (sv *Solver) addResidual(s *State, w float64) {
	m, r := &sv.mixed, s.lists.r
	if cell := m.cell; m.whole {
		for k, u := range s.lists.rNode {
			cell[u] += w * r[k]
			m.used.add(u)
		}
	} else {
		for k, u := range s.lists.rNode {
			*m.add(u) += w * r[k]
		}
	}
	for _, e := range s.over {
		*m.add(e.node) += w * (e.r - s.lists.residual(e.node))
	}
}

// deflated returns n2 without the part along the constant vector of c: n2 - S^2/vol, plus a margin
// for the rounding of a difference of nearly equal numbers.
func deflated(n2, sum float64, c *Survey) float64 {
	return max(0, n2-sum*sum/c.volume) + slack*n2
}

// inGiant reports whether u is in the giant component and has a degree above 0.
func (left *residue) inGiant(u ID) bool {
	return left.giant != nil && left.giant.member.has(u) && left.g.Degree(u) > 0
}

// correct returns the correction that R adds to y_j, computed with the source state of j, and a
// bound of the remaining error.
func (left *residue) correct(end *State, j ID) (v, bound float64) {
	to := end.norms
	dot, mass := left.dot(end)
	b := 1 - left.alpha // the end state's right side
	if end.form == Row {
		b *= pivot(left.g, j)
	}
	from := left.plain
	if left.inGiant(j) { // b - (1-a) mass is the sum of the end state's own residual there
		from, to.n2 = left.flat, deflated(to.n2, b-(1-left.alpha)*mass, left.giant)
		v, dot = left.share/(1-left.alpha), dot-left.share*mass
	}
	rest := min(math.Sqrt(from.n2*to.n2), from.l1*to.li, from.li*to.l1)
	return v + dot/b, rest / (1 - left.alpha) / b * (1 + slack)
}

// dot returns y . R for a state's estimate y, and sum d_u y_u, the mass of y in the giant
// component.
func (left *residue) dot(s *State) (dot, mass float64) {
	l := s.lists
	add := func(u ID, y float64) {
		dot += y * *left.r.at(u)
		if left.giant != nil && left.giant.member.has(u) {
			mass += y * left.g.Degree(u)
		}
	}
	for i, u := range l.yNode {
		add(u, l.value(i))
	}
	for _, e := range s.over {
		add(e.node, e.y-l.estimate(e.node))
	}
	return dot, mass
}
