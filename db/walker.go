package db

import (
	"context"
	"errors"
	"time"

	"kith/index"
	"kith/model"
	"kith/ppr"
)

// walker answers a request's questions about PageRank on one version of the graph.
//
// PageRank in the contexts of the model is always computed from scratch, so it is a function of the graph alone,
// whatever the cache holds. PageRank that spreads the scores may come from cached states, and has an error bound.
type walker struct {
	db     *DB
	view   *index.Snapshot
	reader *reader // nil if the cache is not used
	source index.ID
	eps    float64 // in the units of tolerance; 0 means the database's
	at     int64   // time of the question, as in model.World
	// enough, if not nil, reports whether values with the given bounds are accurate enough.
	enough func(v, bound []float64) bool

	solved  map[solveOf]*ppr.State // states solved in this request
	planned []choice               // strategies for the last Propagate, the one used first
	took    time.Duration          // time of the last Propagate
}

type solveOf struct {
	form   ppr.Form
	alpha  float64
	source index.ID
}

// walker returns the walker of a request. It does not use the cache if the transaction has changes, because no cached
// state includes them.
func (tx *Tx) walker(source index.ID, noCache bool, eps float64) *walker {
	w := &walker{db: tx.db, view: tx.view(), source: source, eps: eps}
	if !noCache && (tx.batch == nil || tx.batch.Empty()) {
		w.reader = tx.reader
	}
	return w
}

// world returns what a model sees.
func (tx *Tx) world(view *index.Snapshot, w *walker) model.World {
	return model.World{Graph: view.Graph, Features: view.Features, Walk: w, Now: w.at}
}

// tolerance returns the error allowed for a value, relative to the largest start value. In column form it is the error
// of the value divided by the degree.
func (w *walker) tolerance() float64 { return orDefault(w.eps, w.view.Meta.Epsilon) }

// fresh solves for one source without the cache, once in a request.
func (w *walker) fresh(ctx context.Context, form ppr.Form, alpha float64, source index.ID) (*ppr.State, error) {
	of := solveOf{form, alpha, source}
	if st := w.solved[of]; st != nil {
		return st, nil
	}
	h := ppr.Vector{Node: []index.ID{source}, Value: []float64{1}}
	st, err := w.solve(ctx, form, alpha, h, w.view.Meta.Epsilon)
	if failed(st, err) {
		return nil, err
	}
	if w.solved == nil {
		w.solved = map[solveOf]*ppr.State{}
	}
	w.solved[of] = st
	return st, nil
}

// failed reports whether a solve gave no answer. A solve to more precision than float64 has gave the best possible
// answer and has not failed.
func failed[A *ppr.State | []float64](answer A, err error) bool {
	return answer == nil || err != nil && !errors.Is(err, ppr.ErrPrecision)
}

// canonical is a graph whose survey depends on the graph alone, so results on it do not depend on the history of the
// graph.
type canonical struct{ *index.Graph }

func (g canonical) Survey() *ppr.Survey { return g.OwnSurvey() }

func (w *walker) solve(ctx context.Context, form ppr.Form, alpha float64, h ppr.Vector, eps float64) (*ppr.State, error) {
	return w.db.states.Solve(ctx, func(sv *ppr.Solver) (*ppr.State, error) {
		return sv.Solve(ctx, canonical{w.view.Graph}, form, alpha, h, ppr.Target{Norm: ppr.MaxNorm, Eps: eps})
	})
}

// contextSlack is the ratio of the error of PageRank in a context to the database's tolerance. It may be larger because
// contexts hold the logarithm of PageRank.
const contextSlack = 10

// Proximity implements model.Walker. On an undirected graph one direction follows from the other: d_u π_u(j) = d_j
// π_j(u).
func (w *walker) Proximity(ctx context.Context, alpha float64, source index.ID, at []index.ID) (to, from []float64, err error) {
	g := w.view.Graph
	if to, err = w.proximity(ctx, ppr.Column, alpha, source, at); err != nil {
		return nil, nil, err
	}
	if g.Directed() {
		from, err = w.proximity(ctx, ppr.Row, alpha, source, at)
		return to, from, err
	}
	from = make([]float64, len(at))
	for i, j := range at {
		from[i] = to[i] * pivot(g, source) / pivot(g, j)
	}
	return to, from, nil
}

// proximity computes one direction of Proximity.
func (w *walker) proximity(ctx context.Context, form ppr.Form, alpha float64, source index.ID, at []index.ID) ([]float64, error) {
	of := index.StateOf{Form: form, Alpha: alpha, Source: source}
	target := ppr.Target{Norm: ppr.MaxNorm, Eps: contextSlack * w.view.Meta.Epsilon}
	h := ppr.Vector{Node: []index.ID{source}, Value: []float64{1}}
	v, _, err := w.db.states.Read(ctx, canonical{w.view.Graph}, of, h, target, at)
	if failed(v, err) {
		return nil, err
	}
	return v, nil
}

// pivot returns the degree of u, or 1 for a node without edges.
func pivot(g *index.Graph, u index.ID) float64 { return orDefault(g.Degree(u), 1) }

