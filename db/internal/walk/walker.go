package walk

import (
	"cmp"
	"context"
	"slices"
	"time"

	"kith/index"
	"kith/model"
	"kith/ppr"
)

// Walker answers a request's questions about PageRank on one version of the graph.
//
// The contexts of a model read coarse states of the source. Candidates, walks and paths read states
// of the database's tolerance: of the 1,000 nodes with the highest PageRank, coarse states miss
// most on email-Enron. With the cache, these are cached states. A state that was repaired, or
// loaded from the store, differs from one that is computed from scratch within the bounds of both,
// so candidates and contexts may differ as well; SetVaries and ContextsVary report it, and Exact
// prevents it. Values of walks have error bounds that cover the difference.
type Walker struct {
	States *index.States
	View   *index.Snapshot
	Reader index.Reader // nil if the cache is not used
	// Source is the node under which the start vector of Propagate is tracked; for a set, any of
	// its nodes.
	Source  index.ID
	Epsilon float64 // in the units of Tolerance; 0 means the database's
	Now     int64   // time of the request, as in model.World
	// Typed, Head and Found are those of model.World.
	Typed model.Typed
	Head  int32
	Found *model.Found
	Whole *Walker // walks along all relations, for a question about one; nil: none
	Exact bool    // candidates and contexts do not depend on what the cache holds
	Known *Known  // values of Proximity that several requests share; may be nil
	// Accept, if not nil, reports whether values with the given bounds are accurate enough. It may
	// accept larger errors than the tolerance.
	Accept func(v, bound []float64) bool

	Plan []Estimate     // strategies for the last Propagate, the one used first
	Took time.Duration  // time of the last Propagate
	Use  index.CacheUse // states that came from the cache

	SetVaries    bool // Near returned a state that depends on what the cache held
	ContextsVary bool // Proximity did

	held map[index.StateID]index.Cached // states that this request has read, the first maxHeld
}

// Known holds values of Proximity for requests that ask for the same nodes of one version of the
// graph, one after the other. The zero value is empty.
type Known struct {
	of map[index.StateID]estimates // the last ones
}

// estimates are the values of nodes without their bounds.
type estimates struct {
	at     []index.ID
	values []float64
}

// maxHeld bounds the number of states that a request holds, for questions about large sets of
// sources.
const maxHeld = 64

// Task is a start vector and the nodes whose values are requested.
type Task struct {
	Form   ppr.Form
	Alpha  float64
	Source index.ID
	Start  ppr.Vector
	At     []index.ID
}

// World returns what a model sees.
func (w *Walker) World() model.World {
	world := model.World{Graph: w.View.Graph, Features: w.View.Features, Walk: w, Now: w.Now, Typed: w.Typed, Head: w.Head, Found: w.Found}
	if w.Whole != nil {
		whole := w.Whole.World()
		world.Whole = &whole
	}
	if len(w.View.Meta.Properties) > 0 {
		world.Words = func(u index.ID, to []uint32) []uint32 { return w.View.Words(u, model.NumWords, to) }
	}
	return world
}

// Tolerance returns the error allowed for a value, relative to the largest start value. In column
// form it is the error of the value divided by the degree, which is counted in units of the mean
// weight of the edges of the start nodes.
func (w *Walker) Tolerance() float64 { return cmp.Or(w.Epsilon, w.View.Meta.Epsilon) }

// state returns the state of a source, which it reads once in a request.
func (w *Walker) state(ctx context.Context, of index.StateID) (st index.Cached, err error) {
	of.Form = w.stateForm(of.Form)
	if st, ok := w.held[of]; ok {
		return st, nil
	}
	switch {
	case w.Reader == nil:
		st.Pristine = true
		st.State, err = w.solve(ctx, of.Form, of.Alpha, ppr.Unit(of.Source), w.States.Target(of).Eps)
	case w.Exact:
		st, err = w.States.PristineState(ctx, w.View, w.Reader, of)
		w.Use.Count(st.Origin)
	default:
		st, err = w.States.State(ctx, w.View, w.Reader, of)
		w.Use.Count(st.Origin)
	}
	if err != nil {
		return st, err
	}
	if w.held == nil {
		w.held = map[index.StateID]index.Cached{}
	}
	if len(w.held) < maxHeld {
		w.held[of] = st
	}
	return st, nil
}

