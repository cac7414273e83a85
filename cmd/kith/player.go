package main

import (
	"context"
	"fmt"
	"slices"

	"kith/db"
	"kith/model/trial"
)

// player plays a trial with a database as a program that embeds one would: it predicts, and observes the rewards. All
// arms of a round have the same source.
type player struct {
	db    *db.DB
	model string
}

// Choose returns the best candidate of a ranking.
func (p *player) Choose(ctx context.Context, arms []trial.Pair) (int, error) {
	r, err := p.db.Predict(ctx, db.Prediction{For: arms[0].Source, Among: among(arms), Model: p.model, Top: 1})
	if err != nil {
		return 0, err
	}
	if len(r.Links) == 0 {
		return 0, fmt.Errorf("no candidate was ranked")
	}
	target, _ := r.Links[0].Target.Int()
	return slices.Index(arms, trial.Pair{Source: arms[0].Source, Target: trial.ID(target)}), nil
}

// Learn gives the database the reward. The database adds the edge if there is a link.
func (p *player) Learn(ctx context.Context, arms []trial.Pair, chosen int, reward float64) error {
	return p.db.Observe(ctx, db.Observation{
		Source: arms[chosen].Source, Target: arms[chosen].Target, Reward: reward, Among: among(arms), Model: p.model, Insert: true,
	})
}

func among(arms []trial.Pair) db.Candidates {
	keys := make([]any, len(arms))
	for i, a := range arms {
		keys[i] = a.Target
	}
	return db.Keys(keys...)
}
