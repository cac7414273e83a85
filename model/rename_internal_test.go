package model

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A renamed model has the same memory of the nodes that have a new id, and none of the others.
func TestRenamed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const n = 12
		m, err := New(Spec{})
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		want := newRecord()
		to := make(map[ID]ID)
		for u, v := range rng.Perm(3 * n)[:n] {
			if rng.IntN(4) > 0 {
				to[ID(u)] = ID(v)
			}
		}
		for range 40 {
			p, offer := Pair{Source: ID(rng.IntN(n)), Target: ID(rng.IntN(n))}, []ID{ID(rng.IntN(n)), ID(rng.IntN(n))}
			reward := float64(rng.IntN(2))
			if _, err := m.Observe(Outcome{Pair: p, Contexts: make([]float32, m.config.width()), Reward: reward, Offered: offer}); err != nil {
				t.Fatal(err)
			}
			source, known := to[p.Source]
			target, knownToo := to[p.Target]
			want.total = counts{want.total.Tries + 1, want.total.Wins + reward}
			if knownToo {
				c := want.target[target]
				want.target[target] = counts{c.Tries + 1, c.Wins + reward}
			}
			if known && knownToo {
				c := want.pair[Pair{Source: source, Target: target}]
				want.pair[Pair{Source: source, Target: target}] = counts{c.Tries + 1, c.Wins + reward}
			}
			for _, u := range offer {
				if v, ok := to[u]; ok {
					want.offers[v]++
				}
			}
		}
		other, err := m.Renamed(func(u ID) (ID, bool) { v, ok := to[u]; return v, ok })
		if err != nil {
			t.Fatal(err)
		}
		nodes := make([]ID, 3*n)
		for i := range nodes {
			nodes[i] = ID(i)
		}
		want.check(t, other.belief.memory, nodes)
		for _, u := range other.Nodes() {
			if !slices.ContainsFunc(m.Nodes(), func(v ID) bool { w, ok := to[v]; return ok && w == u }) {
				t.Fatalf("node %d comes from nowhere", u)
			}
		}
		if other.Rounds() != m.Rounds() || !slices.Equal(other.belief.mean, m.belief.mean) {
			t.Fatal("another belief")
		}
	})
}

func TestRenamedClasses(t *testing.T) {
	t.Parallel()
	m, err := New(Spec{Policy: "prb_n", Classes: []ID{3, 5, 9}, ClassLabel: "topic", FeatureLen: 2})
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Nodes(); !slices.Equal(got, []ID{3, 5, 9}) {
		t.Errorf("nodes %v", got)
	}
	other, err := m.Renamed(func(u ID) (ID, bool) { return u + 10, true })
	if err != nil || !slices.Equal(other.Scorer().Classes(), []ID{13, 15, 19}) || !slices.Equal(m.Scorer().Classes(), []ID{3, 5, 9}) {
		t.Errorf("%v", err)
	}
	for name, to := range map[string]func(ID) (ID, bool){
		"in another order": func(u ID) (ID, bool) { return 10 - u, true },
		"one is missing":   func(u ID) (ID, bool) { return u, u != 5 },
	} {
		if _, err := m.Renamed(to); !errors.Is(err, ErrInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