// Near returns the nodes that the walk from a start vector reaches, ascending, and their PageRank
// in column form, the sum of the states of the start nodes or, if these are many, the result of a
// single solve.
func (w *Walker) Near(ctx context.Context, alpha float64, start ppr.Vector) (nodes []index.ID, values []float64, err error) {
	if len(start.Node) > maxHeld {
		st, err := w.solve(ctx, ppr.Column, alpha, start, w.View.Meta.Epsilon)
		if err != nil {
			return nil, nil, err
		}
		nodes, _ = st.Estimate()
		values, _ = st.Values(w.View.Graph, nodes)
		return nodes, values, nil
	}
	states := make([]*ppr.State, len(start.Node))
	for i, u := range start.Node {
		st, err := w.state(ctx, index.StateID{Form: ppr.Column, Alpha: alpha, Source: u})
		if err != nil {
			return nil, nil, err
		}
		w.SetVaries = w.SetVaries || !st.Pristine
		states[i] = st.State
		reached, _ := st.Estimate()
		nodes = append(nodes, reached...)
	}
	slices.Sort(nodes)
	nodes = slices.Compact(nodes)
	values = make([]float64, len(nodes))
	for i, st := range states {
		for j, u := range nodes {
			v, _ := st.Value(w.View.Graph, u)
			values[j] += start.Value[i] * v
		}
	}
	return nodes, values, nil
}

func (w *Walker) solve(ctx context.Context, form ppr.Form, alpha float64, h ppr.Vector, eps float64) (*ppr.State, error) {
	return w.States.Solve(ctx, func(sv *ppr.Solver) (*ppr.State, error) {
		return sv.Solve(ctx, w.View.Graph, form, alpha, h, ppr.Target{Norm: ppr.MaxNorm, Eps: eps})
	})
}

// Proximity implements model.Walker. Coarse states are accurate enough, because contexts hold the
// logarithm of PageRank. On an undirected graph one direction follows from the other: d_u π_u(j) =
// d_j π_j(u).
func (w *Walker) Proximity(ctx context.Context, alpha float64, source index.ID, at []index.ID) (to, from []float64, err error) {
	g := w.View.Graph
	if to, err = w.proximity(ctx, ppr.Column, alpha, source, at); err != nil {
		return nil, nil, err
	}
	if g.Directed() {
		from, err = w.proximity(ctx, ppr.Row, alpha, source, at)
		return to, from, err
	}
	from = make([]float64, len(at))
	own := degree(g, source)
	for i, p := range to {
		if p != 0 {
			from[i] = p * own / degree(g, at[i])
		}
	}
	return to, from, nil
}

// proximity computes one direction of Proximity.
func (w *Walker) proximity(ctx context.Context, form ppr.Form, alpha float64, source index.ID, at []index.ID) ([]float64, error) {
	of := index.StateID{Form: form, Alpha: alpha, Source: source, Coarse: true}
	if _, ok := w.held[of]; w.Reader == nil && !ok { // a solve is cheaper than a state
		return w.estimates(ctx, of, at)
	}
	st, err := w.state(ctx, of)
	if err != nil {
		return nil, err
	}
	w.ContextsVary = w.ContextsVary || !st.Pristine
	return st.Estimates(w.View.Graph, at), nil
}

// estimates solves for a source, or returns known values.
func (w *Walker) estimates(ctx context.Context, of index.StateID, at []index.ID) ([]float64, error) {
	if w.Known != nil {
		if last, ok := w.Known.of[of]; ok && slices.Equal(last.at, at) {
			return last.values, nil
		}
	}
	values, err := w.States.Estimates(ctx, w.View.Graph, of, ppr.Unit(of.Source), w.States.Target(of), at)
	if w.Known != nil && err == nil {
		if w.Known.of == nil {
			w.Known.of = map[index.StateID]estimates{}
		}
		w.Known.of[of] = estimates{slices.Clone(at), values}
	}
	return values, err
}

// unit returns the unit of weight in which degrees count in a form, see ppr.MaxNorm.
func (w *Walker) unit(form ppr.Form, start ppr.Vector) float64 {
	if form == ppr.Row {
		return 1
	}
	return ppr.MeanWeight(w.View.Graph, start)
}

// degree returns the degree of u, or 1 for a node without edges.
func degree(g *index.Graph, u index.ID) float64 { return cmp.Or(g.Degree(u), 1) }

