package db_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
)

// answer returns a prediction as text that distinguishes every bit.
func answer(t testing.TB, g *db.DB, p db.PredictOptions) string {
	t.Helper()
	r, err := g.Predict(context.Background(), p)
	must(t, err)
	return text(t, r)
}

func text(t testing.TB, r *db.Prediction) string {
	t.Helper()
	b, err := json.Marshal(r)
	must(t, err)
	return fmt.Sprintf("%s %+v", b, r.Links)
}

// load fills a database with a wheel.
func load(t testing.TB, g *db.DB, n int) {
	t.Helper()
	_, err := g.Load(context.Background(), strings.NewReader(wheel(n)), db.LoadOptions{})
	must(t, err)
}

// Without the cache an answer is a function of graph, model and request, byte for byte. With the
// cache it agrees within the bounds, and in order where that is certain.
func TestPredictIsAFunction(t *testing.T) {
	t.Parallel()
	for _, direction := range []db.Direction{db.Undirected, db.Directed} {
		path := place(t)
		g := open(t, path, &db.Options{Direction: direction})
		load(t, g, 150)
		plain := db.PredictOptions{For: 7, Among: db.Neighbors(2), NoCache: true, Top: -1}
		cached := plain
		cached.NoCache = false
		want := answer(t, g, plain)
		for range 3 {
			agree(t, g, plain, cached)
			if got := answer(t, g, plain); got != want {
				t.Fatalf("%s\nthen\n%s", want, got)
			}
		}
		must(t, g.Check(context.Background()), g.Close())
		g = dbtest.Reopen(t, path, nil)
		if got := answer(t, g, plain); got != want {
			t.Errorf("%s\nafter a reopen\n%s", want, got)
		}
		update(t, g, func(tx *db.Tx) error { return tx.PutEdge(7, 100, db.Weight(2)) })
		if got := answer(t, g, plain); got == want {
			t.Error("an edge of the node changed nothing")
		}
		agree(t, g, plain, cached)
	}
}

// agree compares an answer without the cache with one with it.
func agree(t testing.TB, g *db.DB, plain, cached db.PredictOptions) {
	t.Helper()
	ctx := context.Background()
	a, err := g.Predict(ctx, plain)
	must(t, err)
	b, err := g.Predict(ctx, cached)
	must(t, err)
	compare(t, a, b)
}

// compare compares an answer without cached states with one that uses them: scores are within their
// bounds, and certain ranks are equal. If the candidates differ, no rank is certain, and a walk
// from the candidates gives all other scores.
func compare(t testing.TB, plain, cached *db.Prediction) {
	t.Helper()
	at := map[db.Key]db.Link{}
	for _, l := range plain.Links {
		at[l.Target] = l
	}
	same := !slices.ContainsFunc(cached.Links, func(l db.Link) bool { return at[l.Target] == db.Link{} })
	for _, l := range cached.Links {
		m := at[l.Target]
		if !same {
			if l.Exact {
				t.Errorf("%+v with the cache, of other candidates than without", l)
			}
			continue
		}
		if !(math.Abs(l.Score-m.Score) <= l.Error+m.Error) {
			t.Errorf("%+v with the cache, %+v without", l, m)
		}
		if l.Exact && m.Exact && l.Rank != m.Rank {
			t.Errorf("certain of rank %d with the cache, of %d without", l.Rank, m.Rank)
		}
	}
	if len(plain.Links) != len(cached.Links) {
		t.Errorf("%d links, and %d", len(plain.Links), len(cached.Links))
	}
}

