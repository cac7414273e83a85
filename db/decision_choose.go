package db

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"kith/db/words"
	"kith/index"
	"kith/model"
)

// Explorer says how a choice is drawn. See [model.Explorer].
type Explorer = model.Explorer

// Explorers returns the names of the explorers.
func Explorers() []string { return model.Explorers() }

// NewExplorer returns the explorer with this name and its defaults. It returns ErrInput for an unknown name.
func NewExplorer(name string) (Explorer, error) {
	e, err := model.NewExplorer(name)
	return e, optionError(err)
}

// Choice requests one link of a node to try.
type Choice struct {
	For     any           // the node
	Among   Candidates    // at most MaxOffers; zero value: PPR(1000), or the classes of a model that has some
	Model   string        // default: as for Prediction
	At      time.Time     // default: as for Prediction
	Explore Explorer      // zero value: SquareCB
	TTL     time.Duration // how long the decision is kept and accepts a reward; 0 means DefaultTTL
	Seed    uint64        // seed of the random numbers; 0 means the database's seed
	NoCache bool          // as for Prediction
}

// MaxOffers is the maximal number of candidates of a choice. The propensity of each is stored.
const MaxOffers = 4096

// DefaultTTL is how long a decision is kept if its choice has no TTL.
const DefaultTTL = 7 * 24 * time.Hour

// Choose chooses in a transaction of its own. The decision is committed when Choose returns. See [Tx.Choose].
func (db *DB) Choose(ctx context.Context, c Choice) (Decision, error) {
	return result(ctx, db.Update, func(tx *Tx) (Decision, error) { return tx.Choose(ctx, c) })
}

// Choose draws one of the candidates with the probabilities that the explorer derives from the model's scores. It
// stores the decision, with everything that a model needs to learn from its reward, until it expires. The draw is a
// function of the seed and the decision's number. The scores are those of a Prediction. Choose returns the errors of Predict, ErrTooLarge for more candidates than MaxOffers, and ErrInput if there are no candidates.
func (tx *Tx) Choose(ctx context.Context, c Choice) (Decision, error) {
	if _, err := tx.writable(); err != nil {
		return Decision{}, err
	}
	e, err := c.Explore.Resolve()
	if err != nil {
		return Decision{}, optionError(err)
	}
	if c.TTL < 0 {
		return Decision{}, inputf("TTL %v: want a time above 0", c.TTL)
	}
	source, err := tx.id(c.For)
	if err != nil {
		return Decision{}, err
	}
	q, err := tx.prepare(ctx, Prediction{For: tx.key(source), Among: c.Among, Model: c.Model, At: c.At, NoCache: c.NoCache})
	if err != nil {
		return Decision{}, err
	}
	d, err := tx.weighted(ctx, q, e)
	if err != nil {
		return Decision{}, err
	}
	d.ID = tx.batch.NextDecision()
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], cmp.Or(c.Seed, tx.view().Meta.Seed))
	binary.LittleEndian.PutUint64(key[8:], d.ID)
	d.Chosen = model.Draw(rand.New(rand.NewChaCha8(key)), d.Propensities)
	if err := tx.keepContexts(ctx, q, d); err != nil {
		return Decision{}, err
	}
	d.Time = tx.db.opts.Now().UnixNano()
	d.End = d.Time + min(int64(cmp.Or(c.TTL, DefaultTTL)), math.MaxInt64-max(d.Time, 0)) // saturates at the largest int64
	tx.decided = append(tx.decided, d)
	return tx.publicDecision(d), nil
}

// weighted scores the candidates and derives their probabilities.
func (tx *Tx) weighted(ctx context.Context, q *question, e Explorer) (*decision, error) {
	switch n := len(q.candidates); {
	case n == 0 && q.ranking.Linked > 0:
		return nil, inputf("node %v has no candidates to choose from: it is linked already to the %s of the set", q.ranking.Source, words.Count(q.ranking.Linked, "node"))
	case n == 0:
		return nil, inputf("node %v has no candidates to choose from: the set is empty", q.ranking.Source)
	case n > MaxOffers:
		return nil, fmt.Errorf("%w: %d candidates, a choice may have %d", ErrTooLarge, n, MaxOffers)
	}
	scores, err := q.score(ctx, tx)
	if err != nil {
		return nil, err
	}
	d := &decision{
		Source: q.start.Node[0], Candidates: q.candidates, Scores: make([]float64, len(scores)), Explorer: e.String(),
		Model: q.ranking.Model, Version: q.ranking.ModelVersion, Graph: q.ranking.GraphVersion,
	}
	for i, s := range scores {
		if math.IsNaN(s.Score) || math.IsInf(s.Score, 0) {
			return nil, inputf("the score of %v is %v: the model cannot choose", tx.key(d.Candidates[i]), s.Score)
		}
		d.Scores[i] = s.Score
	}
	d.Propensities = e.Propensities(d.Scores, q.ranking.Rounds)
	for _, c := range d.Candidates {
		if _, ok := tx.view().Graph.Edge(d.Source, c); ok {
			d.Linked = append(d.Linked, c)
		}
	}
	return d, nil
}

