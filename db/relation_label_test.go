package db_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/graph"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
)

// readers writes users who follow each other and read posts; posts are shown to them.
func readers(tx *db.Tx) error {
	return errors.Join(
		tx.AddRelation(db.Relation{Name: "follows", Directed: true, SourceLabel: "user", TargetLabel: "user"}),
		tx.AddRelation(db.Relation{Name: "reads", Directed: true, SourceLabel: "user", TargetLabel: "post"}),
		tx.AddRelation(db.Relation{Name: "shown", Directed: true, SourceLabel: "user", TargetLabel: "post"}),
		tx.AddNode(db.Node{Key: db.Str("p4"), Label: "post"}),
		tx.AddNode(db.Node{Key: db.Str("zoe"), Label: "user"}),
		tx.AddNode(db.Node{Key: db.Str("tag")}),
		tx.AddEdge("uma", "vic", db.Via("follows")),
		tx.AddEdge("uma", "p1", db.Via("reads")), tx.AddEdge("uma", "p2", db.Via("reads")),
		tx.AddEdge("vic", "p2", db.Via("reads")), tx.AddEdge("vic", "p3", db.Via("reads")),
		tx.AddEdge("uma", "p3", db.Via("shown"), db.At(time.Unix(1e9, 0))),
		tx.AddEdge("uma", "p4", db.Via("shown"), db.At(time.Unix(1e9-1000, 0))),
	)
}

// targets returns the targets of a ranking, the best first.
func targets(t *testing.T, g *db.DB, p db.PredictOptions) (all []string) {
	t.Helper()
	p.Model = "preferential_attachment"
	r, err := g.Predict(context.Background(), p)
	must(t, err)
	for _, l := range r.Links {
		all = append(all, l.Target.String())
	}
	return all
}

// The labels of a relation say which nodes its edges join, which links are predicted, and which
// labels new nodes get, in a database that was opened again, in a copy and in a follower.
func TestRelationLabels(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path, copied := place(t), place(t)
	g := open(t, path, &db.Options{ChangeBytes: 1 << 20})
	saved, _ := backup(t, g, nil)
	must(t, restore(copied, saved), g.Update(ctx, readers))
	follower := open(t, copied, &db.Options{Follower: true})
	defer func() { must(t, follower.Close()) }()
	for c, err := range g.Changes(ctx, stats(t, follower).Version) {
		must(t, err)
		b, err := c.MarshalBinary()
		must(t, err)
		var sent db.Change
		must(t, sent.UnmarshalBinary(b), follower.Apply(ctx, sent))
		break
	}
	must(t, g.Close())
	g = dbtest.Reopen(t, path, nil)
	defer func() { must(t, g.Close()) }()
	for name, g := range map[string]*db.DB{"reopened": g, "followed": follower} {
		must(t, g.View(ctx, func(tx *db.Tx) error {
			all, err := tx.Relations()
			if r := all[2]; r.SourceLabel != "user" || r.TargetLabel != "post" {
				t.Errorf("%s: %+v", name, r)
			}
			sides, err2 := tx.Sides(ctx)
			if s := sides[2]; s[0].Nodes != 2 || s[1].Nodes != 3 || !slices.Equal(s[0].Labels, []string{"user"}) || !slices.Equal(s[1].Labels, []string{"post"}) {
				t.Errorf("%s: %+v", name, s)
			}
			return errors.Join(err, err2)
		}))
		recent := db.Neighbors(1).Via("shown").Within(500 * time.Second)
		for _, c := range []struct {
			what string
			p    db.PredictOptions
			want []string
		}{
			{"all posts", db.PredictOptions{For: "uma", Relation: "reads", Among: db.All()}, []string{"p3", "p4"}},
			{"all users", db.PredictOptions{For: "p1", Relation: "reads", Inverse: true, Among: db.All()}, []string{"vic", "zoe"}},
			{"a walk", db.PredictOptions{For: "uma", Relation: "reads", Among: db.Neighbors(3).Via("reads")}, []string{"p3"}},
			{"a walk back", db.PredictOptions{For: "p1", Relation: "reads", Inverse: true, Among: db.PPR(9).Via("reads")}, []string{"vic"}},
			{"a sample", db.PredictOptions{For: "zoe", Relation: "follows", Among: db.Sample(9, 1)}, []string{"uma", "vic"}},
			{"not shown lately", db.PredictOptions{
				For: "uma", Relation: "reads", Among: db.All().Except(recent), Now: time.Unix(1e9+10, 0),
			}, []string{"p4"}},
			{"not shown later", db.PredictOptions{
				For: "uma", Relation: "reads", Among: db.All().Except(recent), At: time.Unix(1e9-1, 0),
			}, []string{"p3", "p4"}},
		} {
			if got := targets(t, g, c.p); !slices.Equal(got, c.want) {
				t.Errorf("%s, %s: %q, want %q", name, c.what, got, c.want)
			}
		}
		must(t, g.Check(ctx))
	}
	wantError(t, "another label", g.Update(ctx, func(tx *db.Tx) error { return tx.AddEdge("p1", "p2", db.Via("reads")) }), db.ErrInput)
	wantError(t, "a new label", g.Update(ctx, func(tx *db.Tx) error { return tx.PutNode(db.Node{Key: db.Str("p1"), Label: "user"}) }), db.ErrInput)
	must(t, g.Update(ctx, func(tx *db.Tx) error { return tx.AddEdge("tag", "p1", db.Via("reads")) }))
	must(t, g.View(ctx, func(tx *db.Tx) error {
		n, err := tx.Node("tag")
		if n.Label != "user" {
			t.Errorf("the source has label %q", n.Label)
		}
		return err
	}))
}

