package model

import (
	"context"
	"fmt"
	"iter"
	"math"
	"reflect"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/internal/column"
	"kith/model/internal/graph"
	"kith/model/internal/spectral"
	"kith/model/nn"
)

// Scorer is an immutable view of a model's weights. It is safe for concurrent use.
type Scorer struct {
	config    *config
	policy    policy
	basis     string
	round     int
	exploit   *nn.Network // nil: the policy does not learn, or ranks only by the prior
	explore   *nn.Network
	belief    *posterior        // nil: the policy has no belief
	forecast  *forecastSnapshot // nil: no forecast
	scratches *sync.Pool        // pool of *scratch, shared by the scorers of a model
}

// Scorer returns a view of the current weights. It returns the same pointer until the model
// changes.
func (m *Model) Scorer() *Scorer {
	if m.scorer != nil {
		return m.scorer
	}
	s := &Scorer{
		config: &m.config, policy: m.policy, round: m.rounds, basis: m.basis(),
		scratches: m.scratches,
	}
	if m.belief != nil {
		s.belief = m.belief.snapshot()
		s.forecast = m.forecast.current()
	}
	if m.exploit != nil && (m.trained || !m.config.Prior) {
		s.exploit = m.exploit.Snapshot()
		if m.explore != nil {
			s.explore = m.explore.Snapshot()
		}
	}
	m.scorer = s
	return s
}

// Prior returns the scorer of a new model of policy default, for nodes with feature vectors of the
// given length (0: none), and with or without words. It scores by the learned start.
func Prior(features int, words bool) *Scorer {
	m, err := New(Spec{FeatureLen: min(features, maxFeatures), Words: words})
	if err != nil {
		panic("model: the default spec: " + err.Error())
	}
	return m.Scorer()
}

// basis returns what scores are based on.
func (m *Model) basis() string {
	switch {
	case !m.policy.learns:
		return m.policy.name
	case m.trained:
		return basisModel
	case m.belief != nil && m.belief.ranker != nil:
		return basisStart
	case m.config.Prior:
		return basisPrior
	}
	return "initial weights"
}

// Values of Basis for policies that learn: after and before the first training.
const (
	basisModel = "model"
	basisPrior = "structural prior"
	basisStart = "built-in weights"
)

// Basis names what the scores are based on: "model" after a training, the name of the policy if it
// does not learn, and before the first training "built-in weights", "structural prior" or "initial
// weights".
func (s *Scorer) Basis() string { return s.basis }

// Bytes returns the memory that scoring takes in a graph with the given number of nodes, if it
// takes several numbers per node. It is 0 for most policies.
func (s *Scorer) Bytes(nodes int) int64 {
	if s.policy.name == "katz" {
		return 8 * 6 * int64(nodes) // walks of two lengths, two certificates, and two vectors to compute one
	}
	return 0
}

// Contexts returns the contexts of the candidates, one row each, in the layout of Outcome.Contexts.
// It returns nil if the policy does not learn.
func (s *Scorer) Contexts(ctx context.Context, w World, pairs []Pair) ([]float32, error) {
	return s.AppendContexts(ctx, nil, w, pairs)
}

// AppendContexts is Contexts that appends to dst.
func (s *Scorer) AppendContexts(ctx context.Context, dst []float32, w World, pairs []Pair) ([]float32, error) {
	if !s.policy.learns {
		return dst, nil
	}
	if err := checkPairs(w, pairs); err != nil {
		return dst, err
	}
	t := s.scratch()
	defer s.release(t)
	contexts := s.config.contexts
	if s.answersRelation(w) {
		contexts = s.relationContexts
	}
	if err := contexts(ctx, w, pairs, t); err != nil {
		return dst, err
	}
	return append(dst, t.x.Data...), nil
}

// Score scores the candidate links of one round. The result depends only on the arguments and the
// weights.
func (s *Scorer) Score(ctx context.Context, w World, pairs []Pair) ([]Score, error) {
	return s.AppendScores(ctx, make([]Score, 0, len(pairs)), w, pairs)
}

// AppendScores is Score that appends to dst. For a policy that learns, and a World that does not
// allocate, it does not allocate after the first calls have sized its buffers.
func (s *Scorer) AppendScores(ctx context.Context, dst []Score, w World, pairs []Pair) ([]Score, error) {
	if err := checkPairs(w, pairs); err != nil || len(pairs) == 0 {
		return dst, err
	}
	t := s.scratch()
	defer s.release(t)
	w = s.paced(w)
	begin := len(dst)
	for range pairs {
		dst = append(dst, Score{})
	}
	scores := dst[begin:]
	err := s.estimate(ctx, t, w, pairs, scores)
	if err == nil {
		err = s.combine(ctx, t, w, t.sourcesOf(pairs), t.Targets(pairs), scores)
	}
	if err != nil {
		return dst[:begin], err
	}
	return dst, nil
}

