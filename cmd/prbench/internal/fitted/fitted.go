// Package fitted holds policies that are fitted to all edges of a graph at once and learn nothing
// from single outcomes: rivals of kith's default.
//
//   - pair_net: a network on closed-form features of a pair: of the graph, of the similarity of the
//     nodes' words, and of the graph with links between nodes whose words are most similar.
//   - embedding: a network on the product of learned node vectors, which depend on the nodes' words
//     and the graph.
//   - pair_mix: the sum of both.
//   - ease: a ridge regression of each node's edges on the edges of all other nodes, for dense
//     graphs.
//
// Their scorers read the graph of the question, which may have changed since the training. They
// treat it as undirected and unweighted. Reading a graph takes from a fraction of a second to half
// a minute; a [Model] keeps the result until a question has a different graph.
//
// Feature vectors are treated as sparse words: each entry is multiplied by its rarity. In training
// every edge is read from a graph without it.
package fitted

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"

	"kith/model"
	"kith/model/nn"
)

type (
	ID    = model.ID
	Pair  = model.Pair
	Graph = model.Graph
	World = model.World
)

// ErrRefused is returned for a graph that a policy does not accept.
var ErrRefused = errors.New("refused")

// fitted is a policy. It learns a list of weight vectors, which do not change afterwards.
type fitted struct {
	name   string
	words  bool   // the nodes must have feature vectors
	option string // name of the policy's option; "": none
	plan   plan

	// fit returns weights that separate the training's edges from pairs without an edge.
	fit func(ctx context.Context, c *config, t *training) ([][]float32, error)

	// view reads a world.
	view func(ctx context.Context, c *config, weights [][]float32, w World) (view, error)
}

// plan says how a policy is trained.
type plan struct {
	samples   int // edges drawn as positives, without repetition
	negatives int // pairs without an edge for each positive, drawn uniformly
	folds     int // parts that are hidden in turn
	epochs    int // passes over the samples
}

// config holds the options of a policy, and the length of the feature vectors.
type config struct {
	FeatureLen int
	Option     float64 // lambda of ease, mix of pair_mix
}

// view fills the scores of pairs in one world. It is a function of the world and the weights, and
// safe for concurrent use.
type view func(ctx context.Context, pairs []Pair, scores []float64) error

func policies() []*fitted { return []*fitted{pairNet(), embedding(), pairMix(), ease()} }

// Policies returns the names of the policies, in the order of tables.
func Policies() (names []string) {
	for _, p := range policies() {
		names = append(names, p.name)
	}
	return names
}

// Is reports whether a name is one of Policies.
func Is(policy string) bool { return slices.Contains(Policies(), policy) }

// Options returns the names of the options of all policies.
func Options() []string { return []string{"lambda", "mix"} }

// Model is a policy with its weights.
type Model struct {
	policy  *fitted
	config  config
	source  *rand.PCG
	weights [][]float32 // nil until it is trained
	views   views
}

// New returns an untrained model for nodes with feature vectors of the given length (0: none).
// Options that the policy does not read are ignored.
func New(policy string, features int, seed uint64, options map[string]string) (*Model, error) {
	for _, p := range policies() {
		if p.name != policy {
			continue
		}
		m := &Model{policy: p, config: config{FeatureLen: features}, source: rand.NewPCG(seed, 0)}
		m.config.Option = map[string]float64{"lambda": 1000, "mix": 0.3}[p.option]
		if text, ok := options[p.option]; ok {
			var err error
			if m.config.Option, err = strconv.ParseFloat(text, 64); err != nil {
				return nil, fmt.Errorf("%s = %s: %w", p.option, text, err)
			}
		}
		return m, nil
	}
	return nil, fmt.Errorf("policy %q (accepted: %s)", policy, strings.Join(Policies(), ", "))
}

// Reads reports whether the policy reads an option.
func (m *Model) Reads(option string) bool { return option == m.policy.option && option != "" }

// TrainEdges fits the policy to the edges of g.
func (m *Model) TrainEdges(ctx context.Context, g Graph, without model.Without) error {
	if m.policy.words && m.config.FeatureLen == 0 {
		return fmt.Errorf("%w: policy %s needs nodes with feature vectors", ErrRefused, m.policy.name)
	}
	t := &training{rng: rand.New(m.source), graph: g, plan: m.policy.plan}
	if err := t.draw(ctx, without); err != nil {
		return err
	}
	weights, err := m.policy.fit(ctx, &m.config, t)
	if err != nil {
		return err
	}
	m.weights, m.views.ready = weights, nil
	return nil
}

