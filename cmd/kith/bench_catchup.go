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
		{edges: 1, at: anywhere}, {edges: 1000, at: anywhere}, {edges: 100_000, at: anywhere},
		{edges: 1, at: atSource}, {edges: 1, at: atNeighbor}, {edges: 1, at: top50}, {edges: 1000, at: within3},
	} {
		for _, c.kind = range []string{"insert", "delete"} {
			if err := s.catchUps(ctx, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// catchUps measures the catch-up of one source's state after another. What happens anywhere is the
// same for all of them.
func (s *subject) catchUps(ctx context.Context, c change) error {
	l := s.line("CatchUp", "kind="+c.kind, "at="+string(c.at), fmt.Sprintf("edges=%d", c.edges))
	if !s.wants(l) || !c.fits(s) {
		return nil
	}
	w := warm{subject: s, count: s.queries, eps: benchEps}
	if err := w.up(ctx); err != nil {
		return err
	}
	p := revival{subject: s, line: l, cache: w.cache, eps: benchEps}
	computed := w.cache.Stats().Computed
	var next *index.Snapshot
	r, edges := s.random(), 0
	for i, u := range w.sources {
		if i == 0 || c.at != anywhere {
			near, err := s.nodes(ctx, c.at, u)
			if err != nil {
				return err
			}
			if next, edges, err = s.apply(r, c, near); err != nil {
				return err
			}
			next.Graph.Survey()
		}
		if edges < c.edges {
			continue // u has no such neighbourhood
		}
		if err := p.measure(ctx, next, nil, u); err != nil {
			return err
		}
	}
	n := w.cache.Stats()
	if 2*len(l.took) < len(w.sources) {
		return nil // too few have
	}
	p.add()
	l.add(float64(n.CatchUps)/float64(len(l.took)), "repaired")
	l.add(float64(n.Computed-computed)/float64(len(l.took)), "recomputed")
	return l.write(s.stdout)
}

// revival is getting states up to date out of a cache or a store, beside computing them afresh.
type revival struct {
	*subject
	line   *benchLine
	cache  *index.States
	eps    float64
	afresh []time.Duration
	agree  float64 // the largest difference of the two, over the sum of their bounds
	truth  truth
}

// measure gets the state of u up to next.
func (p *revival) measure(ctx context.Context, next *index.Snapshot, from index.Reader, u index.ID) error {
	var st *ppr.State
	if err := p.line.time(func() (err error) {
		st, err = p.cache.At(ctx, next, from, stateOf(u))
		return err
	}); err != nil {
		return err
	}
	start := time.Now()
	fresh, err := p.source(ctx, next.Graph, u, p.eps)
	if err != nil {
		return err
	}
	p.afresh = append(p.afresh, time.Since(start))
	if err := p.compare(next.Graph, st, fresh); err != nil {
		return err
	}
	p.truth.subject = p.subject
	return p.truth.state(ctx, next.Graph, st, ppr.MaxNorm)
}

// compare holds two states of one source against each other, at the nodes that either reaches.
func (p *revival) compare(g *index.Graph, a, b *ppr.State) error {
	for _, st := range []*ppr.State{a, b} {
		nodes, _ := st.Estimate()
		for _, j := range nodes {
			x, bx := a.Value(g, j)
			y, by := b.Value(g, j)
			d := math.Abs(x - y)
			if d > bx+by+noise {
				return fmt.Errorf("%w: node %d: up to date %g ± %g, afresh %g ± %g", errCertificate, j, x, bx, y, by)
			}
			if bx+by > 0 {
				p.agree = max(p.agree, d/(bx+by))
			}
		}
	}
	return nil
}

// add says on the line how the two compare.
func (p *revival) add() {
	p.truth.add(p.line)
	fresh := float64(median(p.afresh))
	p.line.add(fresh, "afresh-ns/op")
	p.line.add(p.line.median()/fresh, "of-afresh")
	p.line.add(p.agree, "difference/bounds")
}
