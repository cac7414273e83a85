package db_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
)

// camps writes people of four camps who follow each other, like the posts of their camp, and hide
// posts of the others. The relations are made in the given order.
func camps(tx *db.Tx, relations ...string) error {
	const people, posts, kinds = 60, 40, 4
	var err error
	for _, r := range relations {
		err = errors.Join(err, tx.AddRelation(db.Relation{Name: r, Directed: true}))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	post := func(camp int) int { return 1000 + camp%kinds + kinds*rng.IntN(posts/kinds) }
	for u := range people {
		for range 5 {
			if v := u%kinds + kinds*rng.IntN(people/kinds); v != u {
				err = errors.Join(err, tx.PutEdge(u, v, db.Via("follows")))
			}
		}
		for range 6 {
			err = errors.Join(err, tx.PutEdge(u, post(u), db.Via("likes")))
		}
		for range 3 {
			err = errors.Join(err, tx.PutEdge(u, post(u+1+rng.IntN(kinds-1)), db.Via("hides")))
		}
	}
	return err
}

// likelyPosts returns the best links of likes of a person.
func likelyPosts(t *testing.T, g *db.DB, p db.PredictOptions) *db.Prediction {
	t.Helper()
	p.Relation, p.NoCache = "likes", true
	r, err := g.Predict(context.Background(), p)
	must(t, err)
	return r
}

// A training learns how relations predict each other: a person who is new to likes is shown what
// the people like whom it follows, at once. The answers are the same after the database is opened
// again, in a restored copy, and where the model was imported into a database whose relations have
// other numbers.
func TestTrainedRelations(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path, copied := place(t), place(t)
	g := open(t, path, &db.Options{Seed: 3})
	must(t, g.Update(ctx, func(tx *db.Tx) error { return camps(tx, "follows", "likes", "hides") }))
	checkRules(t, g) // of the built-in model
	_, err := g.Model("default").Train(ctx, db.TrainOptions{Deploy: db.DeployAlways, Plan: model.EdgePlan{Samples: 100, Epochs: 2}})
	must(t, err)
	checkRules(t, g)
	p := db.PredictOptions{For: 5, Top: 20}
	want := likelyPosts(t, g, p)
	if want.Candidates == 0 || len(want.Links) != 20 {
		t.Fatalf("%d candidates", want.Candidates)
	}
	for _, l := range want.Links[:5] {
		if n, ok := l.Target.Value().(int64); !ok || n < 1000 || n%4 != 1 {
			t.Errorf("person 5 is shown %v first", l.Target)
		}
	}
	if all := likelyPosts(t, g, db.PredictOptions{For: 5, Top: 20, Among: db.Likely(300)}); !slices.Equal(all.Links, want.Links) {
		t.Errorf("LIKELY(300) is not the default: %v, want %v", all.Links, want.Links)
	}
	saved, _ := backup(t, g, nil)
	var file bytes.Buffer
	must(t, restore(copied, saved), g.Model("default").Export(ctx, &file, 0))
	must(t, g.Close())
	g = dbtest.Reopen(t, path, nil)
	defer func() { must(t, g.Check(ctx), g.Close()) }()
	restored := open(t, copied, nil)
	defer func() { must(t, restored.Close()) }()
	other := open(t, "", &db.Options{InMemory: true, Seed: 3})
	defer func() { must(t, other.Close()) }()
	must(t, other.Update(ctx, func(tx *db.Tx) error { return camps(tx, "hides", "likes", "follows") }))
	_, err = other.Model("m").Import(ctx, &file)
	must(t, err)
	must(t, other.Model("m").Deploy(ctx, 1))
	for name, g := range map[string]*db.DB{"reopened": g, "restored": restored, "imported": other} {
		got := likelyPosts(t, g, p)
		for i, l := range got.Links {
			if w := want.Links[i]; math.Abs(l.Score-w.Score) > 1e-3 || name != "imported" && l != w {
				t.Errorf("%s: link %d is %+v, want %+v", name, i, l, w)
				break
			}
		}
	}

	must(t, g.Update(ctx, func(tx *db.Tx) error {
		return errors.Join(tx.AddEdge("new", 2, db.Via("follows")), tx.AddEdge("new", 6, db.Via("follows")), tx.AddEdge("new", 10, db.Via("follows")))
	}))
	fresh := likelyPosts(t, g, db.PredictOptions{For: "new", Top: 5})
	for _, l := range fresh.Links[:3] {
		if n, ok := l.Target.Value().(int64); !ok || n < 1000 || n%4 != 2 {
			t.Errorf("a follower of camp 2 is shown %v", l.Target)
		}
	}
	must(t, g.View(ctx, func(tx *db.Tx) error {
		why, err := tx.Why(ctx, db.PredictOptions{For: "new", Relation: "likes", NoCache: true}, fresh.Links[0].Target, 3)
		if err != nil {
			return err
		}
		if len(why.Rules) == 0 || len(why.Rules[0].Paths) == 0 {
			t.Errorf("no rule leads to the link: %+v", why.Rules)
		}
		for _, r := range why.Rules {
			for _, path := range r.Paths {
				checkPath(t, tx, r, path)
			}
		}
		sum := 0.0
		for _, in := range why.Inputs {
			sum += in.Adds
		}
		if want := math.Log(why.Link.Score / (1 - why.Link.Score)); math.Abs(sum-want) > 0.02 {
			t.Errorf("the inputs of WHY add up to %v, want %v", sum, want)
		}
		return nil
	}))
}

// checkPath checks that a path has the edges of the body of a rule.
func checkPath(t *testing.T, tx *db.Tx, r db.Reason, path []db.Key) {
	t.Helper()
	if len(path) != len(r.Body)+1 {
		t.Errorf("%v is bound by %v", r.Rule, path)
		return
	}
	for i, s := range r.Body {
		from, to := path[i], path[i+1]
		if s.Inverse {
			from, to = to, from
		}
		if _, err := tx.Edge(from, to, db.Via(s.Relation)); err != nil {
			t.Errorf("%v is bound by %v: %v", r.Rule, path, err)
		}
	}
}

// checkRules checks the rules of the answering model: they are listed with the names of relations,
// the most confident first.
func checkRules(t *testing.T, g *db.DB) {
	t.Helper()
	for inverse, want := range map[bool]string{false: "likes(X, Y) <- follows(X, Z), likes(Z, Y)", true: "likes(X, Y) <- likes(Z, Y), follows(X, Z)"} {
		all := rulesOf(t, g, inverse)
		at := slices.IndexFunc(all, func(r db.Rule) bool { return r.String() == want })
		if at < 0 {
			t.Fatalf("no rule %s: %v", want, all)
		}
		if r := all[at]; r.Tries < 20 || r.Hits > r.Tries || math.Abs(r.Confidence-float64(r.Hits)/float64(r.Tries+3)) > 1e-9 {
			t.Errorf("%s has %d of %d, confidence %v", want, r.Hits, r.Tries, r.Confidence)
		}
		if !slices.IsSortedFunc(all, func(a, b db.Rule) int { return cmp.Compare(b.Confidence, a.Confidence) }) {
			t.Errorf("the rules are not sorted: %v", all)
		}
	}
	wantError(t, "rules of a missing relation", g.View(context.Background(), func(tx *db.Tx) error {
		_, err := tx.Rules("like", false, "", 0)
		return err
	}), db.ErrNotFound)
}

// rulesOf returns the rules of likes.
func rulesOf(t *testing.T, g *db.DB, inverse bool) (all []db.Rule) {
	t.Helper()
	must(t, g.View(context.Background(), func(tx *db.Tx) (err error) {
		all, err = tx.Rules("likes", inverse, "", 0)
		return err
	}))
	return all
}

// Without relations, or by a model that has not learned them, the likely nodes are the nodes with
// the largest PageRank.
func TestLikelyWithoutRelations(t *testing.T) {
	t.Parallel()
	g := open(t, "", &db.Options{InMemory: true})
	defer func() { must(t, g.Close()) }()
	must(t, g.Update(context.Background(), func(tx *db.Tx) error { return camps(tx, "follows") }))
	must(t, g.Model("m").Create(context.Background(), db.ModelSpec{}))
	for _, relation := range []string{"", "likes"} {
		ask := func(among db.Candidates) []db.Link {
			r, err := g.Predict(context.Background(), db.PredictOptions{For: 5, Relation: relation, Model: "m", Among: among, NoCache: true})
			must(t, err)
			return r.Links
		}
		if got, want := ask(db.Likely(50)), ask(db.PPR(50)); !slices.Equal(got, want) {
			t.Errorf("relation %q: %v, want %v", relation, got, want)
		}
	}
	_, err := g.Predict(context.Background(), db.PredictOptions{For: 5, Among: db.Likely(0)})
	wantError(t, "LIKELY(0)", err, db.ErrInput)
}

// Without a model, the rules of the graph answer a question about a relation, as WHY shows. They
// follow the graph: at once where the cache is off, and after a sixteenth of the edges has changed
// otherwise. A question about all relations, or in a database of one relation, is answered as
// before.
func TestUntrainedRelations(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := open(t, "", &db.Options{InMemory: true, Seed: 3})
	defer func() { must(t, g.Check(ctx), g.Close()) }()
	must(t, g.Update(ctx, func(tx *db.Tx) error { return camps(tx, "follows", "likes", "hides") }))
	must(t, g.Update(ctx, func(tx *db.Tx) error {
		return errors.Join(tx.AddEdge("new", 2, db.Via("follows")), tx.AddEdge("new", 6, db.Via("follows")), tx.AddEdge("new", 10, db.Via("follows")))
	}))
	for _, noCache := range []bool{true, false} {
		r, err := g.Predict(ctx, db.PredictOptions{For: "new", Relation: "likes", Top: 5, NoCache: noCache})
		must(t, err)
		if len(r.Links) != 5 || r.Model != "" {
			t.Fatalf("%d links, answered by %s", len(r.Links), r.AnsweredBy)
		}
		for _, l := range r.Links {
			if n, ok := l.Target.Value().(int64); !ok || n < 1000 || n%4 != 2 {
				t.Errorf("a follower of camp 2 is shown %v", l.Target)
			}
		}
	}
	must(t, g.View(ctx, func(tx *db.Tx) error {
		why, err := tx.Why(ctx, db.PredictOptions{For: "new", Relation: "likes", NoCache: true}, 1002, 3)
		if err == nil && len(why.Rules) == 0 {
			t.Error("no rule leads to the link")
		}
		return err
	}))

	e, err := g.Evaluate(ctx, db.EvaluateOptions{Relation: "likes", Share: 0.2, Seed: 3})
	must(t, err)
	var prior, best float64
	for _, r := range e.Results {
		if r.Name == "prior" {
			prior = r.MRR
		} else {
			best = max(best, r.MRR)
		}
	}
	if prior < best {
		t.Errorf("mrr of the rules %v, of the best heuristic %v", prior, best)
	}

	put := func(from, to int) {
		t.Helper()
		must(t, g.Update(ctx, func(tx *db.Tx) (err error) {
			for u := from; u < to; u++ {
				err = errors.Join(err, tx.PutEdge(u%60, 1000+u%4+4*((u+3*(u/60))%10), db.Via("shares")))
			}
			return err
		}))
	}
	put(0, 1)
	before := rulesOf(t, g, false)
	put(1, 20)
	if again := rulesOf(t, g, false); !slices.EqualFunc(again, before, func(a, b db.Rule) bool { return a.String() == b.String() && a.Tries == b.Tries }) {
		t.Errorf("other rules after a few edges: %v, want %v", again, before)
	}
	put(20, 240)
	shared := func(r db.Rule) bool {
		return slices.ContainsFunc(r.Body, func(s db.RuleStep) bool { return s.Relation == "shares" })
	}
	if all := rulesOf(t, g, false); !slices.ContainsFunc(all, shared) {
		t.Errorf("no rule over a new relation: %v", all)
	}
}

// A training with no time does a little of each part, and one with much time is a training without
// a budget.
func TestBudget(t *testing.T) {
	t.Parallel()
	train := func(o db.TrainOptions) *db.Prediction {
		g := open(t, "", &db.Options{InMemory: true, Seed: 3})
		defer func() { must(t, g.Close()) }()
		must(t, g.Update(t.Context(), func(tx *db.Tx) error { return camps(tx, "follows", "likes", "hides") }))
		o.Deploy = db.DeployAlways
		made, err := g.Model("default").Train(t.Context(), o)
		must(t, err)
		if !made.Trained {
			t.Errorf("a budget of %v: the model is not trained", o.Budget)
		}
		return likelyPosts(t, g, db.PredictOptions{For: 5, Top: 20})
	}
	short := model.EdgePlan{Samples: 100, Epochs: 2}
	if got, want := train(db.TrainOptions{Plan: short, Budget: time.Hour}), train(db.TrainOptions{Plan: short}); !slices.Equal(got.Links, want.Links) {
		t.Errorf("with an hour: %v, without a budget: %v", got.Links, want.Links)
	}
	if got := train(db.TrainOptions{Budget: 1}); len(got.Links) != 20 {
		t.Errorf("after a training of a nanosecond: %d links", len(got.Links))
	}
	g := open(t, "", &db.Options{InMemory: true})
	defer func() { must(t, g.Close()) }()
	_, err := g.Model("default").Train(t.Context(), db.TrainOptions{Budget: -1})
	wantError(t, "a negative budget", err, db.ErrInput)
}

// A question for more links than the default candidates are has more candidates.
func TestManyLikely(t *testing.T) {
	t.Parallel()
	g := open(t, "", &db.Options{InMemory: true})
	defer func() { must(t, g.Close()) }()
	rng := rand.New(rand.NewPCG(1, 1))
	update(t, g, func(tx *db.Tx) (err error) {
		for person := range 60 {
			err = errors.Join(err, tx.PutEdge(person, (person+1)%60, db.Via("follows")))
			for range 40 {
				err = errors.Join(err, tx.PutEdge(person, 1000+rng.IntN(600), db.Via("likes")))
			}
		}
		return err
	})
	for _, top := range []int{10, 450} {
		got, err := g.Predict(t.Context(), db.PredictOptions{For: 0, Relation: "likes", Top: top})
		must(t, err)
		if len(got.Links) != top {
			t.Errorf("%d of %d links, of %d candidates", len(got.Links), top, got.Candidates)
		}
	}
}
