package db_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/db/edgelist"
	"kith/model"
)

// A common factor of all weights changes no answer: no candidate, score, bound, rank or note. The
// graphs are loaded, edited and asked with the cache and without. With -long each graph has both
// factors, without it there are three graphs, and one with -short.
func TestUnitOfWeights(t *testing.T) {
	t.Parallel()
	two := db.Seeds{{db.Int(3), 1}, {db.Int(11), 2}}
	all := []any{3, isolated, two, append(two, db.Seed{Node: db.Int(isolated), Weight: 1})}
	always := func(*testing.T) {}
	for _, c := range []struct {
		what     string
		exponent int
		w        weighing
		run      func(*testing.T)
	}{
		{"equal weights", 30, weighing{db.Undirected, 1, edgelist.SrcDstWeight, []any{3, two}}, notShort},
		{"equal weights", -30, weighing{db.Directed, 1, edgelist.SrcDstWeight, []any{3, two}}, slow},
		{"different weights, timed", -30, weighing{db.Undirected, 8, edgelist.SrcDstWeightTime, all}, slow},
		{"different weights, timed", 30, weighing{db.Directed, 8, edgelist.SrcDstWeightTime, all}, always},
		{"different weights, untimed", 30, weighing{db.Undirected, 8, edgelist.SrcDstWeight, all}, notShort},
		{"different weights, untimed", -30, weighing{db.Directed, 8, edgelist.SrcDstWeight, all}, slow},
	} {
		t.Run(fmt.Sprintf("%v, %s", c.w.direction, c.what), func(t *testing.T) {
			t.Parallel()
			c.run(t)
			exponents := []int{c.exponent}
			if *long {
				exponents = append(exponents, -c.exponent)
			}
			want := c.w.answers(t, 1)
			for _, exponent := range exponents {
				for i, got := range c.w.answers(t, math.Ldexp(1, exponent)) {
					if got != want[i] {
						at := differAt(got, want[i])
						t.Errorf("weights times 2^%d, %.60s: got ...%.80s, want ...%.80s", exponent, got, got[at:], want[i][at:])
					}
				}
			}
		})
	}
}

// differAt returns a place shortly before two texts begin to differ.
func differAt(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return max(n-40, 0)
}

const isolated = 1000 // a node without edges

// weighing says how a graph is made and where its walks start.
type weighing struct {
	direction db.Direction
	weights   int // number of different weights
	columns   edgelist.Columns
	starts    []any
}

// answers returns the answers to many questions about a graph whose weights are times factor.
func (w *weighing) answers(t *testing.T, factor float64) (all []string) {
	t.Helper()
	ctx, r := t.Context(), rand.New(rand.NewPCG(1, 2))
	var list strings.Builder
	for i := range 400 {
		weight := float64(1+r.IntN(w.weights)) / float64(min(w.weights, 2))
		fmt.Fprintln(&list, r.IntN(120), r.IntN(120), factor*weight, 1_500_000_000+1000*i)
	}
	g := dbtest.Open(t, &db.Options{Direction: w.direction})
	_, err := g.Load(ctx, strings.NewReader(list.String()), db.LoadOptions{Columns: w.columns})
	must(t, err)
	update(t, g, func(tx *db.Tx) error { return tx.PutNode(db.Node{Key: db.Int(isolated)}) })
	must(t, g.Model("spread").Create(ctx, model.Spec{Policy: "prb"}), g.Model("trained").Create(ctx, model.Spec{}))
	_, err = g.Model("trained").Train(ctx, db.TrainOptions{Deploy: db.DeployAlways, Plan: model.EdgePlan{Samples: 60, Epochs: 1}})
	must(t, err)
	all = w.questions(t, g)
	update(t, g, func(tx *db.Tx) error {
		for i := range 20 {
			if err := tx.PutEdge(db.Int(3), db.Int(int64(20+i)), db.Weight(float32(factor*float64(1+i%min(w.weights, 3))))); err != nil {
				return err
			}
		}
		var gone []db.Edge
		for e, err := range tx.Neighbors(7) {
			if must(t, err); len(gone) < 3 {
				gone = append(gone, e)
			}
		}
		for _, e := range gone {
			must(t, tx.DeleteEdge(e.Src, e.Dst))
		}
		return nil
	})
	return append(all, w.questions(t, g)...)
}

// questions returns the answers to many questions as text that distinguishes every bit.
func (w *weighing) questions(t *testing.T, g *db.DB) (all []string) {
	t.Helper()
	add := func(of string, answer any, err error) {
		must(t, err)
		b, err := json.Marshal(answer)
		must(t, err)
		all = append(all, fmt.Sprintf("%s: %s", of, b))
	}
	ctx := context.Background()
	for _, cold := range []bool{false, true} {
		for _, name := range append(model.Heuristics(), "", "spread", "trained") {
			for _, among := range []db.Candidates{{}, db.PPR(50), db.Neighbors(2)} {
				p := db.PredictOptions{For: 3, Among: among, Model: name, NoCache: cold, Top: -1}
				r, err := g.Predict(ctx, p)
				if r != nil {
					r.GraphVersion = 0
				}
				add(fmt.Sprintf("%s, %+v, %v", name, among, cold), r, err)
			}
		}
		view(t, g, func(tx *db.Tx) error {
			for _, row := range []bool{false, true} {
				for _, from := range w.starts {
					v, err := tx.PageRank(ctx, db.PageRankOptions{From: from, Row: row, NoCache: cold, Top: 20})
					add(fmt.Sprintf("walk %v %v %v", row, from, cold), v, err)
				}
			}
			return nil
		})
	}
	return all
}

// Every question has the same answer before and after the database was closed and opened.
func TestQuestionsAfterReopen(t *testing.T) {
	t.Parallel()
	notShort(t)
	ctx, path := t.Context(), place(t)
	r := rand.New(rand.NewPCG(1, 2))
	var list strings.Builder
	for range 40_000 { // so many that states are stored
		u := r.IntN(8000)
		fmt.Fprintln(&list, u, (u+1+r.IntN(100)*r.IntN(100))%8000)
	}
	g := open(t, path, nil)
	_, err := g.Load(ctx, strings.NewReader(list.String()), db.LoadOptions{})
	must(t, err)
	must(t, g.Model("spread").Create(ctx, model.Spec{Policy: "prb"}), g.Model("trained").Create(ctx, model.Spec{}))
	_, err = g.Model("trained").Train(ctx, db.TrainOptions{Deploy: db.DeployAlways, Plan: model.EdgePlan{Samples: 100, Epochs: 1}})
	must(t, err)
	ask := func() (all []string) {
		for _, name := range []string{"", "spread", "trained", "resource_allocation", "ppr"} {
			for _, among := range []db.Candidates{db.PPR(50), db.Neighbors(2)} {
				r, err := g.Predict(ctx, db.PredictOptions{For: 3, Among: among, Model: name})
				must(t, err)
				all = append(all, fmt.Sprintf("%s %s", text(t, r), r.Remark))
			}
		}
		return all
	}
	want := ask()
	must(t, g.Close())
	if g = dbtest.Reopen(t, path, nil); g == nil {
		return
	}
	for i, got := range ask() {
		if got != want[i] {
			t.Errorf("after reopening: got\n%s\nwant\n%s", got, want[i])
		}
	}
}
