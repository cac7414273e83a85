package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"kith/index"
	"kith/ppr"
)

// errCertificate is the error of a certificate that does not hold: a bug of ppr.
var errCertificate = errors.New("the certificate is smaller than the true error")

// looks is how many answers of a line are held against the truth.
const looks = 3

// truth is how far answers were from the truth, and how far they may be.
type truth struct {
	subject *subject
	err     float64 // the largest true error
	bound   float64 // the largest certificate
	looked  int
}

// add says so on a line.
func (t *truth) add(l *benchLine) {
	l.add(t.err, "true-err")
	l.add(t.bound, "bound")
}

// exact solves to the end of float64.
func (s *subject) exact(ctx context.Context, g *index.Graph, form ppr.Form, h ppr.Vector) (*ppr.State, error) {
	t := ppr.Target{Norm: ppr.L1, Eps: 1e-14 * absSum(h)}
	if form == ppr.Row && g.Directed() {
		t = ppr.Target{Norm: ppr.MaxNorm, Eps: 1e-14}
	}
	st, err := s.solver.Solve(ctx, g, form, benchAlpha, h, t)
	if errors.Is(err, ppr.ErrPrecision) {
		err = nil
	}
	return st, err
}

// state looks at a state on its graph: in L1 at the sum of the errors of its values, else at the
// largest, of an undirected graph over the degree. Every single value is held against its bound.
func (t *truth) state(ctx context.Context, g *index.Graph, st *ppr.State, norm ppr.Norm) error {
	if t.looked == looks {
		return nil
	}
	t.looked++
	exact, err := t.subject.exact(ctx, g, st.Form(), st.H())
	if err != nil {
		return err
	}
	err1, errMax := 0.0, 0.0
	for u := range index.ID(g.NumNodes()) {
		v, bound := st.Value(g, u)
		e, err := apart(u, v, bound, exact, g, absSum(st.H()))
		if err != nil {
			return err
		}
		err1 += e
		if d := g.Degree(u); !g.Directed() && d > 0 {
			e /= d
		}
		errMax = max(errMax, e)
	}
	if norm == ppr.L1 {
		errMax = err1
	}
	return t.hold(errMax, st.Bound(norm), exact.Bound(norm)+noise*absSum(st.H()))
}

// hold takes note of an error and its certificate.
func (t *truth) hold(e, bound, rounding float64) error {
	if e > bound+rounding {
		return fmt.Errorf("%w: %g, and %g", errCertificate, bound, e)
	}
	t.err, t.bound = max(t.err, e), max(t.bound, bound)
	return nil
}

// values looks at the values of the start vector h at some nodes.
func (t *truth) values(ctx context.Context, g *index.Graph, form ppr.Form, h ppr.Vector, at []index.ID, value, bound []float64) error {
	for _, b := range bound {
		t.bound = max(t.bound, b)
	}
	if t.looked == looks {
		return nil
	}
	t.looked++
	exact, err := t.subject.exact(ctx, g, form, h)
	if err != nil {
		return err
	}
	for i, j := range at {
		e, err := apart(j, value[i], bound[i], exact, g, absSum(h))
		if err != nil {
			return err
		}
		t.err = max(t.err, e)
	}
	return nil
}

// noise is the rounding, relative to |h|_1, that certificates do not speak of.
const noise = 1e-12

// apart is how far a value is from the exact one. It returns errCertificate if that is further than
// certified.
func apart(u index.ID, v, bound float64, exact *ppr.State, g *index.Graph, mass float64) (float64, error) {
	x, rounding := exact.Value(g, u)
	e := math.Abs(v - x)
	if e > bound+rounding+noise*mass {
		return e, fmt.Errorf("%w: node %d: %g, and %g", errCertificate, u, bound, e)
	}
	return e, nil
}

func absSum(h ppr.Vector) (sum float64) {
	for _, x := range h.Value {
		sum += math.Abs(x)
	}
	return sum
}
