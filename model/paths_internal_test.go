package model

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"kith/model/internal/column"
)

// The sums of paths of three edges match an exhaustive search.
func TestPaths(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := drawMesh(t)
		n := ID(len(g.Succ))
		p := Pair{Source: ID(rapid.IntRange(0, int(n)-1).Draw(t, "v")), Target: ID(rapid.IntRange(0, int(n)-1).Draw(t, "c"))}
		var want, even, walks float64
		for w := range n {
			for u := range n {
				way := slices.Contains(g.Succ[p.Source], w) && slices.Contains(g.Succ[w], u) && slices.Contains(g.Succ[u], p.Target)
				if !way || w == p.Source || u == w || u == p.Target {
					continue
				}
				weight := 1 / math.Sqrt(float64(len(g.Succ[w])))
				walks += weight / math.Sqrt(float64(len(g.Succ[u])))
				if u != p.Source {
					want += weight
					even += weight / math.Sqrt(float64(len(g.Succ[u])))
				}
			}
		}
		var s column.TwoHop
		s.Read(g, ID(rapid.IntRange(0, int(n)-1).Draw(t, "source before")))
		s.Read(g, p.Source)
		got, gotEven := s.Paths(p.Target, g.Pred[p.Target])
		gotWalks := gotEven + s.Returning(p.Target, g.Pred[p.Target])
		if math.Abs(got-want) > 1e-12 || math.Abs(gotEven-even) > 1e-12 || math.Abs(gotWalks-walks) > 1e-12 {
			t.Fatalf("paths of %v weigh %v, %v and %v, want %v, %v and %v", p, got, gotEven, gotWalks, want, even, walks)
		}
	})
}

// If the neighbours of a source have more edges than maxPaths, only the first neighbours count.
func TestPathsAreBounded(t *testing.T) {
	t.Parallel()
	const hubs, last = 3, ID(column.MaxPaths/2 + 3)
	g := newMesh(int(last)+1, true)
	for hub := ID(1); hub <= hubs; hub++ { // three hubs with half of the bound each
		g.add(0, hub)
		for i := range ID(column.MaxPaths / 2) {
			g.Succ[hub] = append(g.Succ[hub], i+hubs+1)
		}
	}
	var s column.TwoHop
	s.Read(g, 0)
	if want := 2 / math.Sqrt(column.MaxPaths/2); len(s.Node) != column.MaxPaths/2 || math.Abs(s.To(last).Weight-want) > 1e-12 {
		t.Errorf("%d nodes, the last with %v; want %d, %v", len(s.Node), s.To(last).Weight, column.MaxPaths/2, want)
	}
}
