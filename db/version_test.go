package db_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
)

// retrain makes another version of the model m.
func retrain(t testing.TB, g *db.DB, hold bool) db.ModelInfo {
	t.Helper()
	m, err := g.Model("m").Train(context.Background(), db.TrainOptions{Deploy: deploying(hold), Plan: model.EdgePlan{Samples: 30, Epochs: 1}})
	must(t, err)
	return m.ModelInfo
}

// deploying returns the rule that holds or deploys every version.
func deploying(hold bool) db.DeployRule {
	if hold {
		return db.DeployNever
	}
	return db.DeployAlways
}

// scored returns the rounds and links of an answer by a version of the model m.
func scored(t testing.TB, g *db.DB, version int) string {
	t.Helper()
	p := asked
	p.Model, p.Version = "m", version
	r, err := g.Predict(context.Background(), p)
	must(t, err)
	return fmt.Sprintf("%d rounds: %+v", r.Rounds, r.Links)
}

// listed returns the versions of the model m, as in "1 2* 3". The star marks the deployed one.
func listed(t testing.TB, g *db.DB) string {
	t.Helper()
	var names []string
	view(t, g, func(tx *db.Tx) error {
		all, err := tx.Model("m").Versions(t.Context())
		for _, v := range all {
			name := fmt.Sprint(v.Number)
			if v.Deployed {
				name += "*"
			}
			names = append(names, name)
		}
		return err
	})
	return strings.Join(names, " ")
}

// A version that is not deployed does not change, also after reopening, and continues from its
// state when it is deployed.
func TestVersions(t *testing.T) {
	t.Parallel()
	ctx, path := context.Background(), place(t)
	g := open(t, path, &db.Options{NoSync: true})
	load(t, g, 40)
	must(t, g.Model("m").Create(ctx, model.Spec{}))
	teach(t, g, 0, 20)
	first := scored(t, g, 1)
	if m := retrain(t, g, false); m.Version != 2 || m.Before != 1 {
		t.Errorf("trained %+v", m)
	}
	teach(t, g, 20, 20)
	second := scored(t, g, 0)
	if second == first || scored(t, g, 2) != second {
		t.Error("version 2 answers as version 1 does, or otherwise than when it is not named")
	}
	reopened := func() {
		must(t, g.Check(ctx), g.Close())
		g = open(t, path, &db.Options{NoSync: true})
	}
	for range 2 {
		if got := atThen(t, g, 1, first); got != first {
			t.Errorf("version 1 when 2 was deployed\n%s\nlater\n%s", first, got)
		}
		reopened()
	}
	must(t, g.Model("m").Deploy(ctx, 1), g.Model("m").Deploy(ctx, 1))
	second = scored(t, g, 2)
	teach(t, g, 40, 30)
	if got := scored(t, g, 2); got[:9] != second[:9] {
		t.Errorf("version 2 learned what was observed when 1 was deployed: %.40s, then %.40s", second, got)
	}
	first = scored(t, g, 0)
	reopened()
	if got := scored(t, g, 1); got != first || !strings.HasPrefix(got, "50 rounds") {
		t.Errorf("version 1 went on\n%s\nreopened\n%s", first, got)
	}
	if got := listed(t, g); got != "1* 2" {
		t.Errorf("versions %s", got)
	}
	must(t, g.Check(ctx), g.Close())
}

// atThen returns what a version answers. The graph has grown since, so it compares only the rounds.
func atThen(t testing.TB, g *db.DB, version int, then string) string {
	t.Helper()
	now := scored(t, g, version)
	if rounds, _, _ := strings.Cut(now, ":"); strings.HasPrefix(then, rounds+":") {
		return then
	}
	return now
}

// A version gives the same answer, bit for bit, whether or not it is deployed.
func TestVersionAnswersTheSame(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, policy := range []string{"", "prb"} {
		g := dbtest.Open(t, inMemory)
		load(t, g, 40)
		must(t, g.Model("m").Create(ctx, model.Spec{Policy: policy}))
		retrain(t, g, false)
		second := scored(t, g, 0)
		retrain(t, g, true)
		third := scored(t, g, 3)
		if scored(t, g, 0) != second || listed(t, g) != "1 2* 3" {
			t.Errorf("%q: a version that is held was deployed", policy)
		}
		must(t, g.Model("m").Deploy(ctx, 3))
		if scored(t, g, 0) != third || scored(t, g, 2) != second {
			t.Errorf("%q: deployed, a version answers otherwise", policy)
		}
	}
}

