package model

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"kith/model/internal/column"
	"kith/model/nn"
)

// kite is a small graph: a square 0-1-2-3 with the diagonal 0-2 and a tail 3-4. Node 5 is isolated.
func kite() *mesh {
	return newMesh(6, false, [2]ID{0, 1}, [2]ID{1, 2}, [2]ID{2, 3}, [2]ID{3, 0}, [2]ID{0, 2}, [2]ID{3, 4})
}

func create(t testing.TB, s Spec) *Model {
	t.Helper()
	m, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestHeuristics(t *testing.T) {
	t.Parallel()
	log3 := 1 / math.Log(3)
	for policy, want := range map[string]float64{ // for 1 and 3: common neighbours 0 and 2 with 3 links each
		"common_neighbors":    2,
		"adamic_adar":         2 * log3,
		"resource_allocation": 2.0 / 3,
	} {
		s := create(t, Spec{Policy: policy}).Scorer()
		scores, err := s.Score(context.Background(), kite().world(nil), Pairs(1, []ID{3, 5}))
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(scores[0].Score-want) > 1e-12 || scores[1] != (Score{}) || s.Basis() != policy {
			t.Errorf("%s: %+v by %q, want %v and zeros", policy, scores, s.Basis(), want)
		}
	}
}

// A heuristic scores many candidates, which it does in one walk, like each of them alone, and in
// any order.
func TestHeuristicsOfManyCandidates(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	g := newMesh(300, true)
	for range 6000 {
		g.add(ID(random.IntN(300)), ID(random.IntN(300)))
	}
	ctx, w, pairs := context.Background(), g.world(nil), make([]Pair, 300)
	for v := range pairs {
		pairs[v] = Pair{Source: 7, Target: ID(v)}
	}
	if !new(column.Common).Pays(g, 7, new(column.Reader).Targets(pairs)) {
		t.Error("a walk to all nodes does not pay")
	}
	if new(column.Common).Pays(g, 7, []ID{8}) {
		t.Error("a walk to one node pays")
	}
	reversed := slices.Clone(pairs)
	slices.Reverse(reversed)
	for _, policy := range []string{"common_neighbors", "adamic_adar", "resource_allocation"} {
		s := create(t, Spec{Policy: policy}).Scorer()
		many, err := s.Score(ctx, w, pairs)
		if err != nil {
			t.Fatal(err)
		}
		back, err := s.Score(ctx, w, reversed)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range pairs {
			one, err := s.Score(ctx, w, []Pair{p})
			if err != nil {
				t.Fatal(err)
			}
			if many[i] != one[0] || back[len(pairs)-1-i] != one[0] {
				t.Errorf("%s of %v: %+v and %+v, alone %+v", policy, p, many[i], back[len(pairs)-1-i], one[0])
			}
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := create(t, Spec{Policy: "adamic_adar"}).Scorer().Score(ended, w, pairs); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context has ended: %v", err)
	}
}

// Scores of policies with a walk are the exact sums of their parts, also for the source itself, a
// repeated node and an isolated node.
func TestPartsOfAScore(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"default", "prb", "prb_greedy", "ppr"} {
		for _, norm := range []string{"row", "column"} {
			spec := Spec{Policy: policy, Seed: 1}
			for name, value := range map[string]any{"norm": norm, "alpha": 0.6, "prior": "off", "seed_weight": 1} {
				if err := spec.Set(name, value); err != nil {
					t.Fatal(err)
				}
			}
			scores, err := create(t, spec).Scorer().Score(context.Background(), kite().world(nil), Pairs(1, []ID{4, 1, 3, 4, 5}))
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range scores {
				if d := s.Score - 0.4*(s.Exploit+s.Explore) - s.PPR; math.Abs(d) > 1e-12 || s.Bound < 0 || s.Bound > 1e-6 {
					t.Errorf("%s, %s: candidate %d: %+v is off by %v", policy, norm, i, s, d)
				}
			}
			if scores[0] != scores[3] {
				t.Errorf("%s, %s: one node, two scores: %+v, %+v", policy, norm, scores[0], scores[3])
			}
		}
	}
}

func TestBasis(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec Spec
		want string
	}{
		{Spec{}, "built-in weights"},
		{Spec{Policy: "prb"}, "structural prior"},
		{Spec{Policy: "prb", Preset: "paper"}, "initial weights"},
		{Spec{Policy: "random"}, "random"},
	} {
		if got := create(t, c.spec).Scorer().Basis(); got != c.want {
			t.Errorf("%+v rests on %q, want %q", c.spec, got, c.want)
		}
	}
	if got := Prior(0, false).Basis(); got != "built-in weights" {
		t.Errorf("no model rests on %q", got)
	}
}

