package model

import (
	"context"
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"kith/model/internal/column"
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

// Score is the score of one candidate and its parts.
type Score struct {
	Score   float64 // value to rank by
	Exploit float64 // estimated reward
	Explore float64 // estimated gain of trying
	PPR     float64 // contribution of the walk: Score = (1-α)(Exploit+Explore) + PPR; without a walk 0, and Score = Exploit+Explore
	// Bound is a certified bound of the error of Score, given the contexts: numerical for a walk,
	// by truncation for katz. +Inf means that no bound is known.
	Bound float64
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

func newScratches() *sync.Pool { return &sync.Pool{New: func() any { return new(scratch) }} }

// Prior returns the scorer of a new model of policy default, for nodes with feature vectors of the
// given length (0: none). It scores by the learned start.
func Prior(features int) *Scorer {
	m, err := New(Spec{FeatureLen: min(features, maxFeatures)})
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
	if err := s.config.contexts(ctx, w, pairs, t); err != nil {
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
// one question. The estimates of a candidate are the weighted means of those of its links from the
// sources, and one walk starts from these means and, with the seed weight in proportion, from the
// sources. A walk is linear, so each score is the weighted mean of the scores that the sources
// alone would give the same candidates. With one source ScoreSet is Score, bit for bit.
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

// combine computes the scores from the estimates.
func (s *Scorer) combine(ctx context.Context, t *scratch, w World, sources Start, targets []ID, scores []Score) error {
	if s.Walk().Alpha > 0 {
		return s.propagate(ctx, t, w, sources, targets, scores)
	}
	for i := range scores {
		scores[i].Score = scores[i].Exploit + scores[i].Explore
	}
	return nil
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
	s.scratches.Put(t)
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
	case s.policy.rank != nil:
		return s.policy.rank(ctx, s, w, pairs, scores)
	case !s.policy.learns:
		return nil
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

// propagate runs a walk whose start values are the estimates, plus the seed weight at each source,
// times the source's weight.
func (s *Scorer) propagate(ctx context.Context, t *scratch, w World, sources Start, targets []ID, scores []Score) error {
	walk := s.Walk()
	mean := s.startValues(t, sources, targets, scores)
	v, bound, err := w.Walk.Propagate(ctx, walk, t.start, targets)
	if err != nil {
		return err
	}
	if len(v) != len(targets) || len(bound) != len(targets) {
		return fmt.Errorf("%w: %d values and %d bounds of %d candidates", ErrInput, len(v), len(bound), len(targets))
	}
	estimated := func(s Score) bool { return s.Bound > 0 }
	if slices.ContainsFunc(scores, estimated) { // no bound is known for the effect of these errors on the walk
		bound = slices.Repeat([]float64{math.Inf(1)}, len(scores))
	}
	for i := range scores {
		own := (1 - walk.Alpha) * (scores[i].Exploit + scores[i].Explore)
		scores[i].Score, scores[i].Bound = mean+v[i], bound[i]
		scores[i].PPR = scores[i].Score - own
	}
	return nil
}

// startValues stores h on the tape: the estimates at the candidates, plus the seed weight at each
// source, times its weight. Of equal targets the first one counts. If estimates are centred,
// startValues subtracts their mean and returns it; the caller adds it to every score.
func (s *Scorer) startValues(t *scratch, sources Start, targets []ID, scores []Score) (mean float64) {
	t.order = t.order[:0]
	for i, u := range targets {
		t.order = append(t.order, uint64(u)<<32|uint64(i))
	}
	slices.Sort(t.order)
	h := &t.start
	h.Node, h.Value = h.Node[:0], h.Value[:0]
	for _, o := range t.order {
		u, i := ID(o>>32), ID(o)
		if n := len(h.Node); n == 0 || h.Node[n-1] != u {
			h.Node = append(h.Node, u)
			h.Value = append(h.Value, scores[i].Exploit+scores[i].Explore)
		}
	}
	if s.config.Center {
		mean = center(h.Value)
	}
	for i, u := range sources.Node {
		at, found := slices.BinarySearch(h.Node, u)
		if !found {
			h.Node, h.Value = slices.Insert(h.Node, at, u), slices.Insert(h.Value, at, 0)
		}
		h.Value[at] += sources.Value[i] * s.config.SeedWeight
	}
	return mean
}

// center subtracts the mean of v and returns it.
func center(v []float64) (mean float64) {
	for _, x := range v {
		mean += x
	}
	mean /= float64(len(v))
	floats.AddConst(-mean, v)
	return mean
}

// Same reports whether two scorers return bit-identical scores: they have the same options and
// weights, after the same number of rounds.
func Same(a, b *Scorer) bool {
	x, y := *a, *b
	for _, s := range []*Scorer{&x, &y} {
		s.policy, s.scratches = policy{}, nil // config names the policy, the others are no part of the weights
	}
	return reflect.DeepEqual(x, y)
}

// walkOptions returns the names that Scorer.With accepts.
func walkOptions() []string {
	return []string{"alpha", "norm", "seed_weight", "center", "beta", "length"}
}

// CheckWalk returns ErrOption for an option of Scorer.With whose name or value is invalid for every
// policy.
func CheckWalk(name string, value any) error {
	o, err := findOption(name, walkOptions())
	if err != nil {
		return err
	}
	return o.set(new(config), value)
}

// With returns a scorer that differs from s in one option of its walk: alpha, norm, seed_weight or
// center for policies that spread scores, beta or length for katz. It returns ErrOption for another
// name, for a value that the option does not accept, and for a policy that does not use the option.
func (s *Scorer) With(name string, value any) (*Scorer, error) {
	o, err := findOption(name, walkOptions())
	if err != nil {
		return nil, err
	}
	c, other := *s.config, *s
	if err := o.set(&c, value); err != nil {
		return nil, err
	}
	if !o.readBy(s.policy) {
		return nil, optionf("%s = %v: policy %s has no use for it", name, value, s.policy.name)
	}
	other.config = &c
	return &other, nil
}

// Options yields every option with its value. Preset and seed come first.
func (s *Scorer) Options() iter.Seq2[string, any] { return s.config.all() }

// Walk returns the parameters of the walk that spreads the scores over the graph. Alpha is 0
// without a walk.
func (s *Scorer) Walk() Walk {
	if !s.policy.propagates {
		return Walk{}
	}
	return Walk{Alpha: s.config.Alpha, Column: s.config.Column}
}

// Proximity returns the damping factor of the PageRank in the contexts that scores are computed
// from, or 0 if it is not in them.
func (s *Scorer) Proximity() float64 {
	if !s.policy.learns || s.config.Blocks&blockGraph == 0 {
		return 0
	}
	return column.ProximityAlpha
}
