package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"kith/index"
	"kith/ppr"
)

// catchUp measures bringing cached states up to date.
func (s *subject) catchUp(ctx context.Context) error {
	for _, c := range []change{
		{edges: 1, hops: anywhere}, {edges: 1000, hops: anywhere}, {edges: 100_000, hops: anywhere},
		{edges: 1, hops: 0}, {edges: 1, hops: 1}, {edges: 1, hops: 2}, {edges: 1000, hops: 3},
	} {
		for _, c.kind = range []string{"insert", "delete"} {
			if err := s.catchUps(ctx, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// catchUps measures the catch-up of one source's state after another.
func (s *subject) catchUps(ctx context.Context, c change) error {
	where := "anywhere"
	if c.hops != anywhere {
		where = fmt.Sprintf("%d", c.hops)
	}
	l := s.line("CatchUp", "kind="+c.kind, "hops="+where, fmt.Sprintf("edges=%d", c.edges))
	if !s.wants(l) || !c.fits(s) {
		return nil
	}
	r, t := s.random(), truth{subject: s}
	s.snap.Graph.Survey()
	sources := s.sources(r, s.queries)
	cache, err := s.states(ctx, sources, benchEps)
	if err != nil {
		return err
	}
	pair := catchUpPair{line: l, cache: cache, sources: len(sources), subject: s}
	var next *index.Snapshot
	edges := 0
	for i, u := range sources {
		if i == 0 || c.hops != anywhere { // what happens anywhere is the same for all
			if next, edges, err = s.apply(r, c, c.near(s.snap.Graph, u)); err != nil {
				return err
			}
			next.Graph.Survey()
		}
		if edges < c.edges {
			continue // u has no such neighbourhood
		}
		st, err := pair.measure(ctx, next, u)
		if err != nil {
			return err
		}
		if err := t.state(ctx, next.Graph, st, ppr.MaxNorm); err != nil {
			return err
		}
	}
	return pair.write(&t)
}

// catchUpPair is catching up beside computing afresh.
type catchUpPair struct {
	*subject
	line    *benchLine
	cache   *index.States
	sources int // with a state in the cache
	afresh  []time.Duration
	agree   float64 // the largest difference of the two, over the sum of their bounds
}

func (p *catchUpPair) measure(ctx context.Context, next *index.Snapshot, u index.ID) (caught *ppr.State, err error) {
	if err := p.line.time(func() (err error) {
		caught, err = p.cache.At(ctx, next, nil, stateOf(u))
		return err
	}); err != nil {
		return nil, err
	}
	start := time.Now()
	fresh, err := p.solver.Solve(ctx, next.Graph, ppr.Column, benchAlpha, indicator(u), ppr.Target{Norm: ppr.MaxNorm, Eps: benchEps})
	if err != nil {
		return nil, err
	}
	p.afresh = append(p.afresh, time.Since(start))
	return caught, p.compare(next.Graph, caught, fresh)
}

// compare holds two states of one source against each other, at the nodes that either reaches.
func (p *catchUpPair) compare(g *index.Graph, a, b *ppr.State) error {
	for _, st := range []*ppr.State{a, b} {
		nodes, _ := st.Estimate()
		for _, j := range nodes {
			x, bx := a.Value(g, j)
			y, by := b.Value(g, j)
			d := math.Abs(x - y)
			if d > bx+by+noise {
				return fmt.Errorf("%w: node %d: caught up %g ± %g, afresh %g ± %g", errCertificate, j, x, bx, y, by)
			}
			if bx+by > 0 {
				p.agree = max(p.agree, d/(bx+by))
			}
		}
	}
	return nil
}

func (p *catchUpPair) write(t *truth) error {
	if 2*len(p.line.took) < p.sources {
		return nil // too few have such a neighbourhood
	}
	t.add(p.line)
	fresh, n, took := float64(median(p.afresh)), p.cache.Stats(), float64(len(p.line.took))
	p.line.add(fresh, "afresh-ns/op")
	p.line.add(p.line.median()/fresh, "of-afresh")
	p.line.add(p.agree, "difference/bounds")
	p.line.add(float64(n.CatchUps)/took, "repaired")
	p.line.add((float64(n.Computed)-float64(p.sources))/took, "recomputed")
	return p.line.write(p.stdout)
}
