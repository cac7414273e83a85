package db

import (
	"context"
	"math"
	"slices"
)

// Learning is what became of the links that a model offered, from the log of observations and from the decisions that
// have not expired.
type Learning struct {
	// Rewards are the mean rewards of spans of observations of equal length, in commit order.
	Rewards []RewardSpan `json:"rewards"`
	// Calibration compares the scores of chosen links with their rewards, in ascending order of score. Scores of a model
	// that is calibrated are equal to the mean rewards.
	Calibration []CalibrationBin `json:"calibration"`
}

// RewardSpan is a number of observations that follow each other.
type RewardSpan struct {
	Observations int     `json:"observations"` // the last span may have fewer than the others
	Reward       float64 `json:"reward"`       // mean
}

// CalibrationBin is a set of decisions whose links had similar scores.
type CalibrationBin struct {
	Decisions int     `json:"decisions"`
	Predicted float64 `json:"predicted"` // mean score
	Observed  float64 `json:"observed"`  // mean reward
}

const (
	maxRewardSpans  = 32
	calibrationBins = 10
)

// Learning reads the log of a model; "" means the one that Predict would use. Its memory does not depend on the length of
// the log. It returns ErrNoModel if there is no such model.
func (tx *Tx) Learning(ctx context.Context, name string) (Learning, error) {
	if tx.ended {
		return Learning{}, ErrClosed
	}
	m, err := tx.modelOrError(name, 0)
	if err != nil {
		return Learning{}, err
	}
	rewards, err := tx.rewardSpans(ctx, m.info.Name)
	if err != nil {
		return Learning{}, err
	}
	calibration, err := tx.calibration(ctx, m.info.Name)
	return Learning{rewards.means(), calibration}, err
}

// rewardSpans sums the rewards of the observations of a model.
func (tx *Tx) rewardSpans(ctx context.Context, name string) (s spans, err error) {
	s.length = 1
	for doc := range tx.observationDocuments() {
		r, err := decoded[observationRecord](doc)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return s, err
		}
		if r.Model == name {
			s.add(r.Reward)
		}
	}
	return s, nil
}

// spans holds sums of equally many values that follow each other.
type spans struct {
	length int // values in a span
	sums   []float64
	last   int // values in the last span
}

// add adds a value. When all spans are full, each two are joined, so that there is room for as many values again.
func (s *spans) add(x float64) {
	switch {
	case len(s.sums) > 0 && s.last < s.length:
	case len(s.sums) < maxRewardSpans:
		s.sums, s.last = append(s.sums, 0), 0
	default:
		for i := range maxRewardSpans / 2 {
			s.sums[i] = s.sums[2*i] + s.sums[2*i+1]
		}
		s.length *= 2
		s.sums, s.last = append(s.sums[:maxRewardSpans/2], 0), 0
	}
	s.sums[len(s.sums)-1] += x
	s.last++
}

// means returns the mean of each span.
func (s *spans) means() (all []RewardSpan) {
	for i, sum := range s.sums {
		n := s.length
		if i == len(s.sums)-1 {
			n = s.last
		}
		all = append(all, RewardSpan{n, sum / float64(n)})
	}
	return all
}

// calibration compares the scores of a model's rewarded decisions with the rewards, in bins of equal width between the
// lowest and the highest score.
func (tx *Tx) calibration(ctx context.Context, name string) ([]CalibrationBin, error) {
	low, high := math.Inf(1), math.Inf(-1)
	err := tx.eachRewarded(ctx, name, func(score, _ float64) { low, high = min(low, score), max(high, score) })
	if err != nil {
		return nil, err
	}
	bins := make([]CalibrationBin, calibrationBins)
	err = tx.eachRewarded(ctx, name, func(score, reward float64) {
		i := 0
		if high > low {
			i = min(max(int((score-low)/(high-low)*calibrationBins), 0), calibrationBins-1)
		}
		b := &bins[i]
		b.Decisions++
		b.Predicted += (score - b.Predicted) / float64(b.Decisions)
		b.Observed += (reward - b.Observed) / float64(b.Decisions)
	})
	return slices.DeleteFunc(bins, func(b CalibrationBin) bool { return b.Decisions == 0 }), err
}

// eachRewarded calls f with the score and the reward of each rewarded decision of a model.
func (tx *Tx) eachRewarded(ctx context.Context, name string, f func(score, reward float64)) error {
	for d, err := range tx.decisions() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if d.Model == name && d.Rewarded {
			f(d.Scores[d.Chosen], d.Reward)
		}
	}
	return nil
}
