package ppr

import (
	"context"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// tolerance is the error that tests allow for rounding, relative to |h|_1.
const tolerance = 1e-12

func norm1(x []float64) (s float64) {
	for _, v := range x {
		s += math.Abs(v)
	}
	return s
}

// verify checks all guarantees of a state against the oracle. size is the largest |h|_1 in the
// state's life.
func verify(t rapid.TB, g Graph, s *State, size float64) {
	t.Helper()
	const least = 1e-40 // float32 estimates end at 1e-45, and squares of residuals long before float64
	scale := tolerance*size + least
	q := system{g, kernel{s.form, s.alpha, g.Directed()}, g.Weighted(), MeanWeight(g, s.h)}
	m, most, mostY := norms{}, 1.0, 1.0 // how much a residual, and an estimate, may be larger than a value
	for u, r := range residual(g, s) {
		_, have := s.at(ID(u))
		dh := pivot(g, ID(u))
		if s.form == Row {
			most = max(most, dh)
		} else if !g.Directed() {
			mostY = max(mostY, 1/dh)
		}
		if math.Abs(r-have) > scale*max(1, dh) {
			t.Fatalf("residual at %d: %v, want %v", u, have, r)
		}
		m.add(have, dh, q.divisor(ID(u), dh))
	}
	if m.l1 > s.norms.l1*(1+slack)+most*scale*1e-3 || m.li > s.norms.li*(1+slack)+least ||
		math.Sqrt(m.n2) > math.Sqrt(s.norms.n2)*(1+slack)+math.Sqrt(most)*scale*1e-3 {
		t.Fatalf("norms %+v are below the true %+v", s.norms, m)
	}
	v := reference(g, s.form, s.alpha, s.h)
	sum, worst := 0.0, 0.0
	for j := range v {
		dh := pivot(g, ID(j))
		got, bound := s.Value(g, ID(j))
		if e := math.Abs(got - v[j]); e > bound+scale {
			t.Fatalf("value at %d: %v, want %v within %v, off by %v", j, got, v[j], bound, e)
		}
		y := v[j]
		if s.form == Column {
			y /= dh
		}
		e := math.Abs(s.estimate(ID(j)) - y)
		if b := s.norms.bound(q.kernel, dh); e > b+scale/dh+scale {
			t.Fatalf("estimate at %d: error %v above bound %v", j, e, b)
		}
		sum += dh * e
		if g.Directed() && s.form == Column {
			e *= dh
		}
		worst = max(worst, e)
	}
	if b := s.Bound(L1); sum > b+most*scale*100 {
		t.Fatalf("L1 error %v above bound %v", sum, b)
	}
	if b := s.Bound(MaxNorm); worst > b+mostY*scale*100 {
		t.Fatalf("max error %v above bound %v", worst, b)
	}
}

// stream draws random edits.
type stream struct {
	t    *rapid.T
	a    *adjacency
	wide bool // weights spread over 18 orders of magnitude
}

func (s stream) node() ID { return ID(rapid.IntRange(0, len(s.a.rows)-1).Draw(s.t, "node")) }

func (s stream) weight() float32 {
	all := []float32{1, 1, 2, 0.5, 0.1, 3.7, 1e-3, 100}
	if s.wide {
		all = append(all, 0x1p-30, 0x1p30)
	}
	return rapid.SampledFrom(all).Draw(s.t, "weight")
}

// tooFine reports whether err says that float64 cannot certify the target, which may be true where
// the weights spread much: the rounding error of a value is much larger than the target times the
// degree.
func (s stream) tooFine(err error) bool { return s.wide && errors.Is(err, ErrPrecision) }

func (s stream) edit() Change {
	u, v := s.node(), s.node()
	w := s.weight()
	if rapid.IntRange(0, 2).Draw(s.t, "kind") == 0 {
		w = 0
		if row := s.a.row(u); len(row) > 0 {
			v = rapid.SampledFrom(row).Draw(s.t, "victim")
		}
	}
	return s.a.set(u, v, w)
}

func (s stream) vector(most int) Vector {
	var h Vector
	for u := range len(s.a.rows) {
		if len(h.Node) < most && rapid.IntRange(0, 3).Draw(s.t, "member") == 0 {
			h.Node = append(h.Node, ID(u))
			h.Value = append(h.Value, rapid.Float64Range(-2, 2).Draw(s.t, "h"))
		}
	}
	return h
}

func (s stream) target(g Graph, form Form) Target {
	t := Target{MaxNorm, rapid.SampledFrom([]float64{0.3, 1e-2, 1e-4, 1e-6, 1e-9}).Draw(s.t, "eps")}
	if rapid.Bool().Draw(s.t, "L1") && !(g.Directed() && form == Row) {
		t.Norm = L1
	}
	return t
}

// largest returns the largest bound in its norm that a state which meets the target may have.
func (t Target) largest(g Graph, s *State) float64 {
	if t.Norm == MaxNorm && s.form == Column {
		return t.Eps / MeanWeight(g, s.h)
	}
	return t.Eps
}

// explore runs rapid.Check many times.
func explore(t *testing.T, f func(*rapid.T)) {
	for range size(3, 20, 20) {
		rapid.Check(t, f)
	}
}

// drawSet returns a set of changes. It may change weights there and back so that the set is large
// enough for an index, and may mark the set as used by other states.
func drawSet(t *rapid.T, directed bool, changes []Change) *ChangeSet {
	last := map[[2]ID]float32{} // weights after all changes
	for _, c := range changes {
		if last[[2]ID{c.U, c.V}] = c.New; !directed {
			last[[2]ID{c.V, c.U}] = c.New
		}
	}
	for _, c := range changes {
		if rapid.IntRange(0, 4).Draw(t, "there and back") > 0 {
			continue
		}
		c.New = last[[2]ID{c.U, c.V}]
		for range indexChanges {
			changes = append(changes, Change{c.U, c.V, c.New, c.New + 1}, Change{c.U, c.V, c.New + 1, c.New})
		}
	}
	s := NewChangeSet(changes)
	s.uses.Store(int32(rapid.IntRange(0, indexUses).Draw(t, "uses")))
	return s
}

func TestStreams(t *testing.T) {
	t.Parallel()
	explore(t, func(rt *rapid.T) {
		ctx := context.Background()
		n := rapid.IntRange(1, 14).Draw(rt, "n")
		a := newAdjacency(n, rapid.Bool().Draw(rt, "directed"))
		s := stream{rt, a, rapid.IntRange(0, 3).Draw(rt, "wide") == 0}
		for range rapid.IntRange(0, 3*n).Draw(rt, "edges") {
			s.edit()
		}
		g := a.snapshot()
		form := rapid.SampledFrom([]Form{Column, Row}).Draw(rt, "form")
		alpha := rapid.SampledFrom([]float64{0.85, 0.5, 0.1, 0.95}).Draw(rt, "alpha")
		sv := NewSolver()
		target := s.target(g, form)
		st, err := sv.Solve(ctx, g, form, alpha, s.vector(4), target)
		if err != nil && !s.tooFine(err) {
			rt.Fatal(err)
		}
		size := norm1(st.h.Value)
		verify(rt, g, st, size)
		for range rapid.IntRange(1, 6).Draw(rt, "batches") {
			var changes []Change
			for range rapid.IntRange(0, 6).Draw(rt, "batch") {
				changes = append(changes, s.edit())
			}
			g = a.snapshot()
			if rapid.IntRange(0, 3).Draw(rt, "new target") == 0 {
				target = s.target(g, form)
			}
			var dh Vector
			if rapid.Bool().Draw(rt, "update") {
				dh = s.vector(2)
			}
			next, rep, err := sv.CatchUp(ctx, g, st, drawSet(rt, a.directed, changes), dh, target)
			if err != nil && !s.tooFine(err) {
				rt.Fatalf("%v: %+v, %+v, sv.ops %d, from %+v %v", err, rep, changes, sv.ops, st, st.lists)
			}
			size = max(size, norm1(next.h.Value))
			verify(rt, g, next, size)
			if b, most := next.Bound(target.Norm), target.largest(g, next); err == nil && b > most && !(g.directed && form == Column) {
				rt.Fatalf("bound %v above %v, %+v", b, most, rep)
			}
			st = next
			nodes, y := st.Estimate()
			again, err := sv.Reload(g, form, alpha, st.H(), nodes, y)
			if err != nil {
				rt.Fatal(err)
			}
			verify(rt, g, again, size)
		}
	})
}

func (a *adjacency) row(u ID) []ID {
	var out []ID
	for v := range ID(len(a.rows)) {
		if _, ok := a.rows[u][v]; ok {
			out = append(out, v)
		}
	}
	return out
}
