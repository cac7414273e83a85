package db_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
)

// heldOut evaluates a contender, and returns all of its answers.
func heldOut(t testing.TB, g *db.DB, o db.EvaluateOptions, c db.Contender) (of *db.Evaluation, all []db.HeldOut) {
	t.Helper()
	o.Contenders = []db.Contender{c}
	o.Each = func(_ int, h db.HeldOut) { all = append(all, h) }
	of, err := g.Evaluate(context.Background(), o)
	must(t, err)
	return of, all
}

// strew makes a graph of n nodes with random edges.
func strew(t testing.TB, g *db.DB, n int, seed uint64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 2))
	update(t, g, func(tx *db.Tx) error {
		for u := range n {
			if err := tx.PutNode(db.Node{Key: db.Int(int64(u))}); err != nil {
				return err
			}
		}
		for range 3 * n {
			if err := tx.PutEdge(rng.IntN(n), rng.IntN(n), db.Weight(1+float32(rng.IntN(3)))); err != nil {
				return err
			}
		}
		return nil
	})
}

// A holdout gives the answers of a database that never had the hidden edges.
func TestHoldout(t *testing.T) {
	t.Parallel()
	for _, direction := range []db.Direction{db.Undirected, db.Directed} {
		for seed := range uint64(3) {
			for _, policy := range []string{"common_neighbors", "ppr", ""} {
				t.Run(fmt.Sprint(direction, seed, policy), func(t *testing.T) {
					holdoutIsRight(t, direction, seed+1, policy)
				})
			}
		}
	}
}

func holdoutIsRight(t *testing.T, direction db.Direction, seed uint64, policy string) {
	ctx := context.Background()
	o := &db.Options{InMemory: true, Direction: direction, Memory: 64 << 20}
	g, twin := dbtest.Open(t, o), dbtest.Open(t, o)
	const n = 25
	strew(t, g, n, seed)
	strew(t, twin, n, seed)
	must(t, g.Model("m").Create(ctx, model.Spec{Policy: policy}), g.Observe(ctx, db.ObserveOptions{Source: 1, Target: 2, Model: "m", Reward: 1}))
	before := dump(t, g)
	info, all := heldOut(t, g, db.EvaluateOptions{Share: 0.2, Seed: seed, Among: []db.Candidates{db.All()}}, db.Contender{Model: "m", Version: 1})
	equalDumps(t, dump(t, g), before)

	linked := map[[2]db.Key]bool{} // edges of the whole graph
	proper := 0
	for _, e := range edgesOf(t, g) {
		linked[[2]db.Key{e.Src, e.Dst}] = true
		if direction == db.Undirected {
			linked[[2]db.Key{e.Dst, e.Src}] = true
		}
		if e.Src != e.Dst {
			proper++
		}
	}
	hidden := map[string][2]db.Key{} // by edge
	asked := 0
	for _, out := range all {
		for _, k := range out.Hidden {
			asked++
			pair := [2]db.Key{out.Source, k}
			if direction == db.Undirected && k.Compare(out.Source) < 0 {
				pair = [2]db.Key{k, out.Source}
			}
			hidden[fmt.Sprint(pair)] = pair
		}
	}
	ends := 2
	if direction == db.Directed {
		ends = 1
	}
	if want := int(0.2*float64(proper) + 0.5); len(hidden) != want || int(info.Hidden) != want || asked != ends*want || info.Sources != len(all) {
		t.Fatalf("%d of %d edges are hidden, asked %d times: %+v", len(hidden), proper, asked, info)
	}
	update(t, twin, func(tx *db.Tx) error {
		var err error
		for _, p := range hidden {
			err = errors.Join(err, tx.DeleteEdge(p[0], p[1]))
		}
		return err
	})
	if _, err := twin.Model("m").Import(ctx, bytes.NewReader(exported(t, g, "m"))); err != nil {
		t.Fatal(err)
	}
	for _, out := range all {
		r, err := twin.Predict(ctx, db.PredictOptions{For: out.Source, Among: db.All(), Top: -1, NoCache: true, Model: "m"})
		must(t, err)
		var others []float64
		found := map[db.Key]float64{}
		for _, l := range r.Links {
			if linked[[2]db.Key{out.Source, l.Target}] {
				found[l.Target] = l.Score
			} else {
				others = append(others, l.Score)
			}
		}
		if !slices.Equal(slices.SortedFunc(slices.Values(out.Hidden), db.Key.Compare), slices.SortedFunc(maps.Keys(found), db.Key.Compare)) {
			t.Fatalf("node %v: hidden %v, the twin finds %v", out.Source, out.Hidden, found)
		}
		for i, k := range out.Hidden {
			if math.Abs(found[k]-out.Found[i]) > 1e-5 {
				t.Errorf("%v -> %v: score %v, the twin says %v", out.Source, k, out.Found[i], found[k])
			}
		}
		slices.Sort(others)
		slices.Sort(out.Others)
		if !slices.EqualFunc(others, out.Others, func(a, b float64) bool { return math.Abs(a-b) < 1e-5 }) {
			t.Errorf("node %v: the others have %v, the twin says %v", out.Source, out.Others, others)
		}
	}
}

