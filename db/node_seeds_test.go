package db_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
)

// ring returns a database with the nodes 0 to 29, linked to the next one and to their square, and
// the node alone.
func ring(t testing.TB, direction db.Direction) *db.DB {
	t.Helper()
	g := dbtest.Open(t, &db.Options{InMemory: true, Direction: direction})
	update(t, g, func(tx *db.Tx) error {
		for i := range 30 {
			must(t, tx.PutEdge(i, (i+1)%30), tx.PutEdge(i, i*i%30))
		}
		return tx.AddNode(db.Node{Key: db.Str("alone")})
	})
	return g
}

// seeds returns a set of nodes with weights.
func seeds(weights map[int]float64) (s db.Seeds) {
	for k, w := range weights {
		s = append(s, db.Seed{Node: db.Int(int64(k)), Weight: w})
	}
	return s
}

// among are candidates of every kind.
func among() []db.Candidates {
	return []db.Candidates{
		{}, db.Neighbors(1), db.Neighbors(2), db.PPR(7), db.Similar(7), db.Sample(6, 3), db.All(), db.Keys(1, 4, 9, 17, 3), db.All().Except(db.Neighbors(2)),
	}
}

// A set of one node has the answers for that node, and neither the order of a set nor a factor of
// its weights matters, byte for byte.
func TestSeedsAreASet(t *testing.T) {
	t.Parallel()
	for _, direction := range []db.Direction{db.Undirected, db.Directed} {
		g := ring(t, direction)
		rank := func(of any) string {
			var r *db.PageRank
			view(t, g, func(tx *db.Tx) (err error) {
				r, err = tx.PageRank(context.Background(), db.PageRankOptions{From: of, NoCache: true})
				return err
			})
			return fmt.Sprintf("%+v", r)
		}
		set, other, scaled := db.Seeds{{db.Int(3), 2}, {db.Int(4), 1}, {db.Int(12), 0.5}}, db.Seeds{{db.Int(12), 0.5}, {db.Int(3), 2}, {Node: db.Int(4)}}, slices.Clone(db.Seeds{})
		for _, s := range set {
			scaled = append(scaled, db.Seed{Node: s.Node, Weight: 3 * s.Weight})
		}
		same := func(what string, got, want string) {
			t.Helper()
			if got != want {
				t.Errorf("%v, %s: %s\nwant %s", direction, what, got, want)
			}
		}
		same("ranks of one", rank(db.Seeds{{db.Int(3), 0.7}}), rank(3))
		same("ranks in another order", rank(other), rank(set))
		same("ranks of other weights", rank(scaled), rank(set))
		for _, model := range append([]string{""}, model.Heuristics()...) {
			for _, c := range among() {
				ask := func(of any) string {
					return answer(t, g, db.PredictOptions{For: of, Among: c, Model: model, NoCache: true, Top: -1})
				}
				what := fmt.Sprintf("links by %q among %v", model, c)
				same(what+" of one", ask(db.Seeds{{db.Int(3), 0.7}}), ask(3))
				same(what+" in another order", ask(other), ask(set))
				same(what+" of other weights", ask(scaled), ask(set))
			}
		}
	}
}

// The PageRank of a set is that of a walk that starts at its nodes by weight, and the score of a
// link is the weighted mean of the scores that the nodes alone give the same candidates.
func TestSeedsAreAMean(t *testing.T) {
	t.Parallel()
	weights := map[int]float64{3: 2, 4: 1, 12: 1, 20: 4}
	for _, direction := range []db.Direction{db.Undirected, db.Directed} {
		g := ring(t, direction)
		for _, q := range []db.PageRankOptions{{Top: -1}, {Top: -1, Row: true}, {Top: 5, NoCache: true}, {Top: -1, Epsilon: 1e-11}} {
			q.From = seeds(weights)
			view(t, g, func(tx *db.Tx) error {
				r, err := tx.PageRank(context.Background(), q)
				must(t, err)
				want := make([]float64, 30)
				for source, w := range weights {
					for i, x := range iterated(t, tx, 30, source, r.Alpha, q.Row) {
						want[i] += w / 8 * x
					}
				}
				for _, n := range r.Nodes {
					i, _ := n.Node.Int()
					if !(math.Abs(n.Score-want[i]) <= n.Error+1e-12) {
						t.Errorf("%v, row %t: %+v, want %v", direction, q.Row, n, want[i])
					}
				}
				return nil
			})
		}
		for _, model := range append([]string{""}, model.Heuristics()...) {
			p := db.PredictOptions{Among: db.Keys(1, 2, 5, 9, 25), Model: model, Top: -1}
			want := map[db.Key]float64{}
			slack := map[db.Key]float64{}
			for source, w := range weights {
				p.For = source
				r, err := g.Predict(context.Background(), p)
				must(t, err)
				for _, l := range r.Links {
					want[l.Target] += w / 8 * l.Score
					slack[l.Target] += w/8*l.Error + 1e-9
				}
			}
			p.For = seeds(weights)
			r, err := g.Predict(context.Background(), p)
			must(t, err)
			for _, l := range r.Links {
				if !(math.Abs(l.Score-want[l.Target]) <= slack[l.Target]+l.Error) {
					t.Errorf("%v, %q: %+v, want %v", direction, model, l, want[l.Target])
				}
			}
		}
	}
}

