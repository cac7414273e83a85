package draw

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/graph/layout"
	"gonum.org/v1/gonum/graph/simple"
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

// eades returns the layout of gonum's EadesR2 with the least stress for some rates. With rates that
// suit a chain, hubs swing to infinity.
func eades(n int, edges [][2]int, d [][]float64) (best []Point) {
	g := simple.NewUndirectedGraph()
	for i := range n {
		g.AddNode(simple.Node(i))
	}
	for _, e := range edges {
		if e[0] != e[1] {
			g.SetEdge(g.NewEdge(simple.Node(e[0]), simple.Node(e[1])))
		}
	}
	for _, rate := range []float64{0.05, 0.01, 0.002} {
		o := layout.NewOptimizerR2(g, (&layout.EadesR2{Updates: 100, Repulsion: 1, Rate: rate, Theta: 0.1, Src: rand.NewPCG(1, 1)}).Update)
		for o.Update() {
		}
		at := make([]Point, n)
		for i := range at {
			p := o.Coord2(int64(i))
			at[i] = Point{p.X, p.Y}
		}
		if best == nil || !(stress(best, d) <= stress(at, d)) {
			best = at
		}
	}
	return best
}

// The layout has less stress than random places and than EadesR2, and fewer crossings. Where edges
// need not cross, few do.
func TestLayoutQuality(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		n         int
		edges     [][2]int
		crossings int
	}{
		{"star", 150, star(150), 0},
		{"tree", 120, scattered(120, 119), 12},
		{"groups", 121, groups(121, 8), 4000},
		{"random", 150, scattered(150, 400), 12000},
	} {
		g := network{size: c.n, edges: c.edges}
		d, at := g.distances(), g.layout()
		random := rand.New(rand.NewPCG(1, 1))
		chance := make([]Point, c.n)
		for i := range chance {
			chance[i] = Point{random.Float64(), random.Float64()}
		}
		springs := eades(c.n, c.edges, d)
		got, other, worst := stress(at, d), stress(springs, d), stress(chance, d)
		crossed := crossings(at, c.edges)
		t.Logf("%s: stress %.3f, EadesR2 %.3f, random %.3f; crossings %d, EadesR2 %d, random %d",
			c.name, got, other, worst, crossed, crossings(springs, c.edges), crossings(chance, c.edges))
		if got > 0.9*worst || got > other || crossed > c.crossings {
			t.Errorf("%s: stress %.3f, EadesR2 %.3f, random %.3f; %d crossings, want at most %d", c.name, got, other, worst, crossed, c.crossings)
		}
	}
}
