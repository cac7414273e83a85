package db

import (
	"context"
	"math"
)

// Reward reports the outcome of a decision, in a transaction of its own. See [Tx.Reward].
func (db *DB) Reward(ctx context.Context, id uint64, reward float64) error {
	return db.Update(ctx, func(tx *Tx) error {
		_, err := tx.Reward(id, reward)
		return err
	})
}

// Reward reports the outcome of a decision, and returns whether it was new: repeating the same reward changes nothing.
// When the transaction commits, the model that scored the decision learns the outcome, as from an Observation of the
// link Among all that was offered, with the graph as it was when the choice was made. The version that is deployed at
// the commit learns. A model that was dropped since does not learn, nor does a later model of the same name.
//
// It returns ErrNoDecision for a decision that was never made, ErrExpired for one that has expired, ErrRewarded for one
// that has a different reward, and ErrInput for a reward that is not finite in 32 bits.
func (tx *Tx) Reward(id uint64, reward float64) (changed bool, err error) {
	if _, err := tx.writable(); err != nil {
		return false, err
	}
	if err := CheckReward(reward); err != nil {
		return false, err
	}
	d, err := tx.decision(id)
	switch {
	case err != nil:
		return false, err
	case d.Rewarded && d.Reward == reward:
		return false, nil
	case d.Rewarded:
		return false, aboutDecision(id, ErrRewarded, "has reward %v already", d.Reward)
	}
	rewarded := *d
	rewarded.Rewarded, rewarded.Reward = true, reward
	tx.decided = append(tx.decided, &rewarded)
	if tx.teaches(d) {
		o := readable(tx.db.learners[d.Model].model, d.Columns, d.outcome(unpackFloats(d.Contexts), d.Row, reward))
		rec := lessonRecord{Model: d.Model, Source: d.Source, Target: d.target(), Reward: reward, Decision: id}
		tx.learned = append(tx.learned, &lesson{model: d.Model, outcome: o, record: rec})
	}
	return true, nil
}

// teaches reports whether the model of a decision still exists to learn the outcome.
func (tx *Tx) teaches(d *decision) bool {
	m := tx.snap.models[d.Model]
	return m != nil && d.Version != 0 && d.Made >= m.Born
}

// CheckReward returns ErrInput for a reward that is not finite in 32 bits.
func CheckReward(x float64) error {
	if !(math.Abs(x) <= math.MaxFloat32) {
		return inputf("reward %v (accepted: from -3.4e38 to 3.4e38)", x)
	}
	return nil
}
