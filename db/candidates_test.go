package db_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
)

// offered returns the candidates of a prediction from node 0.
func offered(t testing.TB, g *db.DB, c db.Candidates) []int {
	t.Helper()
	r, err := g.Predict(context.Background(), db.PredictOptions{For: 0, Among: c, Top: -1})
	must(t, err)
	ids := []int{}
	for _, l := range r.Links {
		i := 0
		if _, err := fmt.Sscan(l.Target.Literal(), &i); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, i)
	}
	slices.Sort(ids)
	return ids
}

// A combination of sets combines the complete sets, and then removes nodes that are linked and not
// listed.
func TestCombinedCandidates(t *testing.T) {
	t.Parallel()
	const nodes = 12
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	update(t, g, func(tx *db.Tx) error {
		for i := range nodes {
			must(t, tx.PutEdge(i, (i+1)%nodes))
		}
		return nil
	})
	type set struct {
		c      db.Candidates
		all    map[int]bool // the complete set
		listed map[int]bool
	}
	leaf := rapid.Custom(func(t *rapid.T) set {
		s := set{all: map[int]bool{}, listed: map[int]bool{}}
		switch n := rapid.IntRange(1, 3).Draw(t, "n"); rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			var keys []any
			for _, k := range rapid.SliceOfN(rapid.IntRange(0, nodes-1), 0, 5).Draw(t, "keys") {
				keys, s.all[k], s.listed[k] = append(keys, k), true, true
			}
			s.c = db.Keys(keys...)
		case 1:
			for i := 1; i <= n; i++ {
				s.all[i], s.all[nodes-i] = true, true
			}
			s.c = db.Neighbors(n)
		default:
			for i := range nodes {
				s.all[i] = true
			}
			s.c = db.All()
		}
		return s
	})
	rapid.Check(t, func(t *rapid.T) {
		s := leaf.Draw(t, "set")
		for range rapid.IntRange(0, 4).Draw(t, "operators") {
			b := leaf.Draw(t, "set")
			next := set{all: map[int]bool{}, listed: s.listed}
			op := rapid.IntRange(0, 2).Draw(t, "operator")
			for i := range nodes {
				next.all[i] = [...]bool{s.all[i] || b.all[i], s.all[i] && !b.all[i], s.all[i] && b.all[i]}[op]
				next.listed[i] = s.listed[i] || op != 1 && b.listed[i]
			}
			next.c = [...]func(a, b db.Candidates) db.Candidates{db.Candidates.Union, db.Candidates.Except, db.Candidates.Intersect}[op](s.c, b.c)
			s = next
		}
		want := []int{}
		for i := range nodes {
			if s.all[i] && (s.listed[i] || i != 0 && i != 1 && i != nodes-1) {
				want = append(want, i)
			}
		}
		r, err := g.Predict(context.Background(), db.PredictOptions{For: 0, Among: s.c, Top: -1})
		if err != nil {
			t.Fatal(err)
		}
		if r.Candidates != len(want) {
			t.Fatalf("%v: %d candidates, want %v", s.c, r.Candidates, want)
		}
		for _, l := range r.Links {
			if !slices.ContainsFunc(want, func(i int) bool { return l.Target == db.Int(int64(i)) }) {
				t.Fatalf("%v: %v, want %v", s.c, l.Target, want)
			}
		}
	})
}

