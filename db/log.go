package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"kith/db/internal/record"
	"kith/db/internal/wire"
	"kith/index"
	"kith/model"
)

// EvaluateLogOptions estimates what a model would have earned on the decisions of the log.
type EvaluateLogOptions struct {
	Model     string // default: as for PredictOptions
	Version   int    // version of the model; 0 means the deployed one
	Estimator string // ips, snips or dr: see [model.OffPolicy]
	// MinReward and MaxReward are the range of possible rewards, on which the confidence interval
	// depends. If both are 0, the range is from 0 to 1, extended to include all rewards of the log.
	MinReward, MaxReward float64
	Progress             func(done, total int)
}

// LogEvaluation is the estimated mean reward of a policy that always shows a model's best
// candidates, the best at the first place. The reward of a decision is the sum over its places.
type LogEvaluation struct {
	model.Estimate
	Model          string  `json:"model"`
	Decisions      int     `json:"decisions"`  // number of rewarded decisions that had more than one candidate
	Places         int     `json:"places"`     // number of places of the longest of them
	Logged         float64 `json:"logged"`     // mean reward of the counted decisions
	MinReward      float64 `json:"min_reward"` // MinReward and MaxReward are the range of rewards of a place on which Low and High depend
	MaxReward      float64 `json:"max_reward"`
	AlreadyLearned int     `json:"taught"` // number of the counted decisions whose rewards the model itself has learned, which flatters it
	Open           int     `json:"open"`   // number of decisions without a reward, which are left out
}

// MarshalJSON implements [json.Marshaler].
func (e LogEvaluation) MarshalJSON() ([]byte, error) { return wire.Object(e) }

// checkEstimator returns ErrInput for an estimator that does not exist.
func checkEstimator(name string) error {
	if slices.Contains(model.Estimators(), name) {
		return nil
	}
	return optionError(&model.NameError{Kind: "estimator", Name: name, Accepted: model.Estimators()})
}

// EvaluateLog estimates the value of a model from the rewarded decisions. See [Tx.EvaluateLog].
func (db *DB) EvaluateLog(ctx context.Context, e EvaluateLogOptions) (LogEvaluation, error) {
	return result(ctx, db.View, func(tx *Tx) (LogEvaluation, error) { return tx.EvaluateLog(ctx, e) })
}

// EvaluateLog estimates the mean reward that a model would have earned if its best candidates had
// been shown in each rewarded decision of the log, at as many places. A place without a reward
// counts 0. The model scores the current graph, without the links between a source and its
// candidates that were added after the decision. EvaluateLog returns
// ErrNoModel if there is no such model, and ErrInput with the reason if the log does not allow an
// estimate: it has no rewards, a decision was made without randomness, or the model agrees with no
// decision.
func (tx *Tx) EvaluateLog(ctx context.Context, e EvaluateLogOptions) (LogEvaluation, error) {
	if tx.ended {
		return LogEvaluation{}, ErrClosed
	}
	given := model.Rewards{Min: e.MinReward, Max: e.MaxReward}
	if given != (model.Rewards{}) && !(-math.MaxFloat32 <= given.Min && given.Min < given.Max && given.Max <= math.MaxFloat32) {
		return LogEvaluation{}, inputf("rewards from %v to %v (accepted: finite 32-bit numbers, the first one smaller)", given.Min, given.Max)
	}
	if err := checkEstimator(e.Estimator); err != nil {
		return LogEvaluation{}, err
	}
	m, err := tx.existing(e.Model, e.Version)
	if err != nil {
		return LogEvaluation{}, err
	}
	v, err := tx.surveyLog(given)
	if err != nil {
		return v, err
	}
	v.Model = m.info.Name
	log, earned := make([]model.Logged, 0, v.Decisions), 0.0
	for d, err := range tx.decisions() {
		if err != nil {
			return v, err
		}
		if !d.Rewarded() || len(d.Candidates) == 1 {
			continue
		}
		l, err := tx.loggedOutcome(ctx, m.scorer, d)
		if err != nil {
			return v, err
		}
		log = append(log, l)
		earned += d.Reward()
		if d.Model == m.info.Name && m.info.Trained {
			v.AlreadyLearned++
		}
		if e.Progress != nil {
			e.Progress(len(log), v.Decisions)
		}
	}
	v.Decisions, v.Logged = len(log), earned/float64(max(len(log), 1)) // some may have expired meanwhile
	v.Estimate, err = model.OffPolicy(ctx, e.Estimator, log, model.Rewards{Min: v.MinReward, Max: v.MaxReward})
	if errors.Is(err, model.ErrInput) {
		err = inputf("model %q would have shown none of the links that the %d decisions chose", m.info.Name, len(log))
	}
	return v, err
}

