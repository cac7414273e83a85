package ppr

import (
	"math"
)

// reference computes v by power iteration on v = a P v + (1-a) h. It is slow and simple, and serves
// as the oracle.
func reference(g Graph, form Form, alpha float64, h Vector) []float64 {
	n := g.NumNodes()
	base, v, next := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, u := range h.Node {
		base[u] = (1 - alpha) * h.Value[i]
	}
	copy(v, base)
	for range int(math.Log(1e-17) / math.Log(alpha)) { // an iteration multiplies the error by at most alpha
		copy(next, base)
		for u := range ID(n) {
			to, weight := g.Out(u)
			p := alpha / pivot(g, u)
			for i, w := range to {
				x := p
				if weight != nil {
					x *= float64(weight[i])
				}
				if form == Column {
					next[w] += x * v[u]
				} else {
					next[u] += x * v[w]
				}
			}
		}
		v, next = next, v
	}
	return v
}

// residual computes b - Q y directly from its definition, as a dense vector.
func residual(g Graph, s *State) []float64 {
	n := g.NumNodes()
	q := system{g: g, kernel: kernel{s.form, s.alpha, g.Directed()}}
	r, y := make([]float64, n), make([]float64, n)
	for e := range s.entries() {
		y[e.node] = e.y
	}
	for i, u := range s.h.Node {
		r[u] = q.rhs(u, s.h.Value[i])
	}
	for u := range ID(n) {
		r[u] -= pivot(g, u) * y[u]
		to, weight := g.Out(u)
		for i, w := range to {
			a := s.alpha
			if weight != nil {
				a *= float64(weight[i])
			}
			if s.form == Column {
				r[w] += a * y[u]
			} else {
				r[u] += a * y[w]
			}
		}
	}
	return r
}
