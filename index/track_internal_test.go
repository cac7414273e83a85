package index

import (
	"context"
	"errors"
	"math"
	"testing"

	"kith/ppr"
)

// vector returns a random signed start vector over about a third of the nodes below n.
func (l *live) vector(n int) (h ppr.Vector) {
	for u := range ID(n) {
		if l.rng.IntN(3) == 0 {
			h.Node, h.Value = append(h.Node, u), append(h.Value, l.rng.Float64()-0.3)
		}
	}
	return h
}

// track compares a tracked state with one computed from scratch: they must differ by at most their certified
// errors, and the state must be that of h.
func (l *live) track(s *Snapshot, of StateOf, h ppr.Vector) {
	l.t.Helper()
	ctx := context.Background()
	norm := ppr.MaxNorm
	st, err := l.states.Track(ctx, s, of, h, ppr.Target{Norm: norm, Eps: testEps})
	must(l.t, err)
	fresh, err := ppr.NewSolver().Solve(ctx, s.Graph, of.Form, of.Alpha, h, ppr.Target{Norm: norm, Eps: 1e-10})
	must(l.t, err)
	for j := range ID(s.Graph.NumNodes()) {
		v, bound := st.Value(s.Graph, j)
		w, also := fresh.Value(s.Graph, j)
		if !(math.Abs(v-w) <= bound+also+1e-15) {
			l.t.Fatalf("version %d: value of %d is %v ± %v, afresh %v ± %v", s.Meta.Version, j, v, bound, w, also)
		}
	}
	for i, x := range h.Minus(st.H()).Value {
		if math.Abs(x) > 1e-12 {
			l.t.Fatalf("start value %d is off by %v", i, x)
		}
	}
}

func TestTrack(t *testing.T) {
	for _, c := range []struct {
		directed bool
		form     ppr.Form
	}{{false, ppr.Column}, {false, ppr.Row}, {true, ppr.Row}, {true, ppr.Column}} {
		l := newLive(t, c.directed, 80, 250)
		of := StateOf{Form: c.form, Alpha: testAlpha, Source: 3}
		h := l.vector(10)
		old, oldH := l.now, h
		for range 20 {
			l.track(l.now, of, h)
			l.commit(func(b *Batch) { l.edges(b, l.rng.IntN(3)) })
			if len(h.Value) > 0 {
				h = ppr.Vector{Node: h.Node, Value: append([]float64(nil), h.Value...)}
				h.Value[l.rng.IntN(len(h.Value))] *= 0.9
			}
		}
		n := l.states.Stats()
		if n.CatchUps < 10 {
			t.Errorf("%+v: %+v", c, n)
		}
		if !l.states.Tracked(of) || l.states.Tracked(StateOf{Form: c.form, Alpha: testAlpha, Source: 4}) {
			t.Error("tracked is not told from not tracked")
		}
		l.track(old, of, oldH) // a reader of an earlier version does not disturb the state
		l.track(l.now, of, h)
		l.track(l.now, of, l.vector(40)) // a completely different vector
		l.track(l.now, of, ppr.Vector{})
		must(t, l.states.Write(l.store))
		if got := l.store.keys(prefixState); len(got) != 0 {
			t.Errorf("tracked states were stored: %q", got)
		}
	}
}

