package model

import (
	"context"
	"encoding/base64"
	"math/rand/v2"
	"os"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
)

// startRanker returns the ranker of a model that was not trained: what was learned on other graphs.
func startRanker(c *config) *ranker {
	shape := c.rankerShape()
	full := shape
	full.In = similarityLen + topologyLen + structuralLen
	all := make([]float32, full.params()+3)
	weights := startWeights
	if f := os.Getenv("KITH_START"); f != "" {
		b, _ := os.ReadFile(f)
		weights = string(b)
	}
	packed, err := base64.StdEncoding.DecodeString(weights)
	if err != nil || len(packed) != 4*len(all) || !unpackFloats(all, packed) {
		return blankRanker(shape)
	}
	theta, l := all[:full.params()], all[full.params():]
	theta = theta[(full.In-shape.In)*rankerWidth:] // without feature vectors, what is multiplied with 0 is left out
	return &ranker{newNetwork(shape, theta), level{float64(l[0]), float64(l[1]), float64(l[2])}}
}

// blankRanker returns one that has learned nothing.
func blankRanker(s shape) *ranker {
	n := newNetwork(s, make([]float32, s.params()))
	n.initUniform(rand.New(rand.NewPCG(1, 1)))
	return &ranker{n, level{slope: 1}}
}

// pack is the ranker at rest.
func (r *ranker) pack() []byte {
	if r == nil {
		return nil
	}
	return packFloats(append(append([]float32(nil), r.net.theta...), narrow([]float64{r.level.slope, r.level.degree, r.level.shift})...))
}

// StartLearner learns from many graphs what a model of policy default knows before it is trained.
type StartLearner struct {
	train, valid []choice
}

// Add reads the edges of a graph, as TrainEdges does, for models with feature vectors of the given length.
func (l *StartLearner) Add(ctx context.Context, g Graph, features int, seed uint64, plan EdgePlan, without Without) error {
	m, err := New(Spec{FeatureLen: features, Seed: seed})
	if err != nil {
		return err
	}
	if err := plan.fill(rankerPlan()); err != nil {
		return err
	}
	rng := rand.New(m.source)
	edges := drawEdges(rng, g, plan.Samples)
	plan.Folds = min(plan.Folds, len(edges))
	parts, err := m.drawChoices(ctx, rng, g, edges, plan.Folds, plan.Negatives, without, &counter{})
	if err != nil {
		return err
	}
	wide := map[*blas32.General]*blas32.General{}
	for _, p := range parts {
		for i, c := range p {
			if wide[c.x] == nil {
				wide[c.x] = widened(c.x)
			}
			p[i].x = wide[c.x]
		}
	}
	last := len(parts) - 1
	l.train, l.valid = append(l.train, slices.Concat(parts[:last]...)...), append(l.valid, parts[last]...)
	return nil
}

// widened gives rows without similarity columns zeros for them.
func widened(x *blas32.General) *blas32.General {
	n := similarityLen + topologyLen + structuralLen
	wide := resize(blas32.General{}, x.Rows, n)
	clear(wide.Data)
	for i := range x.Rows {
		copy(row(wide, i)[n-x.Cols:], row(*x, i))
	}
	return &wide
}

// Learn returns the weights, as the source of this package holds them.
func (l *StartLearner) Learn(ctx context.Context, seed uint64, passes int, rate float64) (string, error) {
	rng := rand.New(rand.NewPCG(seed, 5))
	shape := shape{In: similarityLen + topologyLen + structuralLen, Hidden: []int{rankerWidth}, Bias: true}
	r, err := fitRanker(ctx, rng, blankRanker(shape), l.train, l.valid, passes, rate, func() {})
	if err != nil {
		return "", err
	}
	r.level = levelOf(r.net, l.train)
	return base64.StdEncoding.EncodeToString(r.pack()), nil
}

// Join adds what another one has read.
func (l *StartLearner) Join(o *StartLearner) {
	l.train, l.valid = append(l.train, o.train...), append(l.valid, o.valid...)
}
