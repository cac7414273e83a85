package model

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
)

// The ranking of the nodes two edges away is that of the scores of each of them, bit for bit.
func TestRankNear(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for range 30 {
		n := 2 + rng.IntN(60)
		g := newMesh(n, rng.IntN(2) == 0)
		for range rng.IntN(4 * n) {
			g.add(ID(rng.IntN(n)), ID(rng.IntN(n))) // loops too
		}
		for _, policy := range Heuristics() {
			s := create(t, Spec{Policy: policy}).Scorer()
			for source := range ID(n) {
				checkNear(t, s, g, source, -1, nil)
				checkNear(t, s, g, source, rng.IntN(12), func(u ID) bool { return u%3 == 0 })
			}
		}
	}
}

func checkNear(t *testing.T, s *Scorer, g *mesh, source ID, most int, skip func(ID) bool) {
	t.Helper()
	best, ranked, _, ok := s.RankNear(g.world(nil), source, most, skip)
	if ok != (s.policy.overlap != nil) {
		t.Fatalf("%s: ok is %v", s.Basis(), ok)
	}
	if !ok {
		return
	}
	want := plainNear(t, s, g, source, skip)
	if ranked != len(want) {
		t.Fatalf("%s of %d: %d nodes, want %d", s.Basis(), source, ranked, len(want))
	}
	if most >= 0 {
		want = want[:min(most, len(want))]
	}
	if !slices.Equal(best, want) {
		t.Fatalf("%s of %d: %v, want %v", s.Basis(), source, best, want)
	}
}

// plainNear ranks all nodes by the definition of RankNear.
func plainNear(t *testing.T, s *Scorer, g *mesh, source ID, skip func(ID) bool) (all []Ranked) {
	for u := range ID(len(g.Succ)) {
		between := func(w ID) bool { return slices.Contains(g.Succ[w], u) }
		if u == source || slices.Contains(g.Succ[source], u) || !slices.ContainsFunc(g.Succ[source], between) || skip != nil && skip(u) {
			continue
		}
		scores, err := s.Score(context.Background(), g.world(nil), Pairs(source, []ID{u}))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, Ranked{u, scores[0].Score})
	}
	slices.SortFunc(all, Ranked.compare)
	return all
}

// A neighbourhood with many edges is left to Score, and what was begun leaves no trace.
func TestRankNearOfHub(t *testing.T) {
	t.Parallel()
	const n = 600
	g := newMesh(n, false)
	for u := range ID(n - 1) {
		for v := range u {
			g.add(u, v)
		}
	}
	g.add(n-1, 0)
	s := create(t, Spec{Policy: "common_neighbors"}).Scorer()
	if _, _, _, ok := s.RankNear(g.world(nil), 1, 10, nil); ok {
		t.Error("a neighbourhood with 360,000 edges is ranked")
	}
	best, ranked, _, ok := s.RankNear(g.world(nil), n-1, 2, nil)
	if want := []Ranked{{1, 1}, {2, 1}}; !ok || ranked != n-2 || !slices.Equal(best, want) {
		t.Errorf("%v of %d, want %v of %d", best, ranked, want, n-2)
	}
}

// BenchmarkRankNear ranks the nodes two edges away, about 250 of them, for all nodes in turn.
func BenchmarkRankNear(b *testing.B) {
	const n = 20_000
	rng, g := rand.New(rand.NewPCG(1, 1)), newMesh(n, false)
	for range 8 * n {
		g.add(ID(rng.IntN(n)), ID(rng.IntN(n)))
	}
	for _, policy := range []string{"common_neighbors", "adamic_adar", "jaccard"} {
		b.Run(policy, func(b *testing.B) {
			s, w := create(b, Spec{Policy: policy}).Scorer(), g.world(nil)
			b.ReportAllocs()
			for i := range b.N {
				s.RankNear(w, ID(i%n), 10, nil)
			}
		})
	}
}