// TestValues verifies that a state is kept only from the second request on, and that it is then updated for changes
// of the graph and for nearby start vectors.
func TestValues(t *testing.T) {
	l := newLive(t, false, 80, 250)
	ctx, at := context.Background(), []ID{1, 7, 3}
	target := ppr.Target{Norm: ppr.MaxNorm, Eps: testEps}
	of := StateOf{Form: ppr.Row, Alpha: testAlpha, Source: 3}
	ask := func(h ppr.Vector, kept bool) {
		t.Helper()
		v, bound, err := l.states.Values(ctx, l.now, of, h, target, at)
		must(t, err)
		want, also, err := ppr.NewSolver().Values(ctx, l.now.Graph, of.Form, of.Alpha, h, ppr.Target{Norm: ppr.MaxNorm, Eps: 1e-10}, at)
		must(t, err)
		for i := range at {
			if !(math.Abs(v[i]-want[i]) <= bound[i]+also[i]+1e-15) {
				t.Errorf("value of %d is %v ± %v, want %v", at[i], v[i], bound[i], want[i])
			}
		}
		if l.states.Tracked(of) != kept {
			t.Errorf("a state is kept: %v", !kept)
		}
	}
	h := ppr.Vector{Node: []ID{2, 5, 9}, Value: []float64{1, -0.5, 2}}
	other := ppr.Vector{Node: []ID{2, 5, 10}, Value: h.Value}
	ask(h, false)
	ask(other, false)
	ask(h, false)
	ask(h, true)
	l.commit(func(b *Batch) { l.edges(b, 2) })
	ask(ppr.Vector{Node: append(h.Node, 11), Value: append(h.Value, 0.1)}, true)
	if n := l.states.Stats(); n.CatchUps != 1 || n.Computed != 4 {
		t.Errorf("%+v", n)
	}
	ask(other, true) // too far from the tracked vector, so no state is kept for it
	if st, err := l.states.Track(ctx, l.now, of, h, target); err != nil || l.states.Stats().Computed != 5 {
		t.Errorf("the state kept is lost: %v, %v", st.H(), err)
	}
}

// TestQuestions verifies that the number of remembered start vectors is bounded.
func TestQuestions(t *testing.T) {
	l := newLive(t, false, 5, 5)
	h := source(1)
	for u := range ID(maxQuestions + 10) {
		if l.states.recurs(l.now, StateOf{Source: u}, h) {
			t.Fatalf("node %d was not asked about", u)
		}
	}
	if n := len(l.states.questions); n > maxQuestions {
		t.Errorf("%d questions", n)
	}
	if _, _, err := l.states.Values(context.Background(), l.now, StateOf{Alpha: testAlpha}, source(99), ppr.Target{Eps: 1}, nil); !errors.Is(err, ppr.ErrNode) {
		t.Errorf("a start node that is not there: %v", err)
	}
}

func TestTrackRefuses(t *testing.T) {
	l := newLive(t, false, 5, 5)
	of := StateOf{Form: ppr.Column, Alpha: testAlpha}
	_, err := l.states.Track(context.Background(), l.now, of, ppr.Vector{Node: []ID{99}, Value: []float64{1}}, ppr.Target{Eps: 1e-6})
	if !errors.Is(err, ppr.ErrNode) {
		t.Errorf("a start node that is not there: %v", err)
	}
	if len(l.states.entries) != 0 || l.states.Tracked(of) {
		t.Error("an entry without a state is left")
	}
}

func TestPrice(t *testing.T) {
	l := newLive(t, false, 60, 150)
	sources := []ID{1, 2, 3}
	if p := l.states.Price(ppr.Column, testAlpha, sources, 77); p.Missing != 3 || p.Afresh != 77 || p.Rest != 0 {
		t.Errorf("of an empty cache: %+v", p)
	}
	l.verify(l.now, nil, StateOf{Form: ppr.Column, Alpha: testAlpha, Source: 2})
	l.track(l.now, StateOf{Form: ppr.Column, Alpha: testAlpha, Source: 3}, l.vector(5))
	if p := l.states.Price(ppr.Column, testAlpha, sources, 77); p.Missing != 2 || p.Afresh == 77 || p.Afresh == 0 || p.Rest <= 0 || p.Rest > 1 {
		t.Errorf("of one source: %+v", p)
	}
	l.states.budget = 0
	l.verify(l.now, nil, StateOf{Form: ppr.Column, Alpha: testAlpha, Source: 4})
	if p := l.states.Price(ppr.Column, testAlpha, sources, 77); p.Missing != 3 || p.Afresh != 77 || p.Rest != 0 || l.states.bytes != 0 {
		t.Errorf("after all have gone: %+v, %d bytes", p, l.states.bytes)
	}
}

