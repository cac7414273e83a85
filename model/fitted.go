package model

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"

	"kith/model/internal/graph"
	"kith/model/nn"
)

// fitted is a policy that is fitted to a whole graph at once. It learns a list of weight vectors,
// which do not change afterwards.
type fitted struct {
	words  bool                  // the nodes must have feature vectors
	plan   EdgePlan              // values for the zero fields of a plan
	passes func(epochs int) int  // number of passes of all networks together, given the epochs of a plan
	square int64                 // bytes that a view takes per pair of nodes while it is made; 0: its memory is not quadratic
	sizes  func(c *config) []int // lengths of the weight vectors

	// fit returns weights that separate the training's edges from pairs without an edge.
	fit func(ctx context.Context, c *config, t *training) ([][]float32, error)

	// view reads a world.
	view func(ctx context.Context, c *config, weights [][]float32, w World) (view, error)
}

// view fills the scores of pairs in one world. It is a function of the world and the weights, and
// safe for concurrent use.
type view func(ctx context.Context, pairs []Pair, scores []float64) error

// Bytes returns the memory that scoring takes in a graph with the given number of nodes, if it
// grows with the square of that number or takes several numbers per node. It is 0 for most
// policies.
func (s *Scorer) Bytes(nodes int) int64 {
	if s.policy.name == "katz" {
		return 8 * 6 * int64(nodes) // walks of two lengths, two certificates, and two vectors to compute one
	}
	if f := s.policy.fitted; f != nil && s.weights != nil {
		return f.square * int64(nodes) * int64(nodes)
	}
	return 0
}

// training is the input of a fitted policy: the edges in folds, each to be read from a world that
// lacks it.
type training struct {
	rng   *rand.Rand
	graph Graph
	plan  EdgePlan
	folds []fold
}

// fold is a part of a training. In pairs the edges come first, followed by pairs without an edge.
type fold struct {
	world World // lacks the fold's edges
	pairs []Pair
	edges int
}

// Fitted reports whether the policy is fitted to a whole graph by TrainEdges and does not learn
// from single outcomes.
func (m *Model) Fitted() bool { return m.policy.fitted != nil }

// fitEdges is TrainEdges for a fitted policy.
func (m *Model) fitEdges(ctx context.Context, g Graph, plan EdgePlan, without Without) error {
	if err := plan.check(g); err != nil {
		return err
	}
	plan.fill(m.policy.fitted.plan)
	t := &training{rng: rand.New(m.source), graph: g, plan: plan}
	plan.Progress.Begin(Reading)
	if err := t.draw(ctx, without); err != nil {
		return err
	}
	plan.Progress.Finish(Reading)
	plan.Progress.Begin(Learning)
	weights, err := m.policy.fitted.fit(ctx, &m.config, t)
	if err != nil {
		return err
	}
	for _, w := range weights {
		if !nn.Finite(w...) {
			return fmt.Errorf("%w: the training led to weights that are not finite", ErrInput)
		}
	}
	m.weights, m.views, m.trained, m.scorer = weights, newViews(), true, nil
	return nil
}

// epochs calls pass plan.Epochs times, or until ctx ends.
func (t *training) epochs(ctx context.Context, pass func()) {
	for range t.plan.Epochs {
		if ctx.Err() != nil {
			return
		}
		pass()
		t.plan.Progress.Step(1)
	}
}

// draw splits the drawn edges into folds and adds uniform pairs without an edge.
func (t *training) draw(ctx context.Context, without Without) error {
	folds, err := drawFolds(t.rng, t.graph, t.plan)
	if err != nil {
		return err
	}
	for _, hidden := range folds {
		if err := ctx.Err(); err != nil {
			return err
		}
		w, err := without(hidden)
		if err != nil {
			return err
		}
		f := fold{world: w, edges: len(hidden)}
		for _, e := range hidden {
			f.pairs = append(f.pairs, Pair{Source: e[0], Target: e[1]})
		}
		f.pairs = append(f.pairs, unlinked(t.rng, t.graph, len(hidden), t.plan.Negatives)...)
		t.folds = append(t.folds, f)
	}
	return nil
}

// unlinked draws sources uniformly, and for each source the given number of uniform nodes that it
// has no edge with in either direction. It returns fewer pairs if such nodes are hard to find.
// Pairs share their sources because computations per source are expensive.
func unlinked(rng *rand.Rand, g Graph, sources, each int) []Pair {
	pairs := make([]Pair, 0, sources*each)
	for range sources {
		u := ID(rng.IntN(g.NumNodes()))
		for _, v := range nonNeighbors(rng, g, u, each) {
			if !linked(g, v, u) {
				pairs = append(pairs, Pair{Source: u, Target: v})
			}
		}
	}
	return pairs
}

// linked reports whether there is an edge from u to v.
func linked(g Graph, u, v ID) bool {
	_, found := slices.BinarySearch(graph.Out(g, u), v)
	return found
}

// views caches the view of the last world.
type views struct {
	// turn is a mutex of the fields below: it holds a token while they are in use. Waiting can take
	// minutes and ends with ctx.
	turn  chan struct{}
	of    identity
	ready view
}

func newViews() *views { return &views{turn: make(chan struct{}, 1)} }

// identity identifies a world by its graph, its number of arcs, and its feature vectors, which are
// never modified.
type identity struct {
	graph    Graph
	arcs     int
	features [][]float32
}

func identityOf(w World, features bool) identity {
	id := identity{graph: w.Graph, arcs: countArcs(w.Graph)}
	if features && w.Features != nil {
		for u := range ID(w.Graph.NumNodes()) {
			id.features = append(id.features, w.Features(u))
		}
	}
	return id
}

func (a identity) same(b identity) bool {
	canCompare := reflect.TypeOf(a.graph).Comparable() && reflect.TypeOf(b.graph).Comparable()
	return canCompare && a.graph == b.graph && a.arcs == b.arcs && slices.EqualFunc(a.features, b.features, sameVector)
}

// sameVector reports whether two vectors are equal. Most often they are the same memory.
func sameVector(a, b []float32) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b))
}

// in returns the view of a world. It makes a new one if the world differs from the last one.
func (v *views) in(ctx context.Context, s *Scorer, w World) (ready view, err error) {
	of := identityOf(w, s.config.FeatureLen > 0)
	select {
	case v.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-v.turn }()
	if v.ready == nil || !v.of.same(of) {
		if ready, err = s.policy.fitted.view(ctx, s.config, s.weights, w); err != nil {
			return nil, err
		}
		v.of, v.ready = of, ready
	}
	return v.ready, nil
}

// fitted fills the exploit parts using the fitted weights.
func (s *Scorer) fitted(ctx context.Context, w World, pairs []Pair, scores []Score) error {
	v, err := s.views.in(ctx, s, w)
	if err != nil {
		return err
	}
	values := make([]float64, len(pairs))
	err = v(ctx, pairs, values)
	for i, x := range values {
		scores[i].Exploit = x
	}
	return err
}
