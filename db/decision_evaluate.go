package db

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"kith/index"
	"kith/model"
)

// LogEvaluation estimates what a model would have earned on the decisions of the log.
type LogEvaluation struct {
	Model     string // default: as for Prediction
	Version   int    // version of the model; 0 means the deployed one
	Estimator string // ips, snips or dr: see [model.OffPolicy]
	// MinReward and MaxReward are the range of possible rewards, on which the confidence interval depends. If both are 0,
	// the range is from 0 to 1, extended to include all rewards of the log.
	MinReward, MaxReward float64
	Progress             func(done, total int)
}

// LogValue is the estimated mean reward of a policy that always takes a model's best candidate.
type LogValue struct {
	model.Estimate
	Model          string  `json:"model"`
	Decisions      int     `json:"decisions"`  // number of rewarded decisions that had more than one candidate
	Logged         float64 `json:"logged"`     // mean reward of these decisions
	MinReward      float64 `json:"min_reward"` // MinReward and MaxReward are the range of rewards on which Low and High depend
	MaxReward      float64 `json:"max_reward"`
	AlreadyLearned int     `json:"taught"` // number of these rewards that the model itself has learned, which flatters it
	Open           int     `json:"open"`   // number of decisions without a reward, which are left out
}

// Estimators returns the names that LogEvaluation.Estimator accepts.
func Estimators() []string { return model.Estimators() }

// CheckEstimator returns ErrInput for an estimator that does not exist.
func CheckEstimator(name string) error {
	if slices.Contains(Estimators(), name) {
		return nil
	}
	return optionError(&model.NameError{Kind: "estimator", Name: name, Accepted: Estimators()})
}

// EvaluateLog estimates the value of a model from the rewarded decisions. See [Tx.EvaluateLog].
func (db *DB) EvaluateLog(ctx context.Context, e LogEvaluation) (LogValue, error) {
	return result(ctx, db.View, func(tx *Tx) (LogValue, error) { return tx.EvaluateLog(ctx, e) })
}

// EvaluateLog estimates the mean reward that a model would have earned if its best candidate had been taken in each
// rewarded decision of the log. The model scores the current graph, without the links between a source and its
// candidates that were added after the decision. EvaluateLog returns ErrNoModel if there is no such model, and ErrInput
// with the reason if the log does not allow an estimate: it has no rewards, a decision was made without randomness, or
// the model agrees with no decision.
func (tx *Tx) EvaluateLog(ctx context.Context, e LogEvaluation) (LogValue, error) {
	given := model.Rewards{Min: e.MinReward, Max: e.MaxReward}
	if given != (model.Rewards{}) && !(-math.MaxFloat32 <= given.Min && given.Min < given.Max && given.Max <= math.MaxFloat32) {
		return LogValue{}, inputf("rewards from %v to %v (accepted: finite 32-bit numbers, the first one smaller)", given.Min, given.Max)
	}
	if err := CheckEstimator(e.Estimator); err != nil {
		return LogValue{}, err
	}
	m, err := tx.modelOrError(e.Model, e.Version)
	if err != nil {
		return LogValue{}, err
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
		if !d.Rewarded || len(d.Candidates) == 1 {
			continue
		}
		l, err := tx.loggedOutcome(ctx, m.scorer, d)
		if err != nil {
			return v, err
		}
		log = append(log, l)
		earned += d.Reward
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
		err = inputf("model %q would have chosen none of the %d links that were chosen", m.info.Name, len(log))
	}
	return v, err
}

// surveyLog counts the decisions of the log and finds the range of rewards. It returns ErrInput if the decisions do not
// allow an estimate of the value of other choices, and for a reward outside the given range.
func (tx *Tx) surveyLog(given model.Rewards) (v LogValue, err error) {
	if v.MinReward, v.MaxReward = given.Min, given.Max; given == (model.Rewards{}) {
		v.MaxReward = 1
	}
	single := 0
	for d, err := range tx.decisions() {
		switch {
		case err != nil:
			return v, err
		case !d.Rewarded:
			v.Open++
		case len(d.Candidates) == 1:
			single++
		default:
			v.Decisions++
			if err := tx.checkRandom(d); err != nil {
				return v, err
			}
			if given != (model.Rewards{}) && !(given.Min <= d.Reward && d.Reward <= given.Max) {
				return v, inputf("decision %d has reward %v (accepted: from %v to %v)", d.ID, d.Reward, given.Min, given.Max)
			}
			v.MinReward, v.MaxReward = min(v.MinReward, d.Reward), max(v.MaxReward, d.Reward)
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
func (tx *Tx) checkRandom(d *decision) error {
	for i, p := range d.Propensities {
		if p == 0 || p == 1 {
			return inputf("decision %d was made without randomness, by %s: node %v had propensity %v, so the log cannot show what a different choice would have earned", d.ID, d.Explorer, tx.key(d.Candidates[i]), p)
		}
	}
	return nil
}

// loggedOutcome converts a decision for the estimate of the scorer's value.
func (tx *Tx) loggedOutcome(ctx context.Context, s *model.Scorer, d *decision) (model.Logged, error) {
	if err := ctx.Err(); err != nil {
		return model.Logged{}, err
	}
	at := tx
	if edges := tx.addedSince(d); len(edges) > 0 {
		without, err := tx.withoutFew(ctx, edges)
		if err != nil {
			return model.Logged{}, err
		}
		at = without
	}
	scores, err := s.Score(ctx, at.walker(d.Source, true, 0).World(), model.Pairs(d.Source, d.Candidates))
	if err != nil {
		return model.Logged{}, fmt.Errorf("decision %d: %w", d.ID, tx.withNodeKey(err))
	}
	best := 0
	for i := range scores {
		if scores[i].Score > scores[best].Score {
			best = i
		}
	}
	l := model.Logged{
		Propensity: d.Propensities[d.Chosen], MaxWeight: 1 / d.Propensities[best], Reward: d.Reward, Score: scores[d.Chosen].Score, Mean: scores[best].Score,
	}
	if best == d.Chosen {
		l.Target = 1
	}
	return l, nil
}

// addedSince returns the edges from the source to candidates that were added after the decision was made.
func (tx *Tx) addedSince(d *decision) (edges [][2]index.ID) {
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
