package index

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kith/index/internal/block"
)

// edgeMap is a graph in a map, the oracle of Graph.
type edgeMap struct {
	directed bool
	nodes    int
	edges    map[[2]ID]Edge
}

func (m *edgeMap) clone() *edgeMap {
	return &edgeMap{m.directed, m.nodes, maps.Clone(m.edges)}
}

func (m *edgeMap) pair(u, v ID) [2]ID {
	if !m.directed && u > v {
		u, v = v, u
	}
	return [2]ID{u, v}
}

func (m *edgeMap) set(u, v ID, w float32, t int64) (old float32) {
	p := m.pair(u, v)
	old = m.edges[p].Weight
	if w == 0 {
		delete(m.edges, p)
	} else {
		m.edges[p] = Edge{U: p[0], V: p[1], Weight: w, Time: t}
	}
	return old
}

// list returns the edges in (U, V) order.
func (m *edgeMap) list() []Edge {
	return slices.SortedFunc(maps.Values(m.edges), func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.U, b.U), cmp.Compare(a.V, b.V))
	})
}

// row returns the neighbours of u and the weights of the edges into u, or out of it.
func (m *edgeMap) row(u ID, into bool) (to []ID, w []float32) {
	for _, e := range m.list() {
		switch {
		case !into && e.U == u, into && !m.directed && e.U == u:
			to, w = append(to, e.V), append(w, e.Weight)
		case into && m.directed && e.V == u, !m.directed && e.V == u:
			to, w = append(to, e.U), append(w, e.Weight)
		}
	}
	order := make([]int, len(to))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(to[i], to[j]) })
	a, b := make([]ID, len(to)), make([]float32, len(to))
	for i, j := range order {
		a[i], b[i] = to[j], w[j]
	}
	return a, b
}

// agree fails t unless every method of g returns the data of m.
func (m *edgeMap) agree(t rapid.TB, g *Graph) {
	t.Helper()
	if got := slices.Collect(g.Edges()); !slices.Equal(got, m.list()) {
		t.Fatalf("edges: %v", gocmp.Diff(m.list(), got))
	}
	loops := int64(0)
	for _, e := range m.edges {
		if e.U == e.V {
			loops++
		}
		for _, p := range [][2]ID{{e.U, e.V}, {e.V, e.U}} {
			if got, ok := g.Edge(p[0], p[1]); got != m.edges[m.pair(p[0], p[1])] || ok != (got.Weight > 0) {
				t.Fatalf("edge %v: %v, %v", p, got, ok)
			}
		}
	}
	if g.NumNodes() != m.nodes || g.NumEdges() != int64(len(m.edges)) || g.NumLoops() != loops || g.Directed() != m.directed {
		t.Fatalf("%d nodes, %d edges, %d loops, want %d, %d, %d", g.NumNodes(), g.NumEdges(), g.NumLoops(), m.nodes, len(m.edges), loops)
	}
	for u := range ID(m.nodes) {
		for into, read := range map[bool]func(ID) ([]ID, []float32){false: g.Out, true: g.In} {
			to, w := m.row(u, into)
			got, weight := read(u)
			if e := (block.Entries{To: got, Weight: weight}); !e.Equal(block.Entries{To: to, Weight: w}) {
				t.Fatalf("row of %d (into: %v): %v %v, want %v %v", u, into, got, weight, to, w)
			}
			times := map[bool]func(ID) []int64{false: g.OutTimes, true: g.InTimes}[into](u)
			for i, v := range got {
				p := [2]ID{u, v}
				if into {
					p = [2]ID{v, u}
				}
				row := block.Entries{To: got, Time: times}
				_, at := row.At(i)
				if e := m.edges[m.pair(p[0], p[1])]; at != e.Time || times != nil && len(times) != len(got) {
					t.Fatalf("times of %d (into: %v): %v, want %v at %d", u, into, times, e.Time, v)
				}
			}
			want := block.Entries{To: to, Weight: w}
			if d := want.Sum(); !into && g.Degree(u) != d {
				t.Fatalf("degree of %d: %v, want %v", u, g.Degree(u), d)
			}
		}
	}
	runsAgree(t, g)
}

// runsAgree fails t unless the runs of g contain each of its rows once and in order.
func runsAgree(t rapid.TB, g *Graph) {
	t.Helper()
	for in, read := range map[bool]func(ID) ([]ID, []float32){false: g.Out, true: g.In} {
		next := ID(0)
		for u, run := range g.Runs(in) {
			if u != next {
				t.Fatalf("a run at %d, want %d", u, next)
			}
			for i, hi := range run.Start[1:] {
				lo := run.Start[i]
				to, w := read(next)
				all := block.Entries{To: run.To, Weight: run.Weight}
				if row := all.Sub(int(lo), int(hi)); !row.Equal(block.Entries{To: to, Weight: w}) {
					t.Fatalf("row of %d in a run (in: %v): %v, want %v %v", next, in, run, to, w)
				}
				next++
			}
		}
		if int(next) != g.NumNodes() {
			t.Fatalf("runs of %d nodes, want %d", next, g.NumNodes())
		}
	}
}

// Weights and times that cover every way of storing them.
var (
	genWeight = rapid.SampledFrom([]float32{1, 1, 1, 0.5, 3, 1e-12, 1e12})
	genTime   = rapid.SampledFrom([]int64{0, 0, 0, 1, -5, 1 << 40})
)

