package model

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"kith/model/internal/column"
)

// counted returns the number of nodes in both rows except the ends of the pair, their resource, and
// their sum of 1/degree².
func counted(g *mesh, p Pair, a, b []ID) (n, resource, square float64) {
	for w := range ID(len(g.Succ)) {
		if w == p.Source || w == p.Target || !slices.Contains(a, w) || !slices.Contains(b, w) {
			continue
		}
		d := len(g.Succ[w])
		if g.IsDirected {
			d += len(g.Pred[w])
		}
		n++
		resource += 1 / max(float64(d), 2)
		square += 1 / math.Pow(max(float64(d), 2), 2)
	}
	return n, resource, square
}

// Each column of the topology block matches a count over all nodes.
func TestTopologyColumns(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := drawMesh(t)
		m, err := New(Spec{})
		if err != nil {
			t.Fatal(err)
		}
		v, c := ID(rapid.IntRange(0, len(g.Succ)-1).Draw(t, "v")), ID(rapid.IntRange(0, len(g.Succ)-1).Draw(t, "c"))
		p := Pair{Source: v, Target: c}
		x, err := m.Scorer().Contexts(context.Background(), g.world(nil), []Pair{p})
		if err != nil {
			t.Fatal(err)
		}
		got := x[len(x)-column.StructuralLen-column.TopologyLen : len(x)-column.StructuralLen]
		n, resource, square := counted(g, p, g.Succ[v], g.Pred[c])
		total := 0.0
		for u := range ID(len(g.Succ)) {
			if u != v {
				_, r, _ := counted(g, Pair{Source: v, Target: u}, g.Succ[v], g.Pred[u])
				total += r
			}
		}
		out, in := float64(len(g.Succ[v])), float64(len(g.Pred[c]))
		paths := new(column.TwoHop)
		paths.Read(g, v)
		to, _, err := exact{g}.Proximity(context.Background(), column.ProximityAlpha, v, []ID{c})
		if err != nil {
			t.Fatal(err)
		}
		_, even := paths.Paths(p.Target, g.Pred[p.Target])
		want := [column.TopologyLen]float64{
			column.TopResource: math.Log1p(resource / 1e-4), column.TopSquare: math.Log1p(square / 1e-6),
			column.TopShare:   math.Sqrt(resource / max(total, 1e-4)),
			column.TopJaccard: n / max(1, out+in-n), column.TopSmaller: n / max(1, min(out, in)), column.TopLarger: n / max(1, out, in),
			column.TopPaths:  math.Log1p(even / 1e-4),
			column.TopSpread: math.Log1p(to[0] / max(1, in) / 1e-8),
		}
		if g.IsDirected {
			if slices.Contains(g.Succ[c], v) {
				want[column.TopReverse] = 1
			}
			for col, rows := range map[int][2][]ID{
				column.TopSuccessors: {g.Succ[v], g.Succ[c]}, column.TopPredecessors: {g.Pred[v], g.Pred[c]}, column.TopReturns: {g.Pred[v], g.Succ[c]},
			} {
				n, resource, _ := counted(g, p, rows[0], rows[1])
				want[col], want[col+1] = math.Log1p(n), math.Log1p(resource/1e-4)
			}
			want[column.TopSourceIn], want[column.TopTargetOut] = math.Log1p(float64(len(g.Pred[v]))), math.Log1p(float64(len(g.Succ[c])))
			want[column.TopDirected] = 1
		}
		for col, w := range want[:column.TopMostCommon] {
			if math.Abs(float64(got[col])-w) > 1e-4*(1+math.Abs(w)) {
				t.Fatalf("%s of %v, directed %v: %v, want %v", column.TopologyColumns()[col].Name, p, g.IsDirected, got[col], w)
			}
		}
	})
}
