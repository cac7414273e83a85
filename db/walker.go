package db

import (
	"context"

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
	reader *reader // nil: cached states are not used
	eps    float64 // error allowed, relative to the largest start value; 0: the database's

	solved map[solveOf]*ppr.State // of this request
	path   string                 // how the last Propagate was answered
}

type solveOf struct {
	form   ppr.Form
	alpha  float64
	source index.ID
}

// walker returns the walker of a request. Changes of the transaction itself have no version that a
// cached state could stand at.
func (tx *Tx) walker(noCache bool, eps float64) *walker {
	w := &walker{db: tx.db, view: tx.view(), eps: eps}
	if !noCache && (tx.batch == nil || tx.batch.Empty()) {
		w.reader = tx.reader
	}
	return w
}

// world is what a model sees.
func (tx *Tx) world(view *index.Snapshot, w *walker) model.World {
	return model.World{Graph: view.Graph, Features: view.Features, Walk: w}
}

// tolerance is the error allowed.
func (w *walker) tolerance() float64 { return orDefault(w.eps, w.view.Meta.Epsilon) }

// fresh solves for one source, without the cache, once in a request.
func (w *walker) fresh(ctx context.Context, form ppr.Form, alpha float64, source index.ID) (*ppr.State, error) {
	of := solveOf{form, alpha, source}
	if st := w.solved[of]; st != nil {
		return st, nil
	}
	h := ppr.Vector{Node: []index.ID{source}, Value: []float64{1}}
	st, err := w.solve(ctx, form, alpha, h, w.view.Meta.Epsilon)
	if err != nil {
		return nil, err
	}
	if w.solved == nil {
		w.solved = map[solveOf]*ppr.State{}
	}
	w.solved[of] = st
	return st, nil
}

func (w *walker) solve(ctx context.Context, form ppr.Form, alpha float64, h ppr.Vector, eps float64) (*ppr.State, error) {
	return w.db.states.Solve(ctx, func(sv *ppr.Solver) (*ppr.State, error) {
		return sv.Solve(ctx, w.view.Graph, form, alpha, h, ppr.Target{Norm: ppr.MaxNorm, Eps: eps})
	})
}

// Proximity implements model.Walker. On an undirected graph both directions come from one state:
// d_u π_u(j) = d_j π_j(u).
func (w *walker) Proximity(ctx context.Context, alpha float64, source index.ID, at []index.ID) (to, from []float64, err error) {
	g := w.view.Graph
	forward, err := w.fresh(ctx, ppr.Column, alpha, source)
	if err != nil {
		return nil, nil, err
	}
	back := forward
	if g.Directed() {
		if back, err = w.fresh(ctx, ppr.Row, alpha, source); err != nil {
			return nil, nil, err
		}
	}
	to, from = make([]float64, len(at)), make([]float64, len(at))
	for i, j := range at {
		to[i], _ = forward.Value(g, j)
		switch {
		case g.Directed():
			from[i], _ = back.Value(g, j)
		default:
			from[i] = to[i] * pivot(g, source) / pivot(g, j)
		}
	}
	return to, from, nil
}

// pivot is the degree of u, or 1 for a node without edges.
func pivot(g *index.Graph, u index.ID) float64 { return orDefault(g.Degree(u), 1) }

// maxCombined is the number of start values up to which cached states may be combined: beyond, one
// solve for all of them costs less.
const maxCombined = 32

// Ways to compute a walk.
const (
	pathCombine = "cached states, combined, if their bounds suffice"
	pathSolve   = "one solve for all candidates"
)

// plan picks the way for so many start values.
func (w *walker) plan(starts int) string {
	if w.reader != nil && starts <= maxCombined {
		return pathCombine
	}
	return pathSolve
}

// Propagate implements model.Walker.
func (w *walker) Propagate(ctx context.Context, walk model.Walk, h model.Start, at []index.ID) (v, bound []float64, err error) {
	form := ppr.Row
	if walk.Column {
		form = ppr.Column
	}
	start := ppr.Vector{Node: h.Node, Value: h.Value}
	eps := w.tolerance() * largest(h.Value)
	if walk.Alpha == w.db.states.Alpha() && w.plan(len(h.Node)) == pathCombine {
		v, bound, err = w.combine(ctx, form, start, at)
		if err != nil || within(bound, eps) {
			w.path = pathCombine
			return v, bound, err
		}
	}
	w.path = pathSolve
	if eps == 0 {
		return make([]float64, len(at)), make([]float64, len(at)), nil
	}
	st, err := w.solve(ctx, form, walk.Alpha, start, eps)
	if err != nil {
		return nil, nil, err
	}
	v, bound = make([]float64, len(at)), make([]float64, len(at))
	for i, j := range at {
		v[i], bound[i] = st.Value(w.view.Graph, j)
	}
	return v, bound, nil
}

// combine reads the answer from the cached states of the start nodes.
func (w *walker) combine(ctx context.Context, form ppr.Form, h ppr.Vector, at []index.ID) (v, bound []float64, err error) {
	states := make([]*ppr.State, len(h.Node))
	for i, u := range h.Node {
		if states[i], err = w.db.states.At(ctx, w.view, w.reader, index.StateOf{Form: form, Source: u}); err != nil {
			return nil, nil, err
		}
	}
	return ppr.Combine(w.view.Graph, form, h, states, at)
}

func largest(values []float64) (m float64) {
	for _, v := range values {
		m = max(m, v, -v)
	}
	return m
}

func within(bound []float64, eps float64) bool {
	for _, b := range bound {
		if b > eps {
			return false
		}
	}
	return true
}