// Each set of candidates has the documented nodes.
func TestCandidates(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Direction: db.Directed})
	update(t, g, func(tx *db.Tx) error {
		for _, e := range [][2]int{{1, 2}, {2, 3}, {3, 4}, {4, 5}, {1, 1}, {5, 1}} {
			must(t, tx.PutEdge(e[0], e[1]))
		}
		return errors.Join(tx.PutNode(db.Node{Key: db.Int(2), Label: "even"}), tx.PutNode(db.Node{Key: db.Int(4), Label: "even"}),
			tx.PutEdge(8, 9), tx.DeleteNode(9))
	})
	for _, c := range []struct {
		among  db.Candidates
		want   string
		linked int
	}{
		{db.Neighbors(1), "", 1},
		{db.Neighbors(2), "3", 1},
		{db.Neighbors(9), "3 4 5", 1},
		{db.Label("even"), "4", 1},
		{db.All(), "3 4 5 8", 1},
		{db.PPR(2), "3 4", 1},
		{db.PPR(100), "3 4 5", 1},
		{db.Candidates{}, "3 4 5", 1},
		{db.Keys(5, 2, 1, 5, 8), "1 2 5 8", 0},
		{db.Keys(), "", 0},
	} {
		r, err := g.Predict(context.Background(), db.PredictOptions{For: 1, Among: c.among})
		must(t, err)
		found := map[int64]bool{}
		for i, l := range r.Links {
			k, _ := l.Target.Int()
			found[k] = true
			if l.Rank != i+1 {
				t.Errorf("%v: rank %d at place %d", c.among, l.Rank, i)
			}
		}
		var got []string
		for k := range int64(10) {
			if found[k] {
				got = append(got, fmt.Sprint(k))
			}
		}
		if strings.Join(got, " ") != c.want || r.Linked != c.linked || r.Candidates != len(got) {
			t.Errorf("%v: %v, %d linked, %d candidates; want %s, %d linked", c.among, got, r.Linked, r.Candidates, c.want, c.linked)
		}
	}
}

func TestPredictRefuses(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	load(t, g, 30)
	for what, c := range map[string]struct {
		p    db.PredictOptions
		want error
	}{
		"node":       {db.PredictOptions{For: "nobody"}, db.ErrNotFound},
		"label":      {db.PredictOptions{For: 1, Among: db.Label("none")}, db.ErrNotFound},
		"no label":   {db.PredictOptions{For: 1, Among: db.Label("")}, db.ErrNotFound},
		"model":      {db.PredictOptions{For: 1, Model: "none"}, db.ErrNoModel},
		"key":        {db.PredictOptions{For: 1.5}, db.ErrInput},
		"steps":      {db.PredictOptions{For: 1, Among: db.Neighbors(0)}, db.ErrInput},
		"nodes":      {db.PredictOptions{For: 1, Among: db.PPR(-1)}, db.ErrInput},
		"epsilon":    {db.PredictOptions{For: 1, Epsilon: 1}, db.ErrInput},
		"no epsilon": {db.PredictOptions{For: 1, Epsilon: math.NaN()}, db.ErrInput},
		"option":     {db.PredictOptions{For: 1, Walk: []db.Option{{Name: "unheard", Value: 1}}}, db.ErrInput},
		"value":      {db.PredictOptions{For: 1, Walk: []db.Option{{Name: "alpha", Value: 2}}}, db.ErrInput},
	} {
		_, err := g.Predict(ctx, c.p)
		wantError(t, what, err, c.want)
	}
	late, cancel := context.WithCancel(ctx)
	cancel()
	_, err := g.Predict(late, db.PredictOptions{For: 1})
	wantError(t, "too late", err, context.Canceled)
}

// In an update a prediction sees the edges of the update, and the cache never does.
func TestPredictInAnUpdate(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	load(t, g, 60)
	p := db.PredictOptions{For: 3, Among: db.Keys(10, 20, 30), Top: -1}
	before := answer(t, g, p)
	wrong := errors.New("wrong")
	err := g.Update(ctx, func(tx *db.Tx) error {
		must(t, tx.PutEdge(3, 20, db.Weight(50)))
		r, err := tx.Predict(ctx, p)
		must(t, err)
		if text(t, r) == before {
			t.Error("the new edge changed nothing")
		}
		return wrong
	})
	wantError(t, "the update", err, wrong)
	plain := p
	plain.NoCache = true
	agree(t, g, plain, p)
}

