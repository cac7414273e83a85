package model

import (
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
		other, err := m.Renamed(func(u ID) (ID, bool) { v, ok := to[u]; return v, ok }, sameRelations)
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

// sameRelations keeps the numbers of relations.
func sameRelations(r int) (int, bool) { return r, true }
