package db_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
)

// during returns the progress of a training that calls f whenever it has come further.
func during(f func()) *model.Meter {
	return model.NewMeter(time.Now, func(model.Progress) { f() })
}

// asked is a prediction that shows what a model has learned.
var asked = db.PredictOptions{For: 7, Among: db.Neighbors(2), NoCache: true, Top: -1}

func TestModels(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	load(t, g, 40)
	must(t, g.Model("first").Create(ctx, model.Spec{}), g.Model("second").Create(ctx, model.Spec{Policy: "prb", Preset: "paper"}))
	wantError(t, "a name twice", g.Model("first").Create(ctx, model.Spec{}), db.ErrExists)
	for _, name := range []string{"", "a\x00", "\xff", strings.Repeat("x", 200)} {
		wantError(t, "a bad name", g.Model(name).Create(ctx, model.Spec{}), db.ErrInput)
	}
	wantError(t, "a bad policy", g.Model("third").Create(ctx, model.Spec{Policy: "none"}), db.ErrInput)
	wantError(t, "dropping what is not there", g.Model("third").Drop(ctx), db.ErrNoModel)
	_, err := g.Model("third").Train(ctx, db.TrainOptions{})
	wantError(t, "training what is not there", err, db.ErrNoModel)
	must(t, g.Check(ctx), g.Model("first").Drop(ctx))
	view(t, g, func(tx *db.Tx) error {
		all := tx.Models()
		if len(all) != 1 || all[0].Name != "second" || all[0].Policy != "prb" || len(all[0].Options) == 0 || tx.Stats().Models != 1 {
			t.Errorf("models %+v", all)
		}
		_, err := tx.Model("first").Info(ctx)
		wantError(t, "a dropped model", err, db.ErrNoModel)
		return nil
	})
}

// An option that a policy does not use is rejected.
func TestUnusedOption(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	for policy, option := range map[string]string{"": "width", "prb": "nu", "common_neighbors": "nu"} {
		spec := model.Spec{Policy: policy}
		must(t, spec.Set(option, 1))
		if err := g.Model("m").Create(context.Background(), spec); !errors.Is(err, db.ErrInput) || !strings.Contains(err.Error(), "no use for "+option) {
			t.Errorf("policy %q, %s: %v", policy, option, err)
		}
	}
}

// A model that is dropped and created again has learned nothing.
func TestModelMadeAgain(t *testing.T) {
	t.Parallel()
	ctx, path := context.Background(), place(t)
	g := open(t, path, nil)
	load(t, g, 40)
	must(t, g.Model("m").Create(ctx, model.Spec{}))
	teach(t, g, 0, 10)
	must(t, g.Model("m").Drop(ctx), g.Model("m").Create(ctx, model.Spec{}))
	view(t, g, func(tx *db.Tx) error {
		if m, err := tx.Model("m").Info(ctx); err != nil || m.Rounds != 0 || m.Trained {
			t.Errorf("%+v, %v", m, err)
		}
		return nil
	})
	must(t, g.Close())
	g = dbtest.Reopen(t, path, nil)
	view(t, g, func(tx *db.Tx) error {
		if m, err := tx.Model("m").Info(ctx); err != nil || m.Rounds != 0 {
			t.Errorf("after a reopen %+v, %v", m, err)
		}
		return nil
	})
}

// The same seed gives the same bits; another seed gives others.
func TestSeed(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	var got []string
	for _, seed := range []uint64{1, 1, 2} {
		g := dbtest.Open(t, &db.Options{InMemory: true, Seed: seed})
		load(t, g, 40)
		must(t, g.Model("m").Create(ctx, model.Spec{Policy: "prb"}))
		teach(t, g, 0, 60)
		_, err := g.Model("m").Train(ctx, db.TrainOptions{Plan: model.EdgePlan{Samples: 50, Epochs: 1}})
		must(t, err)
		got = append(got, answer(t, g, asked))
	}
	if got[0] != got[1] {
		t.Error("the same seed gave two answers")
	}
	if got[0] == got[2] {
		t.Error("two seeds gave the same answer")
	}
}