// Scores returns the scores of pairs in a world. Before the training all are 0.
func (m *Model) Scores(ctx context.Context, w World, pairs []Pair) ([]float64, error) {
	if m.weights == nil {
		return make([]float64, len(pairs)), nil
	}
	v, err := m.views.in(ctx, m, w)
	if err != nil {
		return nil, err
	}
	values := make([]float64, len(pairs))
	return values, v(ctx, pairs, values)
}

// training is the input of a policy: the edges in folds, each to be read from a world that lacks
// it.
type training struct {
	rng   *rand.Rand
	graph Graph
	plan  plan
	folds []fold
}

// fold is a part of a training. In pairs the edges come first, followed by pairs without an edge.
type fold struct {
	world World // lacks the fold's edges
	pairs []Pair
	edges int
}

// epochs calls pass once for each planned epoch, or until ctx ends.
func (t *training) epochs(ctx context.Context, pass func()) {
	for range t.plan.epochs {
		if ctx.Err() != nil {
			return
		}
		pass()
	}
}

// draw splits the drawn edges into folds and adds uniform pairs without an edge.
func (t *training) draw(ctx context.Context, without model.Without) error {
	edges, err := t.drawEdges()
	if err != nil {
		return err
	}
	folds := min(t.plan.folds, len(edges))
	for k := range folds {
		if err := ctx.Err(); err != nil {
			return err
		}
		hidden := edges[k*len(edges)/folds : (k+1)*len(edges)/folds]
		w, err := without(t.arcs(hidden))
		if err != nil {
			return err
		}
		f := fold{world: w, edges: len(hidden)}
		for _, e := range hidden {
			f.pairs = append(f.pairs, Pair{Source: e[0], Target: e[1]})
		}
		f.pairs = append(f.pairs, t.unlinked(len(hidden))...)
		t.folds = append(t.folds, f)
	}
	return nil
}

// arcs returns the edges in each direction that the graph may have.
func (t *training) arcs(edges [][2]ID) [][2]ID {
	if !t.graph.Directed() {
		return edges
	}
	var all [][2]ID
	for _, e := range edges {
		all = append(all, e, [2]ID{e[1], e[0]})
	}
	return all
}

// drawEdges draws edges without loops, each once, in random order and from a random end.
func (t *training) drawEdges() ([][2]ID, error) {
	var all, drawn [][2]ID
	for u := range ID(t.graph.NumNodes()) {
		for _, v := range neighboursOf(t.graph, u) {
			if u < v {
				all = append(all, [2]ID{u, v})
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: the graph has no edges to train on", ErrRefused)
	}
	for _, i := range nn.Subset(t.rng, len(all), min(t.plan.samples, len(all))) {
		drawn = append(drawn, all[i])
	}
	t.rng.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	for i, e := range drawn {
		if t.rng.Uint64()&1 == 1 {
			drawn[i] = [2]ID{e[1], e[0]}
		}
	}
	return drawn, nil
}

// unlinked draws sources uniformly, and for each source uniform nodes that it has no edge with in
// either direction. It returns fewer pairs if such nodes are hard to find. Pairs share their
// sources because computations per source are expensive.
func (t *training) unlinked(sources int) (pairs []Pair) {
	n := t.graph.NumNodes()
	each := min(t.plan.negatives, n)
	for range sources {
		u := ID(t.rng.IntN(n))
		near := neighboursOf(t.graph, u)
		found := 0
		for tries := 20 * each; tries > 0 && found < each; tries-- {
			v := ID(t.rng.IntN(n))
			if _, linked := slices.BinarySearch(near, v); v != u && !linked {
				pairs = append(pairs, Pair{Source: u, Target: v})
				found++
			}
		}
	}
	return pairs
}

// views caches the view of the last world. Feature vectors are never modified, and a world is
// recognised by its graph and the number of arcs.
type views struct {
	mu    sync.Mutex
	of    Graph
	arcs  int
	ready view
}

// in returns the view of a world. It makes a new one if the world differs from the last one.
func (v *views) in(ctx context.Context, m *Model, w World) (view, error) {
	arcs := 0
	for u := range ID(w.Graph.NumNodes()) {
		out, _ := w.Graph.Out(u)
		arcs += len(out)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ready == nil || v.of != w.Graph || v.arcs != arcs {
		ready, err := m.policy.view(ctx, &m.config, m.weights, w)
		if err != nil {
			return nil, err
		}
		v.of, v.arcs, v.ready = w.Graph, arcs, ready
	}
	return v.ready, nil
}
