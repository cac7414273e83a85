package ppr

import (
	"errors"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestMemory verifies that solves, updates and reloads in little memory stay within it, and that
// their states are exact: the bounds hold, whether or not the target was reached.
func TestMemory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		a := community(rapid.SampledFrom([]int{60, 200}).Draw(rt, "n"), rapid.Bool().Draw(rt, "directed"), 4)
		g, form := a.snapshot(), rapid.SampledFrom([]Form{Column, Row}).Draw(rt, "form")
		s := stream{t: rt, a: a}
		h, target := s.vector(3), s.target(g, form)
		sv := NewSolver()
		sv.Memory = int64(rapid.SampledFrom([]int{1, 2, 5, 10}).Draw(rt, "KB")) << 10
		st, err := sv.Solve(rt.Context(), g, form, 0.85, h, target)
		checkLimited(rt, sv, g, st, target, err)
		set := NewChangeSet(a.edits(rand.New(rand.NewPCG(1, 2)), 5))
		next := a.snapshot()
		st, _, err = sv.CatchUp(rt.Context(), next, st, set, Vector{}, target)
		checkLimited(rt, sv, next, st, target, err)
		nodes, y := st.Estimate()
		if st, err = sv.Reload(next, form, 0.85, h, nodes, y); err != nil {
			rt.Fatal(err)
		}
		checkLimited(rt, sv, next, st, target, ErrPrecision)
	})
}

// checkLimited verifies a state of a solver with limited memory.
func checkLimited(t *rapid.T, sv *Solver, g Graph, st *State, target Target, err error) {
	t.Helper()
	if err != nil && !errors.Is(err, ErrPrecision) {
		t.Fatal(err)
	}
	if e := st.norms.errorBound(target.Norm, st.kernel); err == nil && e > target.largest(g, st) && !(st.directed && st.form == Column) {
		t.Fatalf("error %v reaches the target %v", e, target.Eps)
	}
	verify(t, g, st, norm1(st.h.Value))
	loaded := 2 * pageSize * (len(st.h.Node) + 2*5) // cells of the right side and of changes
	if room := sv.cellRoom(g.NumNodes()); !sv.cells.whole && cap(sv.cells.cell) > room*9/8+loaded {
		t.Fatalf("%d cells, room for %d", cap(sv.cells.cell), room)
	}
	if !sv.maySweep(g.NumNodes()) && sv.r != nil {
		t.Fatal("it sweeps without room")
	}
}

// TestMemoryLayout verifies that a state does not depend, to the bit, on whether cells are in
// pages, as long as there is room.
func TestMemoryLayout(t *testing.T) {
	t.Parallel()
	for _, directed := range []bool{false, true} {
		g := community(2000, directed, 5).snapshot()
		for _, eps := range []float64{1e-3, 1e-5} {
			whole, paged := NewSolver(), NewSolver()
			paged.Memory = 120 << 10
			want, err := whole.Solve(t.Context(), g, Column, 0.85, source(3), Target{MaxNorm, eps})
			if err != nil {
				t.Fatal(err)
			}
			got, err := paged.Solve(t.Context(), g, Column, 0.85, source(3), Target{MaxNorm, eps})
			if err != nil {
				t.Fatal(err)
			}
			if !whole.cells.whole || paged.cells.whole {
				t.Fatal("the arrays are of the same kind")
			}
			if !same(got, want) {
				t.Errorf("directed %v, %v: another state with pages", directed, eps)
			}
		}
	}
}

// TestMemoryOfResiduals verifies that candidates keep the bounds of Combine if there is no room for
// the residuals.
func TestMemoryOfResiduals(t *testing.T) {
	t.Parallel()
	g, sv := community(600, false, 6).snapshot(), NewSolver()
	h := Vector{[]ID{0, 40}, []float64{1, -0.5}}
	var states []*State
	for _, u := range h.Node {
		st, err := sv.Solve(t.Context(), g, Column, 0.85, source(u), Target{MaxNorm, 1e-3})
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, st)
	}
	sv.Memory = 1
	got, bound, err := sv.CombineTwoSided(g, Column, h, states, h.Node, states)
	if err != nil {
		t.Fatal(err)
	}
	want, also, err := Combine(g, Column, h, states, h.Node)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if got[i] != want[i] || bound[i] != also[i] {
			t.Errorf("%v ± %v, want %v ± %v", got[i], bound[i], want[i], also[i])
		}
	}
}