// keepContexts stores in a decision what its model may need to learn any reward, from the current graph.
func (tx *Tx) keepContexts(ctx context.Context, q *question, d *decision) error {
	if d.Version == 0 {
		return nil // no model will learn from it
	}
	d.Made = tx.snap.models[d.Model].Deployed
	x, err := tx.contexts(ctx, q.scorer, q.walk, d.Source, d.Candidates)
	if err != nil {
		return err
	}
	// A failure teaches at least as much as any other reward, and no model learns more later.
	m := tx.db.learners[d.Model].model
	o := m.Trim(d.outcome(x, d.Chosen, 0))
	d.Contexts, d.Columns, d.Row = index.PackFloats(o.Contexts), m.Columns(), o.Chosen
	return nil
}

// outcome returns what a model learns from a decision. row is the target's row in contexts.
func (d *decision) outcome(contexts []float32, row int, reward float64) model.Outcome {
	return model.Outcome{
		Pair: model.Pair{Source: d.Source, Target: d.target()}, Contexts: contexts, Chosen: row, Reward: reward, Offered: d.Candidates,
	}
}

// Reward reports the outcome of a decision, in a transaction of its own. See [Tx.Reward].
func (db *DB) Reward(ctx context.Context, id uint64, reward float64) error {
	return db.Update(ctx, func(tx *Tx) error {
		_, _, err := tx.Reward(id, reward, false)
		return err
	})
}

// Reward reports the outcome of a decision, and returns whether it was new: repeating the same reward changes nothing.
// With insert, a new reward of 1 adds the edge of the decision unless it exists, and added reports that.
//
// When the transaction commits, the model that scored the decision learns the outcome, as from an Observation of the
// link Among all that was offered, with the graph as it was when the choice was made. The version that is deployed at
// the commit learns. A model that was dropped since does not learn, nor does a later model of the same name.
//
// It returns ErrNoDecision for a decision that was never made, ErrExpired for one that has expired, ErrRewarded for one
// that has a different reward, ErrInput for a reward that is not finite in 32 bits, and ErrNotFound if an edge is to be
// added to a node that no longer exists.
func (tx *Tx) Reward(id uint64, reward float64, insert bool) (changed, added bool, err error) {
	if _, err := tx.writable(); err != nil {
		return false, false, err
	}
	if err := CheckReward(reward); err != nil {
		return false, false, err
	}
	d, err := tx.decision(id)
	switch {
	case err != nil:
		return false, false, err
	case d.Rewarded && d.Reward == reward:
		return false, false, nil
	case d.Rewarded:
		return false, false, aboutDecision(id, ErrRewarded, "has reward %v already", d.Reward)
	}
	rewarded := *d
	rewarded.Rewarded, rewarded.Reward = true, reward
	tx.decided = append(tx.decided, &rewarded)
	if m := tx.snap.models[d.Model]; m != nil && d.Version != 0 && d.Made >= m.Born { // it still exists
		o := readable(tx.db.learners[d.Model].model, d.Columns, d.outcome(index.UnpackFloats(d.Contexts), d.Row, reward))
		tx.observed = append(tx.observed, &pendingObservation{model: d.Model, decision: id, outcome: o})
	}
	if !insert || reward != 1 {
		return true, false, nil
	}
	u, v, err := tx.ends(tx.key(d.Source), tx.key(d.target()))
	if err != nil {
		return true, false, fmt.Errorf("%w, of decision %d", err, id)
	}
	added, err = tx.insertLink(u, v, time.Time{})
	return true, added, err
}

// CheckReward returns ErrInput for a reward that is not finite in 32 bits.
func CheckReward(x float64) error {
	if !(math.Abs(x) <= math.MaxFloat32) {
		return inputf("reward %v (accepted: from -3.4e38 to 3.4e38)", x)
	}
	return nil
}
