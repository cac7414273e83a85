package db_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"kith/db"
	"kith/model"
)

// Open a database, write a graph, and ask which links come next.
func Example() {
	dir, err := os.MkdirTemp("", "kith")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	g, err := db.Open(filepath.Join(dir, "friends.kith"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	err = g.Update(ctx, func(tx *db.Tx) error {
		for _, e := range [][2]string{{"ann", "bob"}, {"ann", "cid"}, {"bob", "dan"}, {"cid", "dan"}, {"dan", "eve"}, {"bob", "fay"}} {
			if err := tx.AddEdge(e[0], e[1]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	r, err := g.Predict(ctx, db.PredictOptions{For: "ann", Among: db.Neighbors(3), Top: 2})
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range r.Links {
		fmt.Println(l.Rank, l.Target)
	}
	fmt.Println(r.AnsweredBy)
	// Output:
	// 1 dan
	// 2 fay
	// the built-in model: the database has no model
}

// A model learns from each outcome that is reported to it.
func ExampleDB_Observe() {
	ctx := context.Background()
	g, err := db.Open("", &db.Options{InMemory: true})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	err = g.Update(ctx, func(tx *db.Tx) error {
		for i := range 20 {
			if err := tx.AddEdge(i, (i+1)%20); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := g.Model("friends").Create(ctx, model.Spec{}); err != nil {
		log.Fatal(err)
	}
	for i := range 50 {
		o := db.ObserveOptions{Source: i % 20, Target: (i + 2) % 20, Reward: 1, Model: "friends", Insert: i%5 == 0}
		if err := g.Observe(ctx, o); err != nil {
			log.Fatal(err)
		}
	}
	r, err := g.Predict(ctx, db.PredictOptions{For: 7})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Rounds, r.AnsweredBy)
	// Output:
	// 50 model friends version 1
}

// A view sees the same version until it ends.
func ExampleDB_View() {
	ctx := context.Background()
	g, err := db.Open("", &db.Options{InMemory: true})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	if err := g.Update(ctx, func(tx *db.Tx) error { return tx.AddEdge("ann", 7, db.Weight(2.5)) }); err != nil {
		log.Fatal(err)
	}
	err = g.View(ctx, func(tx *db.Tx) error {
		for e, err := range tx.Neighbors("ann") {
			if err != nil {
				return err
			}
			fmt.Println(e.Src, e.Dst, e.Weight)
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// ann 7 2.5
}

// Sets of candidates can be combined.
func ExampleCandidates_Union() {
	seen := db.Keys("dan", "eve")
	fmt.Println(db.Neighbors(2).Union(db.Label("item")).Except(seen))
	// Output:
	// NEIGHBORS(2) UNION LABEL item EXCEPT 2 nodes as listed
}

// A choice explores. Its reward teaches the model and can be given once.
func ExampleDB_Choose() {
	ctx := context.Background()
	g, err := db.Open("", &db.Options{InMemory: true})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	err = g.Update(ctx, func(tx *db.Tx) error {
		for _, e := range [][2]string{{"ann", "bob"}, {"bob", "cid"}, {"bob", "dan"}, {"dan", "eve"}} {
			if err := tx.AddEdge(e[0], e[1]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := g.Model("friends").Create(ctx, db.ModelSpec{}); err != nil {
		log.Fatal(err)
	}
	d, err := g.Choose(ctx, db.ChooseOptions{For: "ann", Among: db.Keys("cid", "dan", "eve"), Model: "friends"})
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range d.Offers {
		fmt.Printf("%v %.2f\n", o.Target, o.Propensity)
	}
	if err := g.Reward(ctx, d.ID, 1); err != nil {
		log.Fatal(err)
	}
	fmt.Println(g.Reward(ctx, d.ID, 1))
	fmt.Println(g.Reward(ctx, d.ID, 0))
	// Output:
	// cid 0.61
	// dan 0.22
	// eve 0.17
	// <nil>
	// decision 1 has reward 1 already
}

// The nodes that a walk from a node reaches most, and the shortest path between two nodes.
func ExampleTx_PageRank() {
	ctx := context.Background()
	g, err := db.Open("", &db.Options{InMemory: true})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	err = g.Update(ctx, func(tx *db.Tx) error {
		for _, e := range [][2]string{{"ann", "bob"}, {"bob", "cid"}, {"cid", "dan"}} {
			if err := tx.AddEdge(e[0], e[1]); err != nil {
				return err
			}
		}
		r, err := tx.PageRank(ctx, db.PageRankOptions{From: "ann", Top: 2})
		if err != nil {
			return err
		}
		for _, n := range r.Nodes {
			fmt.Printf("%v %.3f\n", n.Node, n.Score)
		}
		path, err := tx.Path(ctx, "ann", "dan", 0)
		fmt.Println(path)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// bob 0.358
	// ann 0.302
	// [ann bob cid dan]
}

func ExampleModel_Deploy() {
	ctx := context.Background()
	g, err := db.Open("", &db.Options{InMemory: true})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	_, err = g.Load(ctx, strings.NewReader("1 2\n2 3\n3 4\n4 5\n5 1\n1 3\n"), db.LoadOptions{})
	err = errors.Join(err, g.Model("friends").Create(ctx, db.ModelSpec{}))
	if err != nil {
		log.Fatal(err)
	}
	held, err := g.Model("friends").Train(ctx, db.TrainOptions{Deploy: db.DeployNever})
	if err != nil {
		log.Fatal(err)
	}
	// Ask the new version, deploy it, and go back.
	_, err = g.Predict(ctx, db.PredictOptions{For: 1, Model: "friends", Version: held.Version})
	err = errors.Join(err, g.Model("friends").Deploy(ctx, held.Version))
	if err != nil {
		log.Fatal(err)
	}
	back, err := g.Model("friends").Rollback(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("trained", held.Version, "and back to", back)
	// Output: trained 2 and back to 1
}

func ExampleModel_Export() {
	ctx := context.Background()
	var file bytes.Buffer
	for _, edges := range []string{"1 2\n2 3\n3 4\n4 5\n5 1\n1 3\n", "7 3\n3 1\n1 2\n2 7\n"} {
		g, err := db.Open("", &db.Options{InMemory: true})
		if err != nil {
			log.Fatal(err)
		}
		defer g.Close()
		if _, err := g.Load(ctx, strings.NewReader(edges), db.LoadOptions{}); err != nil {
			log.Fatal(err)
		}
		if file.Len() == 0 { // g is the database in which the model learns
			err = errors.Join(
				g.Model("friends").Create(ctx, db.ModelSpec{}),
				g.Observe(ctx, db.ObserveOptions{Source: 2, Target: 5, Model: "friends", Reward: 1}),
				g.Model("friends").Export(ctx, &file, 0),
			)
		} else {
			var got db.Import
			got, err = g.Model("friends").Import(ctx, &file)
			fmt.Println("of the nodes it remembers", got.Known, "are here")
		}
		if err != nil {
			log.Fatal(err)
		}
	}
	// Output: of the nodes it remembers 1 are here
}

// Are the predictions better than a heuristic? A fifth of the edges is hidden, and both are asked
// for them.
func ExampleDB_Evaluate() {
	ctx := context.Background()
	g, err := db.Open("", &db.Options{InMemory: true})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	if _, err := g.Load(ctx, strings.NewReader("1 2\n1 3\n2 3\n1 4\n2 4\n3 4\n5 6\n"), db.LoadOptions{}); err != nil {
		log.Fatal(err)
	}
	of, err := g.Evaluate(ctx, db.EvaluateOptions{Share: 0.2, Among: []db.Candidates{db.All()}, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(of.Hidden, "of", of.Edges, "edges hidden")
	for _, r := range of.Results {
		fmt.Printf("%s: mrr %.2f of %d links\n", r.Name, r.MRR, r.Links)
	}
	// Output:
	// 1 of 7 edges hidden
	// prior: mrr 1.00 of 2 links
	// resource_allocation: mrr 1.00 of 2 links
}

// An answer marshals to JSON that a browser can use: nodes are numbers or strings.
func ExamplePrediction() {
	g, err := db.Open("", &db.Options{InMemory: true})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	err = g.Update(context.Background(), func(tx *db.Tx) error {
		return errors.Join(tx.AddEdge("ann", 7), tx.AddEdge(7, "bob"))
	})
	if err != nil {
		log.Fatal(err)
	}
	handler := func(w http.ResponseWriter, r *http.Request) {
		var node db.Key
		if err := node.UnmarshalText([]byte(r.FormValue("node"))); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		links, err := g.Predict(r.Context(), db.PredictOptions{For: node})
		switch {
		case errors.Is(err, db.ErrNotFound):
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(links)
	}

	w := httptest.NewRecorder()
	handler(w, httptest.NewRequest("GET", "/links?node=ann", nil))
	var answer struct {
		Source db.Key
		Links  []struct{ Target db.Key }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Source, answer.Links[0].Target)
	// Output: ann bob
}
