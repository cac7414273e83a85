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

// A common factor of all weights changes no answer: no candidate, score, bound, rank or note. The graphs are loaded, edited
// and asked with the cache and without.
func TestUnitOfWeights(t *testing.T) {
	t.Parallel()
	for _, direction := range []db.Direction{db.Undirected, db.Directed} {
		want := weighed(t, direction, 1)
		for _, exponent := range []int{-30, 14, 30} {
			got := weighed(t, direction, math.Ldexp(1, exponent))
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("%v, weights times 2^%d: got\n%s\nwant\n%s", direction, exponent, got[i], want[i])
				}
			}
		}
	}
}

// weighed returns the answers to many questions about a graph whose weights are times factor.
func weighed(t *testing.T, direction db.Direction, factor float64) (all []string) {
	ctx, r := t.Context(), rand.New(rand.NewPCG(1, 2))
	var list strings.Builder
	edges := 600
	for range edges {
		fmt.Fprintln(&list, r.IntN(120), r.IntN(120), factor*float64(1+r.IntN(8))/2)
	}
	g := dbtest.Open(t, &db.Options{Direction: direction})
	_, err := g.Load(ctx, strings.NewReader(list.String()), db.LoadOptions{Columns: edgelist.SrcDstWeight})
	must(t, err)
	must(t, g.CreateModel(ctx, "spread", model.Spec{Policy: "prb"}), g.CreateModel(ctx, "trained", model.Spec{}))
	_, err = g.Train(ctx, db.Training{Model: "trained", Deploy: db.DeployAlways, Plan: model.EdgePlan{Samples: 100, Epochs: 1}})
	must(t, err)
	all = append(all, questions(t, g)...)
	update(t, g, func(tx *db.Tx) error {
		for i := range 20 {
			if err := tx.PutEdge(db.Edge{Src: db.Int(3), Dst: db.Int(int64(20 + i)), Weight: float32(factor * float64(1+i%3))}); err != nil {
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
	return append(all, questions(t, g)...)
}

// questions returns the answers to many questions as text that distinguishes every bit.
func questions(t *testing.T, g *db.DB) (all []string) {
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
				p := db.Prediction{For: 3, Among: among, Model: name, NoCache: cold, Top: -1}
				r, err := g.Predict(ctx, p)
				if r != nil {
					r.GraphVersion = 0
				}
				add(fmt.Sprintf("%s, %+v, %v", name, among, cold), r, err)
			}
		}
		view(t, g, func(tx *db.Tx) error {
			for _, row := range []bool{false, true} {
				for _, from := range []any{3, db.Seeds{{db.Int(3), 1}, {db.Int(11), 2}}} {
					v, err := tx.PageRank(ctx, db.Walk{From: from, Row: row, NoCache: cold, Top: 20})
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
	must(t, g.CreateModel(ctx, "spread", model.Spec{Policy: "prb"}), g.CreateModel(ctx, "trained", model.Spec{}))
	_, err = g.Train(ctx, db.Training{Model: "trained", Deploy: db.DeployAlways, Plan: model.EdgePlan{Samples: 100, Epochs: 1}})
	must(t, err)
	ask := func() (all []string) {
		for _, name := range []string{"", "spread", "trained", "resource_allocation", "ppr"} {
			for _, among := range []db.Candidates{db.PPR(50), db.Neighbors(2)} {
				r, err := g.Predict(ctx, db.Prediction{For: 3, Among: among, Model: name})
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
