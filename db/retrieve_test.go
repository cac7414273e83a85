package db_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/db/edgelist"
)

// clubs is a list of random edges between n nodes, most of them in clubs of 40.
func clubs(n, edges int) io.Reader {
	rng := rand.New(rand.NewPCG(5, 6))
	var b strings.Builder
	for range edges {
		u := rng.IntN(n)
		v := u/40*40 + rng.IntN(40)
		if rng.IntN(10) == 0 {
			v = int(float64(n) * rng.Float64() * rng.Float64())
		}
		fmt.Fprintln(&b, u, v)
	}
	return strings.NewReader(b.String())
}

// Of many candidates the most promising ones are scored, and these are hardly ever not the best.
func TestRetrieve(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		from      func() io.Reader
		direction db.Direction
	}{
		{"made", func() io.Reader { return clubs(12000, 60000) }, db.Undirected},
		{"made, directed", func() io.Reader { return clubs(12000, 60000) }, db.Directed},
		{"snap/email-Enron.txt.gz", nil, db.Undirected},
		{"snap/soc-Epinions1.txt.gz", nil, db.Directed},
		{"law/dblp-2010.edges.txt.gz", nil, db.Undirected},
		{"law/cnr-2000.arcs.txt.gz", nil, db.Directed},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := dbtest.Open(t, &db.Options{InMemory: true, Direction: c.direction, Memory: 1 << 30})
			var list io.Reader
			if c.from != nil {
				list = c.from()
			} else {
				if strings.HasPrefix(c.name, "law") && !*long {
					t.Skip("slow: run with -long")
				}
				list = shared(t, c.name)
			}
			_, err := g.Load(context.Background(), list, db.LoadOptions{})
			must(t, err)
			checkRetrieved(t, g, 30, db.All())
			if c.from == nil && !*long {
				return // a training takes seconds
			}
			_, err = g.Model("default").Train(context.Background(), db.TrainOptions{Deploy: db.DeployAlways})
			must(t, err)
			checkRetrieved(t, g, 30, db.All())
		})
	}
}

// Of the items of a bipartite graph, few are scored after a training, also if the links have times.
func TestRetrieveItems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		from    func() io.Reader
		columns string
	}{
		{"made", func() io.Reader { return tastes(1500, 2000, 20000) }, "src,dst"},
		{"ml-100k/u.data", nil, "src,dst,weight,time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var list io.Reader
			if c.from != nil {
				list = c.from()
			} else if list = shared(t, c.name); !*long {
				t.Skip("slow: run with -long")
			}
			g := dbtest.Open(t, &db.Options{InMemory: true})
			_, err := g.Load(context.Background(), list, db.LoadOptions{SourceLabel: "user", TargetLabel: "item", Columns: edgelist.Columns(c.columns)})
			must(t, err)
			_, err = g.Model("default").Train(context.Background(), db.TrainOptions{Deploy: db.DeployAlways})
			must(t, err)
			checkRetrieved(t, g, 100, db.Label("item"))
		})
	}
}

// tastes is a list of random links from users to items, most of them to items of one taste.
func tastes(users, items, links int) io.Reader {
	const tastes = 20
	rng := rand.New(rand.NewPCG(7, 8))
	var b strings.Builder
	for range links {
		u := rng.IntN(users)
		i := int(float64(items/tastes)*rng.Float64()*rng.Float64())*tastes + u%tastes
		if rng.IntN(5) == 0 {
			i = rng.IntN(items)
		}
		fmt.Fprintf(&b, "u%d i%d\n", u, i)
	}
	return strings.NewReader(b.String())
}

// checkRetrieved compares the best of the retrieved candidates of some nodes with the best of all.
func checkRetrieved(t *testing.T, g *db.DB, questions int, among db.Candidates) {
	t.Helper()
	const top = 20
	rng := rand.New(rand.NewPCG(1, 1))
	view(t, g, func(tx *db.Tx) error {
		label := ""
		if strings.HasPrefix(among.String(), "LABEL") {
			label = "user"
		}
		keys, err := tx.Keys(label, 0)
		must(t, err)
		nodes := slices.Collect(keys)
		var ask []db.PredictOptions
		for range questions {
			ask = append(ask, db.PredictOptions{For: nodes[rng.IntN(len(nodes))], Among: among, Top: top})
		}
		found, i := 0, 0
		for few, err := range tx.PredictEach(context.Background(), slices.Values(ask)) {
			must(t, err)
			p := ask[i]
			p.RankAll, p.NoCache = true, true
			all, err := tx.Predict(context.Background(), p)
			must(t, err)
			if few.Retrieved == 0 || few.Candidates != all.Candidates || all.Retrieved != 0 {
				t.Fatalf("retrieved %d of %d, and %d of %d", few.Retrieved, few.Candidates, all.Retrieved, all.Candidates)
			}
			for _, l := range all.Links {
				if slices.ContainsFunc(few.Links, func(o db.Link) bool { return o.Target == l.Target && o.Score == l.Score }) {
					found++
				}
			}
			i++
		}
		t.Logf("%d of the best %d links of %d nodes", found, top, questions)
		if least := questions * top * 99 / 100; found < least {
			t.Errorf("%d of the best links of %d nodes, want at least %d", found, questions, least)
		}
		return nil
	})
}