func TestRollbackOfVersions(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	load(t, g, 40)
	must(t, g.Model("m").Create(ctx, model.Spec{}))
	_, err := g.Model("m").Rollback(ctx)
	wantError(t, "a rollback of the first version", err, db.ErrInput)
	for range 3 {
		retrain(t, g, false)
	}
	must(t, g.Model("m").Deploy(ctx, 2))
	for _, want := range []int{4, 3, 2, 1} {
		n, err := g.Model("m").Rollback(ctx)
		must(t, err)
		view(t, g, func(tx *db.Tx) error {
			m, err := tx.Model("m").Info(ctx)
			if n != want || m.Version != want {
				t.Errorf("back to %d, deployed %d, want %d", n, m.Version, want)
			}
			return err
		})
	}
	_, err = g.Model("m").Rollback(ctx)
	wantError(t, "a rollback too many", err, db.ErrInput)
	if m := retrain(t, g, false); m.Version != 5 || m.Before != 1 {
		t.Errorf("trained after a rollback: %+v", m)
	}
	view(t, g, func(tx *db.Tx) error {
		all, err := tx.Model("m").Versions(ctx)
		if last := all[len(all)-1]; last.Parent != 1 || last.From != "edges" || all[0].From != "create" || all[0].Made.IsZero() {
			t.Errorf("%+v", all)
		}
		return err
	})
}

// At most maxVersions versions are kept, including the deployed one and the target of Rollback.
func TestVersionsAreBounded(t *testing.T) {
	t.Parallel()
	notShort(t)
	ctx, path := context.Background(), place(t)
	g := open(t, path, &db.Options{NoSync: true})
	load(t, g, 40)
	must(t, g.Model("m").Create(ctx, model.Spec{}))
	retrain(t, g, false)
	must(t, g.Model("m").Deploy(ctx, 1))
	for range 8 + 2 {
		retrain(t, g, true)
	}
	if got, want := listed(t, g), "1* 2 7 8 9 10 11 12"; got != want {
		t.Errorf("kept %s, want %s", got, want)
	}
	_, err := g.Predict(ctx, db.PredictOptions{For: 7, Model: "m", Version: 3})
	wantError(t, "a version that is not kept", err, db.ErrNoModel)
	wantError(t, "to deploy it", g.Model("m").Deploy(ctx, 3), db.ErrNoModel)
	must(t, g.Check(ctx), g.Close())
	g = dbtest.Reopen(t, path, &db.Options{NoSync: true})
	if n, err := g.Model("m").Rollback(ctx); err != nil || n != 2 {
		t.Errorf("back to %d, %v", n, err)
	}
	for i := range 100 {
		must(t, g.Model("m").Deploy(ctx, 11+i%2))
	}
	if got, want := listed(t, g), "1 2 7 8 9 10 11 12*"; got != want {
		t.Errorf("kept %s, want %s", got, want)
	}
}

// Observations made while a model is frozen are never learned, with or without a kill.
func TestFreeze(t *testing.T) {
	t.Parallel()
	ctx, path := context.Background(), place(t)
	g := open(t, path, &db.Options{NoSync: true})
	load(t, g, 40)
	must(t, g.Model("m").Create(ctx, model.Spec{}))
	teach(t, g, 0, 10)
	d, err := g.Choose(ctx, db.ChooseOptions{For: 3, Among: db.Keys(5, 6, 7), Model: "m"})
	must(t, err, g.Model("m").Freeze(ctx), g.Model("m").Freeze(ctx))
	teach(t, g, 10, 10)
	must(t, g.Reward(ctx, d.ID, 1))
	check := func(frozen bool, rounds int) {
		t.Helper()
		view(t, g, func(tx *db.Tx) error {
			m, err := tx.Model("m").Info(ctx)
			if m.Frozen != frozen || m.Rounds != rounds {
				t.Errorf("frozen %v, %d rounds; want %v, %d", m.Frozen, m.Rounds, frozen, rounds)
			}
			return err
		})
	}
	check(true, 10)
	if m := retrain(t, g, false); !m.Frozen || m.Rounds != 10 {
		t.Errorf("trained %+v", m)
	}
	must(t, g.Check(ctx), g.Close())
	g = open(t, path, &db.Options{NoSync: true})
	check(true, 10)
	must(t, g.Model("m").Thaw(ctx))
	teach(t, g, 20, 5)
	check(false, 15)
	want := scored(t, g, 0)
	must(t, g.Check(ctx), g.Close())
	g = dbtest.Reopen(t, path, &db.Options{NoSync: true})
	if got := scored(t, g, 0); got != want {
		t.Errorf("thawed\n%s\nreopened\n%s", want, got)
	}
}

// A training that runs when a model is frozen learns only the observations made before that.
func TestFreezeDuringTraining(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	load(t, g, 40)
	must(t, g.Model("m").Create(ctx, model.Spec{}))
	told := false
	info, err := g.Model("m").Train(ctx, db.TrainOptions{Plan: model.EdgePlan{Samples: 60, Epochs: 1, Progress: during(func() {
		if !told {
			told = true
			teach(t, g, 0, 3)
			must(t, g.Model("m").Freeze(ctx))
			teach(t, g, 3, 5)
		}
	})}})
	must(t, err)
	if info.Rounds != 3 || !info.Frozen {
		t.Errorf("trained %+v", info)
	}
}

