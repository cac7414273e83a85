package ppr

import (
	"context"
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

var long = flag.Bool("long", false, "run the tests that take minutes, and the others at full size")

// size returns how much work a test does: little with -short or the race detector, much with -long.
func size(short, normal, full int) int {
	switch {
	case *long:
		return full
	case testing.Short() || raceDetector:
		return short
	}
	return normal
}

// community returns a random graph: dense blocks of 20 nodes, a few edges between blocks,
// self-loops, and one node in ten isolated.
func community(n int, directed bool, seed uint64) *adjacency {
	a, r := newAdjacency(n, directed), rand.New(rand.NewPCG(seed, 1))
	for range 4 * n {
		u, v := r.IntN(n), r.IntN(n)
		if r.IntN(10) > 0 {
			v = u/20*20 + r.IntN(20)
		}
		if v < n && u%10 != 9 && v%10 != 9 {
			a.set(ID(u), ID(v), []float32{1, 1, 1, 2.5, 0.3}[r.IntN(5)])
		}
	}
	return a
}

// edits makes k random inserts, deletes and reweights.
func (a *adjacency) edits(r *rand.Rand, k int) (changes []Change) {
	for range k {
		u, v, w := ID(r.IntN(len(a.rows))), ID(r.IntN(len(a.rows))), float32(r.IntN(3))
		if row := a.row(u); len(row) > 0 && r.IntN(2) == 0 {
			v = row[r.IntN(len(row))]
		}
		changes = append(changes, a.set(u, v, w))
	}
	return changes
}

func TestInput(t *testing.T) {
	t.Parallel()
	g := community(30, true, 1).snapshot()
	ok, fine := source(3), Target{MaxNorm, 1e-3}
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]struct {
		form  Form
		alpha float64
		h     Vector
		t     Target
		want  error
	}{
		"form":       {Row + 1, 0.85, ok, fine, ErrInput},
		"alpha 0":    {Column, 0, ok, fine, ErrInput},
		"alpha 1":    {Column, 1, ok, fine, ErrInput},
		"alpha NaN":  {Column, nan, ok, fine, ErrInput},
		"eps 0":      {Column, 0.85, ok, Target{MaxNorm, 0}, ErrInput},
		"eps NaN":    {Column, 0.85, ok, Target{MaxNorm, nan}, ErrInput},
		"eps inf":    {Column, 0.85, ok, Target{MaxNorm, inf}, ErrInput},
		"norm":       {Column, 0.85, ok, Target{L1 + 1, 1}, ErrInput},
		"L1 of rows": {Row, 0.85, ok, Target{L1, 1}, ErrNorm},
		"node":       {Column, 0.85, source(30), fine, ErrNode},
		"value NaN":  {Column, 0.85, Vector{[]ID{1}, []float64{nan}}, fine, ErrInput},
		"value inf":  {Column, 0.85, Vector{[]ID{1}, []float64{-inf}}, fine, ErrInput},
		"order":      {Column, 0.85, Vector{[]ID{2, 1}, []float64{1, 1}}, fine, ErrInput},
		"twice":      {Column, 0.85, Vector{[]ID{1, 1}, []float64{1, 1}}, fine, ErrInput},
		"length":     {Column, 0.85, Vector{[]ID{1}, nil}, fine, ErrInput},
		"ok":         {Column, 0.85, ok, fine, nil},
	} {
		if _, err := NewSolver().Solve(t.Context(), g, c.form, c.alpha, c.h, c.t); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// TestPrecision verifies that a target below float64 precision returns the best state together with
// ErrPrecision.
func TestPrecision(t *testing.T) {
	t.Parallel()
	g := community(300, false, 1).snapshot()
	for _, target := range []Target{{L1, 1e-40}, {MaxNorm, 1e-40}} {
		st, err := NewSolver().Solve(t.Context(), g, Row, 0.85, source(3), target)
		if err != nil && !errors.Is(err, ErrPrecision) {
			t.Fatal(err)
		}
		verify(t, g, st, 1)
	}
}

func TestUpdateInput(t *testing.T) {
	t.Parallel()
	g, other := community(30, true, 1).snapshot(), community(30, false, 1).snapshot()
	sv, fine := NewSolver(), Target{MaxNorm, 1e-3}
	st, err := sv.Solve(t.Context(), g, Column, 0.85, source(3), fine)
	if err != nil {
		t.Fatal(err)
	}
	nan := float32(math.NaN())
	for name, c := range map[string]struct {
		g       Graph
		changes []Change
		dh      Vector
		t       Target
		want    error
	}{
		"direction": {other, nil, Vector{}, fine, ErrMismatch},
		"node":      {g, []Change{{1, 30, 0, 1}}, Vector{}, fine, ErrNode},
		"NaN":       {g, []Change{{1, 3, 0, nan}}, Vector{}, fine, ErrInput},
		"negative":  {g, []Change{{1, 3, -1, 1}}, Vector{}, fine, ErrInput},
		"dh":        {g, nil, source(99), fine, ErrNode},
		"eps":       {g, nil, Vector{}, Target{L1, -1}, ErrInput},
	} {
		if _, _, err := sv.CatchUp(t.Context(), c.g, st, NewChangeSet(c.changes), c.dh, c.t); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if _, err := sv.Reload(g, Column, 0.85, source(3), []ID{1}, []float32{nan}); !errors.Is(err, ErrInput) {
		t.Errorf("reload NaN: %v", err)
	}
	if _, err := sv.Reload(g, Column, 0.85, source(3), []ID{4, 1}, []float32{1, 1}); !errors.Is(err, ErrInput) {
		t.Errorf("reload disordered: %v", err)
	}
}

func TestCombineInput(t *testing.T) {
	t.Parallel()
	g := community(30, true, 1).snapshot()
	sv, fine := NewSolver(), Target{MaxNorm, 1e-3}
	a, _ := sv.Solve(t.Context(), g, Column, 0.85, source(3), fine)
	b, _ := sv.Solve(t.Context(), g, Column, 0.5, source(4), fine)
	h := Vector{[]ID{3, 4}, []float64{1, 1}}
	for name, c := range map[string]struct {
		form   Form
		h      Vector
		states []*State
		at     []ID
		want   error
	}{
		"count":  {Column, h, []*State{a}, nil, ErrMismatch},
		"source": {Column, h, []*State{b, a}, nil, ErrMismatch},
		"alpha":  {Column, h, []*State{a, b}, nil, ErrMismatch},
		"form":   {Row, source(3), []*State{a}, nil, ErrMismatch},
		"node":   {Column, source(3), []*State{a}, []ID{30}, ErrNode},
		"value":  {Column, Vector{[]ID{3}, []float64{math.Inf(1)}}, []*State{a}, nil, ErrInput},
		"none":   {Row, Vector{}, nil, []ID{1, 2}, nil},
	} {
		if _, _, err := Combine(g, c.form, c.h, c.states, c.at); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if _, _, err := sv.CombineTwoSided(g, Column, source(3), []*State{a}, []ID{3}, []*State{a}); !errors.Is(err, ErrMismatch) {
		t.Errorf("two-sided on a directed graph: %v", err)
	}
}

func TestDegreeRange(t *testing.T) {
	t.Parallel()
	for _, w := range []float32{1e-20, 1e30} {
		a := newAdjacency(2, false)
		a.set(0, 1, w)
		if _, err := NewSolver().Solve(t.Context(), a.snapshot(), Column, 0.85, source(0), Target{L1, 1e-3}); !errors.Is(err, ErrInput) {
			t.Errorf("weight %v: %v, want ErrInput", w, err)
		}
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	g := community(2000, false, 1).snapshot()
	sv := NewSolver()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sv.Solve(ctx, g, Row, 0.85, source(3), Target{L1, 1e-9}); !errors.Is(err, context.Canceled) {
		t.Errorf("solve: %v, want context.Canceled", err)
	}
	st, err := sv.Solve(t.Context(), g, Row, 0.85, source(3), Target{L1, 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	verify(t, g, st, 1) // the cancelled solve must leave nothing in the workspace
}

// same reports whether two states are equal to the bit.
func same(a, b *State) bool {
	return slices.Equal(slices.Collect(a.entries()), slices.Collect(b.entries())) && a.norms == b.norms
}

// TestDeterminism compares the results of a used solver with those of a new one.
func TestDeterminism(t *testing.T) {
	t.Parallel()
	for _, directed := range []bool{false, true} {
		a, r := community(600, directed, 2), rand.New(rand.NewPCG(1, 1))
		g := a.snapshot()
		changes := a.edits(r, 20)
		after := a.snapshot()
		used := NewSolver()
		for _, target := range []Target{{MaxNorm, 1e-2}, {L1, 1e-6}, {MaxNorm, 1e-7}} {
			for _, u := range []ID{3, 45, 9, 100} {
				run := func(sv *Solver) (*State, *State) {
					st, err := sv.Solve(t.Context(), g, Column, 0.85, source(u), target)
					if err != nil {
						t.Fatal(err)
					}
					next, _, err := sv.CatchUp(t.Context(), after, st, NewChangeSet(changes), Vector{}, target)
					if err != nil {
						t.Fatal(err)
					}
					return st, next
				}
				st1, next1 := run(NewSolver())
				st2, next2 := run(used)
				if !same(st1, st2) || !same(next1, next2) {
					t.Errorf("directed %v, %v, source %d: states differ", directed, target, u)
				}
			}
		}
	}
}

// TestSweeps verifies the states of graphs that are large enough for both queue and sweeps, and
// their repair.
func TestSweeps(t *testing.T) {
	t.Parallel()
	for _, directed := range []bool{false, true} {
		for _, form := range []Form{Column, Row} {
			for _, target := range []Target{{MaxNorm, 1e-3}, {MaxNorm, 1e-7}, {L1, 1e-2}, {L1, 1e-8}} {
				if directed && form == Row && target.Norm == L1 {
					continue
				}
				a, r, sv := community(400, directed, 3), rand.New(rand.NewPCG(4, 4)), NewSolver()
				g := a.snapshot()
				h := Vector{[]ID{0, 9, 30, 200}, []float64{1, -0.5, 2, -1.5}}
				st, err := sv.Solve(t.Context(), g, form, 0.85, h, target)
				if err != nil {
					t.Fatal(err)
				}
				verify(t, g, st, 5)
				for _, k := range []int{1, 10, 300} {
					changes := a.edits(r, k)
					g = a.snapshot()
					if st, _, err = sv.CatchUp(t.Context(), g, st, NewChangeSet(changes), Vector{}, target); err != nil {
						t.Fatal(err)
					}
					verify(t, g, st, 5)
				}
				nodes, y := st.Estimate()
				if st, err = sv.Reload(g, form, 0.85, h, nodes, y); err != nil {
					t.Fatal(err)
				}
				verify(t, g, st, 5)
				if st, err = sv.Refine(t.Context(), g, st, Target{target.Norm, target.Eps / 10}); err != nil {
					t.Fatal(err)
				}
				verify(t, g, st, 5)
			}
		}
	}
}

// TestUntouched verifies that CatchUp returns the same state if no change touches it.
func TestUntouched(t *testing.T) {
	t.Parallel()
	a := community(600, false, 2)
	sv, target := NewSolver(), Target{MaxNorm, 1e-1}
	st, err := sv.Solve(t.Context(), a.snapshot(), Column, 0.85, source(3), target)
	if err != nil {
		t.Fatal(err)
	}
	changes := []Change{a.set(590, 591, 7), a.set(580, 581, 7)}
	next, rep, err := sv.CatchUp(t.Context(), a.snapshot(), st, NewChangeSet(changes), Vector{}, target)
	if err != nil || next != st || rep != (Repair{}) {
		t.Errorf("got a new state, %+v, %v", rep, err)
	}
}

// TestWeakened deletes edges at nodes that hold a residual but no estimate. There r does not change
// but r/Dh increases, so the certificate must increase too.
func TestWeakened(t *testing.T) {
	t.Parallel()
	sv, target := NewSolver(), Target{MaxNorm, 0.05}
	a := newAdjacency(40, false)
	for v := ID(2); v < 40; v++ {
		a.set(1, v, 1)
	}
	a.set(0, 1, 1)
	st, err := sv.Solve(t.Context(), a.snapshot(), Column, 0.85, source(0), target)
	if err != nil {
		t.Fatal(err)
	}
	if y, r := st.at(1); y != 0 || r == 0 {
		t.Fatalf("estimate %v, residual %v at the hub: not the case to test", y, r)
	}
	for v := ID(2); v < 40; v++ {
		changes := []Change{a.set(1, v, 0)}
		if st, _, err = sv.CatchUp(t.Context(), a.snapshot(), st, NewChangeSet(changes), Vector{}, target); err != nil {
			t.Fatal(err)
		}
		verify(t, a.snapshot(), st, 1)
	}
}

// TestLongLife makes a million small updates, with -long, and verifies that rounding errors do not
// accumulate.
func TestLongLife(t *testing.T) {
	t.Parallel()
	updates := size(5_000, 20_000, 1_000_000)
	r, sv, target := rand.New(rand.NewPCG(4, 4)), NewSolver(), Target{MaxNorm, 1e-4}
	g := community(60, false, 5).snapshot()
	edges := [][2]ID{{0, 1}, {2, 3}, {5, 40}, {7, 7}, {11, 12}, {0, 55}, {9, 0}, {19, 29}}
	weight := make([]float32, len(edges))
	for i, e := range edges {
		to, w := g.Out(e[0])
		if k := find(to, e[1]); k >= 0 {
			weight[i] = w[k]
		}
	}
	st, err := sv.Solve(t.Context(), g, Row, 0.85, source(0), target)
	if err != nil {
		t.Fatal(err)
	}
	for range updates {
		i := r.IntN(len(edges))
		c := Change{edges[i][0], edges[i][1], weight[i], float32(r.IntN(3)) / 2}
		weight[i] = c.New
		g = g.withEdits([]Change{c})
		if st, _, err = sv.CatchUp(t.Context(), g, st, NewChangeSet([]Change{c}), Vector{}, target); err != nil {
			t.Fatal(err)
		}
	}
	verify(t, g, st, 1)
}

// TestNoSpill verifies that local work allocates no memory in proportion to the graph.
func TestNoSpill(t *testing.T) {
	n := size(20_000, 200_000, 200_000)
	list := make([][2]ID, 0, 2*n)
	for u := range n {
		list = append(list, [2]ID{ID(u), ID((u + 1) % n)}, [2]ID{ID(u), ID((u + 7) % n)})
	}
	g, sv := fromEdges(n, false, list), NewSolver()
	var before, after runtime.MemStats
	const solves = 20
	for i := range 1 + solves {
		if i == 1 { // the buffers have their sizes
			runtime.ReadMemStats(&before)
		}
		if _, err := sv.Solve(t.Context(), g, Column, 0.85, source(5), Target{MaxNorm, 1e-2}); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	size := (after.TotalAlloc - before.TotalAlloc) / solves
	if size > 8192 {
		t.Errorf("a solve allocates %d bytes", size)
	}
}

// TestGrQc follows 50 sources and signed queries of a real graph through 1,000 inserts and deletes,
// in both forms.
func TestGrQc(t *testing.T) {
	t.Parallel()
	g := readGraph(t, "snap/CA-GrQc.txt", false)
	count := size(2, 4, 50)
	r, sv, target := rand.New(rand.NewPCG(6, 6)), NewSolver(), Target{MaxNorm, 1e-5}
	changes := randomEdits(g, r, 1000)
	after := g.withEdits(changes)
	for i := range count {
		form, h := Form(i%2), source(draw(g, r))
		if i%3 == 2 {
			h = randomVector(g, r, 10, -1)
		}
		for range 2 { // both forms
			st, err := sv.Solve(t.Context(), g, form, 0.85, h, target)
			if err != nil {
				t.Fatal(err)
			}
			agree(t, g, st)
			if st, _, err = sv.CatchUp(t.Context(), after, st, NewChangeSet(changes), Vector{}, target); err != nil {
				t.Fatal(err)
			}
			agree(t, after, st)
			form = 1 - form
		}
	}
}

// agree verifies values, their bounds and the target against the oracle.
func agree(t *testing.T, g Graph, st *State) {
	t.Helper()
	for j, want := range reference(g, st.form, st.alpha, st.h) {
		v, bound := st.Value(g, ID(j))
		if e := math.Abs(v - want); e > bound+tolerance*norm1(st.h.Value) {
			t.Fatalf("%v value at %d: %v, want %v within %v, off by %v", st.form, j, v, want, bound, e)
		}
	}
	compareEstimates(t, g, st)
	if b := st.Bound(MaxNorm); b > 1e-5 {
		t.Fatalf("bound %v above the target", b)
	}
}

func TestMinus(t *testing.T) {
	t.Parallel()
	a, b := Vector{[]ID{1, 4, 9}, []float64{2, -1, 3}}, Vector{[]ID{0, 4, 9}, []float64{5, 1, 3}}
	d := a.Minus(b)
	if !slices.Equal(d.Node, []ID{0, 1, 4}) || !slices.Equal(d.Value, []float64{-5, 2, -2}) || d.L1() != 9 {
		t.Errorf("%v - %v = %v, L1 %v", a, b, d, d.L1())
	}
	if back := d.add(1, b); !slices.Equal(back.Node, a.Node) || !slices.Equal(back.Value, a.Value) {
		t.Errorf("and back: %v", back)
	}
}

// TestDirectedCycle verifies that sweeps end on long directed cycles, where the residual of
// over-relaxed sweeps goes up and down for hundreds of sweeps while the error decreases.
func TestDirectedCycle(t *testing.T) {
	t.Parallel()
	for _, n := range []int{40, 300} {
		a := newAdjacency(n, true)
		for u := range n {
			a.set(ID(u), ID((u+1)%n), []float32{1, 100, 0.1, 2}[u%4])
		}
		for _, form := range []Form{Column, Row} {
			for _, eps := range []float64{1e-2, 1e-6} {
				h := Vector{[]ID{0, 14}, []float64{-0.59, 0.0078125}}
				st, err := NewSolver().Solve(t.Context(), a.snapshot(), form, 0.85, h, Target{MaxNorm, eps})
				if err != nil {
					t.Errorf("%d nodes, %v, eps %v: %v", n, form, eps, err)
				}
				verify(t, a.snapshot(), st, 1)
			}
		}
	}
}
