package db_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
)

// fashions returns a list of events in which ten sources link to three targets that change every
// hundred events.
func fashions(events int) string {
	rng := rand.New(rand.NewPCG(2, 2))
	var b strings.Builder
	for i := range events {
		fmt.Fprintln(&b, rng.IntN(40), 1000+3*(i/100)+rng.IntN(3), 5000+10*i)
	}
	return b.String()
}

// timedGraph returns a graph of fashions with a model.
func timedGraph(t *testing.T, path string, events int) *db.DB {
	t.Helper()
	g := dbtest.Reopen(t, path, &db.Options{InMemory: path == "", Direction: db.Directed})
	o := db.LoadOptions{Repeats: db.SumWeights}
	if err := o.SetColumns("src,dst,time"); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Load(context.Background(), strings.NewReader(fashions(events)), o); err != nil {
		t.Fatal(err)
	}
	if err := g.Model("m").Create(context.Background(), db.ModelSpec{}); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Model("m").Train(context.Background(), db.TrainOptions{Deploy: db.DeployAlways}); err != nil {
		t.Fatal(err)
	}
	return g
}

// After a training, the targets in fashion rank first, now and at any given time, and the same
// after reopening.
func TestPredictAt(t *testing.T) {
	t.Parallel()
	notShort(t)
	path := t.TempDir() + "/t.kith"
	events := size(0, 750, 1550)
	newest, last := 1000+3*((events-1)/100), int64(5000+10*(events-1)) // the first of the three targets in fashion
	g := timedGraph(t, path, events)
	ask := func(g *db.DB, at time.Time) *db.Prediction {
		t.Helper()
		var targets []any
		for k := range newest + 3 - 1000 {
			targets = append(targets, 1000+k)
		}
		r, err := g.Predict(context.Background(), db.PredictOptions{For: 7, Among: db.Keys(targets...), At: at, Top: -1})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	now := ask(g, time.Time{})
	for _, l := range now.Links[:3] {
		if k, _ := l.Target.Int(); int(k) < newest {
			t.Errorf("%v comes first, which is out of fashion: %v", l.Target, now.Links[:3])
		}
	}
	same := ask(g, time.Unix(last+1, 0))
	if fmt.Sprint(same.Links) != fmt.Sprint(now.Links) {
		t.Errorf("the second after the newest edge: %v, want %v", same.Links[:3], now.Links[:3])
	}
	if later := ask(g, time.Unix(9e8, 0)); fmt.Sprint(later.Links) == fmt.Sprint(now.Links) {
		t.Error("years later the answer is the same")
	}
	newcomer := func(at time.Time) string {
		r, err := g.Predict(context.Background(), db.PredictOptions{For: 999, Among: db.Keys(1000, newest+2), At: at})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(r.Links)
	}
	if err := g.Update(context.Background(), func(tx *db.Tx) error { return tx.PutNode(db.Node{Key: db.Int(999)}) }); err != nil {
		t.Fatal(err)
	}
	if newcomer(time.Time{}) == newcomer(time.Unix(last+1, 0)) {
		t.Error("a node without edges is asked about at a time, though none is given")
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	again := dbtest.Reopen(t, path, nil)
	if r := ask(again, time.Time{}); fmt.Sprint(r.Links) != fmt.Sprint(now.Links) {
		t.Errorf("after a restart: %v, want %v", r.Links[:3], now.Links[:3])
	}
}

// meanRank asks a contender for the links after a time, among all nodes, and returns the mean
// reciprocal rank.
func meanRank(t *testing.T, g *db.DB, h db.EvaluateOptions, options map[string]any) float64 {
	t.Helper()
	spec := db.ModelSpec{Seed: 1}
	for name, value := range options {
		must(t, spec.Set(name, value))
	}
	of, _ := heldOut(t, g, h, db.Contender{Spec: &spec})
	return of.Results[0].MRR
}

// Times improve the prediction of future links.
func TestHoldoutAfterKnowsTimes(t *testing.T) {
	t.Parallel()
	slow(t)
	g := timedGraph(t, "", 2050)
	h := db.EvaluateOptions{After: time.Unix(5000+10*1990, 0), Among: []db.Candidates{db.All()}}
	with := meanRank(t, g, h, nil)
	without := meanRank(t, g, h, map[string]any{"blocks": "vectors topology structural"})
	if !(with > 1.2*without) {
		t.Errorf("mean reciprocal rank %v with times, %v without", with, without)
	}
}

// Links of the months after a time, none of which existed before, are found from times alone about
// as well as from the graph.
func TestHoldoutAfterOnCollegeMsg(t *testing.T) {
	t.Parallel()
	slow(t)
	f := shared(t, "snap/CollegeMsg.txt.gz")
	g := dbtest.Open(t, &db.Options{InMemory: true, Direction: db.Directed})
	o := db.LoadOptions{Repeats: db.SumWeights}
	if err := o.SetColumns("src,dst,time"); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Load(context.Background(), f, o); err != nil {
		t.Fatal(err)
	}
	h := db.EvaluateOptions{After: time.Unix(1087000000, 0), Among: []db.Candidates{db.All()}, Sample: 300, Seed: 1}
	with := meanRank(t, g, h, nil)
	without := meanRank(t, g, h, map[string]any{"blocks": "vectors topology structural"})
	t.Logf("mean reciprocal rank %v with times, %v without", with, without)
	if !(with > 0.9*without) {
		t.Errorf("mean reciprocal rank %v with times, %v without", with, without)
	}
}

// visits returns lists of the links of users to items, with and without their times, and the last
// link of each user, which the lists lack. A user has a taste, which is his number modulo 4, and
// links for a tenth of the time. Items are in fashion for a while.
func visits(users int) (timed, untimed string, last map[int]int) {
	const items, span = 120, 100000
	rng := rand.New(rand.NewPCG(6, 6))
	var with, without strings.Builder
	last = map[int]int{}
	for u := range users {
		begin, seen := rng.IntN(span*9/10), map[int]bool{}
		for k := range 14 {
			at := begin + (k*span/10+rng.IntN(span/10))/14
			item := (at*items/span + rng.IntN(48)) % items
			if item += (u - item) % 4; item < 0 || k < 13 && seen[item] {
				continue
			}
			if k == 13 {
				if !seen[item] {
					last[u] = 1000 + item
				}
				continue
			}
			seen[item] = true
			fmt.Fprintln(&with, u, 1000+item, 1000000+at)
			fmt.Fprintln(&without, u, 1000+item)
		}
	}
	return with.String(), without.String(), last
}

// Asked now, long after most users came for the last time, a graph with times ranks the hidden
// links at least as well as the same graph without.
func TestTimesDoNotHurt(t *testing.T) {
	t.Parallel()
	notShort(t)
	ctx := context.Background()
	timed, untimed, last := visits(150)
	ask := func(list, columns string) (mrr float64) {
		g := dbtest.Open(t, &db.Options{InMemory: true})
		o := db.LoadOptions{}
		must(t, o.SetColumns(columns))
		_, err := g.Load(ctx, strings.NewReader(list), o)
		must(t, err, g.Model("m").Create(ctx, db.ModelSpec{}))
		_, err = g.Model("m").Train(ctx, db.TrainOptions{Deploy: db.DeployAlways, Plan: model.EdgePlan{Samples: 300, Epochs: 3}})
		must(t, err)
		view(t, g, func(tx *db.Tx) error {
			for _, u := range slices.Sorted(maps.Keys(last)) {
				r, err := tx.Predict(ctx, db.PredictOptions{For: u, Among: db.Neighbors(3), Top: -1})
				must(t, err)
				for _, l := range r.Links {
					if k, _ := l.Target.Int(); int(k) == last[u] {
						mrr += 1 / float64(l.Rank) / float64(len(last))
					}
				}
			}
			return nil
		})
		return mrr
	}
	with, without := ask(timed, "src,dst,time"), ask(untimed, "src,dst")
	t.Logf("mean reciprocal rank of %d links: %.4f with times, %.4f without", len(last), with, without)
	if with < without {
		t.Errorf("mean reciprocal rank %.4f with times, %.4f without", with, without)
	}
}
