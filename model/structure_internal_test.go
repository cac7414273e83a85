package model

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"kith/model/internal/column"
	"kith/model/nn"
)

func drawMesh(t *rapid.T) *mesh {
	n := rapid.IntRange(2, 9).Draw(t, "nodes")
	g := newMesh(n, rapid.Bool().Draw(t, "directed"))
	for range rapid.IntRange(0, 30).Draw(t, "edges") {
		g.add(ID(rapid.IntRange(0, n-1).Draw(t, "u")), ID(rapid.IntRange(0, n-1).Draw(t, "v")))
	}
	return g
}

// numbers are the numbers of common neighbours that policies sum.
var numbers = []column.Number{one, adamicAdar, resourceAllocation}

func TestSumOf(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := drawMesh(t)
		v := ID(rapid.IntRange(0, len(g.Succ)-1).Draw(t, "v"))
		c := ID(rapid.IntRange(0, len(g.Succ)-1).Draw(t, "c"))
		var want [3]float64
		for w := range ID(len(g.Succ)) {
			if w == v || w == c || !slices.Contains(g.Succ[v], w) || !slices.Contains(g.Succ[w], c) {
				continue
			}
			d := float64(len(g.Succ[w]))
			if g.IsDirected {
				d += float64(len(g.Pred[w]))
			}
			d = max(d, 2)
			for i, x := range []float64{1, 1 / math.Log(d), 1 / d} {
				want[i] += x
			}
		}
		for i, number := range numbers {
			if got := column.SumOf(g, Pair{Source: v, Target: c}, number); math.Abs(got-want[i]) > 1e-12 {
				t.Fatalf("number %d of %d and %d is %v, want %v", i, v, c, got, want[i])
			}
		}
	})
}

// The sums over all targets of a source at once are those of each pair, bit for bit.
func TestCommon(t *testing.T) {
	t.Parallel()
	var c column.Common
	rapid.Check(t, func(t *rapid.T) {
		g := drawMesh(t)
		first := ID(rapid.SampledFrom([]int{0, 1, 63, 64, 200}).Draw(t, "unlinked")) // nodes before those with edges
		far := newMesh(len(g.Succ)+int(first)+70, g.IsDirected)
		for u, row := range g.Succ {
			for _, v := range row {
				far.add(first+ID(u), first+v)
			}
		}
		source := first + ID(rapid.IntRange(0, len(g.Succ)-1).Draw(t, "source"))
		targets := rapid.SliceOfNDistinct(rapid.IntRange(0, len(far.Succ)-1), 1, -1, rapid.ID).Draw(t, "targets")
		slices.Sort(targets)
		ids := make([]ID, len(targets))
		for i, v := range targets {
			ids[i] = ID(v)
		}
		for _, number := range numbers {
			sums, err := c.Sum(context.Background(), far, source, ids, number)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range ids {
				if want := column.SumOf(far, Pair{Source: source, Target: v}, number); sums[i] != want {
					t.Fatalf("%d and %d: %v, want %v", source, v, sums[i], want)
				}
			}
		}
	})
}

func TestIntersect(t *testing.T) {
	t.Parallel()
	row := rapid.Custom(func(t *rapid.T) []ID {
		r := rapid.SliceOfN(rapid.Uint32Range(0, 60), 0, 40).Draw(t, "row")
		slices.Sort(r)
		return slices.Compact(r)
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := row.Draw(t, "a"), row.Draw(t, "b")
		var got, want []ID
		column.Intersect(a, b, func(w ID) { got = append(got, w) })
		for _, w := range a {
			if slices.Contains(b, w) {
				want = append(want, w)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("common nodes of %v and %v: %v, want %v", a, b, got, want)
		}
	})
}

// On a cycle 0→1→2→0 with an arc 3→2 each column has the value computed by hand.
func TestStructuralColumns(t *testing.T) {
	t.Parallel()
	g := newMesh(4, true, [2]ID{0, 1}, [2]ID{1, 2}, [2]ID{2, 0}, [2]ID{3, 2})
	pairs := []Pair{{Source: 0, Target: 2}, {Source: 0, Target: 0}}
	tape, c := new(scratch), &config{Blocks: blockStructural}
	if err := c.contexts(context.Background(), g.world(nil), pairs, tape); err != nil {
		t.Fatal(err)
	}
	got := tape.x
	cycle := 1 - math.Pow(column.ProximityAlpha, 3)
	near := func(steps, share float64) float64 {
		return column.LogProximity((1 - column.ProximityAlpha) * math.Pow(column.ProximityAlpha, steps) / cycle / share)
	}
	want := [][column.StructuralLen]float64{{
		column.ColTo:       near(2, 1),
		column.ColFrom:     near(1, 1),
		column.ColCommon:   math.Log(2),
		column.ColAdamic:   math.Log1p(1 / math.Log(2)),
		column.ColResource: math.Log1p(0.5),
		column.ColSource:   math.Log(2),
		column.ColTarget:   math.Log(3),
		column.ColSalton:   1 / math.Sqrt(2),
		column.ColShare:    near(2, 2),
	}, {
		column.ColTo:     near(0, 1),
		column.ColFrom:   near(0, 1),
		column.ColSource: math.Log(2),
		column.ColTarget: math.Log(2),
		column.ColPaths:  math.Log(2),
		column.ColShare:  near(0, 1),
	}}
	for i, p := range pairs {
		for col := range want[i] {
			if got := nn.Row(got, i)[col]; math.Abs(float64(got)-want[i][col]) > 1e-6 {
				t.Errorf("%v: column %d is %v, want %v", p, col, got, want[i][col])
			}
		}
	}
}