// Few candidates are all scored. So are many if all links are requested, or if the options say so.
func TestRetrieveNot(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{InMemory: true})
	_, err := g.Load(ctx, clubs(11000, 30000), db.LoadOptions{})
	must(t, err)
	for _, p := range []db.PredictOptions{
		{RankAll: true}, {Top: -1}, {Top: 600}, {UntilExact: true}, {Among: db.Sample(5000, 1)}, {Model: "common_neighbors"},
	} {
		if p.For = 7; p.Among.String() == (db.Candidates{}).String() {
			p.Among = db.All()
		}
		r, err := g.Predict(ctx, p)
		must(t, err)
		if r.Retrieved != 0 {
			t.Errorf("%+v: retrieved %d of %d", p, r.Retrieved, r.Candidates)
		}
	}
	p := db.PredictOptions{For: 7, Among: db.All()}
	steps := explained(t, g, p)
	if !slices.ContainsFunc(steps, func(s db.Step) bool { return s.Name == "retrieve" && strings.Contains(s.Detail, " of 10942") }) {
		t.Errorf("the steps %v say nothing of what is retrieved", steps)
	}
	r, err := g.Predict(ctx, p)
	must(t, err)
	if r.Retrieved == 0 || r.Retrieved == r.Candidates {
		t.Errorf("retrieved %d of %d", r.Retrieved, r.Candidates)
	}
}

func explained(t *testing.T, g *db.DB, p db.PredictOptions) (steps []db.Step) {
	t.Helper()
	view(t, g, func(tx *db.Tx) (err error) {
		steps, err = tx.Explain(context.Background(), p)
		return err
	})
	return steps
}

// Where nothing is known of a source and of the candidates, there are still as many links as asked
// for.
func TestRetrieveOfNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{InMemory: true})
	must(t, g.Update(ctx, func(tx *db.Tx) error {
		for i := range 12000 {
			if err := tx.AddNode(db.Node{Key: db.Int(int64(i))}); err != nil {
				return err
			}
		}
		return nil
	}))
	r, err := g.Predict(ctx, db.PredictOptions{For: 7, Among: db.All(), Top: 20})
	must(t, err)
	if len(r.Links) != 20 || r.Retrieved == 0 || r.Candidates != 11999 {
		t.Errorf("%d links, retrieved %d of %d", len(r.Links), r.Retrieved, r.Candidates)
	}
}

// Later answers about a version are the first one, which uses nothing that is kept of the graph:
// after each change, and in a view of an old version.
func TestRetrieveVersions(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{InMemory: true})
	_, err := g.Load(ctx, tastes(6000, 9000, 60000), db.LoadOptions{SourceLabel: "user", TargetLabel: "item"})
	must(t, err)
	ask := func(tx *db.Tx) *db.Prediction {
		p, err := tx.Predict(ctx, db.PredictOptions{For: "user:u7", Among: db.Label("item"), Top: 40, NoCache: true})
		must(t, err)
		if p.Retrieved == 0 {
			t.Fatalf("all %d candidates are scored", p.Candidates)
		}
		return p
	}
	alike := func(name string, tx *db.Tx, want *db.Prediction) {
		for range 3 {
			if got := ask(tx); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: version %d has %d candidates with %v first, then %d with %v", name, want.GraphVersion, want.Candidates, want.Links[0], got.Candidates, got.Links[0])
			}
		}
	}
	var best []db.Link
	var linked db.Key
	for _, c := range []struct {
		name   string
		change func(tx *db.Tx) error
		more   int // candidates
	}{
		{"nothing", func(*db.Tx) error { return nil }, 0},
		{"insert", func(tx *db.Tx) error {
			for i := range 3000 { // the new item is the most popular one
				must(t, tx.PutEdge(fmt.Sprintf("user:u%d", 2*i), "new"))
			}
			return tx.PutNode(db.Node{Key: db.Str("new"), Label: "item"})
		}, 1},
		{"link", func(tx *db.Tx) error { linked = best[1].Target; return tx.AddEdge("user:u7", linked) }, -1},
		{"unlink", func(tx *db.Tx) error { return tx.DeleteEdge("user:u7", linked) }, 1},
		{"label", func(tx *db.Tx) error { return tx.PutNode(db.Node{Key: best[2].Target, Label: "other"}) }, -1},
		{"delete", func(tx *db.Tx) error { return tx.DeleteNode(best[0].Target) }, -1},
	} {
		view(t, g, func(old *db.Tx) error {
			before := ask(old)
			alike(c.name, old, before)
			best = before.Links
			update(t, g, c.change)
			view(t, g, func(tx *db.Tx) error {
				after := ask(tx)
				alike(c.name, tx, after)
				if n := after.Candidates - before.Candidates; n != c.more {
					t.Errorf("%s: %d more candidates, want %d", c.name, n, c.more)
				}
				return nil
			})
			alike(c.name, old, before)
			return nil
		})
	}
}
