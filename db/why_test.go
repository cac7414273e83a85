package db_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"kith/db"
	"kith/db/dbtest"
)

// allPaths returns all paths without repeated nodes between two nodes, with their masses, in
// descending order.
func allPaths(t testing.TB, tx *db.Tx, path []db.Key, to db.Key, mass, alpha float64) (found []db.Path) {
	t.Helper()
	at := path[len(path)-1]
	if at == to {
		return []db.Path{{Nodes: slices.Clone(path), Mass: mass * (1 - alpha)}}
	}
	n, err := tx.Node(at)
	must(t, err)
	for e, err := range tx.Neighbors(at) {
		must(t, err)
		if !slices.Contains(path, e.Dst) {
			found = append(found, allPaths(t, tx, append(slices.Clone(path), e.Dst), to, mass*alpha*float64(e.Weight)/n.Degree, alpha)...)
		}
	}
	return found
}

// The paths are those of most mass among all paths, in order, and no other path carries more than
// Unseen.
func TestWhyPaths(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, direction := range []db.Direction{db.Undirected, db.Directed} {
		rapid.Check(t, func(rt *rapid.T) {
			const nodes = 7
			g, err := db.Open("", &db.Options{InMemory: true, Direction: direction, Memory: 64 << 20})
			must(t, err)
			defer g.Close()
			update(t, g, func(tx *db.Tx) error {
				for i := range nodes {
					must(t, tx.AddNode(db.Node{Key: db.Int(int64(i))}))
				}
				for range rapid.IntRange(0, 14).Draw(rt, "edges") {
					end := rapid.IntRange(0, nodes-1)
					must(t, tx.PutEdge(end.Draw(rt, "from"), end.Draw(rt, "to"), db.Weight(float32(rapid.IntRange(1, 4).Draw(rt, "weight")))))
				}
				return nil
			})
			n := rapid.IntRange(1, 6).Draw(rt, "paths")
			view(t, g, func(tx *db.Tx) error {
				r, err := tx.Why(ctx, db.PredictOptions{For: 0}, 1, n)
				must(t, err)
				all := allPaths(t, tx, []db.Key{db.Int(0)}, db.Int(1), 1, r.Alpha)
				slices.SortFunc(all, func(a, b db.Path) int { return int(math.Copysign(1, b.Mass-a.Mass)) })
				if len(r.Paths) != min(n, len(all)) {
					rt.Fatalf("%d paths of %d, asked for %d", len(r.Paths), len(all), n)
				}
				sum := 0.0
				for i, w := range r.Paths {
					if math.Abs(w.Mass-all[i].Mass) > 1e-12 {
						rt.Fatalf("way %d: %v, want %v", i, w, all[i])
					}
					sum += w.Mass
				}
				if sum > r.PPR+1e-5 || len(all) > n && all[n].Mass > r.Unseen+1e-12 {
					rt.Fatalf("%v of %v, unseen %v", sum, r.PPR, r.Unseen)
				}
				return nil
			})
		})
	}
}

// The score is the one that Predict gives.
func TestWhy(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	load(t, g, 60)
	update(t, g, func(tx *db.Tx) error {
		for i := range 40 {
			must(t, tx.SetFeatures(i, []float32{float32(i), 1, float32(i % 3)}))
		}
		return nil
	})
	for name, options := range map[string]map[string]any{
		"belief": nil, "paper": {"preset": "paper"}, "some": {"blocks": "source product structural"},
	} {
		var spec db.ModelSpec
		for o, v := range options {
			if o == "preset" {
				spec.Policy = "prb"
			}
			must(t, spec.Set(o, v))
		}
		must(t, g.Model(name).Create(ctx, spec))
		for i := range 5 {
			must(t, g.Observe(ctx, db.ObserveOptions{Source: i, Target: i + 5, Reward: float64(i % 2), Model: name}))
		}
		p := db.PredictOptions{For: 7, Among: db.Neighbors(2), Model: name, Top: -1, NoCache: true}
		want, err := g.Predict(ctx, p)
		must(t, err)
		view(t, g, func(tx *db.Tx) error {
			r, err := tx.Why(ctx, p, want.Links[1].Target, 2)
			must(t, err)
			if r.Link != want.Links[1] || r.Candidates != want.Candidates {
				t.Errorf("%s: %+v, want %+v", name, r.Link, want.Links[1])
			}
			if len(r.Inputs) == 0 {
				t.Errorf("%s: no inputs", name)
			}
			_, err = tx.Why(ctx, p, 999, 1)
			wantError(t, "no such target", err, db.ErrNotFound)
			return nil
		})
	}
}