// A training runs concurrently with writers and readers, and loses no observations made meanwhile.
func TestTrainBesideObserve(t *testing.T) {
	t.Parallel()
	ctx, path := context.Background(), place(t)
	g := open(t, path, &db.Options{NoSync: true})
	load(t, g, 40)
	must(t, g.Model("m").Create(ctx, model.Spec{}))
	teach(t, g, 0, 20)
	started, told := make(chan bool), false
	trained := make(chan error)
	go func() {
		info, err := g.Model("m").Train(ctx, db.TrainOptions{Plan: model.EdgePlan{Samples: 60, Epochs: 2, Progress: during(func() {
			if !told {
				told = true
				started <- true
				<-started
			}
		})}})
		if err == nil && (info.Version != 2 || info.Rounds != 50 || !info.Trained) {
			err = fmt.Errorf("trained %+v", info)
		}
		trained <- err
	}()
	<-started
	teach(t, g, 20, 30)
	_, err := g.Model("m").Train(ctx, db.TrainOptions{Log: true})
	must(t, err)
	started <- true
	wantError(t, "a training that another one has overtaken", <-trained, db.ErrNoModel)
	view(t, g, func(tx *db.Tx) error {
		if m, err := tx.Model("m").Info(ctx); err != nil || m.Version != 2 || m.Rounds != 50 {
			t.Errorf("%+v, %v", m, err)
		}
		return nil
	})
	want := answer(t, g, asked)
	must(t, g.Check(ctx), g.Close())
	g = dbtest.Reopen(t, path, nil)
	if got := answer(t, g, asked); got != want {
		t.Errorf("trained\n%s\nreopened\n%s", want, got)
	}
}

// The result of a training has learned the observations made during the training.
func TestTrainCatchesUp(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	load(t, g, 40)
	must(t, g.Model("m").Create(ctx, model.Spec{}))
	teach(t, g, 0, 20)
	told := false
	info, err := g.Model("m").Train(ctx, db.TrainOptions{Plan: model.EdgePlan{Samples: 60, Epochs: 1, Progress: during(func() {
		if !told {
			told = true
			teach(t, g, 20, 30)
		}
	})}})
	must(t, err)
	if !told || info.Version != 2 || info.Rounds != 50 {
		t.Errorf("told %v, %+v", told, info)
	}
	_, err = g.Model("m").Train(ctx, db.TrainOptions{Plan: model.EdgePlan{Samples: -1}})
	wantError(t, "a bad plan", err, db.ErrInput)
	late, cancel := context.WithCancel(ctx)
	_, err = g.Model("m").Train(late, db.TrainOptions{Plan: model.EdgePlan{Progress: during(func() { cancel() })}})
	wantError(t, "a training that is cancelled", err, context.Canceled)
	must(t, g.Model("fixed").Create(ctx, model.Spec{Policy: "common_neighbors"}))
	_, err = g.Model("fixed").Train(ctx, db.TrainOptions{})
	wantError(t, "a policy that does not learn", err, db.ErrInput)
}

// Check succeeds at any time while models are created and dropped.
func TestCheckWhileModelsChange(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	load(t, g, 10)
	done := make(chan error)
	go func() {
		var err error
		for range 100 {
			err = errors.Join(err, g.Model("m").Create(ctx, model.Spec{}), g.Model("m").Drop(ctx))
		}
		done <- err
	}()
	for {
		select {
		case err := <-done:
			must(t, err)
			return
		default:
			must(t, g.Check(ctx))
		}
	}
}

