package walk

import (
	"context"
	"slices"

	"kith/index"
	"kith/ppr"
)

// Top returns the k nodes of t.At with the highest values for a start vector that is given, not
// estimated. If t.At is nil, Top sets it to nodes that the walk reaches, and ranks them among all
// nodes, without memory for nodes out of reach. Values have the accuracy of w.Tolerance. While the
// ranks are not certain the error is divided by step, down to floor, or to what the solver reaches.
//
// In column form on a directed graph only the L1 norm of the residual bounds the error of a value,
// so that norm is refined there.
func (w *Walker) Top(ctx context.Context, t *Task, k int, floor float64) ([]Ranked, error) {
	target, scale := ppr.Target{Norm: ppr.MaxNorm, Eps: w.Tolerance()}, 1.0
	unit := w.unit(w.startForm(t), t.Start)
	if w.startForm(t) != t.Form {
		// scale is the factor of the values, and so of their errors; see ranks.
		scale = degree(w.View.Graph, t.Start.Node[0]) / unit
	}
	oneWay := w.View.Graph.Directed() && t.Form == ppr.Column
	r := ranker{g: w.View.Graph, task: t, k: k}
	st, err := w.begin(ctx, t, target.Eps/scale)
	for err == nil {
		reached := scale * st.Bound(target.Norm)
		if target.Norm == ppr.MaxNorm {
			reached *= unit
		}
		last := target.Eps <= floor || reached > target.Eps && (target.Norm == ppr.L1 || !oneWay)
		best, certain, failure := r.ranks(ctx, st, last)
		if certain || last || failure != nil {
			t.At = r.at
			return best, failure
		}
		target.Eps = max(target.Eps/step, floor)
		if oneWay {
			target.Norm = ppr.L1
		}
		st, err = w.improve(ctx, st, ppr.Target{Norm: target.Norm, Eps: target.Eps / scale})
	}
	return nil, err
}

// startForm returns the form in which Top solves. The state of a single node serves both forms of
// an undirected graph.
func (w *Walker) startForm(t *Task) ppr.Form {
	if len(t.Start.Node) == 1 {
		return w.stateForm(t.Form)
	}
	return t.Form
}

// begin returns a state of t.Start with the error eps. The state of a single node is cached.
func (w *Walker) begin(ctx context.Context, t *Task, eps float64) (*ppr.State, error) {
	if w.Reader == nil || len(t.Start.Node) > 1 {
		return w.solve(ctx, w.startForm(t), t.Alpha, t.Start, eps)
	}
	states, err := w.cached(ctx, t, t.Start.Node)
	if err != nil {
		return nil, err
	}
	return w.improve(ctx, states[0], ppr.Target{Norm: ppr.MaxNorm, Eps: eps})
}

// improve refines a state until it meets the target.
func (w *Walker) improve(ctx context.Context, st *ppr.State, target ppr.Target) (*ppr.State, error) {
	return w.States.Solve(ctx, func(sv *ppr.Solver) (*ppr.State, error) {
		return sv.Refine(ctx, w.View.Graph, st, target)
	})
}

// ranker ranks the k best nodes of task.At.
type ranker struct {
	g    *index.Graph
	task *Task
	k    int
	// reached has the nodes that the walk reaches; the values of others are 0. nil: this is not
	// known yet.
	reached nodeSet
	at      []index.ID // candidates: task.At, or nodes that the walk reaches
	rest    Ranked     // the remaining node with the highest upper bound
}

// ranks ranks the nodes by their values in a state, and reports whether the ranks are certain. last
// says that no better state follows.
func (r *ranker) ranks(ctx context.Context, st *ppr.State, last bool) (best []Ranked, certain bool, err error) {
	at := r.candidates(st)
	v, bound := st.Values(r.g, at)
	for i, j := range at {
		if v[i] != 0 || bound[i] != 0 {
			bound[i] += rounding
		}
		if st.Form() != r.task.Form { // v_s(j) in row form is d_s / d_j times that in column form
			ratio := degree(r.g, r.task.Start.Node[0]) / degree(r.g, j)
			v[i], bound[i] = v[i]*ratio, bound[i]*ratio
		}
	}
	best = bestBefore(r.rest, len(v), r.k, func(i int) (float64, float64) { return v[i], bound[i] })
	if allCertain(best) {
		return best, true, nil
	}
	most := maxContested
	if last && r.g.Directed() {
		// In an undirected graph, all neighbours of a reached node are reached.
		most = maxReached
	}
	known := r.reached != nil
	if err := r.reach(ctx, most); err != nil {
		return nil, false, err
	}
	if r.task.At == nil && !known && r.reached != nil { // these are the candidates
		return r.ranks(ctx, st, last)
	}
	for i, j := range at {
		if r.reached != nil && !r.reached.has(j) {
			v[i], bound[i] = 0, 0
		}
	}
	if tied := r.withTies(v, bound, last); tied != nil {
		best = tied
	}
	return best, allCertain(best), nil
}

// candidates returns the nodes to rank, and sets r.rest.
func (r *ranker) candidates(st *ppr.State) []index.ID {
	r.rest = nothing()
	switch {
	case r.task.At != nil:
		r.at = r.task.At
	case r.reached != nil:
		r.at = r.reached.members()
	default:
		r.at, r.rest = st.Nodes(), Ranked{Bound: st.ElsewhereBound() + rounding}
		if st.Form() != r.task.Form {
			d := degree(r.g, r.task.Start.Node[0])
			r.rest.Bound = d*st.Alpha()*st.Bound(ppr.MaxNorm) + d/ppr.MeanWeight(r.g, r.task.Start)*rounding
		}
	}
	return r.at
}

// maxReached bounds the number of nodes that are visited to find the nodes that the walk reaches.
const maxReached = 1 << 20

// reach finds the nodes that the walk reaches, if they are at most the given number.
func (r *ranker) reach(ctx context.Context, most int) error {
	if r.reached != nil {
		return nil
	}
	row := r.g.Out
	if r.task.Form == ppr.Row {
		row = r.g.In
	}
	reached, list := newNodeSet(r.g.NumNodes()), slices.Clone(r.task.Start.Node)
	for _, u := range list {
		reached.add(u)
	}
	for i := 0; i < len(list); i++ {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		to, _ := row(list[i])
		for _, u := range to {
			if !reached.has(u) {
				reached.add(u)
				list = append(list, u)
			}
		}
		if len(list) > most {
			return nil
		}
	}
	r.reached = reached
	return nil
}

func allCertain(ranks []Ranked) bool {
	return !slices.ContainsFunc(ranks, func(r Ranked) bool { return !r.Certain })
}
