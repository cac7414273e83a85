package main

import (
	"context"
	"fmt"
	"slices"

	"kith/db"
	"kith/model/trial"
)

// player plays a trial with a database, as any program that embeds one would: it predicts, and
// observes what came of it.
type player struct {
	db    *db.DB
	model string
}

// Choose picks the first of a ranking.
func (p *player) Choose(ctx context.Context, source trial.ID, candidates []trial.ID) (int, error) {
	r, err := p.db.Predict(ctx, db.Prediction{For: source, Among: among(candidates), Model: p.model, Top: 1})
	if err != nil {
		return 0, err
	}
	if len(r.Links) == 0 {
		return 0, fmt.Errorf("no candidate was ranked")
	}
	target, _ := r.Links[0].Target.Int()
	return slices.Index(candidates, trial.ID(target)), nil
}

// Learn tells the database, which makes the edge if there is a link.
func (p *player) Learn(ctx context.Context, source trial.ID, candidates []trial.ID, chosen int, reward float64) error {
	return p.db.Observe(ctx, db.Observation{
		Source: source, Target: candidates[chosen], Reward: reward, Among: among(candidates), Model: p.model, Insert: true,
	})
}

func among(candidates []trial.ID) db.Candidates {
	keys := make([]any, len(candidates))
	for i, c := range candidates {
		keys[i] = c
	}
	return db.Keys(keys...)
}
