package pagerank

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"kith/cmd/prbench/internal/benchfmt"
	"kith/index"
	"kith/ppr"
)

// errCertificate means that a certificate does not hold, which is a bug of package ppr.
var errCertificate = errors.New("the certificate is smaller than the true error")

// maxCompared is the number of answers of a line that are compared with the exact ones.
const maxCompared = 3

// truth records the true errors of answers, and their certificates.
type truth struct {
	subject  *subject
	err      float64 // largest true error
	bound    float64 // largest certificate
	compared int     // number of answers
}

// add adds both to a line.
func (t *truth) add(l *benchfmt.Line) {
	l.Add(t.err, "true-err")
	l.Add(t.bound, "bound")
}

// exact solves to the precision of float64.
func (s *subject) exact(ctx context.Context, g *index.Graph, form ppr.Form, h ppr.Vector) (*ppr.State, error) {
	t := ppr.Target{Norm: ppr.L1, Eps: 1e-14 * h.L1()}
	if form == ppr.Row && g.Directed() {
		t = ppr.Target{Norm: ppr.MaxNorm, Eps: 1e-14}
	}
	st, err := s.solver.Solve(ctx, g, form, benchAlpha, h, t)
	if errors.Is(err, ppr.ErrPrecision) {
		err = nil
	}
	return st, err
}

// next returns the exact answer to compare an answer with, or nil if enough have been compared.
func (t *truth) next(ctx context.Context, g *index.Graph, form ppr.Form, h ppr.Vector) (*ppr.State, error) {
	if t.compared == maxCompared {
		return nil, nil
	}
	t.compared++
	return t.subject.exact(ctx, g, form, h)
}

// state compares a state with the exact one: in L1 the sum of the errors of its values, otherwise
// the largest error, divided by the degree if the graph is undirected. Each single value is checked
// against its bound.
func (t *truth) state(ctx context.Context, g *index.Graph, st *ppr.State, norm ppr.Norm) error {
	mass := st.H().L1()
	exact, err := t.next(ctx, g, st.Form(), st.H())
	if err != nil || exact == nil {
		return err
	}
	sum, largest := 0.0, 0.0
	for u := range index.ID(g.NumNodes()) {
		v, bound := st.Value(g, u)
		e, err := errorOf(u, v, bound, exact, g, mass)
		if err != nil {
			return err
		}
		sum += e
		if d := g.Degree(u); !g.Directed() && d > 0 {
			e /= d
		}
		largest = max(largest, e)
	}
	if norm == ppr.L1 {
		largest = sum
	}
	bound := st.Bound(norm)
	if largest > bound+exact.Bound(norm)+noise*mass {
		return fmt.Errorf("%w: %g, and %g", errCertificate, bound, largest)
	}
	t.err, t.bound = max(t.err, largest), max(t.bound, bound)
	return nil
}

// values compares the values of the start vector h at some nodes with the exact ones.
func (t *truth) values(ctx context.Context, g *index.Graph, form ppr.Form, h ppr.Vector, at []index.ID, value, bound []float64) error {
	t.bound = max(t.bound, slices.Max(bound))
	exact, err := t.next(ctx, g, form, h)
	if err != nil || exact == nil {
		return err
	}
	for i, j := range at {
		e, err := errorOf(j, value[i], bound[i], exact, g, h.L1())
		if err != nil {
			return err
		}
		t.err = max(t.err, e)
	}
	return nil
}

// noise is the rounding error, relative to |h|_1, that certificates do not include.
const noise = 1e-12

// errorOf returns the difference between a value and the exact one. It returns errCertificate if
// that is larger than the bound.
func errorOf(u index.ID, v, bound float64, exact *ppr.State, g *index.Graph, mass float64) (float64, error) {
	x, rounding := exact.Value(g, u)
	e := math.Abs(v - x)
	if e > bound+rounding+noise*mass {
		return e, fmt.Errorf("%w: node %d: %g, and %g", errCertificate, u, bound, e)
	}
	return e, nil
}
