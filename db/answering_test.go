package db_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
)

// answeredBy checks what answers a request that names no model.
func answeredBy(t testing.TB, g *db.DB, want string) {
	t.Helper()
	r, err := g.Predict(context.Background(), asked)
	must(t, err)
	if r.AnsweredBy != want {
		t.Errorf("answered by %s, want %s", r.AnsweredBy, want)
	}
	view(t, g, func(tx *db.Tx) error {
		m, err := tx.Model("").Info(t.Context())
		if answers := err == nil && m.Answers; answers != (r.Model != "") || answers && (m.Name != r.Model || m.Version != r.ModelVersion) {
			t.Errorf("%s answered, and the model that does is %+v (%v)", r.AnsweredBy, m, err)
		}
		for _, m := range tx.Models() {
			if m.Answers != (m.Name == r.Model) {
				t.Errorf("%s answered, and %s is said to: %v", r.AnsweredBy, m.Name, m.Answers)
			}
		}
		return nil
	})
	must(t, g.Check(context.Background()))
}

const (
	noModel    = "the built-in model: the database has no model"
	noTrained  = "the built-in model: no model is trained"
	noDeployed = "the built-in model: no model is deployed"
)

func TestAnswering(t *testing.T) {
	t.Parallel()
	ctx, path := context.Background(), place(t)
	g := open(t, path, nil)
	load(t, g, 40)
	train := func(name string, hold bool) {
		t.Helper()
		_, err := g.Model(name).Train(ctx, db.TrainOptions{Deploy: deploying(hold), Plan: model.EdgePlan{Samples: 30, Epochs: 1}})
		must(t, err)
	}
	answeredBy(t, g, noModel)
	links := func() string {
		r, err := g.Predict(ctx, asked)
		must(t, err)
		return fmt.Sprint(r.Links)
	}
	before := links()

	must(t, g.Model("a").Create(ctx, model.Spec{}), g.Model("b").Create(ctx, model.Spec{Policy: "prb"}),
		g.Model("near").Create(ctx, model.Spec{Policy: "common_neighbors"}))
	answeredBy(t, g, noTrained)
	if after := links(); after != before {
		t.Errorf("with untrained models the answer is\n%s\nwithout\n%s", after, before)
	}
	wantError(t, "deploying what does not learn", g.Model("near").Deploy(ctx, 0), db.ErrInput)
	wantError(t, "deploying what is not there", g.Model("x").Deploy(ctx, 0), db.ErrNoModel)
	wantError(t, "deploying a version that is not there", g.Model("a").Deploy(ctx, 7), db.ErrNoModel)
	train("b", true)
	answeredBy(t, g, noTrained) // the deployed version of b is still untrained
	train("a", false)
	answeredBy(t, g, "model a version 2")
	train("b", false)
	answeredBy(t, g, "model a version 2")

	must(t, g.Model("b").Deploy(ctx, 0))
	answeredBy(t, g, "model b version 3")
	must(t, g.Close())
	g = dbtest.Reopen(t, path, nil)
	answeredBy(t, g, "model b version 3")
	must(t, g.Model("b").Deploy(ctx, 2))
	answeredBy(t, g, "model b version 2")
	must(t, g.Model("b").Freeze(ctx))
	answeredBy(t, g, "model b version 2")
	must(t, g.Model("a").Deploy(ctx, 1))
	answeredBy(t, g, "the built-in model: version 1 of model a, which is deployed, is untrained")
	_, err := g.Model("a").Rollback(ctx)
	must(t, err)
	answeredBy(t, g, "model a version 2")

	b, _ := backup(t, g, nil)
	restored := place(t)
	must(t, restore(restored, b))
	again := dbtest.Reopen(t, restored, nil)
	answeredBy(t, again, "model a version 2")
	must(t, again.Close())

	must(t, g.Model("b").Drop(ctx))
	answeredBy(t, g, "model a version 2")
	file := exported(t, g, "a")
	must(t, g.Model("a").Drop(ctx))
	answeredBy(t, g, noTrained)
	_, err = g.Model("c").Import(ctx, bytes.NewReader(file))
	must(t, err)
	answeredBy(t, g, noDeployed)
	must(t, g.Observe(ctx, db.ObserveOptions{Source: 1, Target: 3, Reward: 1, Model: "c"}))
	answeredBy(t, g, noDeployed)
	must(t, g.Model("c").Deploy(ctx, 1))
	answeredBy(t, g, "model c version 1")
	must(t, g.Close())
}

