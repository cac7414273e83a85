package model

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"kith/model/internal/column"
)

// twoAway computes each yardstick of a node by a search over all nodes. there reports whether the
// node is two edges away. The edge between the source and the node is ignored.
func twoAway(g *mesh, s, u ID) (m [column.NumMeasures]float64, common float64, there bool) {
	out, in := float64(len(g.Succ[u])), float64(len(g.Pred[u]))
	if slices.Contains(g.Succ[s], u) {
		in--
		if !g.IsDirected {
			out--
		}
	}
	for w := range ID(len(g.Succ)) {
		if w == s || w == u || !slices.Contains(g.Succ[s], w) || !slices.Contains(g.Succ[w], u) {
			continue
		}
		d := len(g.Succ[w])
		if g.IsDirected {
			d += len(g.Pred[w])
		}
		common++
		m[column.ByResource] += 1 / max(float64(d), 2)
		m[column.ByAdamic] += 1 / math.Log(max(float64(d), 2))
		m[column.ByEven] += 1 / math.Sqrt(float64(len(g.Succ[w])))
	}
	m[column.ByEven] /= math.Sqrt(max(1, out))
	m[column.ByDegree] = in
	return m, common, common > 0
}

// The columns that compare a candidate with rivals and neighbours match a search over all nodes.
func TestRivals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := drawMesh(t)
		node := rapid.IntRange(0, len(g.Succ)-1)
		s, c := ID(node.Draw(t, "source")), ID(node.Draw(t, "candidate"))
		if slices.Contains(g.Succ[s], c) {
			t.Skip("a linked pair is measured with its edge")
		}
		var open, linked [][column.NumMeasures]float64
		var most [4]float64 // common neighbours are last
		for u := range ID(len(g.Succ)) {
			m, common, there := twoAway(g, s, u)
			switch {
			case u == s || !there:
			case slices.Contains(g.Succ[s], u):
				linked = append(linked, m)
			default:
				open = append(open, m)
				most = [4]float64{max(most[0], m[column.ByResource]), max(most[1], m[column.ByAdamic]), 0, max(most[3], common)}
			}
		}
		above := func(all [][column.NumMeasures]float64, k int, v float64) (n float64) {
			for _, m := range all {
				switch a, b := column.Bucket(m[k]), column.Bucket(v); {
				case a > b:
					n++
				case a == b:
					n += 0.5
				}
			}
			return n
		}
		m, common, _ := twoAway(g, s, c)
		if c == s {
			common, m = 0, [column.NumMeasures]float64{column.ByDegree: m[column.ByDegree]}
		}
		want := make([]float64, column.TopologyLen)
		for k := range column.NumMeasures {
			want[column.TopRank+k] = math.Log1p(above(open, k, m[k]))
			want[column.TopAbove+k] = math.Log((above(linked, k, m[k]) + 0.5) / float64(len(linked)+1))
			sum, n := 2*max(0, math.Log1p(float64(len(open)))-1), 2.0
			for _, u := range g.Succ[s] {
				if u != s {
					v, _, _ := twoAway(g, s, u)
					sum, n = sum+math.Log1p(above(open, k, v[k])), n+1
				}
			}
			want[column.TopNeighborRank+k] = sum / n
		}
		want[column.TopMostCommon] = common / max(1, most[3])
		want[column.TopMostAdamic], want[column.TopMostResource] = m[column.ByAdamic]/max(column.ResourceFloor, most[1]), m[column.ByResource]/max(column.ResourceFloor, most[0])
		want[column.TopRivals] = math.Log1p(float64(len(open)))
		want[column.TopClosed] = float64(len(linked)+1) / float64(len(g.Succ[s])+4)
		if g.IsDirected {
			for col, u := range map[int]ID{column.TopMutual: s, column.TopTargetMutual: c} {
				both, all := 0, map[ID]bool{}
				for _, v := range g.Succ[u] {
					if all[v] = true; slices.Contains(g.Pred[u], v) {
						both++
					}
				}
				for _, v := range g.Pred[u] {
					all[v] = true
				}
				want[col] = float64(both) / float64(max(1, len(all)))
			}
		}
		m2, err := New(Spec{})
		if err != nil {
			t.Fatal(err)
		}
		x, err := m2.Scorer().Contexts(context.Background(), g.world(nil), []Pair{{Source: s, Target: c}})
		if err != nil {
			t.Fatal(err)
		}
		got := x[len(x)-column.StructuralLen-column.TopologyLen : len(x)-column.StructuralLen]
		for col := column.TopMostCommon; col < column.TopologyLen; col++ {
			if math.Abs(float64(got[col])-want[col]) > 1e-5 {
				t.Fatalf("%s of %v, directed %v: %v, want %v", column.TopologyColumns()[col].Name, Pair{Source: s, Target: c}, g.IsDirected, got[col], want[col])
			}
		}
	})
}