// ScoreSet scores candidate links of a set of sources, whose values are weights that sum to 1, as
// one question. The estimates of a candidate are the weighted means of the estimates of its links
// from the sources, and one walk starts from these means and, with the seed weight in proportion,
// from the sources. A walk is linear, so each score is the weighted mean of the scores that the
// sources alone would give the same candidates. With one source ScoreSet is Score, bit for bit.
func (s *Scorer) ScoreSet(ctx context.Context, w World, sources Start, targets []ID) ([]Score, error) {
	if len(sources.Node) == 1 {
		return s.Score(ctx, w, Pairs(sources.Node[0], targets))
	}
	pairs, scores, own := Pairs(0, targets), make([]Score, len(targets)), make([]Score, len(targets))
	if len(targets) == 0 {
		return scores, nil
	}
	t := s.scratch()
	defer s.release(t)
	w = s.paced(w)
	for i, u := range sources.Node {
		for j := range pairs {
			pairs[j].Source = u
		}
		if err := checkPairs(w, pairs); err != nil {
			return nil, err
		}
		clear(own)
		if err := s.estimate(ctx, t, w, pairs, own); err != nil {
			return nil, err
		}
		for j, o := range own {
			scores[j].Exploit += sources.Value[i] * o.Exploit
			scores[j].Explore += sources.Value[i] * o.Explore
			scores[j].Bound += sources.Value[i] * o.Bound
		}
	}
	return scores, s.combine(ctx, t, w, sources, targets, scores)
}

// scratch returns working memory for contexts of this scorer.
func (s *Scorer) scratch() *scratch {
	t := s.scratches.Get().(*scratch)
	t.forecast, t.vectors = s.forecast, nil
	if s.belief != nil {
		t.vectors = s.belief.vectors
	}
	return t
}

// release returns working memory to the pool, without references to the graph.
func (s *Scorer) release(t *scratch) {
	t.Reset()
	t.open(World{})
	t.evidence.Close()
	t.related = false
	s.scratches.Put(t)
}

// paced returns a world with its pace if the forecast reads it.
func (s *Scorer) paced(w World) World {
	if s.forecast.reads(w) {
		w = paced(w)
	}
	return w
}

// checkPairs reports an error for pairs that are not in a world.
func checkPairs(w World, pairs []Pair) error {
	n := uint64(w.Graph.NumNodes())
	for _, p := range pairs {
		if uint64(p.Source) >= n || uint64(p.Target) >= n {
			return fmt.Errorf("%w: pair %d, %d of a graph of %d nodes", ErrInput, p.Source, p.Target, n)
		}
	}
	return nil
}

// estimate fills the exploit and explore parts. It holds the contexts of one batch of pairs at a
// time.
func (s *Scorer) estimate(ctx context.Context, t *scratch, w World, pairs []Pair, scores []Score) error {
	switch {
	case s.policy.overlap != nil:
		return s.policy.overlap.rank(ctx, s, w, pairs, scores)
	case s.policy.rank != nil:
		return s.policy.rank(ctx, s, w, pairs, scores)
	case !s.policy.learns:
		return nil
	}
	if s.answersRelation(w) {
		return s.estimateByRelation(ctx, t, w, pairs, scores)
	}
	if err := s.config.readProximities(ctx, w, pairs, t); err != nil {
		return err
	}
	t.open(w)
	if len(pairs) <= nn.BatchLen {
		return s.batch(t, w, pairs, 0, len(pairs), scores)
	}
	return nn.ShareBatches(ctx, len(pairs), func(batches iter.Seq2[int, int]) error {
		own := s.scratch()
		defer s.release(own)
		own.Share(&t.Reader)
		own.open(w)
		for first, end := range batches {
			if err := s.batch(own, w, pairs, first, end, scores[first:end]); err != nil {
				return err
			}
		}
		return nil
	})
}

// batch estimates pairs[first:end], whose proximities are on the tape.
func (s *Scorer) batch(t *scratch, w World, pairs []Pair, first, end int, scores []Score) error {
	t.x = nn.Resize(t.x, end-first, s.config.width())
	if err := s.config.batch(w, pairs, first, end, t, t.x); err != nil {
		return err
	}
	if s.belief != nil {
		s.believe(t, w, pairs, first, scores)
		return nil
	}
	for i := range scores {
		scores[i].Exploit = s.config.offset(nn.Row(t.x, i))
	}
	if s.exploit != nil {
		s.addNetworks(t, scores)
	}
	return nil
}

