package db

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"kith/db/internal/record"
	"kith/model"
)

// isLong reports whether -long, a flag of the other tests of this folder, is given.
func isLong() bool { return flag.Lookup("long").Value.String() == "true" }

// slowInternal skips a test that takes longer unless -long is given.
func slowInternal(t *testing.T) {
	t.Helper()
	if !isLong() {
		t.Skip("slow: run with -long")
	}
}

// circles returns n random edges inside groups of 30 among 300 nodes.
func circles(rng *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		club := rng.IntN(10)
		fmt.Fprintf(&b, "%d %d\n", 30*club+rng.IntN(30), 30*club+rng.IntN(30))
	}
	return b.String()
}

// insertion returns a function that adds random edges.
func insertion(t *testing.T, g *DB, rng *rand.Rand) func(n int) {
	return func(n int) {
		t.Helper()
		must(t, g.Update(context.Background(), func(tx *Tx) error {
			for range n {
				must(t, tx.PutEdge(int(rng.Int64()), int(rng.Int64())))
			}
			return nil
		}))
	}
}

// dueCheck returns a function that compares the model that is due.
func dueCheck(t *testing.T, g *DB) func(want string) {
	return func(want string) {
		t.Helper()
		if got := g.refreshDue(g.now.Load()); got != want {
			t.Errorf("due: %q, want %q", got, want)
		}
	}
}

// untrained returns a database of 2000 edges whose model default answers, was never trained, and is
// being trained in the background.
func untrained(t *testing.T) *DB {
	t.Helper()
	ctx := context.Background()
	g, err := Open("", &Options{InMemory: true, Memory: 64 << 20})
	must(t, err)
	t.Cleanup(func() { must(t, g.Close()) })
	_, err = g.Load(ctx, strings.NewReader(circles(rand.New(rand.NewPCG(2, 1)), 2000)), LoadOptions{})
	must(t, err, g.Observe(ctx, ObserveOptions{Source: 1, Target: 2, Reward: 1}))
	return g
}

// A model is trained again when a tenth of the edges, and at least a thousand, have changed since
// it was trained. It is not trained again while it is frozen, nor before another tenth has changed
// after an attempt.
func TestRefreshDue(t *testing.T) {
	t.Parallel()
	ctx, rng := context.Background(), rand.New(rand.NewPCG(1, 1))
	g, err := Open("", &Options{InMemory: true, NoRefresh: true})
	must(t, err)
	defer g.Close()
	insert, due := insertion(t, g, rng), dueCheck(t, g)
	_, err = g.Load(ctx, strings.NewReader(circles(rng, 2000)), LoadOptions{})
	must(t, err, g.Model("new").Create(ctx, model.Spec{Policy: "prb_greedy"}), g.Model("m").Create(ctx, model.Spec{Policy: "prb_greedy"}))
	_, err = g.Model("m").Train(ctx, TrainOptions{})
	must(t, err)
	due("")
	insert(999)
	due("")
	insert(1)
	due("m")
	must(t, g.Model("m").Freeze(ctx))
	due("")
	must(t, g.Model("m").Thaw(ctx))
	due("m")
	s := g.now.Load()
	g.refreshed["m"] = record.Version{Number: s.models["m"].Version, Graph: s.Meta.Version, Edges: s.Meta.Edges}
	due("")
	insert(1000)
	due("m")
	_, err = g.Model("m").Rollback(ctx) // to the version that was created
	must(t, err)
	due("")
}

// The model default is trained once the graph has a thousand edges, but not another one that does
// not answer, and not again after an attempt.
func TestFirstTrainingDue(t *testing.T) {
	t.Parallel()
	ctx, rng := context.Background(), rand.New(rand.NewPCG(3, 1))
	g, err := Open("", &Options{InMemory: true, NoRefresh: true})
	must(t, err)
	defer g.Close()
	insert, due := insertion(t, g, rng), dueCheck(t, g)
	insert(999)
	must(t, g.Model("a").Create(ctx, model.Spec{}), g.Model("default").Create(ctx, model.Spec{}))
	due("")
	insert(1)
	due("default")
	must(t, g.Model("default").Freeze(ctx))
	due("")
	must(t, g.Model("default").Thaw(ctx))
	s := g.now.Load()
	g.refreshed["default"] = record.Version{Number: 1, Graph: s.Meta.Version, Edges: s.Meta.Edges}
	due("")
	insert(1000)
	due("default")
	must(t, g.Update(ctx, func(tx *Tx) error { // model a begins to answer
		must(t, tx.AddEdge(1, 2))
		return tx.Observe(ctx, ObserveOptions{Source: 1, Target: 2, Reward: 1, Model: "a"})
	}))
	due("a")
}

