package model

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"kith/model/internal/rules"
)

// The built-in scorer ranks the likes of a graph by its rules, better than by the likes alone and
// than by popularity. It is the scorer itself where the graph does not fit into the memory, or
// where the rules have been learned.
func TestOnRules(t *testing.T) {
	t.Parallel()
	m, w, out := relationsModel(t)
	table := w.Typed.(*rules.Table)
	g := TypedGraph{Nodes: table.NumNodes(), Directed: socialKinds, Edges: func(yield func(TypedEdge) bool) {
		for u := range ID(table.NumNodes()) {
			for d, row := range table.Rows(u) {
				for _, v := range row {
					if d%2 == 0 && !yield(TypedEdge{U: u, V: v, Relation: uint16(d / 2)}) {
						return
					}
				}
			}
		}
	}}
	at, err := relationWorlds(g.Nodes, slices.Collect(g.Edges), func([]TypedEdge) {})(nil)
	if err != nil {
		t.Fatal(err)
	}
	if w, err = at(0, 2*likes); err != nil { // with PageRank
		t.Fatal(err)
	}
	plain := Prior(0, false)
	s := plain.OnRules(g, 1<<20)
	if !s.Relational() || s.Basis() != basisStart || len(s.Rules(2*likes)) == 0 {
		t.Fatalf("no rules of a scorer based on %s", s.Basis())
	}
	own, popular := likedRanks(t, s, w, out)
	alone, _ := likedRanks(t, plain, w, out)
	if own < 1.3*popular || own < 1.05*alone {
		t.Errorf("mrr %.3f, by the likes alone %.3f, by popularity %.3f", own, alone, popular)
	}
	if plain.OnRules(g, 1<<10) != plain {
		t.Error("the graph does not fit, but its rules answer")
	}
	if s := m.Scorer(); s.OnRules(g, 1<<20) != s {
		t.Error("other rules answer than the learned ones")
	}
	if s := newModel(t, "jaccard", "", 0).Scorer(); s.OnRules(g, 1<<20) != s {
		t.Error("rules answer in place of a policy that learns nothing")
	}
}

// A start that is learned from some graphs is the same after it was written and read, and again
// from the same graphs. Text that holds no start is refused.
func TestLearnRelationStart(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	learn := func(graphs int) (*RelationStart, error) {
		var l RelationStartLearner
		for seed := range uint64(graphs) {
			all, n := socialEdges(rand.New(rand.NewPCG(seed, 8)), 80, 40)
			g := TypedGraph{Nodes: n, Directed: socialKinds, Edges: slices.Values(all)}
			if err := l.Add(ctx, g, 1, relationWorlds(n, all, func([]TypedEdge) {})); err != nil {
				t.Fatal(err)
			}
		}
		return l.Learn(ctx, StartPlan{Seed: 1, Passes: 2, Rate: 0.01, Drop: 0.1})
	}
	start, err := learn(3)
	if err != nil {
		t.Fatal(err)
	}
	again, err := parseRelationStart("# a comment\n" + start.String())
	if err != nil || again.String() != start.String() {
		t.Errorf("read again: %v", err)
	}
	for _, col := range rules.Peculiar() {
		if b := start.part.bounds; b.Least[col] != 0 || b.Most[col] != 0 {
			t.Errorf("column %d, which is peculiar to a graph, is read", col)
		}
	}
	if twice, err := learn(3); err != nil || twice.String() != start.String() {
		t.Errorf("learned twice, the weights differ: %v", err)
	}
	if _, err := learn(2); !errors.Is(err, ErrInput) {
		t.Errorf("a start of two graphs: %v, want %v", err, ErrInput)
	}
	for _, bad := range []string{"", "?", "AAAA", start.String()[8:]} {
		if _, err := parseRelationStart(bad); err == nil {
			t.Errorf("a start is read from %.8q", bad)
		}
	}
}
