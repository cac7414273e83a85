package model

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/internal/graph"
	"kith/model/nn"
)

// EdgePlan says how to train from the edges of a graph. Zero fields take the default in brackets.
type EdgePlan struct {
	Samples   int // edges drawn as positives, without repetition (2000; policy default: up to 8000, within Memory)
	Negatives int // pairs without an edge for each positive, drawn uniformly (4; policy default: of each kind, 24)
	Folds     int // parts that are hidden in turn (5; policy default: up to 10)
	Epochs    int // passes over the samples (10; policy default: 12)
	// Memory is the number of bytes that policy default may take for the vectors of the nodes and,
	// if Samples is 0, for the columns of the samples (512 MB). Vectors that do not fit are left
	// out: see VectorsLeftOut.
	Memory   int64
	Progress *Meter // receives the phases of EdgePhases; may be nil
}

// Without returns the world without the hidden edges. The context of a training edge is read from
// such a world.
type Without func(hidden [][2]ID) (World, error)

// TrainEdges learns from the edges of g. Each drawn edge is a candidate with reward 1, read from a
// world that lacks it and the rest of its fold. Nodes that its source is not linked to are
// candidates with reward 0. The samples replace those of an earlier call. They are kept in addition
// to those of outcomes; option replay limits them when the next outcome is learned. The model is
// unchanged until all samples are drawn. If ctx ends later, the model is left as by TrainLog.
func (m *Model) TrainEdges(ctx context.Context, g Graph, plan EdgePlan, without Without) error {
	err := m.trainEdges(ctx, g, plan, without)
	m.outdated = m.outdated && err != nil
	return err
}

func (m *Model) trainEdges(ctx context.Context, g Graph, plan EdgePlan, without Without) error {
	if !m.policy.learns {
		return fmt.Errorf("%w: %s", errNotLearning, m.policy.name)
	}
	if m.belief != nil && m.belief.ranker != nil {
		return m.trainRanker(ctx, g, plan, without)
	}
	if err := plan.check(g); err != nil {
		return err
	}
	plan.fill(edgeDefaults())
	rng := rand.New(m.source)
	folds, err := drawFolds(rng, g, plan)
	if err != nil {
		return err
	}
	fresh, err := m.edgeSamples(ctx, rng, g, folds, plan, without)
	if err != nil {
		return err
	}
	if m.belief != nil {
		before := m.belief.data
		m.belief.data.ReplaceEdges(m.belief.unseen(fresh))
		plan.Progress.Begin(Learning)
		if err := m.refit(ctx, plan.Progress); err != nil {
			m.belief.data = before
			return err
		}
		return nil
	}
	m.exploit.Data.ReplaceEdges(fresh)
	plan.Progress.Begin(Learning)
	err = m.epochs(ctx, m.exploit, plan.Epochs, plan.Progress)
	if err != nil || m.explore == nil {
		return err
	}
	m.explore.Data.ReplaceEdges(m.residuals(fresh))
	return m.epochs(ctx, m.explore, plan.Epochs, plan.Progress)
}

// edgeSamples reads the contexts of the edges and of their negatives, fold by fold.
func (m *Model) edgeSamples(
	ctx context.Context, rng *rand.Rand, g Graph, folds [][][2]ID, plan EdgePlan, without Without,
) (nn.Samples, error) {
	fresh := nn.Samples{Dim: m.config.width()}
	plan.Progress.Begin(Reading)
	for _, hidden := range folds {
		w, err := without(hidden)
		if err != nil {
			return fresh, err
		}
		for _, e := range hidden {
			candidates := append([]ID{e[1]}, nonNeighbors(rng, g, e[0], plan.Negatives)...)
			if err := m.addEdge(ctx, &fresh, w, e[0], candidates); err != nil {
				return fresh, err
			}
			plan.Progress.Step(1)
		}
	}
	return fresh, nil
}

