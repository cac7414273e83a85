package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"kith/index"
	"kith/model"
	"kith/ppr"
)

// learner plays a policy on a graph that grows with the stream. The weight of an edge is its number
// of events, and its time is the time of the last event. Before the model learns an event it
// chooses among the event and other targets; it observes the outcome of its choice, then the event.
type learner struct {
	stream *stream
	trainee
	frozen bool // stop learning when the questions begin
	asked  bool // whether the questions have begun
	rng    *rand.Rand

	graph  *index.Graph
	now    int64                  // time of its newest edge
	known  map[model.Pair]float32 // number of events
	recent []model.ID             // newest targets
}

func newLearner(s *stream, t trainee, frozen bool, seed uint64) *learner {
	e := index.NewGraph(!s.bipartite()).Edit()
	e.Grow(s.nodes)
	return &learner{
		stream: s, trainee: t, frozen: frozen, rng: rand.New(rand.NewPCG(seed, 3)),
		graph: e.Graph(), known: make(map[model.Pair]float32),
	}
}

// bipartite reports whether no target is a source. Such a stream makes an undirected graph.
func (s *stream) bipartite() bool {
	return !slices.ContainsFunc(s.events, func(e event) bool {
		_, found := slices.BinarySearch(s.targets, e.Source)
		return found
	})
}

// world returns what the model sees of a graph at a time.
func world(g *index.Graph, now int64) model.World {
	return model.World{Graph: g, Walk: &solvingWalker{graph: g}, Now: now}
}

func (l *learner) score(ctx context.Context, source model.ID, time int64, targets []model.ID, scores []float64) error {
	all, err := l.scores(ctx, world(l.graph, time), model.Pairs(source, targets))
	copy(scores, all)
	return err
}

// see lets the model learn the events of a moment from the graph before them, then adds them to the
// graph.
func (l *learner) see(ctx context.Context, events []event) error {
	if err := l.learn(ctx, events); err != nil {
		return err
	}
	edit := l.graph.Edit()
	for _, e := range events {
		l.known[e.Pair]++
		l.recent = append(l.recent, e.Target)
		edit.Set(index.Edge{Ends: index.Ends{U: e.Source, V: e.Target}, Weight: l.known[e.Pair], Time: e.time})
	}
	l.recent = l.recent[max(0, len(l.recent)-newestTargets):]
	l.graph, l.now = edit.Graph(), events[0].time
	return nil
}

// The number of other targets of each kind for an event.
const (
	newestPartners = 12 // of the source: the nodes of its newest edges
	newestSources  = 6  // the nodes of the newest edges to it, where edges have a direction
	newestTargets  = 8  // of the stream
	randomTargets  = 24
)

// otherTargets returns different other targets for the source of an event that have no event with
// it at the moment: plausible alternatives and some random ones.
func (l *learner) otherTargets(e event, moment []event) (targets []model.ID) {
	used := map[model.ID]bool{e.Target: true}
	for _, o := range moment {
		if o.Source == e.Source {
			used[o.Target] = true
		}
	}
	add := func(u model.ID) {
		if !used[u] {
			used[u] = true
			targets = append(targets, u)
		}
	}
	to, _ := l.graph.Out(e.Source)
	for _, u := range newest(to, l.graph.OutTimes(e.Source), newestPartners) {
		add(u)
	}
	if l.graph.Directed() {
		from, _ := l.graph.In(e.Source)
		for _, u := range newest(from, l.graph.InTimes(e.Source), newestSources) {
			if _, is := slices.BinarySearch(l.stream.targets, u); is {
				add(u)
			}
		}
	}
	for _, u := range l.recent {
		add(u)
	}
	for range randomTargets {
		add(l.stream.targets[l.rng.IntN(len(l.stream.targets))])
	}
	return targets
}

// newest returns the n nodes of a row with the latest times.
func newest(row []model.ID, times []int64, n int) []model.ID {
	order := make([]int, len(times))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(row[a], row[b])) })
	var nodes []model.ID
	for _, i := range order[:min(n, len(order))] {
		nodes = append(nodes, row[i])
	}
	return nodes
}

