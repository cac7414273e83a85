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
// What goes into a context of the model is always solved afresh, so that it is a function of the
// graph alone, whatever the cache holds and has been through; what spreads the scores may come from
// cached states, and comes with a bound.
type walker struct {
	db     *DB
	view   *index.Snapshot
	reader *reader // nil: the cache is not used
	source index.ID
	eps    float64 // as tolerance has it; 0: the database's
	at     int64   // time of the question, as model.World has it
	// enough, if not nil, tells of values and their bounds whether better ones are of no use.
	enough func(v, bound []float64) bool

	solved  map[solveOf]*ppr.State // of this request
	planned []choice               // for the last Propagate, the way taken first
	took    time.Duration          // by the last Propagate
}

type solveOf struct {
	form   ppr.Form
	alpha  float64
	source index.ID
}

// walker returns the walker of a request. Changes of the transaction itself have no version that a
// cached state could stand at.
func (tx *Tx) walker(source index.ID, noCache bool, eps float64) *walker {
	w := &walker{db: tx.db, view: tx.view(), source: source, eps: eps}
	if !noCache && (tx.batch == nil || tx.batch.Empty()) {
		w.reader = tx.reader
	}
	return w
}

// world is what a model sees.
func (tx *Tx) world(view *index.Snapshot, w *walker) model.World {
	return model.World{Graph: view.Graph, Features: view.Features, Walk: w, Now: w.at}
}

// tolerance is the error allowed to a value (in column form: to what a value is the degree times of),
// relative to the largest start value.
func (w *walker) tolerance() float64 { return orDefault(w.eps, w.view.Meta.Epsilon) }

// fresh solves for one source, without the cache, once in a request.
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

// failed reports whether a solve gave no answer. One that asked for more than float64 can tell gave the
// best there is.
func failed[A *ppr.State | []float64](answer A, err error) bool {
	return answer == nil || err != nil && !errors.Is(err, ppr.ErrPrecision)
}

// canonical is a graph whose survey is made of itself alone: what is solved on it does not depend on
// how it came about.
type canonical struct{ *index.Graph }

func (g canonical) Survey() *ppr.Survey { return g.OwnSurvey() }

func (w *walker) solve(ctx context.Context, form ppr.Form, alpha float64, h ppr.Vector, eps float64) (*ppr.State, error) {
	return w.db.states.Solve(ctx, func(sv *ppr.Solver) (*ppr.State, error) {
		return sv.Solve(ctx, canonical{w.view.Graph}, form, alpha, h, ppr.Target{Norm: ppr.MaxNorm, Eps: eps})
	})
}

// contextSlack is how much larger than the database's tolerance the error of PageRank in a context may
// be: contexts hold its logarithm.
const contextSlack = 10

// Proximity implements model.Walker. On an undirected graph one direction follows from the other:
// d_u π_u(j) = d_j π_j(u).
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

// proximity is one direction of Proximity.
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

// pivot is the degree of u, or 1 for a node without edges.
func pivot(g *index.Graph, u index.ID) float64 { return orDefault(g.Degree(u), 1) }

// Propagate implements model.Walker. It takes the way that the planner expects to be the cheapest;
// where that does not keep the tolerance, a solve does.
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

// rounding is what float64 arithmetic may add to an error that is bounded as if it were exact, for
// start values that sum to 1.
const rounding = 1e-12

// answer takes the planned way, to the error eps.
func (w *walker) answer(ctx context.Context, t *task, eps float64) (v, bound []float64, err error) {
	if way := w.planned[0].way; way == wayCombine || way == wayCorrect {
		v, bound, err = w.combine(ctx, t, way == wayCorrect)
		unsure := errors.Is(err, ppr.ErrPrecision) // of a state; what is asked for may do without it
		if err != nil && !unsure || err == nil && (w.within(t, bound, eps) || w.enough != nil && w.enough(v, bound)) {
			return v, bound, err
		}
		w.planned = append([]choice{{way: waySolve}}, w.planned...)
	}
	return w.refine(ctx, t, eps)
}

// coarse is how much further from the tolerance the first solve stays, when less may be enough; each
// next one comes closer by step.
const (
	coarse = 1e4
	step   = 100
)

// refine solves to the error eps or, where less is enough, to that.
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

// values solves for a start vector.
func (w *walker) values(ctx context.Context, t *task, eps float64) (v, bound []float64, err error) {
	of := index.StateOf{Form: t.form, Alpha: t.alpha, Source: t.source}
	target := ppr.Target{Norm: ppr.MaxNorm, Eps: eps}
	if w.reader == nil {
		return w.db.states.Read(ctx, canonical{w.view.Graph}, of, t.h, target, t.at)
	}
	return w.db.states.Values(ctx, w.view, of, t.h, target, t.at)
}

// combine reads the answer from the cached states of the start nodes and, to correct it, of the
// candidates.
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

// nonzero is h without the nodes at which it is 0.
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

// within reports whether the bounds at the candidates keep to eps.
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
