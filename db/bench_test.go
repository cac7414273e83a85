package db_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
)

// BenchmarkPredict measures predictions of 100 candidates by trained models: with warm states, just
// after an edge was inserted at a neighbour of the source, and without the cache.
func BenchmarkPredict(b *testing.B) {
	for _, policy := range []string{"default", "prb_greedy"} {
		b.Run("policy="+policy, func(b *testing.B) { benchmarkPredict(b, policy) })
	}
}

// BenchmarkHeuristic measures the 10 best within two steps of a node by heuristics.
func BenchmarkHeuristic(b *testing.B) {
	g := facebook(b)
	for _, policy := range []string{"adamic_adar", "jaccard"} {
		b.Run("policy="+policy, func(b *testing.B) {
			b.ReportAllocs()
			random := rand.New(rand.NewPCG(1, 2))
			for b.Loop() {
				_, err := g.Predict(context.Background(), db.PredictOptions{For: random.IntN(4000), Among: db.Neighbors(2), Model: policy})
				must(b, err)
			}
		})
	}
}

// facebook returns a database of the friendships of ego-Facebook.
func facebook(b *testing.B) *db.DB {
	file, err := os.Open("../../shared/data/snap/facebook_combined.txt")
	if err != nil {
		b.Skip(err)
	}
	defer func() { must(b, file.Close()) }()
	g := dbtest.Open(b, &db.Options{InMemory: true, Memory: 1 << 30})
	_, err = g.Load(context.Background(), file, db.LoadOptions{})
	must(b, err)
	return g
}

// BenchmarkInsert measures durable commits of one and of many edges that lead from 5,000 nodes to
// new ones.
func BenchmarkInsert(b *testing.B) {
	ctx := context.Background()
	for _, edges := range []int{1, 1000} {
		b.Run(fmt.Sprintf("edges=%d", edges), func(b *testing.B) {
			b.ReportAllocs()
			g := dbtest.Open(b, nil)
			next := 0
			for b.Loop() {
				must(b, g.Update(ctx, func(tx *db.Tx) error {
					for range edges {
						next++
						if err := tx.AddEdge(next%5000, 10_000+next); err != nil {
							return err
						}
					}
					return nil
				}))
			}
		})
	}
}

// BenchmarkCold opens a graph of 237 relations, and answers its first question or, where it says
// warm, further ones about other nodes.
func BenchmarkCold(b *testing.B) {
	ctx := context.Background()
	for name, direction := range map[string]db.Direction{"undirected": db.Undirected, "directed": db.Directed} {
		file, err := os.Open("../../shared/data/kg/fb15k-237/train.tsv.gz")
		if err != nil {
			b.Skip(err)
		}
		path := filepath.Join(b.TempDir(), "g")
		g, err := db.Open(path, &db.Options{Direction: direction})
		must(b, err)
		_, err = g.Load(ctx, file, db.LoadOptions{Columns: "src,relation,dst"})
		must(b, err)
		must(b, file.Close())
		must(b, g.Close())
		ask := func(set string, among db.Candidates, policy string) {
			p := db.PredictOptions{For: "/m/0170z3", Relation: "/film/film/genre", Among: among, Model: policy}
			b.Run(name+"/"+set, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					g, err := db.Open(path, nil)
					must(b, err)
					_, err = g.Predict(ctx, p)
					must(b, err)
					must(b, g.Close())
				}
			})
		}
		ask("default", db.Candidates{}, "")
		ask("neighbors", db.Neighbors(2), "adamic_adar")
		ask("keys", db.Keys("/m/01jfsb"), "adamic_adar")
		b.Run(name+"/warm", func(b *testing.B) {
			g, err := db.Open(path, nil)
			must(b, err)
			defer func() { must(b, g.Close()) }()
			var nodes []db.Key
			view(b, g, func(tx *db.Tx) error {
				keys, err := tx.Keys("", 0)
				nodes = slices.Collect(keys)
				return err
			})
			for i := 0; b.Loop(); i++ {
				p := db.PredictOptions{For: nodes[7919*i%len(nodes)], Relation: "/film/film/genre", NoCache: true}
				_, err = g.Predict(ctx, p)
				must(b, err)
			}
		})
	}
}

func benchmarkPredict(b *testing.B, policy string) {
	ctx, g := context.Background(), facebook(b)
	must(b, g.Model("m").Create(ctx, model.Spec{Policy: policy}))
	_, err := g.Model("m").Train(ctx, db.TrainOptions{Deploy: db.DeployAlways, Plan: model.EdgePlan{Samples: 200, Epochs: 1}})
	must(b, err)
	const sources = 200
	random := rand.New(rand.NewPCG(1, 2))
	view(b, g, func(tx *db.Tx) error {
		for u := range sources {
			must(b, tx.Warm(ctx, u))
		}
		return nil
	})
	measure := func(name string, noCache, insert bool) {
		b.Run(name, func(b *testing.B) {
			before := cacheStats(b, g)
			for b.Loop() {
				b.StopTimer()
				source := random.IntN(sources)
				if insert {
					view(b, g, func(tx *db.Tx) error { return tx.Warm(ctx, source) })
					insertNear(b, g, random, source)
				}
				candidates := make([]any, 0, 100)
				for _, u := range random.Perm(4000)[:cap(candidates)] {
					candidates = append(candidates, u)
				}
				b.StartTimer()
				_, err := g.Predict(ctx, db.PredictOptions{For: source, Among: db.Keys(candidates...), Model: "m", NoCache: noCache})
				must(b, err)
			}
			after := cacheStats(b, g)
			b.ReportMetric(float64(after.Hits-before.Hits)/float64(b.N), "hits/op")
			b.ReportMetric(float64(after.CatchUps-before.CatchUps)/float64(b.N), "repairs/op")
			b.ReportMetric(float64(after.Computed-before.Computed)/float64(b.N), "misses/op")
		})
	}
	measure("states=none", true, false)
	measure("states=warm", false, false)
	measure("states=changed", false, true)
}

