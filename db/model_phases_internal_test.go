package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"kith/model"
)

// A training reports its phase before it does anything, and each next phase until it is
// complete. Its steps are as many as were expected.
func TestTrainTells(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	clubs := openClubs(t, 40, &Options{InMemory: true, Memory: 64 << 20})
	related := openClubs(t, 40, &Options{InMemory: true, Memory: 64 << 20})
	must(t, related.Update(ctx, func(tx *Tx) error {
		err := tx.AddRelation(Relation{Name: "likes", Directed: true})
		for i := range 40 {
			for k := range 10 {
				err = errors.Join(err, tx.PutEdge(i, (i+4*k+1)%40, Via("likes")))
			}
		}
		return err
	}))
	short := model.EdgePlan{Samples: 60, Folds: 2, Epochs: 2}
	for _, c := range []struct {
		g      *DB
		policy string
		want   []string
	}{
		{clubs, "default", []string{
			phaseHide, "computing vectors of nodes", "reading links", "learning", "computing vectors of nodes", "replaying times", "learning times",
			phaseModels, phaseHeuristics,
		}},
		{related, "default", []string{
			phaseHide, "computing vectors of nodes", "reading links", "learning", "computing vectors of nodes", "replaying times", "learning times",
			phaseModels, phaseHeuristics,
			"mining rules", "learning vectors", "reading evidence", "learning relations", "weighing scores", "learning vectors",
		}},
		{clubs, "prb_greedy", []string{phaseHide, "reading links", "learning", phaseModels, phaseHeuristics}},
	} {
		must(t, c.g.Model(c.policy).Create(ctx, ModelSpec{Policy: c.policy}))
		var told []model.Progress
		clock := time.Unix(0, 0)
		second := func() time.Time {
			clock = clock.Add(time.Second)
			return clock
		}
		plan := short
		plan.Progress = model.NewMeter(second, func(s model.Progress) { told = append(told, s) })
		_, err := c.g.Model(c.policy).Train(ctx, TrainOptions{Plan: plan})
		must(t, err)
		var doing []string
		for i, s := range told {
			if i == 0 || s.Doing != told[i-1].Doing {
				doing = append(doing, s.Doing)
			}
			if i > 0 && s.Done < told[i-1].Done {
				t.Errorf("%s: %+v after %+v", c.policy, s, told[i-1])
			}
		}
		if first := told[0]; first.Done != 0 || first.Left <= 0 {
			t.Errorf("%s: told first: %+v", c.policy, first)
		}
		if last := told[len(told)-1]; last.Done != 1 || last.Left != 0 {
			t.Errorf("%s: told last: %+v", c.policy, last)
		}
		if before := told[len(told)-2]; before.Done < 0.998 {
			t.Errorf("%s: after all steps: %+v", c.policy, before)
		}
		if !slices.Equal(doing, c.want) {
			t.Errorf("%s does %s\nwant %s", c.policy, fmt.Sprintf("%q", doing), fmt.Sprintf("%q", c.want))
		}
	}
}