// genEdges draws a graph of n nodes.
func genEdges(t *rapid.T, n int) *edgeMap {
	m := &edgeMap{directed: rapid.Bool().Draw(t, "directed"), nodes: n, edges: map[[2]ID]Edge{}}
	genID := rapid.Uint32Range(0, uint32(n-1))
	plain := rapid.Bool().Draw(t, "plain")
	for range rapid.IntRange(0, 4*n).Draw(t, "edges") {
		w, at := float32(1), int64(0)
		if !plain {
			w, at = genWeight.Draw(t, "weight"), genTime.Draw(t, "time")
		}
		m.set(genID.Draw(t, "u"), genID.Draw(t, "v"), w, at)
	}
	return m
}

// base returns the graph of the edges of m, in memory.
func (m *edgeMap) base(t rapid.TB) *Graph {
	edges, back := m.list(), []Edge(nil)
	for _, e := range edges {
		if m.directed || e.U != e.V {
			back = append(back, Edge{U: e.V, V: e.U, Weight: e.Weight, Time: e.Time})
		}
	}
	if !m.directed {
		edges, back = append(edges, back...), nil
	}
	ascending := func(a, b Edge) int { return cmp.Compare(a.Pair(true), b.Pair(true)) }
	slices.SortFunc(edges, ascending)
	slices.SortFunc(back, ascending)
	return graphOf(m.directed, m.nodes, rowsOf(edges, m.nodes), rowsOf(back, m.nodes))
}

func TestGraphIsAMap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "nodes")
		m := genEdges(t, n)
		g := m.base(t)
		m.agree(t, g)
		type version struct {
			g *Graph
			m *edgeMap
		}
		versions := []version{{g, m.clone()}}
		for range rapid.IntRange(1, 4).Draw(t, "versions") {
			e := versions[rapid.IntRange(0, len(versions)-1).Draw(t, "from")]
			edit, m := e.g.Edit(), e.m.clone()
			m.nodes += rapid.SampledFrom([]int{0, 0, 1, 70, 5000}).Draw(t, "more")
			edit.Grow(m.nodes)
			for range rapid.IntRange(0, 20).Draw(t, "changes") {
				u := rapid.Uint32Range(0, uint32(m.nodes-1)).Draw(t, "u")
				v := rapid.Uint32Range(0, uint32(m.nodes-1)).Draw(t, "v")
				w := rapid.OneOf(rapid.Just[float32](0), genWeight).Draw(t, "weight")
				at := genTime.Draw(t, "time")
				if old, want := edit.Set(u, v, w, at), m.set(u, v, w, at); old != want {
					t.Fatalf("set %d %d: had %v, want %v", u, v, old, want)
				}
			}
			if m.nodes < 100 {
				m.agree(t, edit.view())
			}
			versions = append(versions, version{edit.Graph(), m})
		}
		for _, v := range versions {
			if v.m.nodes > 100 {
				continue // only checked for panics: the oracle would take long
			}
			v.m.agree(t, v.g)
			c, err := v.g.Without(context.Background(), nil)
			if err != nil {
				t.Fatal(err)
			}
			v.m.agree(t, c)
			for u := range ID(v.m.nodes) {
				if c.Degree(u) != v.g.Degree(u) {
					t.Fatalf("degree of %d: %v in the base, %v in the overlay", u, c.Degree(u), v.g.Degree(u))
				}
			}
		}
	})
}

// TestWithout verifies that Without returns the same graph as deleting the edges with an Edit, with
// all rows in the base.
func TestWithout(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 30).Draw(t, "nodes")
		edit := NewGraph(rapid.Bool().Draw(t, "directed")).Edit()
		edit.Grow(nodes)
		id := rapid.Uint32Range(0, uint32(nodes-1))
		for range rapid.IntRange(0, 90).Draw(t, "edges") {
			edit.Set(id.Draw(t, "u"), id.Draw(t, "v"), genWeight.Draw(t, "weight"), genTime.Draw(t, "time"))
		}
		g := edit.Graph()
		rest := g.Edit()
		var hidden [][2]ID
		for e := range g.Edges() {
			if rapid.Bool().Draw(t, "hidden") {
				hidden = append(hidden, [2]ID{e.U, e.V})
				rest.Set(e.U, e.V, 0, 0)
			}
		}
		got, err := g.Without(context.Background(), hidden)
		if err != nil {
			t.Fatal(err)
		}
		want := rest.Graph()
		if !slices.Equal(slices.Collect(got.Edges()), slices.Collect(want.Edges())) || got.NumLoops() != want.NumLoops() {
			t.Fatalf("without %v: %v, want %v", hidden, slices.Collect(got.Edges()), slices.Collect(want.Edges()))
		}
		for u := range ID(nodes) {
			in, _ := got.In(u)
			if from, _ := want.In(u); !slices.Equal(in, from) || got.Degree(u) != want.Degree(u) {
				t.Fatalf("node %d: edges from %v, degree %v; want %v, %v", u, in, got.Degree(u), from, want.Degree(u))
			}
		}
		runs := 0
		for range got.Runs(false) {
			runs++
		}
		if runs > 1 {
			t.Fatalf("the rows are in %d runs", runs)
		}
	})
}

func TestEmptyGraph(t *testing.T) {
	t.Parallel()
	for _, directed := range []bool{false, true} {
		m := &edgeMap{directed: directed, edges: map[[2]ID]Edge{}}
		m.agree(t, NewGraph(directed))
		m.agree(t, m.base(t))
		if _, ok := NewGraph(directed).Edge(7, 8); ok {
			t.Error("an edge of an empty graph")
		}
		if d := NewGraph(directed).Degree(7); d != 0 {
			t.Errorf("degree %v in an empty graph", d)
		}
	}
}