func TestScoreRefuses(t *testing.T) {
	t.Parallel()
	ctx, w := context.Background(), kite().world(nil)
	s := create(t, Spec{FeatureLen: 3}).Scorer()
	if _, err := s.Score(ctx, w, Pairs(6, []ID{1})); !errors.Is(err, ErrInput) {
		t.Errorf("source 6 of 6: %v", err)
	}
	if _, err := s.Score(ctx, w, Pairs(1, []ID{1, 7})); !errors.Is(err, ErrInput) {
		t.Errorf("candidate 7 of 6: %v", err)
	}
	w.Features = func(ID) []float32 { return []float32{1, 2, 3, 4} }
	if _, err := s.Score(ctx, w, Pairs(1, []ID{2})); !errors.Is(err, ErrInput) {
		t.Errorf("too many features: %v", err)
	}
	w.Features = func(ID) []float32 { return nil }
	if _, err := s.Score(ctx, w, Pairs(1, []ID{2})); err != nil {
		t.Errorf("nodes without features: %v", err)
	}
	if scores, err := s.Score(ctx, w, Pairs(1, nil)); err != nil || len(scores) != 0 {
		t.Errorf("no candidates: %v, %v", scores, err)
	}
}

// The random policy draws new scores in each round, and returns the same scores for repeated calls
// within a round.
func TestRandom(t *testing.T) {
	t.Parallel()
	ctx, w := context.Background(), kite().world(nil)
	m := create(t, Spec{Policy: "random", Seed: 3})
	ask := func() string {
		scores, err := m.Scorer().Score(ctx, w, Pairs(0, []ID{1, 2, 3}))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(scores)
	}
	first := ask()
	if first != ask() {
		t.Error("asked twice, answered twice")
	}
	if _, err := m.Observe(Outcome{Reward: 1}); err != nil {
		t.Fatal(err)
	}
	if first == ask() {
		t.Error("two rounds with the same draws")
	}
}

// A scorer is safe for concurrent use.
func TestScorerIsShared(t *testing.T) {
	t.Parallel()
	s := create(t, Spec{Policy: "prb", Preset: "paper", Seed: 2}).Scorer()
	want, err := s.Score(context.Background(), kite().world(nil), Pairs(0, []ID{2, 4}))
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			w := kite().world(nil)
			for range 20 {
				got, err := s.Score(context.Background(), w, Pairs(0, []ID{2, 4}))
				if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%v, %v; want %v", got, err, want)
				}
			}
		}()
	}
	group.Wait()
}

// A short feature vector is padded with zeros.
func TestShortVectors(t *testing.T) {
	t.Parallel()
	ctx, w := context.Background(), kite().world(nil)
	s := create(t, Spec{FeatureLen: 3}).Scorer()
	var got [2][]float32
	for i, f := range [][]float32{{1, 2}, {1, 2, 0}} {
		w.Features = func(ID) []float32 { return f }
		x, err := s.Contexts(ctx, w, Pairs(1, []ID{2, 3}))
		if err != nil {
			t.Fatal(err)
		}
		got[i] = x
	}
	if !slices.Equal(got[0], got[1]) {
		t.Errorf("%v, with zeros %v", got[0], got[1])
	}
}

// The estimates of a trained model are the same one by one, in a question that returns to an
// earlier source, and in the question after that, which reads another world.
func TestEstimatesOfManySources(t *testing.T) {
	t.Parallel()
	notShort(t)
	m, w := trainedGroups(t)
	s := m.Scorer()
	var pairs []Pair
	for _, source := range []ID{3, 30, 3} {
		for u := range ID(40) {
			pairs = append(pairs, Pair{Source: source, Target: u})
		}
	}
	features := w.Features
	for range 2 {
		all, err := s.Score(t.Context(), w, pairs)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range pairs {
			one, err := m.Scorer().Score(t.Context(), w, []Pair{p})
			if err != nil {
				t.Fatal(err)
			}
			if one[0] != all[i] {
				t.Fatalf("%v alone is %v, among %d pairs %v", p, one[0], len(pairs), all[i])
			}
		}
		w.Features = func(u ID) []float32 { return features((u + 7) % 40) }
	}
}

// Estimates do not depend on the number of candidates of a question, although many are split among
// processors.
func TestManyCandidates(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	const n = 2*nn.BatchLen + 100
	rng := rand.New(rand.NewPCG(1, 1))
	edges := make([][2]ID, 3*n)
	for i := range edges {
		edges[i] = [2]ID{ID(rng.IntN(1 + i%n)), ID(rng.IntN(n))}
	}
	w := newMesh(n, false, edges...).world(nil)
	targets := make([]ID, n)
	for i := range targets {
		targets[i] = ID(i)
	}
	for _, policy := range []string{"default", "prb", "adamic_adar"} {
		s := create(t, Spec{Policy: policy, Seed: 1}).Scorer()
		all, err := s.Score(ctx, w, Pairs(7, targets))
		if err != nil {
			t.Fatal(err)
		}
		for first := 0; first < n; first += 500 {
			end := min(first+500, n)
			part, err := s.Score(ctx, w, Pairs(7, targets[first:end]))
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range part {
				if got := all[first+i]; got.Exploit != p.Exploit || got.Explore != p.Explore {
					t.Fatalf("%s: candidate %d of %d is estimated %v, of 500 %v", policy, first+i, n, got, p)
				}
			}
		}
		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := s.Score(cancelled, w, Pairs(7, targets)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: after the end of the context: %v", policy, err)
		}
	}
}
