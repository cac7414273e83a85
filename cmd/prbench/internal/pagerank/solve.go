package pagerank

import (
	"context"
	"fmt"
	"math/rand/v2"

	"kith/cmd/prbench/internal/benchfmt"
	"kith/index"
	"kith/ppr"
)

// cold measures solves with many source nodes at once.
func (s *subject) cold(ctx context.Context) error {
	for _, c := range []struct {
		k     int
		start string
	}{{1, "signed"}, {10, "signed"}, {100, "signed"}, {1000, "signed"}, {1, "positive"}, {100, "positive"}} {
		l := s.line("Cold", "form=column", fmt.Sprintf("k=%d", c.k), "start="+c.start)
		low := 0.0
		if c.start == "signed" {
			low = -1
		}
		next := func(r *rand.Rand) ppr.Vector { return mixture(r, s.sources(r, c.k), low) }
		if err := s.solves(ctx, l, next, ppr.Target{Norm: ppr.L1, Eps: 1e-6}); err != nil {
			return err
		}
	}
	return nil
}

// local measures computing the states of single sources.
func (s *subject) local(ctx context.Context) error {
	for _, eps := range []float64{1e-4, 1e-5, 1e-6} {
		l := s.line("Local", "form=column", "eps="+decimal(eps))
		next := func(r *rand.Rand) ppr.Vector { return indicator(s.draw(r)) }
		if err := s.solves(ctx, l, next, ppr.Target{Norm: ppr.MaxNorm, Eps: eps}); err != nil {
			return err
		}
	}
	return nil
}

// solves measures solving for the start vectors that next draws, to a target.
func (s *subject) solves(ctx context.Context, l *benchfmt.Line, next func(*rand.Rand) ppr.Vector, target ppr.Target) error {
	return s.print(l, func() error {
		r, g, t := s.random(), s.snap.Graph, truth{subject: s}
		ops, bytes := 0, 0
		g.Survey() // queries find the survey made
		for range s.queries {
			h := next(r)
			var st *ppr.State
			if err := l.Time(func() (err error) {
				st, err = s.solver.Solve(ctx, g, ppr.Column, benchAlpha, h, target)
				return err
			}); err != nil {
				return err
			}
			ops, bytes = ops+st.EdgeOps(), bytes+st.Bytes()
			if err := t.state(ctx, g, st, target.Norm); err != nil {
				return err
			}
		}
		t.add(l)
		l.Add(float64(ops)/float64(s.queries), "edge-ops/op")
		l.Add(float64(bytes)/float64(s.queries), "state-B")
		return nil
	})
}

// mixture returns random start values between low and 1 for nodes.
func mixture(r *rand.Rand, nodes []index.ID, low float64) ppr.Vector {
	h := ppr.Vector{Node: nodes, Value: make([]float64, len(nodes))}
	for i := range h.Value {
		h.Value[i] = low + (1-low)*r.Float64()
	}
	return h
}
