package ppr

import (
	"fmt"
	"math"
)

// Combine returns v = sum_i h_i v^(i) at the given nodes, where states[i] is the source state (h = e_s) of s =
// h.Node[i]. h may have negative values. The bounds certify |v_j - v*_j| on g, which all states must have been
// brought up to.
//
// The states must have the same form and alpha. On an undirected graph, states of either form serve both, since the
// same y solves both systems up to the source's degree. On a directed graph the states must have the requested
// form.
func Combine(g Graph, form Form, h Vector, states []*State, at []ID) (value, bound []float64, err error) {
	mix, err := newMixture(g, form, h, states)
	if err != nil {
		return nil, nil, err
	}
	return mix.values(at)
}

// mixture is a weighted sum of source states: sum_i weight_i y_i estimates y of the combined right side.
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
		m.sys = system{g, kernel{form, 0.5, g.Directed()}}
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

// checkState verifies that s is the source state of u and matches the other states.
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
