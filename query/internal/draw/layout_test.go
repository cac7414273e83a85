package draw

import (
	"math"
	"math/rand/v2"
	"testing"
)

// stress returns the mean squared relative difference between distances on paper and in the graph,
// at the scale of the drawing at which it is least.
func stress(at []Point, d [][]float64) float64 {
	var across, square float64 // sums of w d |p-q| and of w |p-q|²
	pairs := 0.0
	for i, p := range at {
		for j, q := range at[:i] {
			length := math.Hypot(p.X-q.X, p.Y-q.Y) / d[i][j]
			across, square, pairs = across+length, square+length*length, pairs+1
		}
	}
	return 1 - across*across/square/pairs
}

// crossings counts the pairs of edges that cross.
func crossings(at []Point, edges [][2]int) (n int) {
	side := func(a, b, c Point) bool { return (b.X-a.X)*(c.Y-a.Y)-(b.Y-a.Y)*(c.X-a.X) > 0 }
	for i, e := range edges {
		for _, f := range edges[:i] {
			if e[0] == f[0] || e[0] == f[1] || e[1] == f[0] || e[1] == f[1] {
				continue
			}
			a, b, c, d := at[e[0]], at[e[1]], at[f[0]], at[f[1]]
			if side(a, b, c) != side(a, b, d) && side(c, d, a) != side(c, d, b) {
				n++
			}
		}
	}
	return n
}

// The layout has less stress than random places and than EadesR2, and fewer crossings. Where edges
// need not cross, few do.
func TestLayoutQuality(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		n         int
		edges     [][2]int
		springs   float64 // stress of EadesR2 of gonum's package layout, which the comment of this package cites
		crossings int
	}{
		{"star", 150, star(150), 0.29, 0},
		{"tree", 120, scattered(120, 119), 0.24, 12},
		{"groups", 121, groups(121, 8), 0.40, 4000},
		{"random", 150, scattered(150, 400), 0.21, 12000},
	} {
		g := network{size: c.n, edges: c.edges}
		d, at := g.distances(), g.layout()
		random := rand.New(rand.NewPCG(1, 1))
		chance := make([]Point, c.n)
		for i := range chance {
			chance[i] = Point{random.Float64(), random.Float64()}
		}
		got, worst, crossed := stress(at, d), stress(chance, d), crossings(at, c.edges)
		t.Logf("%s: stress %.3f, random %.3f; crossings %d, random %d", c.name, got, worst, crossed, crossings(chance, c.edges))
		if got > 0.9*worst || got > c.springs || crossed > c.crossings {
			t.Errorf("%s: stress %.3f, EadesR2 %.3f, random %.3f; %d crossings, want at most %d", c.name, got, c.springs, worst, crossed, c.crossings)
		}
	}
}
