package column

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"kith/model/internal/graph"
)

// What is remembered of log1p is what math.Log1p returns, also of numbers that are not remembered.
func TestHalfLogs(t *testing.T) {
	t.Parallel()
	var logs halfLogs
	for range 2 {
		for _, x := range []float64{0, 0.5, 3, 2.5, 0.25, 7, 1e-9, maxHalves/2 - 0.5, maxHalves / 2, 1e300, math.Inf(1), -0.5} {
			if got, want := logs.log1p(x), math.Log1p(x); got != want {
				t.Errorf("log1p(%v) = %v, want %v", x, got, want)
			}
		}
	}
	if len(logs) > maxHalves {
		t.Errorf("%d values are held", len(logs))
	}
}

// A histogram counts as sorting does, except that it may not distinguish numbers within 2 % of each
// other.
func TestHistogram(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.Custom(func(t *rapid.T) float64 { return math.Exp2(float64(rapid.IntRange(-20, 20).Draw(t, "octave"))) })
		all, x := rapid.SliceOf(size).Draw(t, "numbers"), size.Draw(t, "x")
		var l histogram
		l.add(rapid.Float64Range(0, 1e6).Draw(t, "of a source before"))
		l.clear()
		want := 0.0
		for _, v := range all {
			l.add(v)
			switch {
			case v > x:
				want++
			case v == x:
				want += 0.5
			}
		}
		l.sum()
		if got := l.above(x); got != want || l.len() != float64(len(all)) {
			t.Fatalf("%v of %v above %v in %v, want %v", got, l.len(), x, all, want)
		}
		if got := l.above(x * 1.02); got > want || l.above(x/1.02) < want {
			t.Fatalf("%v above %v, %v above %v", got, x*1.02, want, x)
		}
	})
}

// bothWays is an undirected graph by its rows.
type bothWays struct{ *rows }

func (bothWays) Directed() bool { return false }

// What is read of a source on one graph, such as its share of mutual arcs, is not kept for a source
// on another graph, which may have no direction: scorers are pooled, and one reads several
// relations.
func TestRivalsOfAnotherGraph(t *testing.T) {
	t.Parallel()
	directed, undirected := newRows(4), bothWays{newRows(4)}
	for _, arc := range [][2]graph.ID{{0, 1}, {1, 0}, {1, 2}, {2, 3}} {
		directed.add(arc[0], arc[1])
	}
	for _, arc := range [][2]graph.ID{{0, 2}, {1, 2}, {2, 0}, {2, 1}} {
		undirected.add(arc[0], arc[1])
	}
	read := func(r *rivals, g graph.Graph) rivals {
		var s TwoHop
		var logs halfLogs
		s.Read(g, 0)
		r.valid = false
		r.read(g, &s, &logs)
		return *r
	}
	var pooled rivals
	for i, g := range []graph.Graph{directed, undirected, directed} {
		got, want := read(&pooled, g), read(new(rivals), g)
		if got.mutual != want.mutual || got.closed != want.closed || got.resource != want.resource || got.neighborRank != want.neighborRank || got.most != want.most {
			t.Errorf("graph %d: %v mutual, %v closed, resource %v, want %v, %v, %v", i, got.mutual, got.closed, got.resource, want.mutual, want.closed, want.resource)
		}
		if g.Directed() != (got.mutual > 0) {
			t.Errorf("graph %d: share of mutual arcs %v", i, got.mutual)
		}
	}
}
