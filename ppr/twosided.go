package ppr

import (
	"fmt"
	"math"
)

// CombineTwoSided is [Combine] on an undirected graph with a second-order correction: ends[k] is the source state
// of the candidate at[k], and it carries the residual of the combined states to the candidate. The remaining error
// at j is r_j Q^-1 R / (1-a), the product of two small residuals (as in bidirectional PageRank, Lofgren et al.,
// WSDM 2016, with both walks replaced by solves).
//
// If the graph keeps a [Survey], the constant vector of its giant component is solved exactly as well, which gains
// a further factor where walks mix fast. A value keeps the result of Combine if the correction does not certify a
// smaller bound.
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
	defer sv.reset()
	sv.begin(mix.sys, nil)
	left := sv.residue(mix)
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
	r     []float64 // R, dense
	giant *Component
	plain norms   // of R
	flat  norms   // of R - share d on the giant component
	share float64 // S/vol
}

// residue computes R in the workspace.
func (sv *Solver) residue(mix *mixture) *residue {
	sv.allocResiduals()
	clear(sv.r)
	for i, s := range mix.states {
		sv.addResidual(s, mix.weight[i])
	}
	g := mix.sys.g
	left := &residue{g: g, alpha: mix.sys.alpha, r: sv.r}
	if s, ok := g.(interface{ Survey() *Survey }); ok {
		left.giant = s.Survey().Giant
	}
	sum := 0.0
	for u := range sv.seen.all() {
		left.plain.add(sv.r[u], pivot(g, u))
		if left.inGiant(u) {
			sum += sv.r[u]
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
	for k, u := range s.lists.rNode {
		sv.r[u] += w * s.lists.r[k]
		sv.seen.add(u)
	}
	for _, e := range s.over {
		sv.r[e.node] += w * (e.r - s.lists.residual(e.node))
		sv.seen.add(e.node)
	}
}

// deflated returns n2 without the part along the constant vector of c: n2 - S^2/vol, plus a margin for the rounding
// of a difference of nearly equal numbers.
func deflated(n2, sum float64, c *Component) float64 {
	return max(0, n2-sum*sum/c.volume) + slack*n2
}

// inGiant reports whether u is in the giant component and has a degree above 0.
func (left *residue) inGiant(u ID) bool {
	return left.giant != nil && left.giant.member.has(u) && left.g.Degree(u) > 0
}

// correct returns the correction that R adds to y_j, computed with the source state of j, and a bound of the
// remaining error.
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

// dot returns y . R for a state's estimate y, and sum d_u y_u, the mass of y in the giant component.
func (left *residue) dot(s *State) (dot, mass float64) {
	l := s.lists
	add := func(u ID, y float64) {
		dot += y * left.r[u]
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