// addEdge adds a sample for each candidate: the first is a link, the others are not.
func (m *Model) addEdge(ctx context.Context, fresh *nn.Samples, w World, source ID, candidates []ID) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := m.config.contexts(ctx, w, Pairs(source, candidates), &m.scratch); err != nil {
		return err
	}
	reward := 1.0
	for i := range candidates {
		x := nn.Row(m.scratch.x, i)
		if m.belief == nil { // the mean of a belief includes the prior
			reward -= m.config.offset(x)
		}
		fresh.Add(x, reward)
		reward = 0
	}
	return nil
}

// residuals returns the residuals of f1 at its own samples, at their φ.
func (m *Model) residuals(of nn.Samples) nn.Samples {
	out := nn.Samples{Dim: m.explore.Data.Dim}
	for i := range of.Len() {
		f := m.exploit.Net.Forward(&m.scratch.net, nn.NewMatrix(of.Row(i), of.Dim))[0]
		phi := nn.Resize(blas32.General{}, 1, out.Dim)
		m.exploit.Net.Phi(&m.scratch.net, m.config.Pool, phi)
		out.Add(phi.Data, float64(of.Y[i]-f))
	}
	return out
}

// edgeDefaults is the plan of policies with networks.
func edgeDefaults() EdgePlan { return EdgePlan{Samples: 2000, Negatives: 4, Folds: 5, Epochs: 10} }

// check reports negative fields. It limits the negatives of a positive to the number of nodes.
func (p *EdgePlan) check(g Graph) error {
	for _, field := range [...]struct {
		name  string
		value int64
	}{
		{"samples", int64(p.Samples)}, {"negatives", int64(p.Negatives)}, {"folds", int64(p.Folds)},
		{"epochs", int64(p.Epochs)}, {"memory", p.Memory},
	} {
		if field.value < 0 {
			return optionf("%s = %d (accepted: 1 and more)", field.name, field.value)
		}
	}
	p.Negatives = min(p.Negatives, max(g.NumNodes(), 1))
	return nil
}

// fill sets the zero fields to a given plan's values.
func (p *EdgePlan) fill(by EdgePlan) {
	p.Samples, p.Negatives = cmp.Or(p.Samples, by.Samples), cmp.Or(p.Negatives, by.Negatives)
	p.Folds, p.Epochs = cmp.Or(p.Folds, by.Folds), cmp.Or(p.Epochs, by.Epochs)
}

// drawFolds draws edges of g as planned, in folds of nearly equal size.
func drawFolds(rng *rand.Rand, g Graph, plan EdgePlan) ([][][2]ID, error) {
	edges, err := drawEdges(rng, g, plan.Samples)
	folds := make([][][2]ID, min(plan.Folds, len(edges)))
	for k := range folds {
		folds[k] = edges[k*len(edges)/len(folds) : (k+1)*len(edges)/len(folds)]
	}
	return folds, err
}

// drawEdges draws n edges of g (all if it has fewer), without loops, in random order. It draws an
// undirected edge once, from a random end. It returns ErrInput if there are no edges.
func drawEdges(rng *rand.Rand, g Graph, n int) ([][2]ID, error) {
	edges, loops := countEdges(g)
	total := edges - loops
	if total == 0 {
		return nil, fmt.Errorf("%w: the graph has no edges to train on", ErrInput)
	}
	n = min(n, total)
	numbers := sample(rng, total, n)
	drawn := make([][2]ID, 0, n)
	at := 0
	eachEdge(g, func(u, v ID) bool {
		if len(drawn) < n && at == numbers[len(drawn)] {
			drawn = append(drawn, [2]ID{u, v})
		}
		at++
		return len(drawn) < n
	})
	rng.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	if !g.Directed() {
		for i, e := range drawn {
			if rng.Uint64()&1 == 1 {
				drawn[i] = [2]ID{e[1], e[0]}
			}
		}
	}
	return drawn, nil
}