func TestVersionsOfNone(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	load(t, g, 10)
	_, rolled := g.Model("m").Rollback(ctx)
	_, predicted := g.Predict(ctx, db.PredictOptions{For: 1, Version: 2})
	for what, err := range map[string]error{
		"a deployment": g.Model("m").Deploy(ctx, 1), "a rollback": rolled, "a freeze": g.Model("m").Freeze(ctx), "a prediction": predicted,
		"a list": g.View(ctx, func(tx *db.Tx) error { _, err := tx.Model("m").Versions(ctx); return err }),
	} {
		wantError(t, what+" without a model", err, db.ErrNoModel)
	}
	readOnly := place(t)
	must(t, open(t, readOnly, nil).Close())
	g = dbtest.Reopen(t, readOnly, &db.Options{ReadOnly: true})
	wantError(t, "a deployment where nothing is written", g.Model("m").Deploy(ctx, 1), db.ErrReadOnly)
}

// The memory of recently used versions is bounded and counted.
func TestVersionsAskedFor(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	load(t, g, 40)
	var spec model.Spec
	spec.Policy = "prb"
	must(t, spec.Set("width", 128), g.Model("m").Create(ctx, spec))
	for range 8 {
		retrain(t, g, true)
	}
	stats := func() (n int64) {
		view(t, g, func(tx *db.Tx) error { n = tx.Stats().ModelBytes; return nil })
		return n
	}
	deployed, answers := stats(), []string{}
	for v := 3; v <= 9; v++ {
		answers = append(answers, scored(t, g, v))
	}
	if more := stats() - deployed; more <= 0 || more > 2<<20 {
		t.Errorf("%d bytes of versions are kept in memory", more)
	}
	for v := 9; v >= 3; v-- {
		if scored(t, g, v) != answers[v-3] {
			t.Errorf("version %d answers otherwise the second time", v)
		}
	}
}

// The reward of a decision that one version made teaches the version that is deployed when the
// reward comes.
func TestRewardOfAnotherVersion(t *testing.T) {
	t.Parallel()
	ctx, now := context.Background(), time.Unix(1_700_000_000, 0)
	g := dbtest.Open(t, &db.Options{InMemory: true, Now: func() time.Time { return now }})
	load(t, g, 40)
	must(t, g.Model("m").Create(ctx, model.Spec{}))
	retrain(t, g, false)
	d, err := g.Choose(ctx, db.ChooseOptions{For: 3, Among: db.Keys(5, 6, 7), Model: "m"})
	must(t, err)
	late, err := g.Choose(ctx, db.ChooseOptions{For: 3, Among: db.Keys(5, 6, 7), Model: "m"})
	must(t, err, g.Model("m").Deploy(ctx, 1), g.Reward(ctx, d.ID, 1))
	if got := scored(t, g, 0); !strings.HasPrefix(got, "1 rounds") {
		t.Errorf("version 1 has learned %.10s", got)
	}
	must(t, g.Model("m").Drop(ctx), g.Model("m").Create(ctx, model.Spec{}))
	must(t, g.Reward(ctx, late.ID, 1))
	if got := scored(t, g, 0); !strings.HasPrefix(got, "0 rounds") {
		t.Errorf("another model of the name has learned %.10s", got)
	}
	view(t, g, func(tx *db.Tx) error {
		all, err := tx.Model("m").Versions(ctx)
		if len(all) != 1 || !all[0].Made.Equal(now) {
			t.Errorf("%+v", all)
		}
		return err
	})
}

// Versions are created and deleted while others ask them, and Check succeeds at any time.
func TestVersionsWhileAsked(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	load(t, g, 20)
	must(t, g.Model("m").Create(ctx, model.Spec{}))
	retrain(t, g, true)
	done := make(chan error)
	go func() {
		var err error
		for i := range 60 {
			_, back := g.Model("m").Rollback(ctx)
			if errors.Is(back, db.ErrInput) {
				back = nil
			}
			err = errors.Join(err, back, g.Model("m").Deploy(ctx, 1+i%2), freeze(g.Model("m"), i%3 == 0),
				g.Observe(ctx, db.ObserveOptions{Source: 1, Target: 5, Model: "m", Reward: 1}))
		}
		done <- err
	}()
	var errs []error
	for i := 0; ; i++ {
		select {
		case err := <-done:
			must(t, slices.Concat(errs, []error{err})...)
			return
		default:
			_, err := g.Predict(ctx, db.PredictOptions{For: 3, Model: "m", Version: 1 + i%2})
			errs = append(errs, err, g.Check(ctx))
		}
	}
}

// freeze stops a model from learning or lets it learn again.
func freeze(m *db.Model, on bool) error {
	if on {
		return m.Freeze(context.Background())
	}
	return m.Thaw(context.Background())
}
