package db_test

import (
	"context"
	"fmt"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
)

// A model with classes ranks its classes, learns from all of them, and has them after reopening.
func TestClasses(t *testing.T) {
	t.Parallel()
	ctx, path := context.Background(), place(t)
	g := open(t, path, nil)
	must(t, g.Update(ctx, func(tx *db.Tx) error {
		for u := range 9 {
			n := db.Node{Key: db.Int(int64(u)), Label: "paper", Features: []float32{float32(u % 3), 1}}
			if u > 5 {
				n = db.Node{Key: db.Int(int64(u)), Label: "topic"}
			}
			if err := tx.AddNode(n); err != nil {
				return err
			}
		}
		return nil
	}))
	spec := model.Spec{Policy: "prb_n", Preset: "released", ClassLabel: "topic"}
	must(t, g.Model("m").Create(ctx, spec))
	spec.ClassLabel = "none"
	wantError(t, "a label that is not there", g.Model("n").Create(ctx, spec), db.ErrNotFound)
	spec.ClassLabel = ""
	wantError(t, "no classes", g.Model("n").Create(ctx, spec), db.ErrInput)
	for u := range 6 {
		must(t, g.Observe(ctx, db.ObserveOptions{Source: u, Target: 6 + u%3, Model: "m", Reward: float64(u % 2), Insert: true}))
	}
	wantError(t, "no class", g.Observe(ctx, db.ObserveOptions{Source: 1, Target: 2, Model: "m"}), db.ErrInput)
	ask := func(among db.Candidates) string {
		r, err := g.Predict(ctx, db.PredictOptions{For: 1, Among: among, Model: "m", NoCache: true})
		must(t, err)
		return fmt.Sprint(r.Links)
	}
	before := ask(db.Classes())
	if byDefault := ask(db.Candidates{}); byDefault != before {
		t.Errorf("left open %s, asked for classes %s", byDefault, before)
	}
	must(t, g.Close())
	g = dbtest.Reopen(t, path, nil)
	if after := ask(db.Classes()); after != before {
		t.Errorf("%s, after reopening %s", before, after)
	}
}
