package index

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestPiledRows verifies that editing a long row in any order gives the same graph as building it
// from its edges, and that the original graph does not change.
func TestPiledRows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		const n = 3 * longRow
		oracle := newEdgeMap(n, genDirections.Draw(t, "directions")...)
		e := NewGraph(oracle.directions[0]).Edit()
		e.Grow(n)
		for _, directed := range oracle.directions[1:] {
			e.Relate(directed)
		}
		for v := range ID(2 * longRow) {
			x := Edge{Ends: Ends{U: 0, V: v}, Relation: uint16(rng.IntN(len(oracle.directions))), Weight: 1}
			e.Set(x)
			oracle.set(x)
		}
		before := e.Graph()
		was := len(oracle.edges)
		e = before.Edit()
		for range rapid.IntRange(1, 4*longRow).Draw(t, "changes") {
			x := Edge{
				Ends: Ends{U: 0, V: ID(rng.IntN(n))}, Relation: uint16(rng.IntN(len(oracle.directions))),
				Weight: float32(rng.IntN(3)), Time: int64(rng.IntN(2)),
			}
			if rng.IntN(4) == 0 {
				x.U, x.V = x.V, x.U
			}
			if old, want := e.Set(x), oracle.set(x); old != want {
				t.Fatalf("edge %v had weight %v, want %v", x, old, want)
			}
			want, exists := oracle.edges[oracle.key(x)]
			if got, ok := e.edgeOf(x); ok != exists || got != want {
				t.Fatalf("edge %v, %v, want %v", got, ok, want)
			}
			if rng.IntN(500) == 0 {
				e.view()
			}
		}
		checkRows(t, e.Graph(), oracle)
		if before.edges != int64(was) || len(before.out.rows.At(0).To) != was {
			t.Fatalf("the graph before has %d edges, had %d", before.edges, was)
		}
	})
}

// checkRows compares a graph with the edges it should have.
func checkRows(t *rapid.T, g *Graph, want *edgeMap) {
	if got := slices.Collect(g.Edges()); !slices.Equal(got, want.list()) || int64(len(got)) != g.NumEdges() {
		t.Fatalf("%d edges, counted %d, want %d", len(got), g.NumEdges(), len(want.edges))
	}
	s := New(Meta{Directed: g.directions[0]})
	s.Meta.Relations = want.relations()
	s.Graph, s.Meta.Edges, s.Meta.Nodes, s.Meta.Live, s.Meta.Loops = g, g.edges, int64(g.nodes), int64(g.nodes), g.loops
	c := &checker{s: s}
	if err := c.rows(context.Background()); err != nil || len(c.found) > 0 {
		t.Fatal(err, c.found)
	}
}

// BenchmarkHub inserts the edges of one node in random order in an edit.
func BenchmarkHub(b *testing.B) {
	for _, n := range []int{1e3, 1e4, 1e5} {
		for _, weight := range []float32{1, 2} {
			b.Run(fmt.Sprintf("n=%d/weight=%v", n, weight), func(b *testing.B) {
				order := rand.New(rand.NewPCG(1, 2)).Perm(n)
				for b.Loop() {
					e := NewGraph(false).Edit()
					e.Grow(n + 1)
					for _, v := range order {
						e.Set(Edge{Ends: Ends{U: ID(n), V: ID(v)}, Weight: weight})
					}
					e.Graph()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/edge")
			})
		}
	}
}