// Propagate implements model.Walker. It uses the strategy that the planner expects to be the cheapest. If the result
// does not meet the tolerance, it solves instead.
func (w *walker) Propagate(ctx context.Context, walk model.Walk, h model.Start, at []index.ID) (v, bound []float64, err error) {
	defer func(start time.Time) { w.took = time.Since(start) }(time.Now())
	t := &task{form: ppr.Row, alpha: walk.Alpha, source: w.source, h: nonzero(h), at: at}
	if walk.Column {
		t.form = ppr.Column
	}
	w.planned = w.choices(t)
	if len(t.h.Node) == 0 {
		return make([]float64, len(at)), make([]float64, len(at)), nil
	}
	v, bound, err = w.answer(ctx, t, w.tolerance()*largest(h.Value))
	slack := rounding * t.h.L1()
	for i := range bound {
		bound[i] += slack
	}
	return v, bound, err
}

// rounding is the error that float64 arithmetic may add to an error that is bounded as if it were exact, for start
// values that sum to 1.
const rounding = 1e-12

// answer uses the planned strategy, to the error eps.
func (w *walker) answer(ctx context.Context, t *task, eps float64) (v, bound []float64, err error) {
	if way := w.planned[0].way; way == wayCombine || way == wayCorrect {
		v, bound, err = w.combine(ctx, t, way == wayCorrect)
		unsure := errors.Is(err, ppr.ErrPrecision) // the error of a state; the combination may still be accurate enough
		if err != nil && !unsure || err == nil && (w.within(t, bound, eps) || w.enough != nil && w.enough(v, bound)) {
			return v, bound, err
		}
		w.planned = append([]choice{{way: waySolve}}, w.planned...)
	}
	return w.refine(ctx, t, eps)
}

// coarse is the ratio of the first solve's error to the tolerance if a larger error may be enough. Each further solve
// divides the error by step.
const (
	coarse = 1e4
	step   = 100
)

// refine solves to the error eps or, if w.enough accepts a larger error, to that.
func (w *walker) refine(ctx context.Context, t *task, eps float64) (v, bound []float64, err error) {
	e := eps
	if w.enough != nil {
		e = eps * coarse
	}
	for {
		v, bound, err = w.values(ctx, t, max(e, eps))
		if failed(v, err) {
			return nil, nil, err
		}
		if e <= eps || err != nil || w.enough(v, bound) {
			return v, bound, nil
		}
		e /= step
	}
}

// values solves for the start vector of t.
func (w *walker) values(ctx context.Context, t *task, eps float64) (v, bound []float64, err error) {
	of := index.StateOf{Form: t.form, Alpha: t.alpha, Source: t.source}
	target := ppr.Target{Norm: ppr.MaxNorm, Eps: eps}
	if w.reader == nil {
		return w.db.states.Read(ctx, canonical{w.view.Graph}, of, t.h, target, t.at)
	}
	return w.db.states.Values(ctx, w.view, of, t.h, target, t.at)
}

// combine combines the cached states of the start nodes at the candidates. If correct is set, it also uses the cached
// states of the candidates to correct the result.
func (w *walker) combine(ctx context.Context, t *task, correct bool) (v, bound []float64, err error) {
	states, err := w.cached(ctx, t, t.h.Node)
	if err != nil {
		return nil, nil, err
	}
	if !correct {
		return ppr.Combine(w.view.Graph, t.form, t.h, states, t.at)
	}
	ends, err := w.cached(ctx, t, t.at)
	if err != nil {
		return nil, nil, err
	}
	err = w.db.states.Lend(ctx, func(sv *ppr.Solver) (err error) {
		v, bound, err = sv.CombineTwoSided(w.view.Graph, t.form, t.h, states, t.at, ends)
		return err
	})
	return v, bound, err
}

// cached returns the cached states of nodes, brought up to date.
func (w *walker) cached(ctx context.Context, t *task, nodes []index.ID) (states []*ppr.State, err error) {
	states = make([]*ppr.State, len(nodes))
	for i, u := range nodes {
		of := index.StateOf{Form: w.stateForm(t.form), Alpha: t.alpha, Source: u}
		if states[i], err = w.db.states.At(ctx, w.view, w.reader, of); err != nil {
			return nil, err
		}
	}
	return states, nil
}

// nonzero returns h without its zero entries.
func nonzero(h model.Start) (v ppr.Vector) {
	for i, x := range h.Value {
		if x != 0 {
			v.Node, v.Value = append(v.Node, h.Node[i]), append(v.Value, x)
		}
	}
	return v
}

func largest(values []float64) (m float64) {
	for _, v := range values {
		m = max(m, v, -v)
	}
	return m
}

// within reports whether the bounds at the candidates are at most eps.
func (w *walker) within(t *task, bound []float64, eps float64) bool {
	for i, b := range bound {
		if t.form == ppr.Column {
			b /= pivot(w.view.Graph, t.at[i])
		}
		if b > eps {
			return false
		}
	}
	return true
}