// A model that is trained for a holdout knows the remaining edges and no others. The same seed
// gives the same bits.
func TestHoldoutOfAPolicy(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, inMemory)
	strew(t, g, 40, 5)
	told := 0
	o := db.EvaluateOptions{Share: 0.1, Sample: 5, Progress: func(done, total int) {
		if told++; done != told || total != 5 {
			t.Errorf("%d of %d after %d", done, total, told)
		}
	}}
	c := db.Contender{Spec: &model.Spec{}, Plan: model.EdgePlan{Samples: 30, Epochs: 1}}
	of, all := heldOut(t, g, o, c)
	if r := of.Results[0]; of.Sources != 5 || told != 5 || !strings.Contains(r.AnsweredBy, "trained on the other edges") || r.AlreadyLearned {
		t.Errorf("%+v", of)
	}
	told = 0
	if _, again := heldOut(t, g, o, c); fmt.Sprint(again) != fmt.Sprint(all) {
		t.Error("the same seed gave other answers")
	}
	o.Seed, told = 9, 0
	if _, other := heldOut(t, g, o, c); fmt.Sprint(other) == fmt.Sprint(all) {
		t.Error("another seed gave the same answers")
	}
	view(t, g, func(tx *db.Tx) error {
		if len(tx.Models()) != 0 {
			t.Errorf("models %v", tx.Models())
		}
		return nil
	})
}

// Contenders that are asked together answer as each of them does alone, about the same nodes.
func TestHoldoutContenders(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	strew(t, g, 40, 5)
	must(t, g.Model("m").Create(ctx, model.Spec{}))
	few := model.EdgePlan{Samples: 30, Epochs: 2}
	_, err := g.Model("m").Train(ctx, db.TrainOptions{Plan: few}) // makes m the model that answers requests without a name
	must(t, err)
	among := []db.Candidates{db.All(), db.Neighbors(2)}
	h := db.EvaluateOptions{Share: 0.1, Sample: 5, Among: among}
	contenders := []db.Contender{{Plan: few}, {Prior: true}, {Spec: &model.Spec{Policy: "prb_greedy"}, Plan: few}, {Model: "ppr"}}
	together := make([][]db.HeldOut, len(contenders))
	h.Contenders, h.Each = contenders, func(i int, out db.HeldOut) { together[i] = append(together[i], out) }
	of, err := g.Evaluate(ctx, h)
	must(t, err)
	for i, name := range []string{"m", "m", "prior", "prior", "prb_greedy", "prb_greedy", "ppr", "ppr"} {
		if r := of.Results[i]; r.Name != name || r.Among != i%2 {
			t.Errorf("result %d: %+v, want %s", i, r, name)
		}
	}
	for i, c := range contenders {
		var apart []db.HeldOut
		for k := range among {
			h.Among = among[k : k+1]
			_, all := heldOut(t, g, h, c)
			for j, out := range all {
				if together[i][2*j+k].Among != k {
					t.Fatalf("contender %d: set %d of candidates comes as %d", i, k, together[i][2*j+k].Among)
				}
				together[i][2*j+k].Among = 0
				apart = append(apart, out)
				if got, want := fmt.Sprint(together[i][2*j+k]), fmt.Sprint(out); got != want {
					t.Errorf("contender %d: together %s, apart %s", i, got, want)
				}
			}
		}
		if len(apart) != 10 || len(together[i]) != 10 {
			t.Errorf("contender %d: %d answers together, %d apart", i, len(together[i]), len(apart))
		}
	}
	if fmt.Sprint(together[0]) == fmt.Sprint(together[1]) {
		t.Error("the prior answers as the deployed model does")
	}
}