// surveyLog counts the decisions of the log and finds the range of rewards. It returns ErrInput if
// the decisions do not allow an estimate of the value of other choices, and for a reward outside
// the given range.
func (tx *Tx) surveyLog(given model.Rewards) (v LogEvaluation, err error) {
	if v.MinReward, v.MaxReward = given.Min, given.Max; given == (model.Rewards{}) {
		v.MaxReward = 1
	}
	single := 0
	for d, err := range tx.decisions() {
		switch {
		case err != nil:
			return v, err
		case !d.Rewarded():
			v.Open++
		case len(d.Candidates) == 1:
			single++
		default:
			v.Decisions++
			if err := tx.checkRandom(d); err != nil {
				return v, err
			}
			v.Places = max(v.Places, len(d.Places))
			for k, p := range d.Places {
				if given != (model.Rewards{}) && !(given.Min <= p.Reward && p.Reward <= given.Max) {
					return v, inputf("decision %d has reward %v%s (accepted: from %v to %v)", d.ID, p.Reward, atPlace(d, k+1), given.Min, given.Max)
				}
				v.MinReward, v.MaxReward = min(v.MinReward, p.Reward), max(v.MaxReward, p.Reward)
			}
		}
	}
	switch {
	case v.Decisions == 0 && single > 0:
		return v, inputf("each of the %d rewarded decisions had one candidate, which is propensity 1", single)
	case v.Decisions == 0:
		return v, inputf("the log has no rewarded decision")
	}
	return v, nil
}

// checkRandom returns ErrInput for a decision in which some candidate had propensity 0 or 1.
func (tx *Tx) checkRandom(d *record.Decision) error {
	for i, p := range d.Propensities {
		if p == 0 || p == 1 {
			return inputf("decision %d was made without randomness, by %s: node %v had propensity %v, so the log cannot show what a different choice would have earned", d.ID, d.Explorer, tx.key(d.Candidates[i]).Literal(), p)
		}
	}
	return nil
}

// loggedOutcome converts a decision for the estimate of the scorer's value.
func (tx *Tx) loggedOutcome(ctx context.Context, s *model.Scorer, d *record.Decision) (model.Logged, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	of, err := tx.about(d.Relation, d.Inverse)
	if err != nil {
		return nil, err
	}
	at := of.Tx
	if edges := at.addedSince(d); len(edges) > 0 {
		if at, err = at.withoutFew(ctx, edges); err != nil {
			return nil, err
		}
	}
	scores, err := s.Score(ctx, at.walker(d.Source, true, 0).World(), model.Pairs(d.Source, d.Candidates))
	if err != nil {
		return nil, fmt.Errorf("decision %d: %w", d.ID, tx.withNodeKey(err))
	}
	return logged(d, scores), nil
}

// logged returns the places of a decision, given the scores of the policy to estimate.
func logged(d *record.Decision, scores []model.Score) (l model.Logged) {
	values := make([]float64, len(scores))
	for i := range scores {
		values[i] = scores[i].Score
	}
	best := model.NewSlate(values, nil).Best(len(d.Places))
	for k, likely := range d.Slate().Propensities(best) {
		p := d.Places[k]
		of := model.LoggedPlace{
			Propensity: p.Propensity, MaxWeight: 1 / likely, Reward: p.Reward, Score: values[p.Chosen], Mean: values[best[k]],
		}
		if best[k] == p.Chosen {
			of.Target = 1
		}
		l = append(l, of)
	}
	return l
}

// addedSince returns the edges from the source to candidates that were added after the decision was
// made.
func (tx *Tx) addedSince(d *record.Decision) (edges [][2]index.ID) {
	before := map[index.ID]bool{}
	for _, c := range d.Linked {
		before[c] = true
	}
	for _, c := range d.Candidates {
		if _, ok := tx.view().Graph.Edge(d.Source, c); ok && !before[c] {
			edges = append(edges, [2]index.ID{d.Source, c})
		}
	}
	return edges
}

