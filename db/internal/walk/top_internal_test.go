package walk

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"kith/index"
	"kith/ppr"
)

// made returns a walker on a graph of n nodes with the given edges, which have two ends and a
// weight.
func made(t interface{ Fatal(...any) }, n int, directed bool, edges ...[3]int) *Walker {
	b := index.New(index.Meta{Directed: directed, Alpha: 0.85, Epsilon: 1e-6, Seed: 1}).Begin()
	for u := range n {
		if _, _, err := b.AddNode(index.Int(int64(u))); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range edges {
		if _, err := b.SetEdge(index.Edge{Ends: index.Ends{U: index.ID(e[0]), V: index.ID(e[1])}, Weight: float32(e[2])}); err != nil {
			t.Fatal(err)
		}
	}
	return &Walker{States: index.NewStates(1e-6, 64<<20, 0), View: b.Snapshot(), Reader: emptyStore{}}
}

// solveDense solves for a start vector by power iteration.
func solveDense(g *index.Graph, t *Task) []float64 {
	v := make([]float64, g.NumNodes())
	for range 400 {
		next := make([]float64, len(v))
		for i, u := range t.Start.Node {
			next[u] = (1 - t.Alpha) * t.Start.Value[i]
		}
		for u := range v {
			to, weight := g.Out(index.ID(u))
			for i, w := range to {
				share := t.Alpha / g.Degree(index.ID(u))
				if weight != nil {
					share *= float64(weight[i])
				}
				if t.Form == ppr.Column {
					next[w] += share * v[u]
				} else {
					next[u] += share * v[w]
				}
			}
		}
		v = next
	}
	return v
}

// Top agrees with a dense solve within its bounds, and a rank that it calls certain is the node's
// rank among the exact values, of which equal ones are in the order of the nodes. On small graphs,
// which have many symmetries, a rank is uncertain only where another node has the same value, or
// where a solver has little memory.
func TestTop(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n, directed := rapid.IntRange(1, 12).Draw(t, "nodes"), rapid.Bool().Draw(t, "directed")
		var edges [][3]int
		for range rapid.IntRange(0, 2*n).Draw(t, "edges") {
			edges = append(edges, [3]int{rapid.IntRange(0, n-1).Draw(t, "u"), rapid.IntRange(0, n-1).Draw(t, "v"), rapid.IntRange(1, 2).Draw(t, "weight")})
		}
		w := made(t, n, directed, edges...)
		if rapid.Bool().Draw(t, "scratch") {
			w.Reader = nil
		}
		limited := rapid.IntRange(0, 3).Draw(t, "limited") == 0
		if limited {
			w.States = index.NewStates(1e-6, 64<<20, 1)
		}
		task := &Task{Form: rapid.SampledFrom([]ppr.Form{ppr.Column, ppr.Row}).Draw(t, "form"), Alpha: 0.85}
		total := 0.0
		for u := range n {
			task.At = append(task.At, index.ID(u))
			if x := rapid.IntRange(-4, 2).Draw(t, "start"); x > 0 || u == n-1 && total == 0 {
				task.Start.Node, task.Start.Value = append(task.Start.Node, index.ID(u)), append(task.Start.Value, math.Abs(float64(x))+1)
				total += math.Abs(float64(x)) + 1
			}
		}
		for i := range task.Start.Value {
			task.Start.Value[i] /= total
		}
		if rapid.Bool().Draw(t, "reached") {
			task.At = nil
		}
		k := rapid.IntRange(1, n).Draw(t, "k")
		got, err := w.Top(context.Background(), task, k, 1e-12)
		if err != nil {
			t.Fatal(err)
		}
		want := solveDense(w.View.Graph, task)
		const same = 1e-10
		for i, r := range got {
			node := int(task.At[r.Place])
			x := want[node]
			if math.Abs(r.Score-x) > r.Bound+1e-12 {
				t.Fatalf("node %d: %v ± %v, want %v", node, r.Score, r.Bound, x)
			}
			rank, ties := 0, 0
			for u, y := range want {
				switch {
				case u == node:
				case y > x+same, y > x-same && u < node:
					rank++
				}
				if u != node && math.Abs(y-x) <= same {
					ties++
				}
			}
			if r.Certain && rank != i || !r.Certain && ties == 0 && !limited {
				t.Fatalf("node %d at %d, certain %t, of %v", node, i, r.Certain, want)
			}
		}
	})
}

// Nodes that a symmetry exchanges are ranked with certainty: the leaves of a star, the two arms of
// a path, a cycle seen from one of its nodes, and the leaves of a node that only unreached nodes
// tell apart.
func TestTies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		n        int
		directed bool
		edges    [][3]int
		order    []int
	}{
		{"star", 5, false, [][3]int{{0, 4, 1}, {0, 2, 1}, {0, 1, 1}, {0, 3, 1}}, []int{0, 1, 2, 3, 4}},
		{"path", 5, false, [][3]int{{0, 1, 1}, {1, 3, 1}, {0, 2, 1}, {2, 4, 1}}, []int{0, 1, 2, 3, 4}},
		{"cycle", 5, false, [][3]int{{0, 3, 2}, {3, 2, 2}, {2, 1, 2}, {1, 4, 2}, {4, 0, 2}}, []int{0, 3, 4, 1, 2}},
		{"fan", 5, true, [][3]int{{0, 1, 1}, {0, 2, 1}, {3, 1, 1}, {4, 3, 1}}, []int{0, 1, 2}},
	} {
		w := made(t, c.n, c.directed, c.edges...)
		task := &Task{Form: ppr.Column, Alpha: 0.85, Start: ppr.Unit(0)}
		for u := range c.n {
			task.At = append(task.At, index.ID(u))
		}
		best, err := w.Top(context.Background(), task, len(c.order), 1e-9)
		if err != nil {
			t.Fatal(err)
		}
		var order []int
		for _, r := range best {
			order = append(order, r.Place)
		}
		if !slices.Equal(order, c.order) || !allCertain(best) {
			t.Errorf("%s: %s", c.name, fmt.Sprintf("%+v", best))
		}
	}
}

// A common factor of all weights changes no rank of a walk that reaches too many nodes to visit
// them all.
func TestTopUnit(t *testing.T) {
	t.Parallel()
	const n, unit = 3 * maxContested, 1 << 38
	tops := func(weight int, form ppr.Form) []Ranked {
		var edges [][3]int
		for u := range n {
			edges = append(edges, [3]int{u, (u + 1) % n, weight}, [3]int{u, (7*u + 2) % n, 2 * weight})
		}
		best, err := made(t, n, false, edges...).Top(t.Context(), &Task{Form: form, Alpha: 0.85, Start: ppr.Unit(3)}, 3, 1e-12)
		if err != nil {
			t.Fatal(err)
		}
		return best
	}
	for _, form := range []ppr.Form{ppr.Column, ppr.Row} {
		if got, want := tops(unit, form), tops(1, form); !slices.Equal(got, want) || !allCertain(want) {
			t.Errorf("%v: %+v in another unit, want %+v", form, got, want)
		}
	}
}
