package pagerank

import (
	"context"
	"fmt"
	"math"
	"time"

	"kith/cmd/prbench/internal/benchfmt"
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
			if !c.fits(s) {
				continue
			}
			l := s.line("CatchUp", "kind="+c.kind, "at="+string(c.at), fmt.Sprintf("edges=%d", c.edges))
			if err := s.print(l, func() error { return s.catchUps(ctx, l, c) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// catchUps measures catching up the states of one source after another. A change anywhere in the
// graph is the same for all sources. The line gets no sample if too few sources have a
// neighbourhood to change.
func (s *subject) catchUps(ctx context.Context, l *benchfmt.Line, c change) error {
	w := warm{subject: s, count: s.queries, eps: benchEps}
	if err := w.up(ctx); err != nil {
		return err
	}
	p := refresh{subject: s, line: l, cache: w.cache, eps: benchEps}
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
		if err := p.get(ctx, next, nil, u); err != nil {
			return err
		}
	}
	n := w.cache.Stats()
	if 2*len(l.Took) < len(w.sources) {
		l.Took = nil
		return nil
	}
	if err := p.finish(ctx); err != nil {
		return err
	}
	l.Add(float64(n.CatchUps)/float64(len(l.Took)), "repaired")
	l.Add(float64(n.Computed-computed)/float64(len(l.Took)), "recomputed")
	return nil
}

// store measures the size of states in memory and, for states that are worth storing, in the store,
// and reading them from there after a reopen, with and without changes in between.
func (s *subject) store(ctx context.Context) error {
	for _, eps := range []float64{1e-5, 1e-6} {
		w := warm{subject: s, count: s.queries, eps: eps}
		for _, c := range []change{{kind: "insert", at: anywhere}, {kind: "insert", at: anywhere, edges: 1000}} {
			if !c.fits(s) {
				continue
			}
			l := s.line("Store", fmt.Sprintf("changed=%d", c.edges), "eps="+decimal(eps))
			if err := s.print(l, func() error { return w.reopen(ctx, l, c) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// reopen reads the states from a store after a change. The line gets no sample if none was worth
// storing.
func (w *warm) reopen(ctx context.Context, l *benchfmt.Line, c change) error {
	if err := w.up(ctx); err != nil {
		return err
	}
	next, _, err := w.apply(w.random(), c, nil)
	if err != nil {
		return err
	}
	p := refresh{subject: w.subject, line: l, cache: index.NewStates(w.eps, unbounded, 0), eps: w.eps}
	for _, u := range w.sources {
		if err := p.get(ctx, next, w.kept, u); err != nil {
			return err
		}
		if stored := int(p.cache.Stats().Loads); stored < len(l.Took) { // the state was not worth storing
			l.Took, p.refreshed = l.Took[:stored], p.refreshed[:stored]
		}
	}
	if len(l.Took) == 0 {
		return nil
	}
	if err := p.finish(ctx); err != nil {
		return err
	}
	n := float64(len(w.sources))
	l.Add(float64(w.cache.Stats().Bytes)/n, "state-B")
	l.Add(float64(w.kept.bytes())/float64(len(l.Took)), "disk-B")
	l.Add(float64(len(l.Took))/n, "stored")
	return nil
}

// refresh measures bringing states from a cache or a store up to date, compared with computing them
// from scratch.
type refresh struct {
	*subject
	line      *benchfmt.Line
	cache     *index.States
	eps       float64
	refreshed []refreshed
	agree     float64 // largest difference of the two states, over the sum of their bounds
}

// refreshed is the state of a source, brought up to a version of the graph.
type refreshed struct {
	state  *ppr.State
	source index.ID
	graph  *index.Graph
}

// get brings the state of u up to next.
func (p *refresh) get(ctx context.Context, next *index.Snapshot, from index.Reader, u index.ID) error {
	return p.line.Time(func() error {
		st, err := p.cache.State(ctx, next, from, stateOf(u))
		p.refreshed = append(p.refreshed, refreshed{st.State, u, next.Graph})
		return err
	})
}

// finish computes the same states from scratch, after all have been brought up to date, and adds
// the comparison to the line.
func (p *refresh) finish(ctx context.Context) error {
	t, took := truth{subject: p.subject}, make([]time.Duration, len(p.refreshed))
	for i, r := range p.refreshed {
		start := time.Now()
		fresh, err := p.source(ctx, r.graph, r.source, p.eps)
		took[i] = time.Since(start)
		if err != nil {
			return err
		}
		if err := p.compare(r.graph, r.state, fresh); err != nil {
			return err
		}
		if err := t.state(ctx, r.graph, r.state, ppr.MaxNorm); err != nil {
			return err
		}
	}
	t.add(p.line)
	scratch := (&benchfmt.Line{Took: took}).Quantile(0.5)
	p.line.Add(scratch, "scratch-ns/op")
	p.line.Add(p.line.Quantile(0.5)/scratch, "of-scratch")
	p.line.Add(p.agree, "difference/bounds")
	return nil
}

// compare compares two states of a source at the nodes that either reaches.
func (p *refresh) compare(g *index.Graph, a, b *ppr.State) error {
	for _, st := range []*ppr.State{a, b} {
		nodes, _ := st.Estimate()
		for _, j := range nodes {
			x, bx := a.Value(g, j)
			y, by := b.Value(g, j)
			d := math.Abs(x - y)
			if d > bx+by+noise {
				return fmt.Errorf("%w: node %d: up to date %g ± %g, from scratch %g ± %g", errCertificate, j, x, bx, y, by)
			}
			if bx+by > 0 {
				p.agree = max(p.agree, d/(bx+by))
			}
		}
	}
	return nil
}
