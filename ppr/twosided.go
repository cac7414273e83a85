package ppr

import (
	"fmt"
	"math"
)

// CombineTwoSided is [Combine] on an undirected graph with a second-order correction: ends[k] is the source state of
// the candidate at[k], and the residual of the combined states is carried to the candidate by it. What is left of the
// error at j is r_j Q^-1 R / (1-a), the product of two small residuals (in the manner of bidirectional PageRank,
// Lofgren et al., WSDM 2016, with both walks replaced by solves).
//
// Where the graph keeps a [Survey], the constant vector of its giant component is solved exactly on the way: a further
// factor where walks mix fast. A value whose correction certifies less than Combine does is left as Combine gives it.
func (sv *Solver) CombineTwoSided(g Graph, form Form, h Vector, states []*State, at []ID, ends []*State) (value, bound []float64, err error) {
	if value, bound, err = Combine(g, form, h, states, at); err != nil || len(states) == 0 {
		return value, bound, err
	}
	mix, err := newMixture(g, form, h, states)
	if err != nil {
		return nil, nil, err
	}
	if mix.sys.directed {
		return nil, nil, fmt.Errorf("%w: a two-sided correction needs an undirected graph", ErrMismatch)
	}
	if len(ends) != len(at) {
		return nil, nil, fmt.Errorf("%w: %d end states for %d candidates", ErrMismatch, len(ends), len(at))
	}
	for k, s := range ends {
		if err := mix.admit(s, at[k]); err != nil {
			return nil, nil, err
		}
	}
	defer sv.reset()
	sv.begin(mix.sys, nil)
	left := sv.residue(mix)
	for k, j := range at {
		v, b := left.carry(ends[k], j)
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

// residue is the combined residual R of a mixture, in the solver's workspace.
type residue struct {
	sv    *Solver
	giant *Component
	plain norms   // of R
	flat  norms   // of R - share d on the giant component
	share float64 // S/vol
}

func (sv *Solver) residue(mix *mixture) *residue {
	for i, s := range mix.states {
		w := mix.weight[i]
		for k, u := range s.lists.rNode {
			sv.collect(u, w*s.lists.r[k])
		}
		for _, e := range s.over {
			sv.collect(e.node, w*(e.r-s.lists.residual(e.node)))
		}
	}
	left, g := &residue{sv: sv}, sv.sys.g
	if s, ok := g.(interface{ Survey() *Survey }); ok {
		left.giant = s.Survey().Giant
	}
	sum := 0.0
	for e := range sv.entries() {
		left.plain.add(e.r, sv.cells[e.node].dh)
		if left.inGiant(e.node) {
			sum += e.r
		}
	}
	left.flat = left.plain
	if c := left.giant; c != nil {
		left.share = sum / c.volume
		left.flat = norms{left.plain.l1 + math.Abs(sum), left.plain.li + math.Abs(left.share), deflated(left.plain.n2, sum, c)}
	}
	return left
}

// collect adds to the residual at u.
func (sv *Solver) collect(u ID, r float64) {
	c := &sv.cells[u]
	if c.dh == 0 {
		c = sv.load(u)
	}
	c.r += r
}

// deflated is n2 without the part along the constant vector of c: n2 - S^2/vol, and room for what rounding takes from
// a difference of nearly equal numbers.
func deflated(n2, sum float64, c *Component) float64 {
	return max(0, n2-sum*sum/c.volume) + slack*n2
}

// inGiant reports whether u counts in the giant component.
func (left *residue) inGiant(u ID) bool {
	return left.giant != nil && left.giant.holds(u) && left.sv.sys.g.Degree(u) > 0
}

// carry is what R adds to y_j, by the source state of j, and a bound of the error that remains.
func (left *residue) carry(end *State, j ID) (v, bound float64) {
	q := &left.sv.sys
	share, from, to := left.share, left.flat, end.norms
	if !left.inGiant(j) {
		share, from = 0, left.plain
	} else if share != 0 {
		to.n2 = deflated(to.n2, left.giantSum(end), left.giant)
	}
	dot := 0.0
	add := func(u ID, y float64) {
		r := left.sv.cells[u].r
		if share != 0 && left.inGiant(u) {
			r -= share * q.g.Degree(u)
		}
		dot += y * r
	}
	for e := range end.entries() {
		if e.y != 0 {
			add(e.node, e.y)
		}
	}
	scale := 1 - q.alpha // the end state's right side
	if end.form == Row {
		scale *= pivot(q.g, j)
	}
	v = share/(1-q.alpha) + dot/scale
	rest := min(math.Sqrt(from.n2*to.n2), from.l1*to.li, from.li*to.l1)
	return v, rest / (1 - q.alpha) / scale * (1 + slack)
}

// giantSum is the sum of a state's residual over the giant component.
func (left *residue) giantSum(s *State) (sum float64) {
	for k, u := range s.lists.rNode {
		if left.inGiant(u) {
			sum += s.lists.r[k]
		}
	}
	for _, e := range s.over {
		if left.inGiant(e.node) {
			sum += e.r - s.lists.residual(e.node)
		}
	}
	return sum
}
