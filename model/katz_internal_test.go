package model

import (
	"context"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// anyMesh draws a small graph, possibly with loops and isolated nodes.
func anyMesh(t *rapid.T) *mesh {
	n := rapid.IntRange(2, 9).Draw(t, "nodes")
	g := newMesh(n, rapid.Bool().Draw(t, "directed"))
	for range rapid.IntRange(0, 3*n).Draw(t, "edges") {
		g.add(ID(rapid.IntRange(0, n-1).Draw(t, "from")), ID(rapid.IntRange(0, n-1).Draw(t, "to")))
	}
	return g
}

// scoresByPolicy returns the scores of all pairs of a source by a policy.
func scoresByPolicy(t testing.TB, g *mesh, policy string, source ID, settings ...any) []Score {
	t.Helper()
	spec := Spec{Policy: policy}
	for i := 0; i < len(settings); i += 2 {
		if err := spec.Set(settings[i].(string), settings[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	var all []ID
	for u := range g.Succ {
		all = append(all, ID(u))
	}
	scores, err := create(t, spec).Scorer().Score(context.Background(), g.world(nil), Pairs(source, all))
	if err != nil {
		t.Fatal(err)
	}
	return scores
}

// walkCounts returns beta^l times the number of walks of l edges from source to each node, by
// multiplication with the matrix.
func walkCounts(g *mesh, beta float64, source ID, length int) [][]float64 {
	n := len(g.Succ)
	counts := [][]float64{make([]float64, n)}
	counts[0][source] = 1
	for l := range length {
		next := make([]float64, n)
		for u := range n {
			for v := range n {
				for _, to := range g.Succ[u] {
					if int(to) == v {
						next[v] += beta * counts[l][u]
					}
				}
			}
		}
		counts = append(counts, next)
	}
	return counts
}

// Katz equals the sum over walks computed by the matrix, and the omitted walks are within the
// bound.
func TestKatz(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		g := anyMesh(rt)
		source := ID(rapid.IntRange(0, len(g.Succ)-1).Draw(rt, "source"))
		beta := rapid.SampledFrom([]float64{0, 0.005, 0.1, 0.3, 0.45, 1}).Draw(rt, "beta")
		length := rapid.IntRange(0, 6).Draw(rt, "length")
		scores := scoresByPolicy(t, g, "katz", source, "beta", beta, "length", length)
		const long = 3000
		counts := walkCounts(g, beta, source, long)
		for v, s := range scores {
			want, rest := 0.0, 0.0
			for l := 1; l <= long; l++ {
				if l <= length {
					want += counts[l][v]
				} else {
					rest += counts[l][v]
				}
			}
			if math.Abs(s.Score-want) > 1e-9*(1+want) || s.PPR != 0 || s.Explore != 0 {
				rt.Fatalf("%d -> %d: %+v, want %v", source, v, s, want)
			}
			if rest > s.Bound*(1+1e-9)+1e-12 || math.IsNaN(s.Bound) {
				rt.Fatalf("%d -> %d: longer walks are worth %v, the bound is %v", source, v, rest, s.Bound)
			}
		}
	})
}

// The bound is finite if beta is below the reciprocal of the largest number of neighbours, and for
// a hub with many leaves up to the reciprocal of its square root. It is infinite where the sum
// diverges.
func TestKatzBound(t *testing.T) {
	t.Parallel()
	star := newMesh(101, false)
	for leaf := ID(1); leaf <= 100; leaf++ {
		star.add(0, leaf)
	}
	triangle := newMesh(3, false, [2]ID{0, 1}, [2]ID{1, 2}, [2]ID{2, 0})
	for _, c := range []struct {
		name   string
		g      *mesh
		beta   float64
		length int
		finite bool
		most   float64 // largest bound
	}{
		{"a triangle", triangle, 0.49, 3, true, 50},
		{"a triangle without a limit", triangle, 0.5, 3, false, 0},
		{"a star", star, 0.009, 4, true, 1e-3},
		{"a star beyond the number of leaves", star, 0.09, 5, true, 100},
		{"a star without a limit", star, 0.11, 5, false, 0},
	} {
		for v, s := range scoresByPolicy(t, c.g, "katz", 1, "beta", c.beta, "length", c.length) {
			if finite := !math.IsInf(s.Bound, 1); finite != c.finite || finite && s.Bound > c.most {
				t.Errorf("%s: the bound of %d is %v, want a finite one: %v, of at most %v", c.name, v, s.Bound, c.finite, c.most)
			}
		}
	}
}

func TestKatzIsCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := create(t, Spec{Policy: "katz"}).Scorer().Score(ctx, kite().world(nil), Pairs(1, []ID{3})); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
}

// The heuristics that count neighbours match counts by sets.
func TestNeighborHeuristics(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		g := anyMesh(rt)
		source := ID(rapid.IntRange(0, len(g.Succ)-1).Draw(rt, "source"))
		products, shares := scoresByPolicy(t, g, "preferential_attachment", source), scoresByPolicy(t, g, "jaccard", source)
		for v := range g.Succ {
			target := ID(v)
			from, to, either, both := map[ID]bool{}, map[ID]bool{}, map[ID]bool{}, map[ID]bool{}
			for _, u := range g.Succ[source] {
				from[u] = u != source
			}
			for _, u := range g.Pred[target] {
				to[u] = u != target
			}
			degrees := [2]int{}
			for u := range ID(len(g.Succ)) {
				if from[u] {
					degrees[0]++
				}
				if to[u] {
					degrees[1]++
				}
				if u != source && u != target && (from[u] || to[u]) {
					either[u] = true
					if from[u] && to[u] {
						both[u] = true
					}
				}
			}
			share := 0.0
			if len(either) > 0 {
				share = float64(len(both)) / float64(len(either))
			}
			if p := products[v].Score; p != float64(degrees[0]*degrees[1]) {
				rt.Fatalf("preferential attachment of %d -> %d: %v, want %v", source, v, p, degrees)
			}
			if s := shares[v].Score; s != share {
				rt.Fatalf("jaccard of %d -> %d: %v, want %v", source, v, s, share)
			}
		}
	})
}

// A step reaches each node once, also if the weights of the walks are too small to be represented.
func TestKatzReachesNodesOnce(t *testing.T) {
	t.Parallel()
	g := randomMesh(20, 300, false)
	for _, beta := range []float64{0, 1e-200, 0.005} {
		k := &katzSum{ctx: context.Background(), g: g, beta: beta, at: make([]float64, 20), next: make([]float64, 20)}
		if err := k.sum(Pairs(0, []ID{1}), 4, make([]Score, 1)); err != nil {
			t.Fatal(err)
		}
		if len(k.reached) > 20 {
			t.Errorf("beta %v: 20 nodes, %d reached", beta, len(k.reached))
		}
	}
}