// Propagate implements model.Walker. It uses the strategy that is expected to be the cheapest. If
// the result does not meet the tolerance, it solves instead.
func (w *Walker) Propagate(ctx context.Context, walk model.Walk, h model.Start, at []index.ID) (v, bound []float64, err error) {
	defer func(start time.Time) { w.Took = time.Since(start) }(time.Now())
	t := &Task{Source: w.Source, Start: nonzero(h), At: at}
	t.Form, t.Alpha = Parameters(walk)
	w.Plan = w.Estimates(t)
	if len(t.Start.Node) == 0 {
		return make([]float64, len(at)), make([]float64, len(at)), nil
	}
	v, bound, err = w.execute(ctx, t, w.Tolerance()*largest(h.Value))
	slack := rounding * t.Start.L1()
	for i := range bound {
		bound[i] += slack
	}
	return v, bound, err
}

// Parameters returns the form and the damping factor of a walk.
func Parameters(w model.Walk) (form ppr.Form, alpha float64) {
	if w.Column {
		return ppr.Column, w.Alpha
	}
	return ppr.Row, w.Alpha
}

// rounding is the error that float64 arithmetic may add to an error that is bounded as if it were
// exact, for start values that sum to 1.
const rounding = 1e-12

// execute uses the planned strategy, to the error eps.
func (w *Walker) execute(ctx context.Context, t *Task, eps float64) (v, bound []float64, err error) {
	if s := w.Plan[0].Strategy; s == Combine || s == Correct {
		v, bound, err = w.combine(ctx, t, s == Correct)
		if err != nil || w.within(t, bound, eps) || w.Accept != nil && w.Accept(v, bound) {
			return v, bound, err
		}
		w.Plan = append([]Estimate{{Strategy: Solve}}, w.Plan...)
	}
	return w.refine(ctx, t, eps)
}

// coarse is the ratio of the first solve's error to the tolerance if a larger error may be enough.
// Each further solve divides the error by step.
const (
	coarse = 1e4
	step   = 100
)

// refine solves to the error eps or, if w.Accept accepts a larger error, to that.
func (w *Walker) refine(ctx context.Context, t *Task, eps float64) (v, bound []float64, err error) {
	e := eps
	if w.Accept != nil {
		e = eps * coarse
	}
	for {
		v, bound, err = w.values(ctx, t, max(e, eps))
		if err != nil {
			return nil, nil, err
		}
		if e <= eps || w.Accept(v, bound) {
			return v, bound, nil
		}
		e /= step
	}
}

// values solves for the start vector of t.
func (w *Walker) values(ctx context.Context, t *Task, eps float64) (v, bound []float64, err error) {
	of := index.StateID{Form: t.Form, Alpha: t.Alpha, Source: t.Source}
	target := ppr.Target{Norm: ppr.MaxNorm, Eps: eps}
	if w.Reader == nil {
		return w.States.Read(ctx, w.View.Graph, of, t.Start, target, t.At)
	}
	v, bound, from, err := w.States.Values(ctx, w.View, of, t.Start, target, t.At)
	w.Use.Count(from)
	return v, bound, err
}

// combine combines the cached states of the start nodes at the candidates. If correct is set, it
// also uses the cached states of the candidates to correct the result.
func (w *Walker) combine(ctx context.Context, t *Task, correct bool) (v, bound []float64, err error) {
	states, err := w.cached(ctx, t, t.Start.Node)
	if err != nil {
		return nil, nil, err
	}
	if !correct {
		return ppr.Combine(w.View.Graph, t.Form, t.Start, states, t.At)
	}
	ends, err := w.cached(ctx, t, t.At)
	if err != nil {
		return nil, nil, err
	}
	err = w.States.WithSolver(ctx, func(sv *ppr.Solver) (err error) {
		v, bound, err = sv.CombineTwoSided(w.View.Graph, t.Form, t.Start, states, t.At, ends)
		return err
	})
	return v, bound, err
}

// cached returns the cached states of nodes, brought up to date.
func (w *Walker) cached(ctx context.Context, t *Task, nodes []index.ID) (states []*ppr.State, err error) {
	states = make([]*ppr.State, len(nodes))
	for i, u := range nodes {
		of := index.StateID{Form: w.stateForm(t.Form), Alpha: t.Alpha, Source: u}
		st, err := w.States.State(ctx, w.View, w.Reader, of)
		w.Use.Count(st.Origin)
		if err != nil {
			return nil, err
		}
		states[i] = st.State
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
func (w *Walker) within(t *Task, bound []float64, eps float64) bool {
	unit := w.unit(t.Form, t.Start)
	for i, b := range bound {
		if t.Form == ppr.Column {
			b *= unit / degree(w.View.Graph, t.At[i])
		}
		if b > eps {
			return false
		}
	}
	return true
}
