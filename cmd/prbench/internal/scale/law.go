package scale

import (
	"fmt"
	"math"
)

// law says how a figure depends on the number of edges n.
type law int

const (
	constant law = iota // a
	nLogN               // a n log2 n
	affine              // a + b n
	power               // a n^b with b from 0 to 1: no answer takes longer than a pass over the graph
	bounded             // by Options.Memory, so it is not extrapolated
)

func (l law) String() string {
	return [...]string{"constant", "n log n", "constant + linear", "power", "at most --memory"}[l]
}

// point is a measured value of a figure.
type point struct{ n, value float64 }

// fit is a law with its parameters.
type fit struct {
	law
	a, b float64
	// residual is the largest relative difference between the law and a measured value. It is NaN
	// if the law has as many parameters as there are sizes, so that it is exact whatever was
	// measured.
	residual float64
}

// fitted fits a law to positive values by least squares of the relative differences, sum (1 -
// law(n)/value)^2; a power law by least squares of the logarithms. It reports false if there are
// less than two sizes, from which nothing can be extrapolated, and for a bounded figure.
func (l law) fitted(points []point) (f fit, ok bool) {
	if len(points) < 2 || l == bounded {
		return f, false
	}
	f = fit{law: l}
	switch l {
	case affine:
		f.a, f.b = line(points, func(p point) (u, v, t float64) { return 1 / p.value, p.n / p.value, 1 })
		if f.a < 0 { // neither a constant part nor a growth is negative
			f.a, f.b = 0, alone(points, func(n float64) float64 { return n })
		} else if f.b < 0 {
			f.a, f.b = alone(points, func(float64) float64 { return 1 }), 0
		}
	case power:
		_, f.b = line(points, func(p point) (u, v, t float64) { return 1, math.Log(p.n), math.Log(p.value) })
		f.b = min(max(f.b, 0), 1)
		for _, p := range points {
			f.a += (math.Log(p.value) - f.b*math.Log(p.n)) / float64(len(points))
		}
		f.a = math.Exp(f.a)
	default:
		f.a = alone(points, fit{law: l, a: 1}.at)
	}
	for _, p := range points {
		f.residual = max(f.residual, math.Abs(f.at(p.n)/p.value-1))
	}
	if len(points) == 2 && (l == affine || l == power) && f.residual < 1e-9 {
		f.residual = math.NaN()
	}
	return f, true
}

// alone returns the c that minimizes sum (1 - c g(n)/value)^2.
func alone(points []point, g func(n float64) float64) float64 {
	var x, xx float64
	for _, p := range points {
		r := g(p.n) / p.value
		x, xx = x+r, xx+r*r
	}
	return x / xx
}

// line returns the a and b that minimize sum (t - a u - b v)^2 over the points.
func line(points []point, of func(point) (u, v, t float64)) (a, b float64) {
	var uu, uv, vv, ut, vt float64
	for _, p := range points {
		u, v, t := of(p)
		uu, uv, vv, ut, vt = uu+u*u, uv+u*v, vv+v*v, ut+u*t, vt+v*t
	}
	det := uu*vv - uv*uv
	return (ut*vv - vt*uv) / det, (vt*uu - ut*uv) / det
}

// at returns the value for n edges.
func (f fit) at(n float64) float64 {
	switch f.law {
	case constant:
		return f.a
	case nLogN:
		return f.a * n * math.Log2(n)
	case power:
		return f.a * math.Pow(n, f.b)
	}
	return f.a + f.b*n
}

// String returns the law with its residual.
func (f fit) String() string {
	text := f.law.String()
	if f.law == power {
		text = fmt.Sprintf("n^%.2f", f.b)
	}
	if math.IsNaN(f.residual) {
		return text + ", exact"
	}
	return fmt.Sprintf("%s, %.0f %%", text, 100*f.residual)
}
