package ppr

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// times returns the graph with all weights times a factor.
func (a *adjacency) times(factor float32) *adjacency {
	b := newAdjacency(len(a.rows), a.directed)
	for u, row := range a.rows {
		for v, w := range row {
			b.rows[u][v] = factor * w
		}
	}
	return b
}

// A common factor of all weights that is a power of two changes no value of PageRank, no bound and
// no set of nodes that the walk reaches. That holds for states that were solved, repaired or
// loaded. The pivot 1 of a node without edges has no unit, and neither has a start vector that is
// empty or whose nodes have no edges: once there is such a node or start, repairs, and sweeps of
// directed graphs in row form, may differ within the bounds.
func TestUnit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(rt, "n")
		a := newAdjacency(n, rapid.Bool().Draw(rt, "directed"))
		s := stream{t: rt, a: a}
		for u := range ID(n) { // so that few nodes become isolated
			a.set(u, (u+1)%ID(n), s.weight())
		}
		for range rapid.IntRange(0, 3*n).Draw(rt, "edges") {
			s.edit()
		}
		form := rapid.SampledFrom([]Form{Column, Row}).Draw(rt, "form")
		target := s.target(a.snapshot(), form)
		if form == Row { // the L1 norm of row form is weighted by degrees
			target.Norm = MaxNorm
		}
		factor := float32(math.Ldexp(1, rapid.IntRange(-30, 30).Draw(rt, "factor")))
		h := s.vector(4)
		want, got := newTwin(rt, a, 1, form, h, target), newTwin(rt, a, factor, form, h, target)
		got.compare(rt, want)
		for range rapid.IntRange(0, 4).Draw(rt, "batches") {
			var changes []Change
			for range rapid.IntRange(0, 6).Draw(rt, "batch") {
				changes = append(changes, s.edit())
			}
			dh := s.vector(1)
			want.catchUp(rt, a, changes, dh)
			got.catchUp(rt, a, changes, dh)
			got.compare(rt, want)
			want.reload(rt)
			got.reload(rt)
			got.compare(rt, want)
		}
	})
}

// twin is a state on a graph whose weights have a common factor.
type twin struct {
	factor   float32
	target   Target
	g        *csr
	st       *State
	rep      Repair
	repaired bool
	unitless bool // some node, or the start vector, has had no edge
}

func newTwin(t rapid.TB, a *adjacency, factor float32, form Form, h Vector, target Target) *twin {
	w := &twin{factor: factor, target: target}
	w.graph(a)
	var err error
	if w.st, err = NewSolver().Solve(context.Background(), w.g, form, 0.85, h, target); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *twin) graph(a *adjacency) {
	w.g = a.times(w.factor).snapshot()
	w.g.weighted = true
}

func (w *twin) catchUp(t rapid.TB, a *adjacency, changes []Change, dh Vector) {
	w.graph(a)
	w.repaired = true
	scaled := slices.Clone(changes)
	for i := range scaled {
		scaled[i].Old *= w.factor
		scaled[i].New *= w.factor
	}
	var err error
	if w.st, w.rep, err = NewSolver().CatchUp(context.Background(), w.g, w.st, NewChangeSet(scaled), dh, w.target); err != nil {
		t.Fatal(err)
	}
}

func (w *twin) reload(t rapid.TB) {
	nodes, y := w.st.Estimate()
	st, err := NewSolver().Reload(w.g, w.st.form, w.st.alpha, w.st.h, nodes, y)
	if err != nil {
		t.Fatal(err)
	}
	w.st = st
}

func (w *twin) compare(t rapid.TB, want *twin) {
	start := 0.0
	for i, u := range w.st.h.Node {
		start += math.Abs(w.st.h.Value[i]) * w.g.Degree(u)
	}
	w.unitless = w.unitless || start == 0
	for u := range ID(w.g.NumNodes()) {
		w.unitless = w.unitless || w.g.Degree(u) == 0
	}
	slack := 0.0
	if w.unitless && w.repaired {
		slack = 1
	}
	for u := range ID(w.g.NumNodes()) {
		v, bound := w.st.Value(w.g, u)
		x, b := want.st.Value(want.g, u)
		if off := math.Abs(v - x); off > slack*(bound+b+1e-12)+1e-14 || slack == 0 && math.Abs(bound-b) > 1e-9*b+1e-18 {
			t.Fatalf("node %d: %v within %v, want %v within %v", u, v, bound, x, b)
		}
	}
	if slack > 0 {
		return
	}
	nodes, _ := w.st.Estimate()
	other, _ := want.st.Estimate()
	if !slices.Equal(nodes, other) || !slices.Equal(w.st.Nodes(), want.st.Nodes()) {
		t.Fatalf("reached %d of %d, want %d of %d", nodes, w.st.Nodes(), other, want.st.Nodes())
	}
	if w.st.ops != want.st.ops || w.rep.EdgeOps != want.rep.EdgeOps {
		t.Fatalf("%d and %+v, want %d and %+v", w.st.ops, w.rep, want.st.ops, want.rep)
	}
}