// The nodes of a list of a relation get its labels. A line with a node that has another label, or
// gets one in the list, is malformed.
func TestLoadRelationLabels(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, memory := range []int64{0, 64 << 20} {
		g := open(t, "", &db.Options{InMemory: true, Memory: memory})
		must(t, g.Update(ctx, readers))
		r, err := g.Load(ctx, strings.NewReader("uma p3\nwim p5\nwim p1\n"), db.LoadOptions{Relation: "reads"})
		must(t, err)
		if r.Edges != 3 {
			t.Errorf("%+v", r)
		}
		must(t, g.View(ctx, func(tx *db.Tx) error {
			n, err := tx.Node("wim")
			p, err2 := tx.Node("p5")
			if n.Label != "user" || p.Label != "post" {
				t.Errorf("labels %q and %q", n.Label, p.Label)
			}
			return errors.Join(err, err2)
		}), g.Check(ctx))
		for _, list := range []string{"p1 p6\n", "xia p6\np6 p7\n", "xia xia\n"} {
			before := stats(t, g)
			_, err := g.Load(ctx, strings.NewReader(list), db.LoadOptions{Relation: "reads"})
			if err == nil || !strings.Contains(err.Error(), "label") {
				t.Errorf("%q: %v", list, err)
			}
			if after := stats(t, g); after.Nodes != before.Nodes || after.Edges != before.Edges {
				t.Errorf("%q: %d nodes and %d edges, want %d and %d", list, after.Nodes, after.Edges, before.Nodes, before.Edges)
			}
		}
		must(t, g.Close())
	}
}