// addNetworks adds f1 of the contexts on the tape, and f2, computed from the gradient of f1.
func (s *Scorer) addNetworks(t *scratch, scores []Score) {
	for i, f := range s.exploit.Forward(&t.net, t.x) {
		scores[i].Exploit += float64(f)
	}
	if s.explore == nil {
		return
	}
	t.pooled = nn.Resize(t.pooled, t.x.Rows, s.explore.Shape.In)
	s.exploit.Phi(&t.net, s.config.Pool, t.pooled)
	for i, f := range s.explore.Forward(&t.net, t.pooled) {
		scores[i].Explore = s.config.Weight * float64(f)
	}
}

// Same reports whether two scorers return bit-identical scores: they have the same options and
// weights, after the same number of rounds. It reads vectors that [OpenParts] left where they are
// stored, and reports false if that fails.
func Same(a, b *Scorer) bool {
	x, y := *a, *b
	for _, s := range []*Scorer{&x, &y} {
		s.policy, s.scratches = policy{}, nil // config names the policy, and scratches are no part of the weights
		if s.belief != nil {
			p := *s.belief
			var err error
			if p.vectors, err = p.vectors.Load(); err != nil {
				return false
			}
			s.belief = &p
		}
	}
	return reflect.DeepEqual(x, y)
}

// Err returns the first error of reading vectors that [OpenParts] left where they are stored.
func (s *Scorer) Err() error {
	if s.belief == nil {
		return nil
	}
	return s.belief.vectors.Err()
}

// Options yields every option with its value. Preset and seed come first.
func (s *Scorer) Options() iter.Seq2[string, any] { return s.config.all() }

// Proximity returns the damping factor of the PageRank in the contexts that scores are computed
// from, or 0 if it is not in them.
func (s *Scorer) Proximity() float64 {
	if !s.policy.learns || s.config.Blocks&blockGraph == 0 {
		return 0
	}
	return column.ProximityAlpha
}

// Similar returns up to n nodes that are similar to source and that accept admits, most similar
// first. It compares the vectors of a training if the model has some, otherwise contents. It
// returns nil if neither has data about source. It scans all nodes and calls accept concurrently.
func (s *Scorer) Similar(ctx context.Context, w World, source ID, n int, accept func(ID) bool) ([]ID, error) {
	if s.belief != nil && s.belief.vectors != nil {
		if v := s.belief.vectors; v.Knows(w, source) || len(graph.Neighbours(w.Graph, source)) > 0 {
			return spectral.Nearest(ctx, w, v.Closeness(w, source), source, n, accept)
		}
	}
	if s.config.Words {
		if alike := s.config.content().Closeness(w, source); alike != nil {
			return spectral.Nearest(ctx, w, alike, source, n, accept)
		}
		return nil, nil
	}
	var own []float32
	if w.Features != nil {
		own = w.Features(source)
	}
	if nn.Product64(own, own) == 0 {
		return nil, nil
	}
	return spectral.Nearest(ctx, w, func(u ID) float32 { return float32(spectral.Cosine(own, w.Features(u))) }, source, n, accept)
}

// Promising returns up to n of some nodes: those whose content is most like the contents of source
// and of the nodes that it has links to, the most alike first. Nodes whose content has nothing in
// common with these are left out. It returns nil for a model without words.
func (s *Scorer) Promising(w World, source ID, nodes []ID, n int) []ID {
	if !s.config.Words {
		return nil
	}
	alike := s.contentCloseness(w, source)
	if alike == nil {
		return nil
	}
	close := make([]float32, len(nodes))
	for i, u := range nodes {
		close[i] = alike(u)
	}
	var best []ID
	for _, i := range nn.Largest(close, n, 0) {
		best = append(best, nodes[i])
	}
	return best
}

// contentCloseness returns a function that measures how much the content of a node is like the
// contents of source and of the nodes that it has links to; nil if these have no content.
func (s *Scorer) contentCloseness(w World, source ID) func(ID) float32 {
	near := graph.Out(w.Graph, source)
	return s.config.content().Closeness(w, append([]ID{source}, near[:min(len(near), column.MaxCompared)]...)...)
}

// Words reports whether the scores depend on the words of nodes.
func (s *Scorer) Words() bool { return s.config.Words && s.policy.believes }