// Other factors than powers of two round the weights, which may also change the order of the
// pushes, and so what is left of an error below eps. The graph is large enough for sweeps.
func TestUnitOfAnyFactor(t *testing.T) {
	t.Parallel()
	for _, directed := range []bool{false, true} {
		for _, factor := range []float32{1e-9, 0.3, 7, 1e4, 1e12} {
			for _, eps := range []float64{1e-3, 1e-6, 1e-10} {
				a := community(400, directed, 3)
				want := newTwin(t, a, 1, Column, Unit(3), Target{MaxNorm, eps})
				got := newTwin(t, a, factor, Column, Unit(3), Target{MaxNorm, eps})
				name := fmt.Sprintf("directed %v, factor %v, eps %v", directed, factor, eps)
				for u := range ID(400) {
					v, bound := got.st.Value(got.g, u)
					x, b := want.st.Value(want.g, u)
					if math.Abs(v-x) > 1e-6*x+bound+b || bound > 2*b+1e-15 || b > 2*bound+1e-15 {
						t.Errorf("%s, node %d: %v within %v, want %v within %v", name, u, v, bound, x, b)
					}
				}
			}
		}
	}
}

// Weights that spread over many orders of magnitude leave no source without a walk, whatever its
// own weights are.
func TestSpreadWeights(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, directed := range []bool{false, true} {
		a := newAdjacency(300, directed)
		for range 1500 {
			a.set(ID(r.IntN(300)), ID(r.IntN(300)), float32(math.Exp(4*r.NormFloat64())))
		}
		g := a.snapshot()
		for u := ID(0); u < 300; u += ID(size(7, 3, 1)) {
			st, err := NewSolver().Solve(t.Context(), g, Column, 0.85, Unit(u), Target{MaxNorm, 1e-5})
			if err != nil {
				t.Fatal(err)
			}
			verify(t, g, st, 1)
			nodes, _ := st.Estimate()
			if all := reachable(g, u, newBitmap(300), nil); len(nodes) < min(10, len(all)) {
				t.Errorf("directed %v: the walk from %d, of degree %g, reaches %d nodes", directed, u, g.Degree(u), len(nodes))
			}
		}
	}
}

// The volume of a survey is exact although edges that weighed much more than the others are gone.
func TestSurveyAfterHeavyEdge(t *testing.T) {
	t.Parallel()
	a := newAdjacency(4, false)
	a.set(0, 1, 0.1)
	a.set(1, 2, 0.3)
	g := a.snapshot()
	s := NewSurvey(g)
	for _, w := range []float32{1e12, 0} {
		change := a.set(0, 2, w)
		g = a.snapshot()
		s = s.After(g, []Change{change})
	}
	if want := NewSurvey(g); s.volume != want.volume {
		t.Errorf("volume %v, want %v", s.volume, want.volume)
	}
}

