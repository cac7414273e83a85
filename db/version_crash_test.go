package db_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"kith/db"
	"kith/model"
)

// versionStep executes step i on the versions of a model. Each step is one commit or none.
func versionStep(g *db.DB, i int) error {
	ctx := context.Background()
	switch {
	case i == 0:
		_, err := g.Load(ctx, strings.NewReader(wheel(40)), db.LoadOptions{})
		return err
	case i == 1:
		return g.Model("m").Create(ctx, model.Spec{})
	case i%31 == 3:
		return unless(db.ErrExists, g.Model("n").Create(ctx, model.Spec{}))
	case i%31 == 30:
		return unless(db.ErrNoModel, g.Model("n").Drop(ctx))
	case i%10 == 9:
		return unless(db.ErrNoModel, g.Model([]string{"m", "n"}[i/10%2]).Deploy(ctx, 0))
	case i%10 == 5:
		return unless(db.ErrNoModel, g.Observe(ctx, db.ObserveOptions{Source: i % 40, Target: 9, Model: "n", Reward: 1}))
	case i%7 == 2:
		t := db.TrainOptions{Log: i%2 == 1, Deploy: deploying(i%3 == 0), Plan: model.EdgePlan{Samples: 20, Epochs: 1}}
		_, err := g.Model("m").Train(ctx, t)
		return err
	case i%7 == 4:
		_, err := g.Model("m").Rollback(ctx)
		return unless(db.ErrInput, err)
	case i%11 == 6:
		return freeze(g.Model("m"), i%2 == 0)
	case i%13 == 7:
		return g.View(ctx, func(tx *db.Tx) error {
			all, err := tx.Model("m").Versions(ctx)
			if err != nil {
				return err
			}
			return g.Model("m").Deploy(ctx, all[i%len(all)].Number)
		})
	}
	return g.Observe(ctx, db.ObserveOptions{Source: i % 40, Target: (7 * i) % 40, Model: "m", Reward: float64(i % 2), Among: db.Keys(3, 5)})
}

// unless returns err unless it is the expected error.
func unless(expected, err error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

// versionState returns everything about a model's versions: their properties, their answers, and
// which model answers requests without a name.
func versionState(g *db.DB) (s string, err error) {
	ctx := context.Background()
	err = g.View(ctx, func(tx *db.Tx) error {
		s = fmt.Sprint(tx.Counts())
		all, err := tx.Model("m").Versions(ctx)
		if errors.Is(err, db.ErrNoModel) {
			return nil
		}
		m, _ := tx.Model("m").Info(ctx)
		unnamed, err := tx.Predict(ctx, db.PredictOptions{For: 7, Among: db.Keys(1, 2, 9), NoCache: true})
		if err != nil {
			return err
		}
		s += fmt.Sprint(" ", m.Version, m.Before, m.Frozen, m.Rounds, unnamed.AnsweredBy, unnamed.Links)
		for _, v := range all {
			r, err := tx.Predict(ctx, db.PredictOptions{For: 7, Among: db.Keys(1, 2, 9), Model: "m", Version: v.Number, NoCache: true})
			if err != nil {
				return err
			}
			s += fmt.Sprintf("\n%d %s %d %v %d %v", v.Number, v.From, v.Parent, v.Trained, v.Rounds, r.Links)
		}
		return err
	})
	return s, err
}

// crashOfVersions continues the steps from the number at the end of arg, prints the number of each
// finished step, and does not end by itself.
func crashOfVersions(arg string) error {
	path, from, _ := strings.Cut(arg, "@")
	i, err := strconv.Atoi(from)
	if err != nil {
		return err
	}
	g, err := db.Open(path, &db.Options{Memory: 64 << 20})
	for ; err == nil; i++ {
		if err = versionStep(g, i); err == nil {
			_, err = fmt.Println(i)
		}
	}
	return err
}

// The versions of a model, which one is deployed, which model answers, and outcomes not learned
// because of a freeze survive kills.
func TestCrashOfVersions(t *testing.T) {
	t.Parallel()
	notShort(t)
	kills := size(2, 4, 20) * *times
	path, done := place(t), 0
	twin := open(t, "", &db.Options{InMemory: true, Memory: 64 << 20})
	defer func() { must(t, twin.Close()) }()
	before, err := versionState(twin)
	must(t, err)
	rng := rand.New(rand.NewPCG(9, 1))
	for kill := range kills {
		cmd := child(t, "versions", fmt.Sprintf("%s@%d", path, done))
		out, err := cmd.StdoutPipe()
		must(t, err, cmd.Start())
		acknowledged, lines, after := done, bufio.NewScanner(out), 5+rng.IntN(25)
		for lines.Scan() {
			acknowledged++
			if after--; after == 0 {
				must(t, cmd.Process.Kill())
			}
		}
		_ = cmd.Wait() // it was killed
		for ; done < acknowledged; done++ {
			must(t, versionStep(twin, done))
			before, err = versionState(twin)
			must(t, err)
		}
		g := open(t, path, &db.Options{Memory: 64 << 20})
		got, err := versionState(g)
		must(t, err, g.Check(context.Background()), g.Close())
		if got == before {
			continue
		}
		must(t, versionStep(twin, done)) // the step that was in progress
		done++
		if before, err = versionState(twin); err != nil || got != before {
			t.Fatalf("kill %d, after %d steps:\n%s\nthe twin:\n%s\n%v", kill, acknowledged, got, before, err)
		}
	}
	t.Logf("%d steps, %d kills", done, kills)
}