// learn lets the model learn the events of a moment, unless it is frozen and the questions have
// begun.
func (l *learner) learn(ctx context.Context, events []event) error {
	switch {
	case l.rival != nil || !l.learns() || l.frozen && l.asked:
		return nil
	case l.model.Forecasts():
		var pairs []model.Pair
		for _, e := range events {
			pairs = append(pairs, e.Pair)
		}
		return l.model.Follow(ctx, model.Moment{World: world(l.graph, events[0].time), Links: pairs})
	}
	for _, e := range events {
		if err := l.choose(ctx, e, events); err != nil {
			return err
		}
	}
	return nil
}

// choose lets the model observe reward 0 for its best candidate, unless that is the event's, and
// reward 1 for the event. The outcome of the event includes the contexts of the other targets.
func (l *learner) choose(ctx context.Context, e event, moment []event) error {
	targets := append([]model.ID{e.Target}, l.otherTargets(e, moment)...)
	scores := make([]float64, len(targets))
	if err := l.score(ctx, e.Source, e.time, targets, scores); err != nil {
		return err
	}
	pairs := model.Pairs(e.Source, targets)
	x, err := l.model.Scorer().Contexts(ctx, world(l.graph, e.time), pairs)
	if err != nil {
		return err
	}
	if best := slices.Index(scores, slices.Max(scores)); best != 0 {
		if _, err := l.model.Observe(model.Outcome{Pair: pairs[best], Contexts: x, Chosen: best}); err != nil {
			return err
		}
	}
	_, err = l.model.Observe(model.Outcome{Pair: e.Pair, Contexts: x, Reward: 1})
	return err
}

// begin trains the model on the current graph when the questions begin.
func (l *learner) begin(ctx context.Context) error {
	l.asked = true
	if !l.learns() {
		return nil
	}
	err := l.trainEdges(ctx, l.graph, model.EdgePlan{}, func(hidden [][2]model.ID) (model.World, error) {
		e := l.graph.Edit()
		for _, h := range hidden {
			e.Set(index.Edge{Ends: index.Ends{U: h[0], V: h[1]}})
		}
		return world(e.Graph(), l.now), nil
	})
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}

// solvingWalker is a model.Walker that solves each question from scratch.
type solvingWalker struct {
	graph  *index.Graph
	solver *ppr.Solver
}

// solveEps is the error of the answers of solvingWalker.
const solveEps = 1e-6

func (w *solvingWalker) values(ctx context.Context, form ppr.Form, alpha float64, h ppr.Vector, at []model.ID) ([]float64, []float64, error) {
	if w.solver == nil {
		w.solver = ppr.NewSolver()
	}
	st, err := w.solver.Solve(ctx, w.graph, form, alpha, h, ppr.Target{Norm: ppr.MaxNorm, Eps: solveEps})
	if err != nil {
		return nil, nil, err
	}
	v, bound := st.Values(w.graph, at)
	return v, bound, nil
}

// Proximity implements model.Walker.
func (w *solvingWalker) Proximity(ctx context.Context, alpha float64, source model.ID, at []model.ID) (to, from []float64, err error) {
	h := ppr.Vector{Node: []model.ID{source}, Value: []float64{1}}
	if to, _, err = w.values(ctx, ppr.Column, alpha, h, at); err != nil {
		return nil, nil, err
	}
	if w.graph.Directed() {
		from, _, err = w.values(ctx, ppr.Row, alpha, h, at)
		return to, from, err
	}
	from = make([]float64, len(at))
	for i, c := range at {
		from[i] = to[i] * max(w.graph.Degree(source), 1) / max(w.graph.Degree(c), 1)
	}
	return to, from, nil
}

// Propagate implements model.Walker.
func (w *solvingWalker) Propagate(ctx context.Context, walk model.Walk, h model.Start, at []model.ID) (v, bound []float64, err error) {
	form := ppr.Row
	if walk.Column {
		form = ppr.Column
	}
	return w.values(ctx, form, walk.Alpha, ppr.Vector{Node: h.Node, Value: h.Value}, at)
}