// The first outcome that trains a model makes it the one that answers requests without a name,
// unless another does. The change is durable, and is made only if the commit succeeds.
func TestAnsweringByOutcomes(t *testing.T) {
	t.Parallel()
	ctx, path := context.Background(), place(t)
	g := open(t, path, nil)
	load(t, g, 40)
	must(t, g.Model("frozen").Create(ctx, model.Spec{}), g.Model("frozen").Freeze(ctx), g.Model("slow").Create(ctx, model.Spec{Policy: "prb"}),
		g.Model("quick").Create(ctx, model.Spec{}), g.Model("late").Create(ctx, model.Spec{}))
	for _, name := range []string{"frozen", "slow"} {
		must(t, g.Observe(ctx, db.ObserveOptions{Source: 1, Target: 3, Reward: 1, Model: name}))
		answeredBy(t, g, noTrained)
	}
	d, err := g.Choose(ctx, db.ChooseOptions{For: 1, Model: "quick"})
	must(t, err)
	answeredBy(t, g, noTrained)
	must(t, g.Reward(ctx, d.ID, 1))
	answeredBy(t, g, "model quick version 1")
	must(t, g.Observe(ctx, db.ObserveOptions{Source: 1, Target: 3, Reward: 1, Model: "late"}))
	answeredBy(t, g, "model quick version 1")
	must(t, g.Observe(ctx, db.ObserveOptions{Source: 2, Target: 4, Reward: 1}))
	view(t, g, func(tx *db.Tx) error {
		if m, err := tx.Model("quick").Info(ctx); err != nil || m.Rounds != 2 {
			t.Errorf("%+v, %v: want 2 rounds", m, err)
		}
		return nil
	})
	must(t, g.Close())
	g = dbtest.Reopen(t, path, nil)
	answeredBy(t, g, "model quick version 1")
	must(t, g.Close())
}

// The first request that needs a model to learn makes the model default, in the commit or before
// it. That alone changes no answer. No other model is made, nor default by what fails.
func TestTheDefaultModelIsMade(t *testing.T) {
	t.Parallel()
	ctx, path := context.Background(), place(t)
	observe := func(o db.ObserveOptions) func(*db.DB) error {
		return func(g *db.DB) error { return g.Observe(ctx, o) }
	}
	o := db.ObserveOptions{Source: 1, Target: 3, Reward: 1}
	named := o
	named.Model = "default"
	fails := errors.New("fails")
	for name, c := range map[string]struct {
		do      func(g *db.DB) error
		made    bool
		trained bool // and what it learned is in its answers
	}{
		"observe":       {observe(o), true, true},
		"observe named": {observe(named), true, true},
		"choose": {func(g *db.DB) error {
			d, err := g.Choose(ctx, db.ChooseOptions{For: 1})
			if err == nil && (d.Model != "default" || d.ModelVersion != 1) {
				err = fmt.Errorf("chosen by %q version %d", d.Model, d.ModelVersion)
			}
			return err
		}, true, false},
		"choose and reward": {func(g *db.DB) error {
			return g.Update(ctx, func(tx *db.Tx) error {
				d, err := tx.Choose(ctx, db.ChooseOptions{For: 1})
				if err == nil {
					err = tx.Reward(ctx, d.ID, 1)
				}
				return err
			})
		}, true, true},
		"in a larger update": {func(g *db.DB) error {
			return g.Update(ctx, func(tx *db.Tx) error {
				return errors.Join(tx.PutEdge(1, 77, db.Weight(2)), tx.Observe(ctx, o), tx.PutEdge(77, "x"), tx.Observe(ctx, named))
			})
		}, true, true},
		"train": {func(g *db.DB) error {
			made, err := g.Model("").Train(ctx, db.TrainOptions{Plan: model.EdgePlan{Samples: 30, Epochs: 1}})
			if err == nil && (made.Name != "default" || made.Version != 2) {
				err = fmt.Errorf("trained %q version %d", made.Name, made.Version)
			}
			return err
		}, true, true},
		"an update that fails": {func(g *db.DB) error {
			err := g.Update(ctx, func(tx *db.Tx) error { return errors.Join(tx.Observe(ctx, o), fails) })
			return unless(fails, err)
		}, false, false},
		"a savepoint that fails": {func(g *db.DB) error {
			return g.Update(ctx, func(tx *db.Tx) error {
				return unless(fails, tx.Savepoint(func() error { return errors.Join(tx.Observe(ctx, o), fails) }))
			})
		}, false, false},
		"another name": {func(g *db.DB) error {
			_, err := g.Model("x").Train(ctx, db.TrainOptions{})
			_, choose := g.Choose(ctx, db.ChooseOptions{For: 1, Model: "x"})
			return errors.Join(unless(db.ErrNoModel, err), unless(db.ErrNoModel, choose),
				unless(db.ErrNoModel, g.Observe(ctx, db.ObserveOptions{Source: 1, Target: 3, Model: "x"})))
		}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(path, name)
			g := dbtest.Reopen(t, path, nil)
			load(t, g, 40)
			ask := func(name string) *db.Prediction {
				r, err := g.Predict(ctx, db.PredictOptions{For: 7, Among: db.All(), Model: name, NoCache: true})
				must(t, err)
				return r
			}
			before, byName := ask(""), ask("default")
			sameLinks(t, "by name", byName, before)
			must(t, c.do(g))
			for range 2 {
				view(t, g, func(tx *db.Tx) error {
					switch m, err := tx.Model("default").Info(ctx); {
					case !c.made:
						wantError(t, "the model", err, db.ErrNoModel)
					case err != nil || m.Trained != c.trained || m.Answers != c.trained || m.Policy != "default" || len(tx.Models()) != 1:
						t.Errorf("%+v, %v", m, err)
					}
					return nil
				})
				if !c.trained {
					sameLinks(t, "afterwards", ask(""), before)
					sameLinks(t, "afterwards, by name", ask("default"), before)
				}
				must(t, g.Check(ctx), g.Close())
				g = dbtest.Reopen(t, path, nil)
			}
			must(t, g.Close())
		})
	}
}

