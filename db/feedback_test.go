package db_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
)

// In a graph of two groups, all edges are inside the groups. After a training on them, outcomes say
// the contrary: links are made between the groups, and not inside. After a hundred outcomes the
// ranking for other sources is reversed.
func TestFeedbackAgainstTraining(t *testing.T) {
	t.Parallel()
	notShort(t)
	ctx, rng := context.Background(), rand.New(rand.NewPCG(7, 7))
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	var edges strings.Builder
	for range 1200 {
		group := rng.IntN(2)
		fmt.Fprintf(&edges, "%d %d\n", 60*group+rng.IntN(60), 60*group+rng.IntN(60))
	}
	_, err := g.Load(ctx, strings.NewReader(edges.String()), db.LoadOptions{})
	must(t, err, g.Model("m").Create(ctx, db.ModelSpec{}))
	_, err = g.Model("m").Train(ctx, db.TrainOptions{Deploy: db.DeployAlways, Plan: model.EdgePlan{Samples: 300, Epochs: 3}})
	must(t, err)
	// inside returns the share of the ten best targets of other sources that are in the source's
	// group.
	inside := func() (share float64) {
		for source := range 20 {
			r, err := g.Predict(ctx, db.PredictOptions{For: source, Among: db.All(), Model: "m"})
			must(t, err)
			for _, l := range r.Links {
				if k, _ := l.Target.Value().(int64); k < 60 {
					share += 1. / 200
				}
			}
		}
		return share
	}
	trained := inside()
	var after []float64
	for i := range 100 {
		source := 20 + rng.IntN(40)
		target := rng.IntN(60)
		reward := 0.0
		if i%2 == 1 {
			target, reward = target+60, 1
		}
		must(t, g.Observe(ctx, db.ObserveOptions{Source: source, Target: target, Reward: reward, Model: "m"}))
		if i%20 == 19 {
			after = append(after, inside())
		}
	}
	t.Logf("share of the own group among the first ten: %.2f after the training, %.2f after each 20 outcomes", trained, after)
	if trained < 0.9 || after[4] > 0.1 {
		t.Errorf("share of the own group among the first ten: %.2f, after 100 outcomes %.2f", trained, after[4])
	}
}