// TestSurvey verifies that a graph keeps its survey, and that OwnSurvey gives the same results for every history of
// a graph.
func TestSurvey(t *testing.T) {
	l := newLive(t, false, 50, 60)
	if s := l.now.Graph.Survey(); s == nil || s != l.now.Graph.Survey() {
		t.Error("a survey is made again and again")
	}
	for range 5 {
		l.commit(func(b *Batch) { l.edges(b, 3) })
		fresh, err := l.now.Graph.Compact(context.Background())
		must(t, err)
		h := ppr.Vector{Node: []ID{1}, Value: []float64{1}}
		var got [2]*ppr.State
		for i, g := range []*Graph{l.now.Graph, fresh} {
			got[i], err = ppr.NewSolver().Solve(context.Background(), plain{g}, ppr.Column, testAlpha, h, ppr.Target{Eps: 1e-8})
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

// TestSurveyCarried verifies that a survey which was not requested for some versions is carried over all changes in
// between, and only those of its own branch of versions. After too many changes it is made from scratch.
func TestSurveyCarried(t *testing.T) {
	edit := NewGraph(false).Edit()
	edit.Grow(200)
	for u := range ID(60) {
		edit.Set(u, (u+1)%60, 1, 0)
	}
	first := edit.Graph()
	first.Survey()
	insert := func(g *Graph, from, to ID) *Graph {
		for u := from; u < to; u++ {
			e := g.Edit()
			e.Set(u, u-1, 1, 0)
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
		if g.survey.known() {
			t.Errorf("%s: surveyed before anybody asked", c.name)
		}
		got, want := g.Survey(), g.OwnSurvey()
		if (got == want) != (c.name == "too many") || got != g.Survey() {
			t.Errorf("%s: carried over: %v", c.name, got != want)
		}
		if got.Arcs != want.Arcs {
			t.Errorf("%s: %d arcs, want %d", c.name, got.Arcs, want.Arcs)
		}
		compareCorrected(t, g, 3, c.to-1)
	}
}

// TestSurveyDuringAnEdit verifies that a survey requested during an edit is carried over all changes of the edit,
// including those made before the request.
func TestSurveyDuringAnEdit(t *testing.T) {
	e := NewGraph(false).Edit()
	e.Grow(40)
	for u := range ID(30) {
		e.Set(u, (u+1)%30, 1, 0)
		if u < 9 {
			e.Set(30+u, 31+u, 1, 0)
		}
	}
	g := e.Graph()
	e = g.Edit()
	e.Set(5, 35, 1, 0) // connects the two components
	g.Survey()
	e.Set(6, 7, 2, 0)
	next := e.Graph()
	if got, want := next.Survey(), next.OwnSurvey(); got == want || got.Arcs != want.Arcs || got.Volume != want.Volume {
		t.Errorf("carried over: %+v, afresh: %+v", got, want)
	}
	compareCorrected(t, next, 3, 38)
}

// edited returns g with one edge set.
func (g *Graph) edited(u, v ID, w float32) *Graph {
	e := g.Edit()
	e.Set(u, v, w, 0)
	return e.Graph()
}

// compareCorrected compares values corrected with the survey of g with exact ones.
func compareCorrected(t *testing.T, g *Graph, a, b ID) {
	t.Helper()
	ctx, sv := context.Background(), ppr.NewSolver()
	h := ppr.Vector{Node: []ID{a, b}, Value: []float64{1, -0.5}}
	var states []*ppr.State
	for _, u := range h.Node {
		st, err := sv.Solve(ctx, g, ppr.Column, testAlpha, source(u), ppr.Target{Eps: 1e-3})
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

// plain is a graph whose survey does not depend on its history.
type plain struct{ *Graph }

func (g plain) Survey() *ppr.Survey { return g.OwnSurvey() }
