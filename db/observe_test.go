package db_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
)

// teach reports n outcomes to a model, beginning with outcome from.
func teach(t testing.TB, g *db.DB, from, n int) {
	t.Helper()
	for i := from; i < from+n; i++ {
		must(t, g.Observe(context.Background(), db.ObserveOptions{
			Source: i % 40, Target: (i*i + 11) % 40, Reward: float64(i % 3 % 2), Insert: true,
			Among: db.Keys((i+5)%40, (i+9)%40), Model: "m",
		}))
	}
}

// Learning continues after reopening as if the database had not been closed, bit for bit, with any
// policy.
func TestObserveSurvivesAReopen(t *testing.T) {
	t.Parallel()
	slow(t)
	for _, spec := range []model.Spec{{}, {Policy: "prb"}, {Policy: "prb", Preset: "paper"}, {Policy: "common_neighbors"}} {
		paths := []string{place(t), place(t)}
		var last [2]string
		for i, path := range paths {
			g := open(t, path, &db.Options{NoSync: true})
			load(t, g, 40)
			must(t, g.Model("m").Create(context.Background(), spec))
			before := answer(t, g, asked)
			for step := range 3 {
				teach(t, g, 25*step, 25)
				if i == 1 { // the twin that is closed
					must(t, g.Check(context.Background()), g.Close())
					g = open(t, path, &db.Options{NoSync: true})
				}
			}
			last[i] = answer(t, g, asked)
			if last[i] == before {
				t.Errorf("%v: 75 outcomes changed nothing", spec)
			}
			view(t, g, func(tx *db.Tx) error {
				if m, err := tx.Model("m").Info(t.Context()); err != nil || m.Rounds != 75 {
					t.Errorf("%v: %+v, %v", spec, m, err)
				}
				return nil
			})
			must(t, g.Check(context.Background()), g.Close())
		}
		if last[0] != last[1] {
			t.Errorf("%v: kept open\n%s\nreopened\n%s", spec, last[0], last[1])
		}
	}
}

// With the option offers, a model also learns from the candidates of an outcome. That survives
// reopening: first by replay from the log of observations, then from the document that Close wrote.
func TestAmongIsLearned(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, offers := range []string{"on", "off"} {
		var spec model.Spec
		must(t, spec.Set("offers", offers))
		var answers []string
		for _, among := range []db.Candidates{db.Keys(3, 5, 9), {}} {
			path := place(t)
			g := open(t, path, nil)
			load(t, g, 40)
			must(t, g.Model("m").Create(ctx, spec))
			for i := range 6 {
				must(t, g.Observe(ctx, db.ObserveOptions{Source: 7, Target: 11 + i, Model: "m", Reward: float64(i % 2), Among: among}))
			}
			last := answer(t, g, asked)
			must(t, g.Check(ctx), g.Close())
			g = open(t, path, nil)
			if got := answer(t, g, asked); got != last {
				t.Errorf("offers = %s: before\n%s\nreopened\n%s", offers, last, got)
			}
			must(t, g.Check(ctx), g.Close())
			answers = append(answers, last)
		}
		if learned := answers[0] != answers[1]; learned != (offers == "on") {
			t.Errorf("offers = %s: learned %v", offers, learned)
		}
	}
}