// believe scores the contexts on the tape. Exploit is the probability of a link. Explore is the
// difference to the probability at nu standard deviations of the log-odds above their mean. With
// option pin, the pair's own outcomes count more than the inferred estimate. Before the first
// outcome, the uncertainty of the weights reflects only the prior and is left out.
func (s *Scorer) believe(t *scratch, w World, all []Pair, first int, scores []Score) {
	b, pairs := s.belief, all[first:first+len(scores)]
	t.pooled = nn.Resize(t.pooled, len(pairs), len(b.mean))
	b.inputs(s.config, t, pairs, t.pooled)
	if b.learned {
		t.product = nn.Resize(t.product, len(pairs), len(b.mean))
		clear(t.product.Data)
		nn.AddProduct(t.pooled, b.cov, blas.NoTrans, t.product)
	}
	for i, p := range pairs {
		z := nn.Row(t.pooled, i)
		mean, variance := nn.Dot64(b.mean, z), 0.0
		if b.learned {
			variance = max(nn.Dot64(nn.Row(t.product, i), z), 0)
		}
		pinned := func(estimate float64) float64 {
			if !s.config.Pin {
				return estimate
			}
			return b.withOwnOutcomes(w, p, s.config.forecast(nn.Row(t.x, i)) && !t.related, estimate)
		}
		exploit := pinned(nn.Sigmoid(mean / math.Sqrt(1+math.Pi*variance/8)))
		upper := exploit
		if variance > 0 {
			upper = pinned(nn.Sigmoid(mean + s.config.Nu*math.Sqrt(variance)))
		}
		scores[i].Exploit, scores[i].Explore = exploit, upper-exploit
	}
}

// Input is one number that contributes to the estimate of a pair.
type Input struct {
	Name  string
	Value float64
	Adds  float64 // its term in the sum that AddsTo names; NaN if there is no such sum
	Tells string  // its description for people: see [column.Family.Words]
}

// Inputs returns the entries of a pair's context by name, and what each entry adds: to the log-odds
// of the link for a belief, to the estimate itself if the prior is used in place of a network. It
// returns nil if the policy does not learn.
func (s *Scorer) Inputs(ctx context.Context, w World, p Pair) ([]Input, error) {
	if s.answersRelation(w) {
		return s.relationInputs(ctx, w, p)
	}
	x, err := s.AppendContexts(ctx, nil, w, []Pair{p})
	if err != nil || len(x) == 0 {
		return nil, err
	}
	columns := s.config.contextColumns()
	if s.belief != nil {
		return s.belief.explain(s.config, p, x, columns), nil
	}
	all, first := make([]Input, len(x)), len(x)-column.StructuralLen
	for i, v := range x {
		all[i] = Input{Name: columns[i].Name, Value: float64(v), Tells: columns[i].Family.Words()}
		switch {
		case s.AddsTo() == "":
			all[i].Adds = math.NaN()
		case i >= first:
			all[i].Adds = priorWeights[i-first] * float64(v)
		}
	}
	return all, nil
}

// AddsTo names the sum of Input.Adds: "log-odds" of the link for a belief, "exploit" for the prior,
// and "" otherwise.
func (s *Scorer) AddsTo() string {
	switch {
	case s.belief != nil:
		return "log-odds"
	case s.policy.learns && s.exploit == nil && s.config.Prior:
		return "exploit"
	}
	return ""
}

// explain returns the inputs of a pair with context x: its context, the history of the target, a
// constant, and the ranker's log-odds. A network of ReLUs is linear around each input, so the
// ranker's log-odds are divided among the columns by their slopes there. The remainder is the
// network's own constant.
func (p *posterior) explain(c *config, pair Pair, x []float32, columns []column.Column) []Input {
	t := &scratch{x: nn.NewMatrix(x, len(x))}
	z := nn.Resize(blas32.General{}, 1, len(p.mean))
	p.inputs(c, t, []Pair{pair}, z)
	columns = append(columns, historyColumns()...)
	all := make([]Input, len(p.mean))
	for i, v := range z.Data {
		value := float64(v)
		if i < len(x) {
			value = float64(x[i])
		}
		all[i] = Input{columns[i].Name, value, float64(p.mean[i]) * float64(v), columns[i].Family.Words()}
	}
	if p.ranker != nil && !c.forecast(x) {
		last, first := len(all)-1, len(x)-c.rankLen()
		for i, slope := range p.ranker.slopes(&t.net, t.ranked) {
			share := float64(p.mean[last]) * slope * float64(z.Data[first+i])
			all[first+i].Adds += share
			all[last].Adds -= share
		}
	}
	return all
}