// A listed node may have been deleted; a prediction, a choice and an observation ignore and count
// it. A source may not.
func TestMissingKeys(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	update(t, g, func(tx *db.Tx) error {
		for i := range 6 {
			must(t, tx.PutEdge(i, i+1))
		}
		return tx.DeleteNode(6)
	})
	ask := func(c db.Candidates) (*db.Prediction, error) {
		return g.Predict(context.Background(), db.PredictOptions{For: 0, Among: c, Top: -1})
	}
	for _, c := range []struct {
		set            db.Candidates
		links, missing int
	}{
		{db.All().Except(db.Keys(3)), 3, 0},
		{db.All().Except(db.Keys(3, 6)), 3, 1},
		{db.All().Except(db.Keys("ghost", 6)), 4, 2},
		{db.All().Except(db.Keys(2).Union(db.Keys(6))), 3, 1},
		{db.All().Intersect(db.Keys(2, 6)), 1, 1},
		{db.All().Intersect(db.Keys(6)).Union(db.Keys(4)), 1, 1},
		{db.Keys(6, 4, "ghost"), 1, 2},
		{db.Keys(6), 0, 1},
		{db.Keys(6).Except(db.Keys(6)), 0, 2},
		{db.All().Except(db.Keys(6)).Union(db.Keys(6)), 4, 2},
	} {
		r, err := ask(c.set)
		must(t, err)
		if len(r.Links) != c.links || r.Missing != c.missing {
			t.Errorf("%v: %d links, %d missing; want %d, %d", c.set, len(r.Links), r.Missing, c.links, c.missing)
		}
	}
	must(t, g.Model("m").Create(t.Context(), db.ModelSpec{}))
	d, err := g.Choose(t.Context(), db.ChooseOptions{For: 0, Among: db.Keys(6, 4, "ghost"), Model: "m"})
	must(t, err)
	if len(d.Offers) != 1 || d.Places[0].Target != db.Int(4) || d.Missing != 2 {
		t.Errorf("chosen %+v", d)
	}
	must(t, g.Observe(t.Context(), db.ObserveOptions{Source: 0, Target: 4, Among: db.Keys(6, 4), Model: "m", Reward: 1}))
	_, err = g.Choose(t.Context(), db.ChooseOptions{For: 0, Among: db.Keys(6), Model: "m"})
	wantError(t, "a choice among none", err, db.ErrInput)
	_, err = g.Predict(t.Context(), db.PredictOptions{For: 6, Among: db.Keys(4)})
	wantError(t, "a missing source", err, db.ErrNotFound)
	if _, err := ask(db.All().Except(db.Keys(1.5))); !errors.Is(err, db.ErrInput) {
		t.Errorf("a key of another type: %v, want ErrInput", err)
	}
}

// A sample is drawn without replacement and uniformly, and is determined by the seed.
func TestSample(t *testing.T) {
	t.Parallel()
	const nodes, drawn, rounds = 20, 5, 2000
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	update(t, g, func(tx *db.Tx) error {
		for i := range nodes {
			must(t, tx.PutEdge(i, (i+1)%nodes))
		}
		return nil
	})
	if a, b := offered(t, g, db.Sample(drawn, 3)), offered(t, g, db.Sample(drawn, 3)); !slices.Equal(a, b) {
		t.Errorf("one seed drew %v and %v", a, b)
	}
	if got := offered(t, g, db.Sample(100, 1)); len(got) != nodes-3 {
		t.Errorf("all there are: %v", got)
	}
	count := make([]int, nodes)
	for seed := range uint64(rounds) {
		ids := offered(t, g, db.Sample(drawn, seed+1))
		if len(ids) != drawn || len(slices.Compact(ids)) != drawn {
			t.Fatalf("seed %d: %v", seed+1, ids)
		}
		for _, id := range ids {
			count[id]++
		}
	}
	for id, n := range count {
		linked := id <= 1 || id == nodes-1
		if mean := rounds * drawn / (nodes - 3); linked && n > 0 || !linked && (n < mean-120 || n > mean+120) { // 5.9 standard deviations
			t.Errorf("node %d was drawn %d times of %d, want about %d", id, n, rounds, mean)
		}
	}
	_, err := g.Predict(context.Background(), db.PredictOptions{For: 0, Among: db.Sample(0, 1)})
	wantError(t, "no nodes", err, db.ErrInput)
}

