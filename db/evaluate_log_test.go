package db_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
)

// The value of a policy is estimated from the choices of a different policy. Here the evaluated
// policy is common neighbours, whose best candidate is known, and rewards are drawn with a known
// probability.
func TestEvaluateLog(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	load(t, g, 60)
	must(t, g.Model("near").Create(ctx, model.Spec{Policy: "common_neighbors"}))
	rng := rand.New(rand.NewPCG(1, 2))
	const good, bad = 0.8, 0.2
	update(t, g, func(tx *db.Tx) error {
		for i := range 300 {
			u := i % 60
			d, err := tx.Choose(ctx, db.ChooseOptions{For: u, Among: db.Keys((u+2)%60, (u+25)%60, (u+31)%60), Model: "near", Explore: greedy(0.8)})
			if err != nil {
				return err
			}
			best := 0
			for j, o := range d.Offers {
				if o.Score > d.Offers[best].Score {
					best = j
				}
			}
			p := bad
			if d.Places[0].Target == d.Offers[best].Target {
				p = good
			}
			reward := 0.0
			if rng.Float64() < p {
				reward = 1
			}
			if err := tx.Reward(t.Context(), d.ID, reward); err != nil {
				return err
			}
			if reward == 1 { // a model that saw this edge would know the answer
				must(t, tx.PutEdge(d.Source, d.Places[0].Target), tx.DeleteEdge(d.Source, d.Places[0].Target))
			}
		}
		return nil
	})
	for _, name := range model.Estimators() {
		v, err := g.EvaluateLog(ctx, db.EvaluateLogOptions{Model: "near", Estimator: name})
		must(t, err)
		if v.Low > good || v.High < good || v.Decisions != 300 || v.AlreadyLearned != 0 || v.Logged > v.Low {
			t.Errorf("%s: %+v, the truth is %v", name, v, good)
		}
		again, err := g.EvaluateLog(ctx, db.EvaluateLogOptions{Model: "near", Estimator: name})
		must(t, err)
		if again != v {
			t.Errorf("%s: %+v, then %+v", name, v, again)
		}
	}
}

// A log that does not allow an estimate is rejected, with the reason.
func TestEvaluateLogRefuses(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for what, c := range map[string]struct {
		choice db.ChooseOptions
		reward bool
		model  string
		name   string
		want   string
		is     error
	}{
		"no reward":     {db.ChooseOptions{For: 1, Model: "m"}, false, "m", "ips", "the log has no rewarded decision", db.ErrInput},
		"no randomness": {db.ChooseOptions{For: 1, Model: "m", Explore: greedy(0)}, true, "m", "ips", "without randomness", db.ErrInput},
		"no choice":     {db.ChooseOptions{For: 1, Model: "m", Among: db.Keys(7)}, true, "m", "ips", "one candidate", db.ErrInput},
		"no model":      {db.ChooseOptions{For: 1, Model: "m"}, true, "x", "ips", "no model", db.ErrNoModel},
		"no estimator":  {db.ChooseOptions{For: 1, Model: "m"}, true, "m", "best", `"best" (accepted: ips, snips, dr)`, db.ErrInput},
	} {
		g := dbtest.Open(t, inMemory)
		load(t, g, 30)
		must(t, g.Model("m").Create(ctx, model.Spec{}))
		d, err := g.Choose(ctx, c.choice)
		must(t, err)
		if c.reward {
			must(t, g.Reward(ctx, d.ID, 1))
		}
		_, err = g.EvaluateLog(ctx, db.EvaluateLogOptions{Model: c.model, Estimator: c.name})
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Decisions without a reward are counted, but not used.
func TestEvaluateLogOfOpenDecisions(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	load(t, g, 30)
	must(t, g.Model("near").Create(ctx, model.Spec{Policy: "common_neighbors"}))
	for i := range 12 {
		d, err := g.Choose(ctx, db.ChooseOptions{For: i, Among: db.Keys((i+2)%30, (i+9)%30), Explore: greedy(0.5)})
		must(t, err)
		if i%3 > 0 {
			must(t, g.Reward(ctx, d.ID, 1))
		}
	}
	v, err := g.EvaluateLog(ctx, db.EvaluateLogOptions{Model: "near", Estimator: "snips"})
	if err != nil || v.Open != 4 || v.Decisions != 8 || v.Logged != 1 || v.Value != 1 {
		t.Errorf("%+v, %v", v, err)
	}
	late, cancel := context.WithCancel(ctx)
	_, err = g.EvaluateLog(late, db.EvaluateLogOptions{Model: "near", Estimator: "ips", Progress: func(int, int) { cancel() }})
	wantError(t, "an evaluation that is cancelled", err, context.Canceled)
}