// Learning is what became of the links that a model offered, from the log of observations and from
// the newest decisions that have not expired.
type Learning struct {
	// Rewards are the mean rewards of spans of observations of equal length, in commit order.
	Rewards []RewardSpan `json:"rewards"`
	// Calibration compares the scores of chosen links with their rewards, in ascending order of
	// score. Scores of a model that is calibrated are equal to the mean rewards.
	Calibration []CalibrationBin `json:"calibration"`
}

// RewardSpan is a number of observations that follow each other.
type RewardSpan struct {
	Observations int     `json:"observations"` // the last span may have fewer
	Reward       float64 `json:"reward"`       // mean
}

// CalibrationBin is a set of links of decisions that had similar scores.
type CalibrationBin struct {
	Links     int     `json:"links"`
	Predicted float64 `json:"predicted"` // mean score
	Observed  float64 `json:"observed"`  // mean reward
}

const (
	maxRewardSpans  = 32
	calibrationBins = 10

	calibrationCandidates = 1 << 20 // candidates of the decisions that are compared, about; a decision is read with all of its own
	calibrationWindow     = 1 << 10 // decisions that are read at a time
)

// Learning returns what became of the links of a model; "" means the model that Predict would use.
// It reads the observations since an earlier call, and the newest decisions, about a million
// candidates of all models. Its memory does not depend on the length of the log. It returns
// ErrNoModel if there is no such model.
func (tx *Tx) Learning(ctx context.Context, name string) (Learning, error) {
	if tx.ended {
		return Learning{}, ErrClosed
	}
	m, err := tx.existing(name, 0)
	if err != nil {
		return Learning{}, err
	}
	rewards, err := tx.rewardSpans(ctx, m.info.Name)
	if err != nil {
		return Learning{}, err
	}
	calibration, err := tx.calibration(ctx, m.info.Name)
	if err != nil {
		return Learning{}, err
	}
	return Learning{append([]RewardSpan{}, rewards.means()...), append([]CalibrationBin{}, calibration...)}, nil
}

// rewardSpans returns the sums of the rewards of a model. They cover the whole log; rewardSpans
// reads only the part that no earlier call has read.
func (tx *Tx) rewardSpans(ctx context.Context, name string) (spans, error) {
	m := tx.view().Meta
	known := tx.db.rewards.Load()
	sums := rewardSums{at: m.Forgotten, forgotten: m.Forgotten, of: map[string]spans{}}
	if known != nil && known.forgotten == m.Forgotten && known.at <= m.Version {
		sums = rewardSums{at: known.at, forgotten: m.Forgotten, of: maps.Clone(known.of)}
	}
	for doc := range tx.observationDocuments(sums.at) {
		r, err := record.Decode[record.Observation](doc)
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return spans{}, err
		}
		sums.of[r.Model] = sums.of[r.Model].with(r.Reward)
	}
	sums.at = m.Version
	tx.db.rewards.CompareAndSwap(known, &sums)
	return sums.of[name], nil
}

// rewardSums holds the rewards of the observations of each model up to a version. It is replaced,
// never changed.
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

// with returns the spans with one more value. When all are full, each two are joined, so that there
// is room for as many values again.
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

// calibration compares the scores of a model's rewarded decisions with the rewards, in bins of
// equal width between the lowest and the highest score.
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
		b.Links++
		b.Predicted += (o.score - b.Predicted) / float64(b.Links)
		b.Observed += (o.reward - b.Observed) / float64(b.Links)
	}
	return slices.DeleteFunc(bins, func(b CalibrationBin) bool { return b.Links == 0 }), nil
}

// outcome is the score and the reward of a rewarded place.
type outcome struct{ score, reward float64 }

// outcomes returns the outcomes of the newest decisions of a model, the oldest first.
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

// outcomesBetween returns the outcomes of the decisions of a model with numbers from first to last,
// and the number of candidates of all decisions that it read.
func (tx *Tx) outcomesBetween(ctx context.Context, name string, first, last uint64) (all []outcome, candidates int, err error) {
	now := tx.db.opts.Now().UnixNano()
	for doc := range index.Decisions(tx.reader, first) {
		if doc.Err == nil && doc.At > last {
			break
		}
		d, err := record.OpenDecision(doc, tx.view().Meta.Nodes)
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return nil, 0, err
		}
		candidates += len(d.Candidates)
		if d.Model != name || d.End <= now {
			continue
		}
		for _, p := range d.Places {
			if p.Rewarded {
				all = append(all, outcome{d.Scores[p.Chosen], p.Reward})
			}
		}
	}
	return all, candidates, nil
}