// Without labels, the edges of a relation show which nodes are on the side of a link.
func TestRelationSides(t *testing.T) {
	t.Parallel()
	g := open(t, "", &db.Options{InMemory: true})
	defer func() { must(t, g.Close()) }()
	must(t, g.Update(context.Background(), func(tx *db.Tx) error {
		return errors.Join(tx.AddRelation(db.Relation{Name: "works as", Directed: true}), tx.AddRelation(db.Relation{Name: "knows", Directed: true}),
			tx.AddEdge("ann", "cook", db.Via("works as")), tx.AddEdge("bob", "cook", db.Via("works as")),
			tx.AddEdge("bob", "nurse", db.Via("works as")), tx.AddEdge("ann", "bob", db.Via("knows")), tx.AddEdge("bob", "cat", db.Via("knows")))
	}))
	for _, c := range []struct {
		what string
		p    db.PredictOptions
		want []string
	}{
		{"no person is an occupation", db.PredictOptions{For: "ann", Relation: "works as", Among: db.All()}, []string{"nurse", "cat"}},
		{"no occupation works", db.PredictOptions{For: "nurse", Relation: "works as", Inverse: true, Among: db.All()}, []string{"ann", "cat"}},
		{"people know people", db.PredictOptions{For: "ann", Relation: "knows", Among: db.All()}, []string{"cat", "cook", "nurse"}},
		{"a walk there and back", db.PredictOptions{For: "ann", Relation: "works as", Among: db.Neighbors(3)}, []string{"nurse", "cat"}},
	} {
		if got := targets(t, g, c.p); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

// A model that was trained on a relation learns, is measured and predicts as if the relation were a
// database of its own: the edges of other relations between the same nodes change nothing. So do
// plain heuristics.
func TestRelationAlone(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	seed := uint64(7)
	mixed, alone := open(t, "", &db.Options{InMemory: true, Seed: seed}), open(t, "", &db.Options{InMemory: true, Seed: seed})
	defer func() { must(t, mixed.Close(), alone.Close()) }()
	const nodes = 60
	write := func(tx *db.Tx, relation string) error {
		var err error
		for i := range nodes {
			for _, step := range []int{1, 2, 3, 5 + i%7} {
				err = errors.Join(err, tx.PutEdge(i, (i+step)%nodes, db.Via(relation), db.At(time.Unix(int64(1e9+i), 0))))
			}
		}
		return err
	}
	must(t, alone.Update(ctx, func(tx *db.Tx) error { return write(tx, "") }))
	must(t, mixed.Update(ctx, func(tx *db.Tx) error { return write(tx, "likes") }))
	must(t, mixed.Update(ctx, func(tx *db.Tx) error {
		var err error
		for i := range nodes {
			err = errors.Join(err, tx.PutEdge(i, (7*i+9)%nodes, db.Via("hates"), db.At(time.Unix(int64(1e9+2*i), 0))), tx.PutEdge(i, (i+1)%nodes))
		}
		return err
	}))
	ask := func(g *db.DB, relation string) (all []db.Link) {
		p := db.PredictOptions{Relation: relation, For: 5, Among: db.Keys(1, 9, 14, 30, 44), NoCache: true, At: time.Unix(1e9+nodes, 0)}
		r, err := g.Predict(ctx, p)
		must(t, err)
		return r.Links
	}
	measure := func(g *db.DB, relation string) []db.Result {
		e, err := g.Evaluate(ctx, db.EvaluateOptions{Relation: relation, Share: 0.2, Among: []db.Candidates{db.All()}, Seed: 3})
		must(t, err)
		return e.Results
	}
	got, want := measure(mixed, "likes"), measure(alone, "")
	for i := range want {
		if want[i].Name == "prior" { // reads the rules of all relations
			continue
		}
		if got[i].MRR != want[i].MRR || got[i].Links != want[i].Links || got[i].AUC != want[i].AUC || want[i].Reached == 0 {
			t.Errorf("%s: mrr %v of %d links, auc %v; want %v of %d, %v", want[i].Name, got[i].MRR, got[i].Links, got[i].AUC, want[i].MRR, want[i].Links, want[i].AUC)
		}
	}
	for _, g := range []*db.DB{mixed, alone} {
		_, err := g.Model("default").Train(ctx, db.TrainOptions{
			Relation: map[bool]string{true: "likes"}[g == mixed], Deploy: db.DeployAlways, Plan: model.EdgePlan{Samples: 60, Epochs: 2},
		})
		must(t, err)
	}
	if got, want := ask(mixed, "likes"), ask(alone, ""); !slices.Equal(got, want) {
		t.Errorf("after a training: %v, want %v", got, want)
	}
	all, err := mixed.Model("default").Versions(ctx)
	must(t, err)
	if v := all[len(all)-1]; v.Relation != "likes" {
		t.Errorf("the version is %+v", v)
	}
	for _, g := range []*db.DB{mixed, alone} {
		relation := map[bool]string{true: "likes"}[g == mixed]
		must(t, g.Observe(ctx, db.ObserveOptions{Source: 5, Target: 30, Relation: relation, Reward: 1, Insert: true, NoCache: true}))
		d, err := g.Choose(ctx, db.ChooseOptions{For: 5, Among: db.Keys(1, 9, 14), Relation: relation, Seed: 2})
		must(t, err, g.Reward(ctx, d.ID, 1))
		if d.Relation != relation {
			t.Errorf("the decision is %+v", d)
		}
	}
	if got, want := ask(mixed, "likes"), ask(alone, ""); !slices.Equal(got, want) {
		t.Errorf("after outcomes: %v, want %v", got, want)
	}
	must(t, mixed.View(ctx, func(tx *db.Tx) error {
		for o, err := range tx.Observations() {
			if err != nil || o.Relation != "likes" {
				t.Errorf("observation %+v, %v", o, err)
			}
		}
		_, err := tx.Edge(5, 30, db.Via("likes"))
		return err
	}))
}

// The graph for gonum joins the edges of several relations, or has those of one.
func TestRelationGonum(t *testing.T) {
	t.Parallel()
	g := open(t, "", &db.Options{InMemory: true})
	defer func() { must(t, g.Close()) }()
	must(t, g.Update(context.Background(), readers))
	must(t, g.View(context.Background(), func(tx *db.Tx) error {
		count := func(tx *db.Tx) (n int, weight float64) {
			all := tx.Gonum().(interface{ WeightedEdges() graph.WeightedEdges }).WeightedEdges()
			for all.Next() {
				n, weight = n+1, weight+all.WeightedEdge().Weight()
			}
			return n, weight
		}
		if n, weight := count(tx); n != 7 || weight != 7 {
			t.Errorf("%d edges of weight %v, want 7", n, weight)
		}
		err := tx.Assuming([]db.Edge{{Src: db.Str("uma"), Dst: db.Str("p3"), Relation: "reads", Weight: 2}}, func(tx *db.Tx) error {
			if n, weight := count(tx); n != 7 || weight != 9 {
				t.Errorf("%d edges of weight %v, want 7 of 9", n, weight)
			}
			return nil
		})
		return errors.Join(err, tx.Via(db.Part{Relations: []string{"reads"}}, func(tx *db.Tx) error {
			if n, weight := count(tx); n != 4 || weight != 4 {
				t.Errorf("%d edges of weight %v of one relation, want 4", n, weight)
			}
			return nil
		}))
	}))
}

// A directed relation of which hardly a node is both a source and a target is walked in both
// directions, so that walks, and heuristics of longer paths, reach its targets. The nodes are
// counted, so the answers are the same in memory, in the store, reopened, restored and followed
// databases, however the edges came, and follow the counts when edges arrive and go.
func TestBipartiteRelation(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	const people, schools = 60, 12
	studied := func(yield func(src, dst string) error) (err error) {
		for i := range people {
			for _, school := range []int{i % schools, (i*i + 1) % schools} {
				// Schools are older than some people, and newer than others.
				err = errors.Join(err, yield(fmt.Sprint("person", i), fmt.Sprint("school", school)))
			}
		}
		return err
	}
	put := func(g *db.DB) error {
		return g.Update(ctx, func(tx *db.Tx) error {
			err := tx.AddRelation(db.Relation{Name: "studied", Directed: true})
			return errors.Join(err, studied(func(src, dst string) error { return tx.PutEdge(src, dst, db.Via("studied")) }))
		})
	}
	load := func(g *db.DB) error {
		var text strings.Builder
		err := studied(func(src, dst string) error { fmt.Fprintln(&text, src, dst); return nil })
		_, err2 := g.Load(ctx, strings.NewReader(text.String()), db.LoadOptions{Relation: "studied", Direction: db.Directed})
		return errors.Join(err, err2)
	}
	path, copied := place(t), place(t)
	first := open(t, path, &db.Options{ChangeBytes: 1 << 20})
	saved, _ := backup(t, first, nil)
	must(t, restore(copied, saved), put(first))
	follower := open(t, copied, &db.Options{Follower: true})
	must(t, follower.Apply(ctx, changes(t, first, stats(t, follower).Version)...))
	restored := place(t)
	saved, _ = backup(t, first, nil)
	must(t, restore(restored, saved), first.Close())
	memory, loaded, stored := open(t, "", &db.Options{InMemory: true}), open(t, "", &db.Options{InMemory: true}), open(t, place(t), &db.Options{Memory: 64 << 20})
	must(t, put(memory), load(loaded), load(stored))
	all := map[string]*db.DB{
		"reopened": dbtest.Reopen(t, path, nil), "restored": open(t, restored, nil), "followed": follower, "memory": memory, "loaded": loaded, "stored": stored,
	}
	ask := func(g *db.DB, p db.PredictOptions) (text string, found int) {
		p.Relation, p.Model, p.NoCache, p.Top, p.Epsilon = "studied", "ppr", true, -1, 1e-12
		r, err := g.Predict(ctx, p)
		must(t, err)
		for _, l := range r.Links {
			if l.Score > 0 {
				found++
			}
			text += fmt.Sprintf("%v %.6g ", l.Target, l.Score)
		}
		return text, found
	}
	var want [3]string
	for name, g := range all {
		for i, p := range []db.PredictOptions{
			{For: "person7", Among: db.All()}, {For: "school3", Inverse: true, Among: db.All()}, {For: "person7", Among: db.Neighbors(3)},
		} {
			got, found := ask(g, p)
			if found == 0 || strings.Contains(got, "person") == (i != 1) {
				t.Errorf("%s, question %d: %s", name, i, got)
			}
			if want[i] == "" {
				want[i] = got
			}
			if sorted(got) != sorted(want[i]) {
				t.Errorf("%s, question %d: %s, elsewhere %s", name, i, got, want[i])
			}
		}
		measured, err := g.Evaluate(ctx, db.EvaluateOptions{
			Relation: "studied", Share: 0.2, Among: []db.Candidates{db.All()}, Seed: 3, Contenders: []db.Contender{{Spec: &db.ModelSpec{Policy: "ppr"}}},
		})
		must(t, err)
		if r := measured.Results[0]; r.MRR < 0.2 || r.Links != int(measured.Hidden) {
			t.Errorf("%s: %d links of %d hidden, MRR %v", name, r.Links, measured.Hidden, r.MRR)
		}
		must(t, g.Check(ctx))
	}
	// As many nodes are both as make it a relation between like nodes, until the edges go.
	chain := func(f func(tx *db.Tx, src, dst string) error) {
		must(t, memory.Update(ctx, func(tx *db.Tx) (err error) {
			for i := range 5 {
				err = errors.Join(err, f(tx, fmt.Sprint("school", i), fmt.Sprint("person", i)))
			}
			return err
		}))
		must(t, memory.Check(ctx))
	}
	question := db.PredictOptions{For: "person7", Among: db.Neighbors(3)}
	chain(func(tx *db.Tx, src, dst string) error { return tx.AddEdge(src, dst, db.Via("studied")) })
	if got, _ := ask(memory, question); !strings.Contains(got, "person") {
		t.Errorf("of like nodes: %s", got)
	}
	chain(func(tx *db.Tx, src, dst string) error { return tx.DeleteEdge(src, dst, db.Via("studied")) })
	if got, _ := ask(memory, question); sorted(got) != sorted(want[2]) {
		t.Errorf("after the edges went: %s, before %s", got, want[2])
	}
	for _, g := range all {
		must(t, g.Close())
	}
}

// sorted returns the words of a text in order.
func sorted(text string) string {
	words := strings.Fields(text)
	slices.Sort(words)
	return strings.Join(words, " ")
}

// In CoDEx-S, PageRank finds the occupations of people, who are no occupations of others.
func TestBipartiteCoDEx(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := open(t, "", &db.Options{InMemory: true, Direction: db.Directed})
	_, err := g.Load(ctx, shared(t, "kg/codex-s/train.tsv.gz"), db.LoadOptions{})
	must(t, err)
	e, err := g.Evaluate(ctx, db.EvaluateOptions{
		Relation: "P106", Share: 0.05, Sample: 100, Among: []db.Candidates{db.All()}, Seed: 1, Contenders: []db.Contender{{Spec: &db.ModelSpec{Policy: "ppr"}}},
	})
	must(t, err)
	if r := e.Results[0]; r.MRR < 0.3 {
		t.Errorf("MRR %v of %d links", r.MRR, r.Links)
	}
	must(t, g.Close())
}