// A model that answers and was never trained is trained without being asked.
func TestFirstTraining(t *testing.T) {
	t.Parallel()
	slowInternal(t)
	g := untrained(t)
	<-g.jobs.refresh
	g.jobs.refresh.release()
	v := versionsOf(t, g, "default")
	if last := v[len(v)-1]; len(v) != 2 || last.From != record.Refreshed || !last.Deployed || last.Rounds != 1 {
		t.Fatalf("versions %+v", v)
	}
}

// A training ends the training in the background, which would take its memory, and which is due
// again.
func TestTrainStopsRefresh(t *testing.T) {
	t.Parallel()
	slowInternal(t)
	ctx, g := context.Background(), untrained(t)
	if len(g.jobs.refresh) > 0 {
		t.Fatal("no training in the background")
	}
	_, err := g.Model("default").Train(ctx, TrainOptions{Plan: model.EdgePlan{Samples: 100}})
	must(t, err)
	v := versionsOf(t, g, "default")
	if last := v[len(v)-1]; len(v) != 2 || last.From != record.TrainedEdges || len(g.jobs.refresh) == 0 {
		t.Errorf("versions %+v, or a training in the background", v)
	}
	must(t, g.lock(ctx))
	defer g.unlock()
	if len(g.refreshed) > 0 {
		t.Errorf("not due again: %v", g.refreshed)
	}
}

// A training in the background deploys a better version and drops any other. Another training of
// the same model takes precedence.
func TestRefresh(t *testing.T) {
	t.Parallel()
	slowInternal(t)
	ctx, rng := context.Background(), rand.New(rand.NewPCG(2, 1))
	var log bytes.Buffer
	g, err := Open("", &Options{InMemory: true, Memory: 64 << 20, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	must(t, err)
	defer g.Close()
	var b strings.Builder // a graph in which nodes with common neighbours are never linked
	for range 900 {
		fmt.Fprintf(&b, "%d %d\n", 2*rng.IntN(150), 2*rng.IntN(150)+1)
	}
	_, err = g.Load(ctx, strings.NewReader(b.String()), LoadOptions{})
	must(t, err, g.Model("m").Create(ctx, model.Spec{}))
	_, err = g.Model("m").Train(ctx, TrainOptions{Deploy: DeployAlways})
	must(t, err)
	wait := func() { <-g.jobs.refresh; g.jobs.refresh.release() }

	_, err = g.Load(ctx, strings.NewReader(circles(rng, 1300)), LoadOptions{})
	must(t, err)
	wait()
	v := versionsOf(t, g, "m")
	if last := v[len(v)-1]; len(v) != 3 || last.From != record.Refreshed || !last.Deployed || last.Parent != 2 {
		t.Fatalf("versions %+v after\n%s", v, log.String())
	}
	if !strings.Contains(log.String(), "msg=refresh model=m deployed=true version=3") {
		t.Errorf("the log says\n%s", log.String())
	}
	l, err := g.Model("m").clone(ctx, true) // like the start of Train
	must(t, err)
	g.refresh(ctx, "m", record.Version{From: record.Refreshed})
	g.trainings.Delete(l)
	if now := versionsOf(t, g, "m"); len(now) != 3 {
		t.Errorf("a training in the background did not give way: %+v", now)
	}
}

func versionsOf(t *testing.T, g *DB, name string) (all []VersionInfo) {
	t.Helper()
	must(t, g.View(context.Background(), func(tx *Tx) (err error) {
		all, err = tx.Model(name).Versions(t.Context())
		return err
	}))
	return all
}

func TestComparisonAhead(t *testing.T) {
	t.Parallel()
	fresh := Standing{Role: roleNew, MRR: 0.5}
	for _, c := range []struct {
		others []Standing
		want   bool
	}{
		{nil, true},
		{[]Standing{{Role: roleBefore, MRR: 0.4}}, true},
		{[]Standing{{Role: roleBefore, MRR: 0.5}}, false},
		{[]Standing{{Role: roleBefore, MRR: 0.4}, {Role: rolePrior, MRR: 0.6, Better: true}}, false},
		{[]Standing{{Role: roleBefore, MRR: 0.1, Worse: true}, {Role: rolePrior, MRR: 0.6, Better: true}}, true},
	} {
		if got := (&Comparison{Standings: append([]Standing{fresh}, c.others...)}).ahead(); got != c.want {
			t.Errorf("beside %+v: %v", c.others, got)
		}
	}
	if (&Comparison{}).ahead() {
		t.Error("without a comparison")
	}
}