// Candidates of a set are those near any of its nodes, without the set and what is linked to any of
// it.
func TestCandidatesOfSeeds(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true})
	update(t, g, func(tx *db.Tx) error { // two paths
		for i := range 9 {
			must(t, tx.PutEdge(i, i+1), tx.PutEdge(20+i, 21+i))
		}
		return nil
	})
	for _, c := range []struct {
		among  db.Candidates
		want   string
		linked int
	}{
		{db.Neighbors(1), "", 4},
		{db.Neighbors(2), "1 5 22 26", 4},
		{db.PPR(2), "22 26", 4},
		{db.PPR(4), "21 22 26 27", 4},
		{db.Keys(3, 4, 9), "3 4 9", 0},
		{db.Neighbors(3).Except(db.Neighbors(2)), "0 6 21 27", 0},
		{db.All().Intersect(db.Keys(2, 3, 22)), "2 3 22", 0},
	} {
		r, err := g.Predict(context.Background(), db.PredictOptions{For: db.Seeds{{db.Int(3), 1}, {db.Int(24), 3}}, Among: c.among, Top: -1})
		must(t, err)
		var keys []int
		for _, l := range r.Links {
			i, _ := l.Target.Int()
			keys = append(keys, int(i))
		}
		slices.Sort(keys)
		if got := strings.Trim(fmt.Sprint(keys), "[]"); got != c.want || r.Linked != c.linked {
			t.Errorf("%v: %s, %d linked, want %s, %d linked", c.among, got, r.Linked, c.want, c.linked)
		}
	}
}

// A set that no question can have is an error that names the node.
func TestSeedsRefused(t *testing.T) {
	t.Parallel()
	g := ring(t, db.Undirected)
	update(t, g, func(tx *db.Tx) error { return tx.DeleteNode("alone") })
	many := make(db.Seeds, 10_001)
	for i := range many {
		many[i].Node = db.Int(int64(i))
	}
	for _, c := range []struct {
		seeds db.Seeds
		err   error
		text  string
	}{
		{nil, db.ErrInput, "want at least 1"},
		{many, db.ErrInput, "a set of 10001 sources: want at most 10000"},
		{db.Seeds{{db.Int(3), 1}, {db.Int(3), 2}}, db.ErrInput, "source 3 is given twice"},
		{db.Seeds{{db.Int(3), -1}}, db.ErrInput, "source 3: weight -1 is not"},
		{db.Seeds{{db.Int(3), math.NaN()}}, db.ErrInput, "weight NaN is not"},
		{db.Seeds{{db.Int(3), math.Inf(1)}}, db.ErrInput, "weight +Inf is not"},
		{db.Seeds{{db.Int(3), 1e-300}}, db.ErrInput, "weight 1e-300 is not"},
		{db.Seeds{{db.Int(3), 1}, {db.Str("alone"), 1}}, db.ErrNotFound, "no node 'alone'"},
	} {
		_, err := g.Predict(context.Background(), db.PredictOptions{For: c.seeds})
		wantError(t, c.text, err, c.err)
		if !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v, want %s", err, c.text)
		}
		err = g.View(context.Background(), func(tx *db.Tx) error {
			_, err := tx.PageRank(context.Background(), db.PageRankOptions{From: c.seeds})
			return err
		})
		wantError(t, c.text, err, c.err)
	}
	err := g.Update(context.Background(), func(tx *db.Tx) error {
		_, err := tx.Choose(context.Background(), db.ChooseOptions{For: db.Seeds{{db.Int(3), 1}}, Among: db.All()})
		return err
	})
	wantError(t, "a choice for a set", err, db.ErrInput)
}

// The shares of the nodes of a set explain a score, and paths begin at any of the nodes.
func TestWhyOfSeeds(t *testing.T) {
	t.Parallel()
	g := ring(t, db.Undirected)
	set := db.Seeds{{db.Int(3), 1}, {db.Int(20), 3}}
	view(t, g, func(tx *db.Tx) error {
		r, err := tx.Why(context.Background(), db.PredictOptions{For: set, Among: db.Neighbors(2)}, 23, 50)
		must(t, err)
		sum, from := 0.0, map[db.Key]bool{}
		for _, s := range r.Sources {
			sum += s.Weight * s.Score
		}
		if math.Abs(sum-r.Link.Score) > 1e-6 || len(r.Sources) != 2 || len(r.Inputs) != 0 {
			t.Errorf("score %v of %+v, inputs %v", r.Link.Score, r.Sources, r.Inputs)
		}
		want := 0.25*iterated(t, tx, 30, 3, r.Alpha, false)[23] + 0.75*iterated(t, tx, 30, 20, r.Alpha, false)[23]
		mass := 0.0
		for _, p := range r.Paths {
			from[p.Nodes[0]] = true
			mass += p.Mass
		}
		if math.Abs(r.PPR-want) > 1e-5 || mass > want || mass < want/10 || len(from) != 2 {
			t.Errorf("pagerank %v, want %v; paths of %v from %v", r.PPR, want, mass, from)
		}
		return nil
	})
}

// In JSON a source is its key, or a list of nodes with their weights.
func TestSeedsInJSON(t *testing.T) {
	t.Parallel()
	for text, s := range map[string]db.Seeds{
		`3`:     {{db.Int(3), 1}},
		`"ann"`: {{db.Str("ann"), 1}},
		`[{"node":3,"weight":0.25},{"node":"ann","weight":0.75}]`: {{db.Int(3), 0.25}, {db.Str("ann"), 0.75}},
	} {
		b, err := json.Marshal(s)
		must(t, err)
		var back db.Seeds
		must(t, json.Unmarshal(b, &back))
		if string(b) != text || !slices.Equal(back, s) {
			t.Errorf("%v is %s, and gives back %v", s, b, back)
		}
	}
	set := db.Seeds{{db.Int(3), 1. / 3}, {db.Str("ann"), 2. / 3}}
	if s := set.Literal() + " " + set.String(); s != "(3 WEIGHT 0.3333, 'ann' WEIGHT 0.6667) (3 WEIGHT 0.3333, ann WEIGHT 0.6667)" {
		t.Error(s)
	}
}
