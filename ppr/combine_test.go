package ppr

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// kept is a graph whose survey has been carried over by many calls of Survey.After.
type kept struct {
	*csr
	s *Survey
}

func (k kept) Survey() *Survey { return k.s }

// TestCombine reads signed mixtures of source states, one-sided and two-sided, before and after
// edits.
func TestCombine(t *testing.T) {
	t.Parallel()
	explore(t, func(rt *rapid.T) {
		ctx, sv := context.Background(), NewSolver()
		n := rapid.IntRange(2, 14).Draw(rt, "n")
		a := newAdjacency(n, rapid.Bool().Draw(rt, "directed"))
		s := stream{t: rt, a: a}
		for range rapid.IntRange(0, 3*n).Draw(rt, "edges") {
			s.edit()
		}
		g := kept{csr: a.snapshot()}
		g.s = NewSurvey(g.csr)
		form := rapid.SampledFrom([]Form{Column, Row}).Draw(rt, "form")
		stored := form
		if !a.directed {
			stored = rapid.SampledFrom([]Form{Column, Row}).Draw(rt, "stored form")
		}
		target := Target{MaxNorm, rapid.SampledFrom([]float64{0.1, 1e-2, 1e-4, 1e-7}).Draw(rt, "eps")}
		all := make([]*State, n)
		for u := range all {
			st, err := sv.Solve(ctx, g, stored, 0.85, source(ID(u)), target)
			if err != nil {
				rt.Fatal(err)
			}
			all[u] = st
		}
		for range rapid.IntRange(0, 3).Draw(rt, "batches") {
			var changes []Change
			for range rapid.IntRange(0, 5).Draw(rt, "batch") {
				changes = append(changes, s.edit())
			}
			g = kept{a.snapshot(), g.s}
			g.s = g.s.After(g.csr, changes)
			closed(rt, g)
			for u := range all {
				st, _, err := sv.CatchUp(ctx, g, all[u], NewChangeSet(changes), Vector{}, target)
				if err != nil {
					rt.Fatal(err)
				}
				all[u] = st
			}
		}
		checkCombine(rt, sv, g, form, all, s.vector(5))
	})
}

func checkCombine(t rapid.TB, sv *Solver, g Graph, form Form, all []*State, h Vector) {
	var states []*State
	for _, u := range h.Node {
		states = append(states, all[u])
	}
	at := make([]ID, len(all))
	for j := range at {
		at[j] = ID(j)
	}
	value, bound, err := Combine(g, form, h, states, at)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string) {
		want := reference(g, form, 0.85, h)
		for j, v := range value {
			dh := pivot(g, ID(j))
			if e := math.Abs(v - want[j]); e > bound[j]+tolerance*(norm1(h.Value)+1e-30)*max(dh, 1/dh) {
				t.Fatalf("%s value at %d: %v, want %v within %v, off by %v", what, j, v, want[j], bound[j], e)
			}
		}
	}
	check("one-sided")
	plain := append([]float64(nil), bound...)
	if g.Directed() {
		return
	}
	if value, bound, err = sv.CombineTwoSided(g, form, h, states, at, all); err != nil {
		t.Fatal(err)
	}
	check("two-sided")
	for j := range bound {
		if bound[j] > plain[j] {
			t.Fatalf("two-sided bound %v above %v", bound[j], plain[j])
		}
	}
}

// closed verifies that no edge leaves the giant component, and that its volume is correct.
func closed(t rapid.TB, g kept) {
	if g.Directed() || g.s.member == nil {
		return
	}
	sum := 0.0
	for u := range ID(g.NumNodes()) {
		to, _ := g.Out(u)
		if g.s.member.has(u) {
			sum += g.Degree(u)
		}
		for _, v := range to {
			if g.s.member.has(u) != g.s.member.has(v) {
				t.Fatalf("edge %d-%d leaves the giant component", u, v)
			}
		}
	}
	if math.Abs(sum-g.s.volume) > 1e-9*(1+sum) {
		t.Fatalf("volume %v, want %v", g.s.volume, sum)
	}
}