// insertNear adds an edge between a neighbour of a node and a random node.
func insertNear(b *testing.B, g *db.DB, random *rand.Rand, source int) {
	update(b, g, func(tx *db.Tx) error {
		n := 0
		var near db.Key
		for e, err := range tx.Neighbors(source) {
			must(b, err)
			n++
			if random.IntN(n) == 0 {
				if near = e.Dst; near == db.Int(int64(source)) {
					near = e.Src
				}
			}
		}
		return tx.PutEdge(near, random.IntN(4000))
	})
}

// BenchmarkExcept ranks posts within three steps of a user, with and without the 5,000 that were
// shown to the user in the last week.
func BenchmarkExcept(b *testing.B) {
	ctx, g, random := context.Background(), dbtest.Open(b, &db.Options{InMemory: true, Memory: 1 << 30, Direction: db.Directed}), rand.New(rand.NewPCG(1, 2))
	const users, posts = 20_000, 50_000
	now := time.Unix(1_700_000_000, 0)
	var list strings.Builder
	for u := range users {
		for range 20 {
			post := users + int(float64(posts)*math.Pow(random.Float64(), 2))
			fmt.Fprintf(&list, "%d follows %d 0\n%d likes %d 0\n", u, random.IntN(users), u, post)
		}
	}
	_, err := g.Load(ctx, strings.NewReader(list.String()), db.LoadOptions{Columns: "src,relation,dst,time"})
	must(b, err)
	update(b, g, func(tx *db.Tx) (err error) {
		for i := range 5000 {
			at := now.Add(-time.Duration(i) * time.Minute)
			err = cmp.Or(err, tx.PutEdge(7, users+i*posts/5000, db.Via("shown"), db.At(at)))
		}
		return err
	})
	near, shown := db.Neighbors(3).Via("follows", "likes"), db.Neighbors(1).Via("shown").Within(7*24*time.Hour)
	for _, c := range []struct {
		name  string
		among db.Candidates
	}{{"all", near}, {"except", near.Except(shown)}} {
		for _, policy := range []string{"", "adamic_adar"} {
			p := db.PredictOptions{For: 7, Relation: "likes", Among: c.among, Model: policy, Now: now}
			b.Run(c.name+"/"+cmp.Or(policy, "default"), func(b *testing.B) {
				for b.Loop() {
					_, err := g.Predict(ctx, p)
					must(b, err)
				}
			})
		}
	}
}

// manyNodes returns a compacted database on the disk of n nodes, a multiple of 10,000, which write
// writes one after the other.
func manyNodes(b *testing.B, memory int64, n int, write func(tx *db.Tx, i int) error) *db.DB {
	b.Helper()
	const batch = 10_000
	g, err := db.Open(filepath.Join(b.TempDir(), "g"), &db.Options{Memory: memory, NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { must(b, g.Close()) })
	for first := 0; first < n; first += batch {
		must(b, g.Update(context.Background(), func(tx *db.Tx) error {
			for i := first; i < first+batch; i++ {
				if err := write(tx, i); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	must(b, g.Compact(context.Background()))
	return g
}

// BenchmarkFilter ranks the nodes of a label that satisfy a condition on two properties, among a
// million nodes with five properties each.
func BenchmarkFilter(b *testing.B) {
	const nodes = 1_000_000
	langs := []string{"en", "de", "fr", "es", "pt"}
	g := manyNodes(b, 2<<30, nodes, func(tx *db.Tx, i int) error {
		err := tx.PutNode(db.Node{Key: db.Int(int64(i)), Label: "post", Properties: map[string]any{
			"price": float64(i*7919%10_000) / 100, "lang": langs[i*31%5], "hidden": i%9 == 0, "stock": i % 100,
			"added": time.Unix(int64(1_700_000_000+i*61), 0),
		}})
		return cmp.Or(err, tx.PutEdge(i, i*7919%nodes))
	})
	c := db.Cond{Of: "price", Op: "<", Value: 20}.And(db.Cond{Of: "lang", Op: "=", Value: "en"})
	p := db.PredictOptions{For: 1, Among: db.Label("post").Where(c), Model: "resource_allocation", NoCache: true}
	ask := func(b *testing.B) {
		for b.Loop() {
			if r, err := g.Predict(context.Background(), p); err != nil || len(r.Links) != 10 {
				b.Fatal(err)
			}
		}
	}
	b.Run("condition", ask)
	p.Among = db.Label("post")
	b.Run("none", ask)
}

// BenchmarkNear finds the 100 of 250,000 vectors of 128 numbers that are nearest to a vector.
func BenchmarkNear(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	vector := func() []float32 {
		v := make([]float32, 128)
		for i := range v {
			v[i] = float32(random.NormFloat64())
		}
		return v
	}
	g := manyNodes(b, 4<<30, 250_000, func(tx *db.Tx, i int) error {
		return tx.PutNode(db.Node{Key: db.Int(int64(i)), Features: vector()})
	})
	v := vector()
	for b.Loop() {
		must(b, g.View(context.Background(), func(tx *db.Tx) error {
			_, err := tx.NearSeeds(context.Background(), v, 100, db.Cond{})
			return err
		}))
	}
}
