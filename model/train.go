package model

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/nn"
)

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