// countEdges returns the number of edges and of loops.
func countEdges(g Graph) (edges, loops int) {
	if c, ok := g.(graph.Counted); ok {
		return int(c.NumEdges()), int(c.NumLoops())
	}
	for u := range ID(g.NumNodes()) {
		out := graph.Out(g, u)
		edges += len(out)
		if linked(g, u, u) {
			loops++
		}
	}
	if !g.Directed() {
		edges = (edges + loops) / 2
	}
	return edges, loops
}

// countArcs returns the number of out-neighbours of all nodes.
func countArcs(g Graph) int {
	edges, loops := countEdges(g)
	if g.Directed() {
		return edges
	}
	return 2*edges - loops
}

// eachEdge calls f for every edge except loops until f returns false.
func eachEdge(g Graph, f func(u, v ID) bool) {
	for u := range ID(g.NumNodes()) {
		out, _ := g.Out(u)
		for _, v := range out {
			if v != u && (g.Directed() || u < v) && !f(u, v) {
				return
			}
		}
	}
}

// sample draws k of the numbers below n, ascending, with Floyd's algorithm (Bentley and Floyd, CACM
// 30, 1987).
func sample(rng *rand.Rand, n, k int) []int {
	chosen := make(map[int]bool, k)
	for j := n - k; j < n; j++ {
		t := rng.IntN(j + 1)
		if chosen[t] {
			t = j
		}
		chosen[t] = true
	}
	return slices.Sorted(maps.Keys(chosen))
}

// linked reports whether there is an edge from u to v.
func linked(g Graph, u, v ID) bool {
	_, found := slices.BinarySearch(graph.Out(g, u), v)
	return found
}

// nonNeighbors draws k nodes other than u that u has no edge to, or fewer if u is linked to nearly
// all nodes.
func nonNeighbors(rng *rand.Rand, g Graph, u ID, k int) []ID {
	var found []ID
	for tries := 20 * k; tries > 0 && len(found) < k; tries-- {
		v := ID(rng.IntN(g.NumNodes()))
		if v != u && !linked(g, u, v) {
			found = append(found, v)
		}
	}
	return found
}

// TrainLog makes full passes over all observed samples, independent of the schedule. A belief makes
// a single pass from scratch, which is all that it can learn. If ctx ends, TrainLog stops between
// two passes and returns the error of ctx. Networks then keep what they have learned so far; a
// belief is unchanged.
func (m *Model) TrainLog(ctx context.Context, epochs int, to *Meter) error {
	switch {
	case !m.policy.learns:
		return fmt.Errorf("%w: %s", errNotLearning, m.policy.name)
	case epochs < 1:
		return optionf("epochs = %d (accepted: 1 and more)", epochs)
	case m.samples().Len() == 0:
		return fmt.Errorf("%w: nothing observed to train on", ErrInput)
	case m.belief != nil:
		to.Begin(Learning)
		return m.refit(ctx, to)
	}
	to.Begin(Learning)
	for _, r := range m.regressors() {
		if err := m.epochs(ctx, r, epochs, to); err != nil {
			return err
		}
	}
	return nil
}

// samples returns the samples that f1 learns from.
func (m *Model) samples() *nn.Samples {
	if m.belief != nil {
		return &m.belief.data
	}
	return &m.exploit.Data
}

// refit makes the belief learn its samples again. One pass is enough, in the order in which they
// were added.
func (m *Model) refit(ctx context.Context, to *Meter) error {
	if err := m.belief.refit(ctx); err != nil {
		return err
	}
	m.scorer, m.trained = nil, true
	to.Step(1)
	return nil
}

// epochs makes n full passes with one network. Each pass is a step of the progress.
func (m *Model) epochs(ctx context.Context, r *nn.Regressor, n int, to *Meter) error {
	m.scorer, m.trained = nil, true
	return r.Epochs(ctx, rand.New(m.source), n, func() { to.Step(1) })
}