// An observation that a model could not learn is rejected before anything is stored.
func TestObserveRefuses(t *testing.T) {
	t.Parallel()
	ctx, path := context.Background(), place(t)
	g := open(t, path, nil)
	load(t, g, 40)
	update(t, g, func(tx *db.Tx) error {
		return errors.Join(tx.SetFeatures(1, []float32{3e38, 1}), tx.SetFeatures(2, []float32{3e38, 1}))
	})
	var spec model.Spec
	must(t, spec.Set("normalize", "none"))
	must(t, g.Model("m").Create(ctx, spec))
	for what, c := range map[string]struct {
		o    db.ObserveOptions
		want error
	}{
		"reward NaN":   {db.ObserveOptions{Source: 1, Target: 3, Model: "m", Reward: math.NaN()}, db.ErrInput},
		"reward Inf":   {db.ObserveOptions{Source: 1, Target: 3, Model: "m", Reward: math.Inf(-1)}, db.ErrInput},
		"large reward": {db.ObserveOptions{Source: 1, Target: 3, Model: "m", Reward: 1e300}, db.ErrInput},
		"source":       {db.ObserveOptions{Source: "x", Target: 3, Model: "m"}, db.ErrNotFound},
		"target":       {db.ObserveOptions{Source: 1, Target: "x", Model: "m"}, db.ErrNotFound},
		"model":        {db.ObserveOptions{Source: 1, Target: 3, Model: "x"}, db.ErrNoModel},
	} {
		wantError(t, what, g.Observe(ctx, c.o), c.want)
	}
	err := g.Observe(ctx, db.ObserveOptions{Source: 1, Target: 2, Model: "m", Reward: 1})
	wantError(t, "features too large to multiply", err, db.ErrInput)
	view(t, g, func(tx *db.Tx) error {
		if m, err := tx.Model("m").Info(ctx); err != nil || m.Rounds != 0 {
			t.Errorf("%+v, %v", m, err)
		}
		return nil
	})
	must(t, g.Check(ctx), g.Close())
	dbtest.Reopen(t, path, nil)
}

// Candidates that teach nothing are not read.
func TestObserveReadsWhatTeaches(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	update(t, g, func(tx *db.Tx) error {
		return errors.Join(
			tx.AddNode(db.Node{Key: db.Str("tea"), Label: "item", Features: []float32{1, 2}}),
			tx.AddNode(db.Node{Key: db.Str("ann"), Label: "user", Features: []float32{1}}),
			tx.PutEdge("ann", "bob"), tx.PutEdge("bob", "tea"),
		)
	})
	must(t, g.Model("m").Create(ctx, model.Spec{FeatureLen: 1}))
	for _, reward := range []float64{0, 1} {
		must(t, g.Observe(ctx, db.ObserveOptions{Source: "ann", Target: "bob", Among: db.Keys("tea"), Model: "m", Reward: reward}))
	}
	err := g.Observe(ctx, db.ObserveOptions{Source: "ann", Target: "tea", Model: "m"})
	wantError(t, "a target with another vector", err, db.ErrInput)
}

// An observation with Insert adds the edge once, only for reward 1, and in the same commit.
func TestObserveInserts(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	update(t, g, func(tx *db.Tx) error { return errors.Join(tx.PutEdge(1, 2, db.Weight(5)), tx.PutEdge(3, 4)) })
	must(t, g.Model("m").Create(ctx, model.Spec{}))
	for _, o := range []db.ObserveOptions{
		{Source: 1, Target: 3, Model: "m", Reward: 1, Insert: true},
		{Source: 1, Target: 4, Reward: 0, Insert: true},
		{Source: 2, Target: 4, Reward: 1},
		{Source: 2, Target: 3, Reward: 0.5, Insert: true},
		{Source: 2, Target: 1, Reward: 1, Insert: true},
	} {
		must(t, g.Observe(ctx, o))
	}
	if got := fmt.Sprint(edges(t, g)); got != "[1-2:5@0 1-3:1@0 3-4:1@0]" {
		t.Errorf("edges %s", got)
	}
	wrong := errors.New("wrong")
	wantError(t, "an update that fails", g.Update(ctx, func(tx *db.Tx) error {
		must(t, tx.Observe(ctx, db.ObserveOptions{Source: 2, Target: 4, Model: "m", Reward: 1, Insert: true}))
		return wrong
	}), wrong)
	view(t, g, func(tx *db.Tx) error {
		m, err := tx.Model("").Info(ctx)
		if s := tx.Stats(); err != nil || m.Rounds != 5 || s.Version != 7 || s.Edges != 3 {
			t.Errorf("%+v, %+v, %v", m, s, err)
		}
		return nil
	})
}
