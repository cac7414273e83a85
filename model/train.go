package model

import (
	"context"
	"fmt"
	"math/rand/v2"

	"kith/model/nn"
)

// Progress receives the number of finished and of all steps of a training. It may be nil.
type Progress func(done, total int)

// TrainLog makes full passes over all observed samples, independent of the schedule. A belief makes a single pass from
// scratch, which is all that it can learn. If ctx ends, TrainLog stops between two passes and returns the error of ctx.
// Networks then keep what they have learned so far; a belief is unchanged.
func (m *Model) TrainLog(ctx context.Context, epochs int, progress Progress) error {
	switch {
	case m.Fitted():
		return fmt.Errorf("%w from outcomes: %s, which is fitted to the edges of a graph", ErrNotLearning, m.policy.name)
	case !m.policy.learns:
		return fmt.Errorf("%w: %s", ErrNotLearning, m.policy.name)
	case epochs < 1:
		return optionf("epochs = %d (accepted: 1 and more)", epochs)
	case m.observed() == 0:
		return fmt.Errorf("%w: nothing observed to train on", ErrInput)
	case m.belief != nil:
		return m.refit(ctx, progress)
	}
	all := m.regressors()
	c := counter{tell: progress, total: epochs * len(all)}
	for _, r := range all {
		if err := m.epochs(ctx, r, epochs, &c); err != nil {
			return err
		}
	}
	return nil
}

// observed returns the number of stored samples.
func (m *Model) observed() int {
	if m.belief != nil {
		return m.belief.data.Len()
	}
	return m.exploit.Data.Len()
}

// refit makes the belief learn its samples again. One pass is enough, in the order in which they were added.
func (m *Model) refit(ctx context.Context, progress Progress) error {
	if err := m.belief.refit(ctx); err != nil {
		return err
	}
	m.scorer, m.trained = nil, true
	c := counter{tell: progress, total: 1}
	c.step()
	return nil
}

// epochs makes n full passes with one network. Each pass is a step of c.
func (m *Model) epochs(ctx context.Context, r *nn.Regressor, n int, c *counter) error {
	m.scorer, m.trained = nil, true
	return r.Epochs(ctx, rand.New(m.source), n, c.step)
}

// counter counts the steps of a training for its Progress.
type counter struct {
	tell        Progress
	done, total int
}

func (c *counter) step() {
	c.done++
	if c.tell != nil {
		c.tell(c.done, c.total)
	}
}