// Why and Predict give a link the same score for any graph, model and candidates: bit for bit
// without the cache, and within the bounds with it.
func TestWhyIsPredict(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	rapid.Check(t, func(rt *rapid.T) {
		const nodes = 12
		g, err := db.Open("", &db.Options{InMemory: true, Memory: 64 << 20, Direction: rapid.SampledFrom([]db.Direction{db.Undirected, db.Directed}).Draw(rt, "direction")})
		must(t, err)
		defer g.Close()
		node := rapid.IntRange(0, nodes-1)
		update(t, g, func(tx *db.Tx) error {
			for i := range nodes {
				must(t, tx.AddNode(db.Node{Key: db.Int(int64(i))}))
			}
			for range rapid.IntRange(0, 25).Draw(rt, "edges") {
				must(t, tx.PutEdge(node.Draw(rt, "from"), node.Draw(rt, "to"), db.Weight(float32(rapid.IntRange(1, 3).Draw(rt, "weight")))))
			}
			return nil
		})
		p := db.PredictOptions{For: node.Draw(rt, "source")}
		if policy := rapid.SampledFrom([]string{"", "default", "prb", "prb_greedy", "common_neighbors", "ppr"}).Draw(rt, "policy"); policy != "" {
			p.Model = "m"
			must(t, g.Model("m").Create(ctx, db.ModelSpec{Policy: policy}))
			for range rapid.IntRange(0, 3).Draw(rt, "outcomes") {
				must(t, g.Observe(ctx, db.ObserveOptions{Source: node.Draw(rt, "of"), Target: node.Draw(rt, "to"), Reward: 1, Model: "m"}))
			}
		}
		p.Among = rapid.SampledFrom([]db.Candidates{{}, db.Neighbors(2), db.All(), db.PPR(3), db.Sample(4, 7), db.Keys(1, 2, 3)}).Draw(rt, "among")
		p.NoCache = rapid.Bool().Draw(rt, "fresh")
		p.UntilExact = rapid.Bool().Draw(rt, "until exact")
		p.Top = rapid.SampledFrom([]int{-1, 2}).Draw(rt, "top")
		target := node.Draw(rt, "target")

		view(t, g, func(tx *db.Tx) error {
			want, err := tx.Predict(ctx, p)
			must(t, err)
			all := p
			all.Top, all.UntilExact = -1, false
			candidates, err := tx.Predict(ctx, all)
			must(t, err)
			r, err := tx.Why(ctx, p, target, 1)
			must(t, err)
			ranked := slices.ContainsFunc(candidates.Links, func(l db.Link) bool { return l.Target == db.Int(int64(target)) })
			if r.Added == ranked || r.Candidates != want.Candidates && ranked || r.AnsweredBy != want.AnsweredBy {
				rt.Fatalf("%d is a candidate: %v; added %v to %d of %d", target, ranked, r.Added, r.Candidates, want.Candidates)
			}
			for _, l := range want.Links {
				if l.Target != r.Link.Target {
					continue
				}
				if p.NoCache && r.Link != l || math.Abs(l.Score-r.Link.Score) > l.Error+r.Link.Error {
					rt.Fatalf("predicted %+v, explained %+v", l, r.Link)
				}
			}
			return nil
		})
	})
}
