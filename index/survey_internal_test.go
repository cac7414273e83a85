package index

import (
	"context"
	"math"
	"testing"

	"kith/ppr"
)

// TestSurvey verifies that a graph keeps its survey, and that a solve gives the same results for
// every history of a graph.
func TestSurvey(t *testing.T) {
	t.Parallel()
	l := newLive(t, false, 50, 60)
	if s := l.now.Graph.Survey(); s == nil || s != l.now.Graph.Survey() {
		t.Error("a survey is made again and again")
	}
	for range 5 {
		l.commit(func(b *Batch) { l.edges(b, 3) })
		fresh, err := l.now.Graph.Without(context.Background(), nil)
		must(t, err)
		h := ppr.Vector{Node: []ID{1}, Value: []float64{1}}
		var got [2]*ppr.State
		for i, g := range []*Graph{l.now.Graph, fresh} {
			got[i], err = ppr.NewSolver().Solve(context.Background(), g, ppr.Column, testAlpha, h, ppr.Target{Eps: 1e-8})
			must(t, err)
		}
		for j := range ID(50) {
			a, x := got[0].Value(l.now.Graph, j)
			b, y := got[1].Value(fresh, j)
			if a != b || x != y {
				t.Fatalf("node %d: %v ± %v with a history, %v ± %v without", j, a, x, b, y)
			}
		}
	}
}

// TestSurveyCarried verifies that a survey which was not requested for some versions is carried
// over all changes in between, and only those of its own branch of versions. After too many changes
// it is made from scratch.
func TestSurveyCarried(t *testing.T) {
	t.Parallel()
	edit := NewGraph(false).Edit()
	edit.Grow(200)
	for u := range ID(60) {
		edit.Set(Edge{Ends: Ends{U: u, V: (u + 1) % 60}, Weight: 1})
	}
	first := edit.Graph()
	first.Survey()
	insert := func(g *Graph, from, to ID) *Graph {
		for u := from; u < to; u++ {
			e := g.Edit()
			e.Set(Edge{Ends: Ends{U: u, V: u - 1}, Weight: 1})
			g = e.Graph()
		}
		return g
	}
	for _, c := range []struct {
		name string
		to   ID
	}{{"few", 70}, {"another branch", 90}, {"some", 120}, {"too many", 190}} {
		g := insert(first, 60, c.to)
		g = insert(g.edited(5, 6, 0), 61, 62)
		if g.survey.requested() {
			t.Errorf("%s: surveyed before anybody asked", c.name)
		}
		if got := g.Survey(); got == nil || got != g.Survey() {
			t.Errorf("%s: a survey is made again and again", c.name)
		}
		if carried := g.survey.before != nil; carried != (c.name != "too many") {
			t.Errorf("%s: carried over: %v", c.name, carried)
		}
		compareCorrected(t, g, 3, c.to-1)
	}
}

// TestSurveyDuringAnEdit verifies that a survey requested during an edit is carried over all
// changes of the edit, including those made before the request.
func TestSurveyDuringAnEdit(t *testing.T) {
	t.Parallel()
	e := NewGraph(false).Edit()
	e.Grow(40)
	for u := range ID(30) {
		e.Set(Edge{Ends: Ends{U: u, V: (u + 1) % 30}, Weight: 1})
		if u < 9 {
			e.Set(Edge{Ends: Ends{U: 30 + u, V: 31 + u}, Weight: 1})
		}
	}
	g := e.Graph()
	e = g.Edit()
	e.Set(Edge{Ends: Ends{U: 5, V: 35}, Weight: 1}) // connects the two components
	g.Survey()
	e.Set(Edge{Ends: Ends{U: 6, V: 7}, Weight: 2})
	next := e.Graph()
	if next.survey.before == nil {
		t.Error("the survey is not carried over")
	}
	compareCorrected(t, next, 3, 38)
}

// edited returns g with one edge set.
func (g *Graph) edited(u, v ID, w float32) *Graph {
	e := g.Edit()
	e.Set(Edge{Ends: Ends{U: u, V: v}, Weight: w})
	return e.Graph()
}

// compareCorrected compares values corrected with the survey of g with exact ones.
func compareCorrected(t *testing.T, g *Graph, a, b ID) {
	t.Helper()
	ctx, sv := context.Background(), ppr.NewSolver()
	h := ppr.Vector{Node: []ID{a, b}, Value: []float64{1, -0.5}}
	var states []*ppr.State
	for _, u := range h.Node {
		st, err := sv.Solve(ctx, g, ppr.Column, testAlpha, ppr.Unit(u), ppr.Target{Eps: 1e-3})
		must(t, err)
		states = append(states, st)
	}
	got, bound, err := sv.CombineTwoSided(g, ppr.Row, h, states, h.Node, states)
	must(t, err)
	exact, err := sv.Solve(ctx, g, ppr.Row, testAlpha, h, ppr.Target{Eps: 1e-13})
	must(t, err)
	for i, u := range h.Node {
		if want, _ := exact.Value(g, u); math.Abs(got[i]-want) > bound[i]+1e-12 {
			t.Errorf("node %d: %v ± %v, want %v", u, got[i], bound[i], want)
		}
	}
}
