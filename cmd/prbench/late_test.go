package main

import (
	"cmp"
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"kith/db/edgelist"
)

// driftEvents returns links of users to items. A user has a taste, and stops at a time of his own.
// Items are in fashion for a while.
func driftEvents() (events []edgelist.Edge) {
	const users, items, tastes, span = 90, 120, 3, 100_000
	rng := rand.New(rand.NewPCG(8, 8))
	token := func(i int) edgelist.Token { return edgelist.Token{Int: int64(i), IsInt: true} }
	for u := range users {
		begin := rng.IntN(span * 9 / 10)
		for range 25 {
			at := begin + rng.IntN(span/10)
			item := (at*items/span + rng.IntN(24)) % items // the fashion
			if rng.IntN(3) == 0 {
				item = rng.IntN(items)
			}
			item -= (item - u) % tastes
			events = append(events, edgelist.Edge{Src: token(u), Dst: token(1000 + max(item, 0)), Weight: 1, Time: int64(1_000_000 + at)})
		}
	}
	slices.SortStableFunc(events, func(a, b edgelist.Edge) int { return cmp.Compare(a.Time, b.Time) })
	return events
}

// lateRatio plays a match and returns the ratio of the mean reciprocal ranks with and without
// times.
func lateRatio(t *testing.T, g graphFile, hide string, events []edgelist.Edge) float64 {
	t.Helper()
	h, _ := rowOf(lateHidings(), hide)
	m := newLateMatch(g, h, events, 1, 100)
	timed, err := m.ask(context.Background(), true)
	if err != nil {
		t.Fatal(err)
	}
	untimed, err := m.ask(context.Background(), false)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: MRR with times %.4f, without %.4f", hide, timed.mrr, untimed.mrr)
	return timed.mrr / untimed.mrr
}

// atLeast1 is 1, but for rounding.
const atLeast1 = 1 - 1e-9

// Where users stop at different times, times do not hurt, whether questions are asked long after or
// in time.
func TestTimesDoNotHurt(t *testing.T) {
	t.Parallel()
	slow(t)
	g := graphFile{name: "drift", kind: "bipartite", columns: []string{"time"}}
	if r := lateRatio(t, g, "last", driftEvents()); r < atLeast1 {
		t.Errorf("asked late: %.3f times", r)
	}
	if r := lateRatio(t, g, "next", driftEvents()); r < atLeast1 {
		t.Errorf("asked in time: %.3f times", r)
	}
}

// The same on films that some users rated, asked late.
func TestTimesOfFilmsDoNotHurt(t *testing.T) {
	t.Parallel()
	slow(t)
	g := graphFile{path: "../../../shared/data/ml-100k/u.data", kind: "bipartite", columns: []string{"weight", "time"}}
	if _, err := os.Stat(g.path); err != nil {
		t.Skip("needs ../shared/data")
	}
	all, err := g.edges()
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(e edgelist.Edge) bool { return e.Src.Int > 100 })
	if r := lateRatio(t, g, "last", all); r < atLeast1 {
		t.Errorf("%.3f times", r)
	}
}

// A match hides links, never shows them, and asks only about nodes that are known.
func TestLateHides(t *testing.T) {
	t.Parallel()
	events := driftEvents()
	for _, h := range lateHidings() {
		m := newLateMatch(graphFile{kind: "bipartite"}, h, events, 3, 1000)
		if len(m.questions) < 5 {
			t.Errorf("%s: %d questions", h.name, len(m.questions))
		}
		for _, q := range m.questions {
			for _, to := range q.targets {
				known := slices.ContainsFunc(m.known, func(e edgelist.Edge) bool { return e.Src == q.source && e.Dst == to })
				if known || m.popular[to] == 0 || (q.at != 0) != (h.name == "own" || h.name == "next") {
					t.Errorf("%s: question %+v about %v", h.name, q, to)
				}
			}
		}
		if s := m.popularity(); s.mrr <= 0 || s.mrr > 1 {
			t.Errorf("%s: popularity has %+v", h.name, s)
		}
	}
}
