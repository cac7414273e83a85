package model

import (
	"context"

	"gonum.org/v1/gonum/stat"
)

// pairMix is pair_net and embedding side by side: the logits of each, brought to variance 1 over the training pairs, are
// added with the weights 1 - mix and mix.
type pairMix struct {
	near pairNet
	far  embedding
}

// mostlyNear is the plan of policy pair_mix.
func mostlyNear(c *config) { c.Mix = 0.25 }

func (p pairMix) check(c *config) error { return p.far.check(c) }

func (pairMix) defaults() EdgePlan {
	return EdgePlan{Samples: 20000, Negatives: 10, Folds: 8, Epochs: 60}
}

// sizes: those of both, and the standard deviations of both.
func (p pairMix) sizes(c *config) []int {
	return append(append(p.near.sizes(c), p.far.sizes(c)...), 2)
}

func (p pairMix) fit(ctx context.Context, c *config, t *training) ([][]float32, error) {
	near, err := p.near.fit(ctx, c, t)
	if err != nil {
		return nil, err
	}
	short := *t
	short.plan.Epochs = max(t.plan.Epochs*p.far.defaults().Epochs/p.near.defaults().Epochs, 1)
	far, err := p.far.fit(ctx, c, &short)
	if err != nil {
		return nil, err
	}
	deviations := make([]float32, 2)
	for i, of := range []struct {
		fitted
		weights [][]float32
	}{{p.near, near}, {p.far, far}} {
		if deviations[i], err = t.deviation(ctx, c, of.fitted, of.weights); err != nil {
			return nil, err
		}
	}
	return append(append(near, far...), deviations), nil
}

// deviation is the standard deviation of the scores of all training pairs, each in the world of its fold.
func (t *training) deviation(ctx context.Context, c *config, f fitted, weights [][]float32) (float32, error) {
	var all []float64
	for _, part := range t.folds {
		v, err := f.view(ctx, c, weights, part.world)
		if err != nil {
			return 0, err
		}
		scores := make([]float64, len(part.pairs))
		if err := v.score(ctx, part.pairs, scores); err != nil {
			return 0, err
		}
		all = append(all, scores...)
	}
	return max(float32(stat.PopStdDev(all, nil)), 1e-6), nil
}

func (p pairMix) view(ctx context.Context, c *config, weights [][]float32, w World) (view, error) {
	split, last := len(p.near.sizes(c)), len(weights)-1
	near, err := p.near.view(ctx, c, weights[:split], w)
	if err != nil {
		return nil, err
	}
	far, err := p.far.view(ctx, c, weights[split:last], w)
	if err != nil {
		return nil, err
	}
	deviation := weights[last]
	return mixView{
		near: near, far: far,
		byNear: (1 - c.Mix) / float64(deviation[0]), byFar: c.Mix / float64(deviation[1]),
	}, nil
}

// mixView is the weighted sum of two views.
type mixView struct {
	near, far     view
	byNear, byFar float64
}

func (v mixView) score(ctx context.Context, pairs []Pair, scores []float64) error {
	if err := v.near.score(ctx, pairs, scores); err != nil {
		return err
	}
	far := make([]float64, len(pairs))
	if err := v.far.score(ctx, pairs, far); err != nil {
		return err
	}
	for i := range scores {
		scores[i] = v.byNear*scores[i] + v.byFar*far[i]
	}
	return nil
}
