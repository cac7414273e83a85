package index

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestPiledRows verifies that editing a long row in any order gives the same graph as building it
// from its edges, and that the original graph does not change.
func TestPiledRows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		directed := rapid.Bool().Draw(t, "directed")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		const n = 3 * longRow
		e := NewGraph(directed).Edit()
		e.Grow(n)
		for v := range ID(2 * longRow) {
			e.Set(0, v, 1, 0)
		}
		before := e.Graph()
		oracle := map[[2]ID]Edge{}
		for edge := range before.Edges() {
			oracle[[2]ID{edge.U, edge.V}] = edge
		}
		was := len(oracle)
		e = before.Edit()
		for range rapid.IntRange(1, 4*longRow).Draw(t, "changes") {
			u, v := ID(0), ID(rng.IntN(n))
			if directed && rng.IntN(4) == 0 {
				u, v = v, u
			}
			change := Edge{U: u, V: v, Weight: float32(rng.IntN(3)), Time: int64(rng.IntN(2))}
			old := e.Set(u, v, change.Weight, change.Time)
			if want := oracle[[2]ID{u, v}].Weight; old != want {
				t.Fatalf("edge %d -> %d had weight %v, want %v", u, v, old, want)
			}
			oracle[[2]ID{u, v}] = change
			if change.Weight == 0 {
				delete(oracle, [2]ID{u, v})
			}
			if got, ok := e.edge(u, v); ok != (change.Weight != 0) || ok && got != change {
				t.Fatalf("edge %v, %v, want %v", got, ok, change)
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
func checkRows(t *rapid.T, g *Graph, want map[[2]ID]Edge) {
	found := 0
	for e := range g.Edges() {
		if want[[2]ID{e.U, e.V}] != e {
			t.Fatalf("edge %+v, want %+v", e, want[[2]ID{e.U, e.V}])
		}
		found++
	}
	if found != len(want) || int64(found) != g.NumEdges() {
		t.Fatalf("%d edges, counted %d, want %d", found, g.NumEdges(), len(want))
	}
	s := New(Meta{Directed: g.directed})
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
						e.Set(ID(n), ID(v), weight, 0)
					}
					e.Graph()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/edge")
			})
		}
	}
}