// A request that names a model is answered by that model, and AnsweredBy describes it.
func TestAnsweredByWhatIsNamed(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	load(t, g, 40)
	must(t, g.Model("new").Create(ctx, model.Spec{}), g.Model("blank").Create(ctx, model.Spec{Policy: "prb", Preset: "paper"}),
		g.Model("near").Create(ctx, model.Spec{Policy: "common_neighbors"}))
	for name, want := range map[string]string{
		"new":   "model new version 1, which is untrained: built-in weights",
		"blank": "model blank version 1, which is untrained: initial weights",
		"near":  "model near version 1: common_neighbors",
	} {
		r, err := g.Predict(ctx, db.PredictOptions{For: 7, Model: name})
		must(t, err)
		if r.AnsweredBy != want {
			t.Errorf("answered by %s, want %s", r.AnsweredBy, want)
		}
	}
}

// A policy that learns nothing answers by its name, and no model can have that name.
func TestHeuristics(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	load(t, g, 40)
	must(t, g.Model("m").Create(ctx, model.Spec{}))
	file := exported(t, g, "m")
	for _, name := range model.Heuristics() {
		r, err := g.Predict(ctx, db.PredictOptions{For: 7, Among: db.Neighbors(2), Model: name, NoCache: true})
		must(t, err)
		if r.Model != name || r.ModelVersion != 0 || r.AnsweredBy != "policy "+name || len(r.Links) == 0 || r.Remark != "" {
			t.Errorf("%s: %+v", name, r)
		}
		_, err = g.Model(name).Import(ctx, bytes.NewReader(file))
		wantError(t, "a model of that name from a file", err, db.ErrInput)
		wantError(t, "a model of that name", g.Model(name).Create(ctx, model.Spec{}), db.ErrInput)
		wantError(t, "an observation", g.Observe(ctx, db.ObserveOptions{Source: 1, Target: 3, Model: name}), db.ErrInput)
		wantError(t, "deploying it", g.Model(name).Deploy(ctx, 0), db.ErrNoModel)
		_, err = g.Predict(ctx, db.PredictOptions{For: 7, Model: name, Version: 1})
		wantError(t, "a version", err, db.ErrNoModel)
		for range 2 { // EvaluateLog needs some rewarded decisions
			d, err := g.Choose(ctx, db.ChooseOptions{For: 7, Model: name})
			must(t, err, g.Reward(ctx, d.ID, 1))
		}
		_, err = g.EvaluateLog(ctx, db.EvaluateLogOptions{Model: name, Estimator: "snips"})
		if err != nil && !strings.Contains(err.Error(), "would have shown none") {
			t.Errorf("%s: %v", name, err)
		}
	}
	answeredBy(t, g, noTrained)
}

// Katz reports when no bound is known, and its answer still marshals to JSON.
func TestKatzWithoutABound(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, inMemory)
	load(t, g, 40)
	r, err := g.Predict(context.Background(), db.PredictOptions{For: 7, Model: "katz", Walk: []db.Option{{Name: "beta", Value: 1}}})
	must(t, err)
	b, err := json.Marshal(r)
	must(t, err)
	if !strings.Contains(r.Remark, "no bound is known") || r.Links[0].Exact || !strings.Contains(string(b), `"error":null,"exact":false`) {
		t.Errorf("%s", b)
	}
}

func sameLinks(t *testing.T, what string, got, want *db.Prediction) {
	t.Helper()
	if fmt.Sprint(got.Links) != fmt.Sprint(want.Links) {
		t.Errorf("%s the links are\n%v\nwant\n%v", what, got.Links, want.Links)
	}
}