func TestHoldoutRefuses(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	ask := func(ctx context.Context, o db.EvaluateOptions, c db.Contender) error {
		o.Contenders = []db.Contender{c}
		_, err := g.Evaluate(ctx, o)
		return err
	}
	wantError(t, "a graph without edges", ask(ctx, db.EvaluateOptions{Share: 0.5}, db.Contender{}), db.ErrInput)
	load(t, g, 40)
	for _, share := range []float64{0, 1, -1, 2, math.NaN(), math.Inf(1)} {
		wantError(t, fmt.Sprint("a share of ", share), ask(ctx, db.EvaluateOptions{Share: share}, db.Contender{}), db.ErrInput)
	}
	wantError(t, "a node that is not there", ask(ctx, db.EvaluateOptions{Share: 0.1, For: []any{"x"}}, db.Contender{}), db.ErrNotFound)
	wantError(t, "a model that is not there", ask(ctx, db.EvaluateOptions{Share: 0.1}, db.Contender{Model: "m"}), db.ErrNoModel)
	wantError(t, "a policy that is not there", ask(ctx, db.EvaluateOptions{Share: 0.1}, db.Contender{Spec: &model.Spec{Policy: "m"}}), db.ErrInput)
	update(t, g, func(tx *db.Tx) error {
		must(t, tx.AddNode(db.Node{Key: db.Str("alone")}))
		_, err := tx.Evaluate(ctx, db.EvaluateOptions{Share: 0.1})
		wantError(t, "beside changes", err, db.ErrInput)
		return nil
	})
	wantError(t, "a node without edges", ask(ctx, db.EvaluateOptions{Share: 0.1, For: []any{"alone"}}, db.Contender{}), db.ErrInput)
	late, cancel := context.WithCancel(ctx)
	err := ask(late, db.EvaluateOptions{Share: 0.1}, db.Contender{Spec: &model.Spec{}, Plan: model.EdgePlan{Progress: during(func() { cancel() })}})
	wantError(t, "a training that is cancelled", err, context.Canceled)
	late, cancel = context.WithCancel(ctx)
	err = ask(late, db.EvaluateOptions{Share: 0.5, Progress: func(int, int) { cancel() }}, db.Contender{})
	wantError(t, "an evaluation that is cancelled", err, context.Canceled)
}

// A stored model may have learned the hidden edges, so a copy is asked that has not; a version is
// asked as it is. Without hidden edges the model is asked as it is.
func TestEvaluateCopies(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	strew(t, g, 40, 5)
	plan := model.EdgePlan{Samples: 30, Epochs: 1}
	must(t, g.Model("m").Create(ctx, model.Spec{}))
	_, err := g.Model("m").Train(ctx, db.TrainOptions{Plan: plan, Deploy: db.DeployAlways})
	must(t, err)
	o := db.EvaluateOptions{Share: 0.2, Among: []db.Candidates{db.All()}}
	copied, fresh := db.Contender{Model: "m", Plan: plan}, db.Contender{Spec: &model.Spec{}, Plan: plan}
	of, all := heldOut(t, g, o, copied)
	if r := of.Results[0]; r.AlreadyLearned || r.Name != "m" || !strings.Contains(r.AnsweredBy, "a copy of model m") {
		t.Errorf("%+v", r)
	}
	if _, same := heldOut(t, g, o, fresh); fmt.Sprint(same) != fmt.Sprint(all) {
		t.Error("a copy answers otherwise than a new model with the same options")
	}
	of, _ = heldOut(t, g, o, db.Contender{Model: "m", Version: 2})
	if r := of.Results[0]; !r.AlreadyLearned || r.Version != 2 {
		t.Errorf("%+v", r)
	}
	for _, e := range edgesOf(t, g) { // is found, and is not in the graph any more
		if e.Src != e.Dst {
			o.Share, o.Links = 0, []db.Edge{e}
		}
	}
	update(t, g, func(tx *db.Tx) error { return tx.DeleteEdge(o.Links[0].Src, o.Links[0].Dst) })
	if of, _ = heldOut(t, g, o, copied); !of.Results[0].AlreadyLearned || of.Hidden != 0 {
		t.Errorf("%+v", of)
	}
}

// A function gets the graph without the hidden edges, and its scores rank the links.
func TestEvaluateRank(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, inMemory)
	strew(t, g, 40, 5)
	o := db.EvaluateOptions{Share: 0.2, Among: []db.Candidates{db.Neighbors(2)}}
	want, _ := heldOut(t, g, o, db.Contender{Model: "common_neighbors"})
	rank := func(ctx context.Context, rest *db.Tx, source db.Key, among []db.Key) (scores []float64, err error) {
		var of []any
		for _, k := range among {
			of = append(of, k)
		}
		r, err := rest.Predict(ctx, db.PredictOptions{For: source, Among: db.Keys(of...), Model: "common_neighbors", Top: -1, NoCache: true})
		if err != nil {
			return nil, err
		}
		score := map[db.Key]float64{}
		for _, l := range r.Links {
			score[l.Target] = l.Score
		}
		for _, k := range among {
			scores = append(scores, score[k])
		}
		return scores, nil
	}
	got, _ := heldOut(t, g, o, db.Contender{Model: "mine", Rank: rank})
	if r, w := got.Results[0], want.Results[0]; r.Name != "mine" || r.MRR != w.MRR || r.AUC != w.AUC || r.Links != w.Links || r.MRR == 0 {
		t.Errorf("%+v, want the measures of %+v", r, w)
	}
	short := func(context.Context, *db.Tx, db.Key, []db.Key) ([]float64, error) { return nil, nil }
	o.Contenders = []db.Contender{{Rank: short}}
	_, err := g.Evaluate(context.Background(), o)
	wantError(t, "no scores", err, db.ErrInput)
}