// Cached states are repaired after commits, and after reopening.
func TestCacheCatchesUp(t *testing.T) {
	t.Parallel()
	path, ctx := place(t), context.Background()
	g := open(t, path, nil)
	load(t, g, 3000)
	must(t, g.Model("walk").Create(ctx, model.Spec{Policy: "ppr"}))
	stats := func() (c struct{ Hits, CatchUps, Loads, Computed uint64 }) {
		view(t, g, func(tx *db.Tx) error {
			s := tx.Stats().Cache
			c.Hits, c.CatchUps, c.Loads, c.Computed = s.Hits, s.CatchUps, s.Loads, s.Computed
			return nil
		})
		return c
	}
	p := db.PredictOptions{For: 7, Among: db.Keys(100, 200, 300, 8, 10), Model: "walk"}
	plain := p
	plain.NoCache = true
	agree(t, g, plain, p)
	first := stats()
	agree(t, g, plain, p)
	if s := stats(); first.Computed == 0 || s.Hits+s.CatchUps <= first.Hits || s.Computed != first.Computed {
		t.Errorf("asked twice: %+v, then %+v", first, s)
	}
	for i := range 5 {
		update(t, g, func(tx *db.Tx) error { return tx.PutEdge(52, 900+i) })
		agree(t, g, plain, p)
	}
	if s := stats(); s.CatchUps == 0 || s.Computed != first.Computed {
		t.Errorf("after commits: %+v", s)
	}
	must(t, g.Check(ctx), g.Close())
	g = dbtest.Reopen(t, path, nil)
	agree(t, g, plain, p)
	if s := stats(); s.Loads != 0 || s.Computed == 0 { // a stored state of the same edges is computed from scratch
		t.Errorf("after a reopen: %+v", s)
	}
	must(t, g.Close())
	g = dbtest.Reopen(t, path, nil)
	update(t, g, func(tx *db.Tx) error { return tx.PutEdge(52, 1000) })
	agree(t, g, plain, p)
	if s := stats(); s.Loads == 0 || s.Computed != 0 {
		t.Errorf("after a reopen and a commit: %+v", s)
	}
}

// Contexts from a repaired state have no bound. Asked until the ranks are certain, they are those
// of no cache, and their state stays in the cache.
func TestRepairedContexts(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, inMemory)
	load(t, g, 3000)
	p := db.PredictOptions{For: 7, Among: db.Keys(100, 200, 300), Top: -1}
	ask := func(p db.PredictOptions) *db.Prediction {
		r, err := g.Predict(context.Background(), p)
		must(t, err)
		return r
	}
	ask(p)
	update(t, g, func(tx *db.Tx) error { return tx.PutEdge(7, 900) })
	repaired := ask(p)
	p.UntilExact = true
	certain := ask(p)
	before := cacheStats(t, g)
	again := ask(p)
	p.UntilExact = false
	kept := ask(p)
	if use := readSince(t, g, before); use.Hits == 0 || use.CatchUps+use.Computed > 0 {
		t.Errorf("asked again: %+v", use)
	}
	for _, r := range []*db.Prediction{again, kept} {
		if !slices.Equal(r.Links, certain.Links) || r.Remark != "" {
			t.Errorf("again %+v, before %+v", r, certain)
		}
	}
	p.UntilExact, p.NoCache = false, true
	plain := ask(p)
	if !strings.Contains(repaired.Remark, "repaired") || certain.Remark != "" {
		t.Errorf("remarks %q and %q", repaired.Remark, certain.Remark)
	}
	for i, l := range plain.Links {
		if r := repaired.Links[i]; !math.IsInf(r.Error, 1) || r.Exact {
			t.Errorf("repaired: %+v", r)
		}
		if certain.Links[i] != l || !l.Exact {
			t.Errorf("until exact %+v, without the cache %+v", certain.Links[i], l)
		}
	}
}

// The state of a warmed node is in the cache before it is used.
func TestWarm(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, direction := range []db.Direction{db.Undirected, db.Directed} {
		g := dbtest.Open(t, &db.Options{InMemory: true, Direction: direction})
		load(t, g, 200)
		view(t, g, func(tx *db.Tx) error { return tx.Warm(ctx, 7, 8, 7) })
		view(t, g, func(tx *db.Tx) error {
			before := tx.Stats().Cache
			must(t, tx.Warm(ctx, 8, 7))
			if after := tx.Stats().Cache; before.Computed == 0 || after.Computed != before.Computed || after.Hits == before.Hits {
				t.Errorf("%+v, then %+v", before, after)
			}
			wantError(t, "an unknown node", tx.Warm(ctx, "nobody"), db.ErrNotFound)
			return nil
		})
		update(t, g, func(tx *db.Tx) error {
			must(t, tx.PutEdge("new", 1))
			wantError(t, "a node of this update", tx.Warm(ctx, "new"), db.ErrNotFound)
			return nil
		})
	}
}

// An epsilon below the precision of float64 is accepted, and the bound reports the precision that
// was reached.
func TestTinyEpsilon(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	load(t, g, 150)
	for _, noCache := range []bool{true, false, false} {
		r, err := g.Predict(ctx, db.PredictOptions{For: 7, Among: db.Neighbors(2), Epsilon: 1e-300, NoCache: noCache})
		must(t, err)
		for _, l := range r.Links {
			if !(l.Error < 1e-10) {
				t.Errorf("%+v", l)
			}
		}
	}
}
