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

// track compares a tracked state with one computed from scratch: they must differ by at most their
// certified errors, and the state must be that of h.
func (l *live) track(s *Snapshot, of StateID, h ppr.Vector) {
	l.t.Helper()
	ctx := context.Background()
	norm := ppr.MaxNorm
	st, err := l.states.current(ctx, s, nil, tracked(of), request{h: h, target: ppr.Target{Norm: norm, Eps: testEps}})
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
	t.Parallel()
	for _, c := range []struct {
		directed bool
		form     ppr.Form
	}{{false, ppr.Column}, {false, ppr.Row}, {true, ppr.Row}, {true, ppr.Column}} {
		l := newLive(t, c.directed, 80, 250)
		of := StateID{Form: c.form, Alpha: testAlpha, Source: 3}
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
		if !l.states.Tracked(l.now, of) || l.states.Tracked(l.now, StateID{Form: c.form, Alpha: testAlpha, Source: 4}) {
			t.Error("tracked is not told from not tracked")
		}
		l.track(old, of, oldH) // a reader of an earlier version does not disturb the state
		l.track(l.now, of, h)
		l.track(l.now, of, l.vector(40)) // a completely different vector
		l.track(l.now, of, ppr.Vector{})
		must(t, l.states.Write(l.store, math.MaxInt64))
		if got := l.store.keys(prefixState); len(got) != 0 {
			t.Errorf("tracked states were stored: %q", got)
		}
	}
}

// TestValues verifies that a state is kept only from the second request on, and that it is then
// updated for changes of the graph and for nearby start vectors.
func TestValues(t *testing.T) {
	t.Parallel()
	l := newLive(t, false, 80, 250)
	ctx, at := context.Background(), []ID{1, 7, 3}
	target := ppr.Target{Norm: ppr.MaxNorm, Eps: testEps}
	of := StateID{Form: ppr.Row, Alpha: testAlpha, Source: 3}
	ask := func(h ppr.Vector, kept bool) {
		t.Helper()
		v, bound, _, err := l.states.Values(ctx, l.now, of, h, target, at)
		must(t, err)
		want, also, err := ppr.NewSolver().Values(ctx, l.now.Graph, of.Form, of.Alpha, h, ppr.Target{Norm: ppr.MaxNorm, Eps: 1e-10}, at)
		must(t, err)
		for i := range at {
			if !(math.Abs(v[i]-want[i]) <= bound[i]+also[i]+1e-15) {
				t.Errorf("value of %d is %v ± %v, want %v", at[i], v[i], bound[i], want[i])
			}
		}
		if l.states.Tracked(l.now, of) != kept {
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
	if st, err := l.states.current(ctx, l.now, nil, tracked(of), request{h: h, target: target}); err != nil || l.states.Stats().Computed != 5 {
		t.Errorf("the state kept is lost: %v, %v", st.H(), err)
	}
}

// TestQuestions verifies that the number of remembered start vectors is bounded.
func TestQuestions(t *testing.T) {
	t.Parallel()
	l := newLive(t, false, 5, 5)
	h := ppr.Unit(1)
	for u := range ID(maxRecentRequests + 10) {
		if l.states.isRepeat(l.now, StateID{Source: u}, h) {
			t.Fatalf("node %d was not asked about", u)
		}
	}
	if n := len(l.states.recentRequests); n > maxRecentRequests {
		t.Errorf("%d recent requests", n)
	}
	if _, _, _, err := l.states.Values(context.Background(), l.now, StateID{Alpha: testAlpha}, ppr.Unit(99), ppr.Target{Eps: 1}, nil); !errors.Is(err, ppr.ErrNode) {
		t.Errorf("a start node that is not there: %v", err)
	}
}

func TestTrackRefuses(t *testing.T) {
	t.Parallel()
	l := newLive(t, false, 5, 5)
	of := StateID{Form: ppr.Column, Alpha: testAlpha}
	_, err := l.states.current(context.Background(), l.now, nil, tracked(of), request{h: ppr.Unit(99), target: ppr.Target{Eps: 1e-6}})
	if !errors.Is(err, ppr.ErrNode) {
		t.Errorf("a start node that is not there: %v", err)
	}
	if len(l.states.entries) != 0 || l.states.Tracked(l.now, of) {
		t.Error("an entry without a state is left")
	}
}

// tracked returns the id of the tracked state of a source.
func tracked(of StateID) StateID {
	of.tracked = true
	return of
}
