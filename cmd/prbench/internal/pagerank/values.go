package pagerank

import (
	"context"
	"fmt"
	"slices"

	"kith/cmd/prbench/internal/benchfmt"
	"kith/index"
	"kith/ppr"
)

// values measures reading values at candidates from cached states. On a directed graph there is no
// correction from both ends, and row form would need another cache.
func (s *subject) values(ctx context.Context) error {
	ways, forms := []string{"combine", "correct"}, []ppr.Form{ppr.Column, ppr.Row}
	if s.snap.Graph.Directed() {
		ways, forms = ways[:1], forms[:1]
	}
	for _, eps := range []float64{1e-5, 1.5e-6, 1e-6} {
		w := warm{subject: s, count: warmed, eps: eps}
		for _, form := range forms {
			for _, way := range ways {
				for _, k := range []int{10, 100, 1000} {
					l := s.line("Values", fmt.Sprintf("form=%v", form), "way="+way, fmt.Sprintf("k=%d", k), "eps="+decimal(eps))
					if err := s.print(l, func() error { return w.measure(ctx, l, form, way, k) }); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// warm holds the cached states of sources, which are computed when they are first needed.
type warm struct {
	*subject
	count   int
	eps     float64
	sources []index.ID
	cache   *index.States
	kept    memoryStore // the store that the cache filled
}

// unbounded is the budget of a cache that evicts nothing.
const unbounded = 1 << 62

// warmed is the number of sources with cached states.
const warmed = 2000

func (w *warm) up(ctx context.Context) error {
	if w.cache != nil {
		return nil
	}
	w.sources = w.subject.sources(w.random(), w.count)
	w.cache, w.kept = index.NewStates(w.eps, unbounded, 0), memoryStore{}
	for _, u := range w.sources {
		if _, err := w.cache.State(ctx, w.snap, nil, stateOf(u)); err != nil {
			return err
		}
	}
	return w.cache.Write(w.kept, unbounded)
}

// measure measures reading values at k candidates. In addition to the largest bound the line has
// the share of the queries in which all bounds are within benchEps, which in column form applies to
// the bound divided by the degree, as in the database.
func (w *warm) measure(ctx context.Context, l *benchfmt.Line, form ppr.Form, way string, k int) error {
	if err := w.up(ctx); err != nil {
		return err
	}
	r, t, within := w.random(), truth{subject: w.subject}, 0
	w.snap.Graph.Survey()
	for range w.queries {
		var at []index.ID
		for _, i := range r.Perm(len(w.sources))[:min(k, len(w.sources))] {
			at = append(at, w.sources[i])
		}
		slices.Sort(at)
		h := mixture(r, at, -1)
		var value, bound []float64
		if err := l.Time(func() (err error) {
			value, bound, err = w.ask(ctx, form, way, h)
			return err
		}); err != nil {
			return err
		}
		if w.keeps(form, at, bound) {
			within++
		}
		if err := t.values(ctx, w.snap.Graph, form, h, at, value, bound); err != nil {
			return err
		}
	}
	t.add(l)
	l.Add(float64(within)/float64(w.queries), "within-"+decimal(benchEps))
	l.Add(float64(w.cache.Stats().Bytes)/float64(len(w.sources)), "state-B")
	return nil
}

func (w *warm) keeps(form ppr.Form, at []index.ID, bound []float64) bool {
	for i, b := range bound {
		if form == ppr.Column {
			b /= w.snap.Graph.Degree(at[i])
		}
		if b > benchEps {
			return false
		}
	}
	return true
}

// ask reads the values of h at its own nodes, as the database does.
func (w *warm) ask(ctx context.Context, form ppr.Form, way string, h ppr.Vector) (value, bound []float64, err error) {
	states := make([]*ppr.State, len(h.Node))
	for i, u := range h.Node {
		st, err := w.cache.State(ctx, w.snap, nil, stateOf(u))
		if err != nil {
			return nil, nil, err
		}
		states[i] = st.State
	}
	if way == "combine" {
		return ppr.Combine(w.snap.Graph, form, h, states, h.Node)
	}
	err = w.cache.WithSolver(ctx, func(sv *ppr.Solver) (err error) {
		value, bound, err = sv.CombineTwoSided(w.snap.Graph, form, h, states, h.Node, states)
		return err
	})
	return value, bound, err
}
