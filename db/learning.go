package db

import (
	"context"
	"maps"
	"math"
	"slices"

	"kith/index"
)

// Learning is what became of the links that a model offered, from the log of observations and from the newest decisions
// that have not expired.
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

	calibrationCandidates = 1 << 20 // candidates of the decisions that are compared, about; a decision is read with all of its own
	calibrationWindow     = 1 << 10 // decisions that are read at a time
)

// Learning returns what became of the links of a model; "" means the one that Predict would use. It reads the observations
// since an earlier call, and the newest decisions, about a million candidates of all models. Its memory does not depend on
// the length of the log. It returns ErrNoModel if there is no such model.
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

// rewardSpans returns the sums of the rewards of a model. They are those of the whole log, of which it reads the part that
// is newer than what an earlier call has read.
func (tx *Tx) rewardSpans(ctx context.Context, name string) (spans, error) {
	m := tx.view().Meta
	known := tx.db.rewards.Load()
	sums := rewardSums{at: m.Forgotten, forgotten: m.Forgotten, of: map[string]spans{}}
	if known != nil && known.forgotten == m.Forgotten && known.at <= m.Version {
		sums = rewardSums{at: known.at, forgotten: m.Forgotten, of: maps.Clone(known.of)}
	}
	for doc := range tx.observationDocuments(sums.at) {
		r, err := decoded[observationRecord](doc)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return spans{}, err
		}
		sums.of[r.Model] = sums.of[r.Model].with(r.Reward)
	}
	sums.at = m.Version
	tx.db.rewards.CompareAndSwap(known, &sums)
	return sums.of[name], nil
}

// rewardSums holds the rewards of the observations of each model up to a version. It is replaced, never changed.
type rewardSums struct {
	at        uint64 // version of the graph
	forgotten uint64 // Meta.Forgotten of that version; the sums do not have the observations up to there
	of        map[string]spans
}

// spans holds sums of equally many values that follow each other. The zero value is empty.
type spans struct {
	length int // values in a span
	count  int // spans
	sums   [maxRewardSpans]float64
	last   int // values in the last span
}

// with returns the spans with one more value. When all are full, each two are joined, so that there is room for as many
// values again.
func (s spans) with(x float64) spans {
	switch {
	case s.count > 0 && s.last < s.length:
	case s.count < maxRewardSpans:
		s.length, s.count, s.last = max(s.length, 1), s.count+1, 0
	default:
		for i := range maxRewardSpans / 2 {
			s.sums[i] = s.sums[2*i] + s.sums[2*i+1]
		}
		clear(s.sums[maxRewardSpans/2:])
		s.length, s.count, s.last = 2*s.length, maxRewardSpans/2+1, 0
	}
	s.sums[s.count-1] += x
	s.last++
	return s
}

// means returns the mean of each span.
func (s *spans) means() (all []RewardSpan) {
	for i, sum := range s.sums[:s.count] {
		n := s.length
		if i == s.count-1 {
			n = s.last
		}
		all = append(all, RewardSpan{n, sum / float64(n)})
	}
	return all
}

// calibration compares the scores of a model's rewarded decisions with the rewards, in bins of equal width between the
// lowest and the highest score.
func (tx *Tx) calibration(ctx context.Context, name string) ([]CalibrationBin, error) {
	outcomes, err := tx.outcomes(ctx, name)
	if err != nil {
		return nil, err
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, o := range outcomes {
		low, high = min(low, o.score), max(high, o.score)
	}
	bins := make([]CalibrationBin, calibrationBins)
	for _, o := range outcomes {
		i := 0
		if high > low {
			i = min(max(int((o.score-low)/(high-low)*calibrationBins), 0), calibrationBins-1)
		}
		b := &bins[i]
		b.Decisions++
		b.Predicted += (o.score - b.Predicted) / float64(b.Decisions)
		b.Observed += (o.reward - b.Observed) / float64(b.Decisions)
	}
	return slices.DeleteFunc(bins, func(b CalibrationBin) bool { return b.Decisions == 0 }), nil
}

// outcome is the score and the reward of a rewarded decision.
type outcome struct{ score, reward float64 }

// outcomes returns those of the newest decisions of a model, the oldest first.
func (tx *Tx) outcomes(ctx context.Context, name string) ([]outcome, error) {
	var windows [][]outcome
	length, read := uint64(calibrationWindow), 0
	for end := tx.view().Meta.Decisions; end > 0 && read < calibrationCandidates; {
		begin := end - min(end, length)
		window, candidates, err := tx.outcomesBetween(ctx, name, begin+1, end)
		if err != nil {
			return nil, err
		}
		windows = append(windows, window)
		if read += candidates; candidates == 0 {
			length *= 2 // many decisions have been deleted
		}
		end = begin
	}
	slices.Reverse(windows)
	return slices.Concat(windows...), nil
}

// outcomesBetween returns those of the decisions of a model with numbers from first to last, and the number of candidates of
// all decisions that it read.
func (tx *Tx) outcomesBetween(ctx context.Context, name string, first, last uint64) (all []outcome, candidates int, err error) {
	now := tx.db.opts.Now().UnixNano()
	for doc := range index.Decisions(tx.reader, first) {
		if doc.Err == nil && doc.At > last {
			break
		}
		d, err := openDecision(doc, tx.view().Meta.Nodes)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, 0, err
		}
		candidates += len(d.Candidates)
		if d.Model == name && d.Rewarded && d.End > now {
			all = append(all, outcome{d.Scores[d.Chosen], d.Reward})
		}
	}
	return all, candidates, nil
}