// Norms and bounds hold, and the target is met, while start nodes gain and lose edges whose weights
// differ by orders of magnitude. Each case is a list of batches of edges; weight 0 removes an edge.
// Each batch also moves the start vector.
func TestStartsThatChange(t *testing.T) {
	t.Parallel()
	const light, heavy = 0x1p-30, 0x1p30
	type edges []Change // New is the weight
	cases := map[string]struct {
		h      Vector
		before edges
		then   []edges
		dh     Vector // in each batch
	}{
		"no edges at all":            {h: source(2), then: []edges{{}, {}}, dh: source(2)},
		"first edge, light":          {h: source(2), then: []edges{{{U: 0, V: 2, New: 0.5}}, {{U: 2, V: 3, New: light}}}},
		"first edge, heavy":          {h: source(2), then: []edges{{{U: 0, V: 2, New: heavy}}, {{U: 2, V: 3, New: 1}}}},
		"start twice, first edge":    {h: source(2), then: []edges{{{U: 0, V: 2, New: 0.5}}}, dh: source(2)},
		"start removed, first edge":  {h: source(2), then: []edges{{{U: 0, V: 2, New: 0.5}}}, dh: Vector{[]ID{2}, []float64{-1}}},
		"first weight is elsewhere":  {h: source(2), before: edges{{U: 0, V: 1, New: 1}}, then: []edges{{{U: 0, V: 3, New: 7}}, {{U: 1, V: 2, New: light}}}},
		"loops only":                 {h: source(2), before: edges{{U: 2, V: 2, New: 0.1}}, then: []edges{{{U: 2, V: 2, New: heavy}}, {{U: 2, V: 2, New: light}}, {{U: 2, V: 2}}, {{U: 2, V: 2, New: 3}}}},
		"a loop, then an edge":       {h: source(2), before: edges{{U: 2, V: 2, New: heavy}}, then: []edges{{{U: 2, V: 1, New: light}}, {{U: 2, V: 2}}, {{U: 2, V: 1, New: 1}}}},
		"the mean rises":             {h: source(2), before: edges{{U: 2, V: 1, New: light}, {U: 1, V: 0, New: 1}}, then: []edges{{{U: 2, V: 3, New: heavy}}, {{U: 3, V: 0, New: 1}}}},
		"the mean falls":             {h: source(2), before: edges{{U: 2, V: 1, New: light}, {U: 2, V: 3, New: heavy}}, then: []edges{{{U: 2, V: 3}}, {{U: 1, V: 0, New: 1}}, {{U: 2, V: 3, New: 1}}}},
		"last edge, and another":     {h: source(2), before: edges{{U: 2, V: 1, New: heavy}, {U: 1, V: 0, New: 1}}, then: []edges{{{U: 2, V: 1}}, {{U: 2, V: 0, New: light}}, {{U: 2, V: 0}, {U: 2, V: 1, New: 1}}}},
		"both ends lose their edges": {h: Vector{[]ID{1, 2}, []float64{1, 1}}, before: edges{{U: 2, V: 1, New: light}}, then: []edges{{{U: 2, V: 1}}, {{U: 2, V: 1, New: 0.25}}}},
		"two starts, one isolated":   {h: Vector{[]ID{1, 2}, []float64{2, 1}}, before: edges{{U: 1, V: 0, New: heavy}}, then: []edges{{{U: 3, V: 0, New: 1}}, {{U: 1, V: 2, New: light}}}},
		"opposite signs":             {h: Vector{[]ID{1, 2}, []float64{1, -1}}, before: edges{{U: 1, V: 0, New: heavy}, {U: 2, V: 0, New: light}}, then: []edges{{{U: 1, V: 2, New: 1}}, {{U: 1, V: 0}}}},
		"there and back":             {h: source(2), then: []edges{{{U: 2, V: 1, New: light}, {U: 2, V: 1}}, {{U: 2, V: 1, New: heavy}, {U: 2, V: 1, New: light}}}},
		"a sink gets a light edge":   {h: source(2), before: edges{{U: 2, V: 1, New: 1000}}, then: []edges{{{U: 1, V: 3, New: 10}}, {{U: 3, V: 0, New: light}}}},
	}
	for name, c := range cases {
		for _, directed := range []bool{false, true} {
			for _, form := range []Form{Column, Row} {
				for _, target := range []Target{{MaxNorm, 0.3}, {MaxNorm, 1e-2}, {MaxNorm, 1e-6}, {L1, 1e-3}} {
					if target.Norm == L1 && form == Row {
						continue // its unit is the weight
					}
					for _, by := range []float64{1, 0.25} { // the residual of a small start is below the threshold of a push
						f := &follower{t: t, a: newAdjacency(4, directed), target: target}
						f.name = fmt.Sprintf("%s, directed %v, %v, %v, start times %v", name, directed, form, target, by)
						f.set(c.before)
						f.solve(form, Vector{}.add(by, c.h))
						for _, batch := range c.then {
							f.catchUp(f.set(batch), Vector{}.add(by, c.dh))
						}
					}
				}
			}
		}
	}
}

// follower verifies a state of a graph of four nodes after each change.
type follower struct {
	t      testing.TB
	name   string
	a      *adjacency
	st     *State
	target Target
	size   float64
}

func (f *follower) set(edges []Change) (changes []Change) {
	for _, e := range edges {
		changes = append(changes, f.a.set(e.U, e.V, e.New))
	}
	return changes
}

func (f *follower) solve(form Form, h Vector) {
	st, err := NewSolver().Solve(f.t.Context(), f.a.snapshot(), form, 0.85, h, f.target)
	f.check(st, err)
}

func (f *follower) catchUp(changes []Change, dh Vector) {
	g := f.a.snapshot()
	st, _, err := NewSolver().CatchUp(f.t.Context(), g, f.st, NewChangeSet(changes), dh, f.target)
	f.check(st, err)
	nodes, y := f.st.Estimate()
	again, err := NewSolver().Reload(g, f.st.form, f.st.alpha, f.st.h, nodes, y)
	if err != nil {
		f.t.Fatalf("%s: %v", f.name, err)
	}
	verify(f.t, g, again, f.size)
}

func (f *follower) check(st *State, err error) {
	f.t.Helper()
	tooFine := errors.Is(err, ErrPrecision) // the rounding error of a value is above the target times a light degree
	if err != nil && !tooFine {
		f.t.Fatalf("%s: %v", f.name, err)
	}
	g := f.a.snapshot()
	f.st, f.size = st, max(f.size, norm1(st.h.Value))
	defer func() {
		if f.t.Failed() {
			f.t.Log(f.name)
		}
	}()
	verify(f.t, g, st, f.size)
	if b, most := st.Bound(f.target.Norm), f.target.largest(g, st); !tooFine && b > most && !(g.directed && st.form == Column) {
		f.t.Fatalf("%s: bound %v above %v", f.name, b, most)
	}
}
