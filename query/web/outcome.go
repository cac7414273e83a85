package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"kith/db"
	"kith/query"
)

// rewardBody is the body of POST /reward.
type rewardBody struct {
	body
	Decision uint64        `json:"decision" means:"number of the decision"`
	Place    int           `json:"place,omitempty" means:"the place that earned the reward, from 1; may be absent for a decision with one place"`
	Reward   *float64      `json:"reward,omitempty" means:"1 if the link was made or accepted, 0 if not"`
	Rewards  []placeReward `json:"rewards,omitempty" means:"the rewards of several places, in place of reward and place"`
	Examined string        `json:"examined,omitempty" means:"the places that were seen, and get the reward 0 if they have none: given (no other place), above (those above the last one with a reward above 0) or all; given by default"`
	Insert   bool          `json:"insert,omitempty" means:"add the links whose reward is 1"`
}

// placeReward is the reward of a place.
type placeReward struct {
	Place  int     `json:"place" means:"from 1"`
	Reward float64 `json:"reward"`
}

// rewarded is the answer of POST /reward.
type rewarded struct {
	Decision uint64                `json:"decision"`
	Source   db.Key                `json:"source"`
	Model    string                `json:"model,omitempty"`
	Places   []query.RewardedPlace `json:"places" means:"those that have a reward by this request"`
}

// byPlace returns the rewards by place.
func (b *rewardBody) byPlace(d db.Decision) (map[int]float64, error) {
	all := map[int]float64{}
	switch {
	case (b.Reward == nil) == (b.Rewards == nil):
		return nil, errors.New("give reward or rewards, and one of these only")
	case b.Reward == nil && b.Place > 0:
		return nil, errors.New("place goes with reward; each of rewards has its own")
	case b.Reward != nil && b.Place == 0 && len(d.Places) > 1:
		return nil, fmt.Errorf("decision %d has %d places: place must say which one", d.ID, len(d.Places))
	case b.Reward != nil:
		all[max(b.Place, 1)] = *b.Reward
	}
	for i, p := range b.Rewards {
		if _, twice := all[p.Place]; twice {
			return nil, fmt.Errorf("rewards[%d]: place %d is given twice", i, p.Place)
		}
		all[p.Place] = p.Reward
	}
	return all, nil
}

// reward answers POST /reward.
func reward(ctx context.Context, tx *db.Tx, b *rewardBody) (a rewarded, err error) {
	d, err := tx.Decision(b.Decision)
	if err != nil {
		return a, err
	}
	rewards, err := b.byPlace(d)
	if err != nil {
		return a, fmt.Errorf("%w: %w", db.ErrInput, err)
	}
	examined := db.ExaminedGiven
	if b.Examined != "" {
		examined = db.Examined(b.Examined)
	}
	places, err := query.RewardPlaces(ctx, tx, d, rewards, examined, b.Insert)
	return rewarded{d.ID, d.Source, d.Model, places}, err
}

// observeBody is the body of POST /observe.
type observeBody struct {
	body
	Source     db.Key  `json:"source" means:"the node where the link begins"`
	Target     db.Key  `json:"target" means:"the node where it ends"`
	Relation   string  `json:"relation,omitempty" means:"the relation of the link"`
	Reward     float64 `json:"reward" means:"1 if the link was made or accepted, 0 if not"`
	Candidates *set    `json:"candidates,omitempty" means:"the nodes that the link was one of"`
	Model      string  `json:"model,omitempty" means:"the model that learns; otherwise the one that answers"`
	Time       instant `json:"time,omitempty" means:"time of the outcome; otherwise now"`
	Insert     bool    `json:"insert,omitempty" means:"add the link if the reward is 1"`
	ID         string  `json:"id,omitempty" means:"name of the outcome: the same one again changes nothing"`
}

// observed is the answer of POST /observe.
type observed struct {
	New       bool   `json:"new" means:"false if the id was observed before, so that nothing has changed"`
	Model     string `json:"model,omitempty" means:"the model that learns"`
	EdgeAdded bool   `json:"edge_added"`
}

// observe answers POST /observe.
func observe(ctx context.Context, tx *db.Tx, b *observeBody) (a observed, err error) {
	o := db.ObserveOptions{
		Source: b.Source, Target: b.Target, Relation: b.Relation, Reward: b.Reward, Model: b.Model, At: b.Time.Time, Insert: b.Insert, ID: b.ID,
	}
	if b.Candidates != nil {
		o.Among = b.Candidates.nodes
	}
	known, err := tx.Observed(o.ID)
	if err != nil || known {
		return a, err
	}
	if err := cmp.Or(exists(tx, "source", b.Source), exists(tx, "target", b.Target)); err != nil {
		return a, err
	}
	_, edges := tx.Counts()
	if err := tx.Observe(ctx, o); err != nil {
		return a, err
	}
	m, err := tx.Model(o.Model).Info(ctx)
	_, now := tx.Counts()
	return observed{true, m.Name, now > edges}, err
}