// A trained model ranks popular nodes first for a node without edges.
func TestNewcomerGetsThePopular(t *testing.T) {
	t.Parallel()
	notShort(t)
	rng := rand.New(rand.NewPCG(4, 4))
	var list strings.Builder
	degree := map[string]int{}
	for user := range 150 {
		for item := range 40 {
			if rng.IntN(40) > item { // the first are the most popular
				fmt.Fprintln(&list, user, item)
				degree[fmt.Sprint("item:", item)]++
			}
		}
	}
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	_, err := g.Load(context.Background(), strings.NewReader(list.String()), db.LoadOptions{SourceLabel: "user", TargetLabel: "item"})
	must(t, err)
	update(t, g, func(tx *db.Tx) error { return tx.PutNode(db.Node{Key: db.Str("user:999"), Label: "user"}) })
	must(t, g.Model("m").Create(context.Background(), db.ModelSpec{}))
	_, err = g.Model("m").Train(context.Background(), db.TrainOptions{Plan: model.EdgePlan{Samples: 300, Epochs: 3}, Deploy: db.DeployAlways})
	must(t, err)
	r, err := g.Predict(context.Background(), db.PredictOptions{For: "user:999", Top: 5})
	must(t, err)
	for _, l := range r.Links {
		if n := degree[fmt.Sprint(l.Target.Value())]; n < 110 {
			t.Errorf("a newcomer gets %v with %d links", l.Target, n)
		}
	}
	if len(r.Links) != 5 {
		t.Errorf("%d links", len(r.Links))
	}
}

// Similar gives nodes without edges the nodes with similar features, then popular ones. If lists
// defined kinds of nodes, it gives only kinds that the node's kind is linked to. It is also the
// default set of such nodes.
func TestSimilar(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	update(t, g, func(tx *db.Tx) error {
		for i, features := range [][]float32{{1, 0, 0}, {1, 0, 1}, {0, 1, 0}, {0, 0, 1}, nil, nil} {
			must(t, tx.PutNode(db.Node{Key: db.Int(int64(i)), Features: features}))
		}
		for _, e := range [][2]int{{1, 2}, {2, 3}, {2, 4}, {3, 4}} {
			must(t, tx.PutEdge(e[0], e[1]))
		}
		return nil
	})
	for _, c := range []struct {
		source, n int
		want      string
	}{
		{0, 1, "[1]"}, {0, 2, "[1 2]"}, {0, 9, "[1 2 3 4]"}, {5, 1, "[2]"}, {5, 9, "[1 2 3 4]"}, {4, 9, "[1]"},
	} {
		if got, want := similar(t, g, c.source, db.Similar(c.n)), c.want; got != want {
			t.Errorf("SIMILAR(%d) of %d: %v, want %v", c.n, c.source, got, want)
		}
	}
	for _, source := range []int{0, 5} {
		if got := similar(t, g, source, db.Candidates{}); got != "[1 2 3 4]" {
			t.Errorf("nothing said of %d: %v", source, got)
		}
	}
	_, err := g.Predict(context.Background(), db.PredictOptions{For: 0, Among: db.Similar(0)})
	wantError(t, "no nodes", err, db.ErrInput)

	g = dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	_, err = g.Load(context.Background(), strings.NewReader("1 1\n2 1\n3 1\n3 2\n"), db.LoadOptions{SourceLabel: "user", TargetLabel: "item"})
	must(t, err)
	update(t, g, func(tx *db.Tx) error { return tx.PutNode(db.Node{Key: db.Str("user:9"), Label: "user"}) })
	if got := similar(t, g, "user:9", db.Candidates{}); got != "[item:1 item:2]" {
		t.Errorf("a new user is asked about %v", got)
	}
	must(t, g.View(context.Background(), func(tx *db.Tx) error {
		steps, err := tx.Explain(context.Background(), db.PredictOptions{For: "user:9"})
		if got := steps[1].Detail; got != "SIMILAR(1000) of LABEL item: 2 nodes" {
			t.Errorf("explained: %s", got)
		}
		return err
	}))
}

// similar returns the sorted keys of the candidates.
func similar(t *testing.T, g *db.DB, source any, among db.Candidates) (keys string) {
	t.Helper()
	r, err := g.Predict(context.Background(), db.PredictOptions{For: source, Among: among, Top: -1})
	must(t, err)
	var all []string
	for _, l := range r.Links {
		all = append(all, fmt.Sprint(l.Target.Value()))
	}
	slices.Sort(all)
	return fmt.Sprint(all)
}