// A model is made for the longest vectors and accepts shorter ones. Longer ones are an error that
// names the node by its key.
func TestVectorsOfAnotherLength(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	update(t, g, func(tx *db.Tx) error {
		return errors.Join(
			tx.AddNode(db.Node{Key: db.Str("ann"), Label: "user", Features: []float32{1, 2, 3}}),
			tx.AddNode(db.Node{Key: db.Str("tea"), Label: "item", Features: []float32{1, 2}}),
			tx.PutEdge("ann", "bob"), tx.PutEdge("bob", "tea"),
		)
	})
	must(t, g.Model("any").Create(ctx, model.Spec{}), g.Observe(ctx, db.ObserveOptions{Source: "ann", Target: "tea", Model: "any"}))
	if _, err := g.Predict(ctx, db.PredictOptions{For: "tea"}); err != nil {
		t.Error(err)
	}
	must(t, g.Model("m").Create(ctx, model.Spec{FeatureLen: 2}))
	_, predicted := g.Predict(ctx, db.PredictOptions{For: "ann", Model: "m"})
	_, trained := g.Model("m").Train(ctx, db.TrainOptions{})
	for what, err := range map[string]error{
		"a prediction": predicted, "a training": trained, "an observation": g.Observe(ctx, db.ObserveOptions{Source: "ann", Target: "tea", Model: "m"}),
	} {
		wantError(t, what, err, db.ErrInput)
		if !strings.Contains(err.Error(), "node 'ann' has 3 features, the model wants 2") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A training does not change a new model that took the name of the model in training.
func TestTrainOfANameTakenAgain(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	load(t, g, 40)
	must(t, g.Model("m").Create(ctx, model.Spec{}))
	told := false
	_, err := g.Model("m").Train(ctx, db.TrainOptions{Plan: model.EdgePlan{Samples: 60, Epochs: 1, Progress: during(func() {
		if !told {
			told = true
			must(t, g.Model("m").Drop(ctx), g.Model("m").Create(ctx, model.Spec{Policy: "ppr"}))
		}
	})}})
	wantError(t, "a model that was dropped meanwhile", err, db.ErrNoModel)
	view(t, g, func(tx *db.Tx) error {
		m, err := tx.Model("m").Info(ctx)
		if m.Policy != "ppr" || m.Version != 1 {
			t.Errorf("%+v", m)
		}
		return err
	})
}

// A model that is larger than a commit can be stored, and old documents do not pile up.
func TestLargeModel(t *testing.T) {
	t.Parallel()
	slow(t)
	ctx, path := context.Background(), place(t)
	o := &db.Options{Memory: 64 << 20, NoSync: true}
	g := open(t, path, o)
	features := make([]float32, 2000)
	for i := range features {
		features[i] = float32(i % 7)
	}
	update(t, g, func(tx *db.Tx) error {
		return errors.Join(tx.PutEdge(1, 2), tx.PutEdge(2, 3), tx.SetFeatures(1, features), tx.SetFeatures(3, features))
	})
	must(t, g.Model("m").Create(ctx, model.Spec{Policy: "prb"}))
	for i := range 5 {
		must(t, g.Observe(ctx, db.ObserveOptions{Source: 1, Target: 3, Model: "m", Reward: float64(i % 2)}))
	}
	p := db.PredictOptions{For: 1, NoCache: true}
	want := answer(t, g, p)
	view(t, g, func(tx *db.Tx) error {
		if m, err := tx.Model("m").Info(ctx); err != nil || m.Bytes < 3<<19 {
			t.Errorf("%d bytes, want more than fit into a commit: %v", m.Bytes, err)
		}
		return nil
	})
	for range 3 {
		must(t, g.Check(ctx), g.Close())
		g = open(t, path, o)
		if got := answer(t, g, p); got != want {
			t.Fatalf("%s\nafter a reopen\n%s", want, got)
		}
		must(t, g.Observe(ctx, db.ObserveOptions{Source: 1, Target: 3, Model: "m", Reward: 1}))
		want = answer(t, g, p)
	}
	must(t, g.Close())
}

// A model that was created before the first commit and never observed anything survives reopening.
func TestFirstModelIsStored(t *testing.T) {
	t.Parallel()
	ctx, path := context.Background(), place(t)
	g := open(t, path, nil)
	must(t, g.Model("early").Create(ctx, model.Spec{Policy: "prb"}), g.Check(ctx), g.Close())
	g = dbtest.Reopen(t, path, nil)
	view(t, g, func(tx *db.Tx) error {
		_, err := tx.Model("early").Info(ctx)
		return err
	})
}
