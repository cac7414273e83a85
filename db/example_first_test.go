package db_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"kith/db"
)

// Open, add, ask: which links come next?
func Example_ask() {
	ctx := context.Background()
	g, err := db.Open("", &db.Options{InMemory: true}) // or the path of a directory, and nil
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	err = g.Update(ctx, func(tx *db.Tx) error {
		for _, e := range [][2]string{{"ann", "bob"}, {"ann", "cid"}, {"bob", "dan"}, {"cid", "dan"}, {"bob", "fay"}} {
			if err := tx.AddEdge(e[0], e[1]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	p, err := g.Predict(ctx, db.PredictOptions{For: "ann"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Links[0].Target)
	// Output: dan
}

// Ask, then teach: each outcome counts at once.
func Example_teach() {
	ctx := context.Background()
	g, err := db.Open("", &db.Options{InMemory: true})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	if _, err := g.Load(ctx, strings.NewReader("ann bob\nann cid\nbob dan\ncid dan\ncid fay\n"), db.LoadOptions{}); err != nil {
		log.Fatal(err)
	}
	for range 2 {
		p, err := g.Predict(ctx, db.PredictOptions{For: "ann"})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(p.Links[0].Target, p.Rounds)
		o := db.ObserveOptions{Source: "ann", Target: p.Links[0].Target, Reward: 1, Insert: true}
		if err := g.Observe(ctx, o); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// dan 0
	// fay 1
}

// Serve suggestions, choose so that something is learned, and reward.
func Example_serve() {
	g, err := db.Open("", &db.Options{InMemory: true})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	if _, err := g.Load(context.Background(), strings.NewReader("ann bob\nbob cid\n"), db.LoadOptions{}); err != nil {
		log.Fatal(err)
	}
	serve := func(w http.ResponseWriter, r *http.Request) {
		d, err := g.Choose(r.Context(), db.ChooseOptions{For: r.FormValue("user")})
		if err == nil { // this user clicks at once
			err = g.Reward(r.Context(), d.ID, 1)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Fprintln(w, d.Places[0].Target, d.Places[0].Propensity)
	}
	answer := httptest.NewRecorder()
	serve(answer, httptest.NewRequest("GET", "/?user=ann", nil))
	fmt.Print(answer.Body)
	// Output: cid 1
}

// Score everyone, each night.
func Example_nightly() {
	ctx := context.Background()
	g, err := db.Open("", &db.Options{InMemory: true})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	if _, err := g.Load(ctx, strings.NewReader("ann bob\nbob cid\ncid dan\n"), db.LoadOptions{}); err != nil {
		log.Fatal(err)
	}
	err = g.View(ctx, func(tx *db.Tx) error {
		everyone := func(yield func(db.PredictOptions) bool) {
			for n, err := range tx.Nodes() {
				if err != nil || !yield(db.PredictOptions{For: n.Key, Among: db.Neighbors(2), Top: 1}) {
					return
				}
			}
		}
		for p, err := range tx.PredictEach(ctx, everyone) {
			if err != nil {
				return err
			}
			fmt.Println(p.Source, p.Links[0].Target)
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// ann cid
	// bob dan
	// cid ann
	// dan bob
}

// Is it better than a heuristic? An evaluation hides edges and asks both for them.
func Example_compare() {
	ctx := context.Background()
	g, err := db.Open("", &db.Options{InMemory: true})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	var list strings.Builder
	for i := range 60 { // each node knows the four after it
		for step := 1; step <= 4; step++ {
			fmt.Fprintln(&list, i, (i+step)%60)
		}
	}
	if _, err := g.Load(ctx, strings.NewReader(list.String()), db.LoadOptions{}); err != nil {
		log.Fatal(err)
	}
	of, err := g.Evaluate(ctx, db.EvaluateOptions{Share: 0.1, Sample: 100, Contenders: []db.Contender{
		{Spec: &db.ModelSpec{}}, // learns the edges that are not hidden
		{Model: "adamic_adar"},
	}})
	if err != nil {
		log.Fatal(err)
	}
	ours, theirs := of.Results[0], of.Results[1]
	fmt.Println(of.Hidden, "edges are hidden; better:", ours.MRR > theirs.MRR)
	// Output: 24 edges are hidden; better: true
}
