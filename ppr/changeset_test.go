package ppr

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// TestChangeIndex compares the index with a scan of all changes.
func TestChangeIndex(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var list []Change
		node := rapid.Uint32Range(0, rapid.SampledFrom([]ID{0, 3, 64, 5000}).Draw(rt, "nodes"))
		for range rapid.IntRange(0, 100).Draw(rt, "changes") {
			w := rapid.SampledFrom([]float32{0, 0.5, 1, 2})
			list = append(list, Change{node.Draw(rt, "u"), node.Draw(rt, "v"), w.Draw(rt, "old"), w.Draw(rt, "new")})
		}
		x := newChangeIndex(NewChangeSet(list))
		for u := range ID(5100) {
			var want []uint32
			fell := false
			for i, c := range list {
				for _, end := range [2]ID{c.U, c.V} {
					if end == u {
						want, fell = append(want, uint32(i)), fell || c.New < c.Old
					}
				}
			}
			if x.touched.has(u) != (want != nil) || x.lowered.has(u) != fell {
				rt.Fatalf("%d: touched %v, fell %v, want %v, %v", u, x.touched.has(u), x.lowered.has(u), want != nil, fell)
			}
			if want != nil && !slices.Equal(x.changes(u), want) {
				rt.Fatalf("changes at %d: %v, want %v", u, x.changes(u), want)
			}
		}
	})
}

// TestChangeSetShared verifies that a state is the same to the bit whether its changes were found
// by index or by scan, with several goroutines at once.
func TestChangeSetShared(t *testing.T) {
	t.Parallel()
	for _, directed := range []bool{false, true} {
		for _, form := range []Form{Column, Row} {
			a, r, target := community(600, directed, 7), rand.New(rand.NewPCG(8, 8)), Target{MaxNorm, 1e-2}
			g := a.snapshot()
			early, late := NewChangeSet(a.edits(r, 5)), (*ChangeSet)(nil)
			between := a.snapshot()
			late = NewChangeSet(a.edits(r, 4*indexChanges))
			after := a.snapshot()
			follow := func(sv *Solver, u ID, early, late *ChangeSet) (st *State, rep Repair) {
				st, err1 := sv.Solve(t.Context(), g, form, 0.85, source(u), target)
				st, _, err2 := sv.CatchUp(t.Context(), between, st, early, Vector{}, target)
				st, rep, err3 := sv.CatchUp(t.Context(), after, st, late, Vector{}, target)
				if err := errors.Join(err1, err2, err3); err != nil {
					t.Error(err)
				}
				return st, rep
			}
			var wg sync.WaitGroup
			for w := range ID(4) {
				wg.Go(func() {
					sv := NewSolver()
					for u := w; u < 200; u += 4 {
						got, rep := follow(sv, u, early, late)
						want, alone := follow(sv, u, NewChangeSet(early.list), NewChangeSet(late.list))
						if !same(got, want) || rep != alone {
							t.Errorf("directed %v, %v, source %d: %+v with an index, %+v without", directed, form, u, rep, alone)
						}
					}
				})
			}
			wg.Wait()
			if late.index == nil {
				t.Errorf("directed %v, %v: no index was made", directed, form)
			}
		}
	}
}
