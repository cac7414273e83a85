package index

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kith/index/internal/block"
	"kith/index/internal/spill"
)

// edgeMap is a graph in a map, the oracle of Graph. The keys are the edges without weight and time.
type edgeMap struct {
	directions spill.Directions
	nodes      int
	edges      map[Edge]Edge
}

func newEdgeMap(nodes int, directions ...bool) *edgeMap {
	return &edgeMap{directions, nodes, map[Edge]Edge{}}
}

func (m *edgeMap) clone() *edgeMap {
	return &edgeMap{slices.Clone(m.directions), m.nodes, maps.Clone(m.edges)}
}

func (m *edgeMap) directed() bool { return slices.Contains(m.directions, true) }

func (m *edgeMap) key(x Edge) Edge {
	if !m.directions[x.Relation] && x.U > x.V {
		x.U, x.V = x.V, x.U
	}
	return Edge{Ends: Ends{U: x.U, V: x.V}, Relation: x.Relation}
}

func (m *edgeMap) set(x Edge) (old float32) {
	k := m.key(x)
	old = m.edges[k].Weight
	if x.Weight == 0 {
		delete(m.edges, k)
	} else {
		m.edges[k] = Edge{Ends: Ends{U: k.U, V: k.V}, Relation: k.Relation, Weight: x.Weight, Time: x.Time}
	}
	return old
}

// list returns the edges in the order of U, V and relation.
func (m *edgeMap) list() []Edge { return slices.SortedFunc(maps.Values(m.edges), byEntry) }

// relations returns the relations of m, with the numbers of their edges and nodes.
func (m *edgeMap) relations() []Relation {
	var meta Meta
	for i, directed := range m.directions {
		meta.Relations = append(meta.Relations, Relation{Name: strings.Repeat("r", i), Directed: directed})
	}
	for _, e := range m.edges {
		meta.countEdge(e, 1)
	}
	for i := range meta.Relations {
		r := &meta.Relations[i]
		if i == 0 || !r.Directed {
			continue
		}
		sources, targets := map[ID]bool{}, map[ID]bool{}
		for _, e := range m.edges {
			if int(e.Relation) == i {
				sources[e.U], targets[e.V] = true, true
			}
		}
		r.Sources, r.Targets = int64(len(sources)), int64(len(targets))
		for u := range sources {
			if targets[u] {
				r.Both++
			}
		}
	}
	return meta.Relations
}

// entries returns the entries of all out-rows, or of all in-rows, in order.
func (m *edgeMap) entries(in bool) (all []Edge) {
	for _, e := range m.edges {
		back := e
		back.U, back.V = e.V, e.U
		both := !m.directions[e.Relation] && e.U != e.V
		if !in || both {
			all = append(all, e)
		}
		if in || both {
			all = append(all, back)
		}
	}
	if in && !m.directed() {
		return m.entries(false)
	}
	slices.SortFunc(all, byEntry)
	return all
}

// rows returns the rows of entries.
func rows(entries []Edge) map[ID]*block.Entries {
	all := map[ID]*block.Entries{}
	for _, e := range entries {
		if all[e.U] == nil {
			all[e.U] = new(block.Entries)
		}
		all[e.U].Add(e.V, e.Relation, e.Weight, e.Time)
	}
	return all
}

// agree fails t unless every method of g returns the data of m.
func (m *edgeMap) agree(t rapid.TB, g *Graph) {
	t.Helper()
	if got := slices.Collect(g.Edges()); !slices.Equal(got, m.list()) {
		t.Fatalf("edges: %v", gocmp.Diff(m.list(), got))
	}
	loops := int64(0)
	for k, e := range m.edges {
		if e.U == e.V {
			loops++
		}
		for _, x := range []Edge{{Ends: Ends{U: e.U, V: e.V}, Relation: e.Relation}, {Ends: Ends{U: e.V, V: e.U}, Relation: e.Relation}} {
			want, exists := m.edges[m.key(x)]
			if got, ok := g.EdgeOf(x); got != want || ok != exists {
				t.Fatalf("edge %v of %v: %v, %v", x, k, got, ok)
			}
		}
	}
	arcs := 0
	for in, read := range map[bool]func(ID) ([]ID, []float32){false: g.Out, true: g.In} {
		want := rows(m.entries(in))
		for u := range ID(m.nodes) {
			row := want[u]
			if row == nil {
				row = new(block.Entries)
			}
			joined := row.Joined()
			got := block.Entries{Time: map[bool]func(ID) []int64{false: g.OutTimes, true: g.InTimes}[in](u)}
			if got.To, got.Weight = read(u); !got.Equal(joined) || got.Time != nil && len(got.Time) != len(got.To) {
				t.Fatalf("row of %d (in: %v): %v, want %v", u, in, got, joined)
			}
			if n := map[bool]func(ID) int{false: g.OutLen, true: g.InLen}[in](u); n != len(joined.To) {
				t.Fatalf("length of the row of %d (in: %v): %d, want %d", u, in, n, len(joined.To))
			}
			if !in {
				arcs += len(row.To)
				m.agreeFrom(t, g, u, row)
			}
		}
	}
	if g.NumNodes() != m.nodes || g.NumEdges() != int64(len(m.edges)) || g.NumLoops() != loops || g.Directed() != m.directed() || g.Arcs() != arcs && g.out.via == nil {
		t.Fatalf("%d nodes, %d edges, %d loops, %d arcs, want %d, %d, %d, %d",
			g.NumNodes(), g.NumEdges(), g.NumLoops(), g.Arcs(), m.nodes, len(m.edges), loops, arcs)
	}
	runsAgree(t, g)
	if g.out.via == nil {
		typedAgree(t, g)
	}
}

// typedAgree fails t unless the rows by relation are those that a scan of the edges gives. It reads
// each row twice, so that rows that the graph keeps are read, too.
func typedAgree(t rapid.TB, g *Graph) {
	t.Helper()
	want := map[ID]map[int32][]ID{}
	add := func(u, v ID, direction int32) {
		if want[u] == nil {
			want[u] = map[int32][]ID{}
		}
		want[u][direction] = append(want[u][direction], v)
	}
	for e := range g.Edges() {
		direction := 2 * int32(e.Relation)
		add(e.U, e.V, direction)
		if back := g.Inverse(direction); back != direction || e.U != e.V {
			add(e.V, e.U, back)
		}
	}
	inOrder := func(a, b int32) int { return cmp.Or(cmp.Compare(a%2, b%2), cmp.Compare(a, b)) }
	for u := range ID(2 * g.NumNodes()) {
		u %= ID(g.NumNodes())
		var ends []ID
		directions := slices.SortedFunc(maps.Keys(want[u]), inOrder)
		for _, d := range directions {
			slices.Sort(want[u][d])
			ends = append(ends, want[u][d]...)
		}
		var got []int32
		for d, row := range g.Rows(u) {
			if got = append(got, d); !slices.Equal(row, want[u][d]) {
				t.Fatalf("row of %d in direction %d: %v, want %v", u, d, row, want[u][d])
			}
		}
		if !slices.Equal(got, directions) || !slices.Equal(g.Ends(u), ends) {
			t.Fatalf("directions of %d: %v, want %v; ends %v, want %v", u, got, directions, g.Ends(u), ends)
		}
		for d := range 2 * int32(g.NumRelations()) {
			if row := g.Row(u, d); !slices.Equal(row, want[u][d]) {
				t.Fatalf("row of %d in direction %d by itself: %v, want %v", u, d, row, want[u][d])
			}
		}
	}
}

// agreeFrom compares the degree of u and the edges that leave u.
func (m *edgeMap) agreeFrom(t rapid.TB, g *Graph, u ID, row *block.Entries) {
	t.Helper()
	joined := row.Joined()
	if d := joined.Sum(); g.Degree(u) != d {
		t.Fatalf("degree of %d: %v, want %v", u, g.Degree(u), d)
	}
	for i, v := range joined.To {
		w, at := joined.At(i)
		if got, ok := g.Edge(u, v); !ok || got.Weight != w || got.Time != at {
			t.Fatalf("the edges from %d to %d are %v, %v, want %v", u, v, got, ok, joined)
		}
		want := row.Between(v)
		between := g.Between(u, v)
		if once, twice := g.Joining([][2]ID{{u, v}}), g.Joining([][2]ID{{u, v}, {u, v}}); !slices.Equal(once, twice) {
			t.Fatalf("the edges that join %d to %d are %v, if asked for twice %v", u, v, once, twice)
		}
		for i, e := range between {
			if w, at := want.At(i); e.Relation != want.RelationAt(i) || e.Weight != w || e.Time != at {
				t.Fatalf("the edges from %d to %d are %v, want %v", u, v, between, want)
			}
		}
	}
	for relation := range uint16(len(m.directions)) {
		if !g.out.via.has(relation) {
			continue
		}
		if got, want := g.out.only(u, relation), row.Only(relation); !got.Equal(want) {
			t.Fatalf("the edges of relation %d from %d are %v, want %v", relation, u, got, want)
		}
	}
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

// genDirections draws the directions of some relations.
var genDirections = rapid.SampledFrom([]spill.Directions{
	{false}, {true}, {false, false}, {true, true}, {false, true}, {true, false, false}, {false, false, false, true},
})

// genEdge draws an edge of m.
func (m *edgeMap) genEdge(t *rapid.T) Edge {
	id := rapid.Uint32Range(0, uint32(m.nodes-1))
	relation := rapid.Uint16Range(0, uint16(len(m.directions)-1))
	return Edge{
		Ends: Ends{U: id.Draw(t, "u"), V: id.Draw(t, "v")}, Relation: relation.Draw(t, "relation"),
		Weight: genWeight.Draw(t, "weight"), Time: genTime.Draw(t, "time"),
	}
}

// genEdges draws a graph of n nodes.
func genEdges(t *rapid.T, n int) *edgeMap {
	m := newEdgeMap(n, genDirections.Draw(t, "directions")...)
	plain := rapid.Bool().Draw(t, "plain")
	for range rapid.IntRange(0, 4*n).Draw(t, "edges") {
		x := m.genEdge(t)
		if plain {
			x.Weight, x.Time = 1, 0
		}
		m.set(x)
	}
	return m
}

// base returns the graph of the edges of m, in memory.
func (m *edgeMap) base() *Graph {
	return graphOf(m.directions, m.nodes, rowsOf(m.entries(false), m.nodes), rowsOf(m.entries(true), m.nodes))
}

func TestGraphIsAMap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "nodes")
		m := genEdges(t, n)
		g := m.base()
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
				if rapid.IntRange(0, 9).Draw(t, "relate") == 0 {
					directed := rapid.Bool().Draw(t, "directed")
					m.directions = append(m.directions, directed)
					edit.Relate(directed)
				}
				x := m.genEdge(t)
				if rapid.Bool().Draw(t, "remove") {
					x.Weight = 0
				}
				if old, want := edit.Set(x), m.set(x); old != want {
					t.Fatalf("set %v: had %v, want %v", x, old, want)
				}
			}
			if m.nodes < 100 {
				m.agree(t, edit.view())
			}
			next := edit.Graph()
			versions = append(versions, version{next, m})
			if m.nodes < 100 {
				typedAgree(t, next)
			}
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

// only returns the graph of the edges of some relations.
func (m *edgeMap) only(relations []uint16) *edgeMap {
	o := newEdgeMap(m.nodes, make([]bool, len(m.directions))...)
	for _, r := range relations {
		o.directions[r] = m.directions[r]
	}
	for k, e := range m.edges {
		if slices.Contains(relations, e.Relation) {
			o.edges[k] = e
		}
	}
	return o
}

// TestVia verifies that a graph of some relations is that of their edges, in memory, in the store
// and after changes.
func TestVia(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := genEdges(t, rapid.IntRange(1, 12).Draw(t, "nodes"))
		g := m.base()
		if rapid.Bool().Draw(t, "stored") {
			g, _ = storedGraph(t, m, 1<<20)
		}
		var relations []uint16
		for r := range m.directions {
			if rapid.Bool().Draw(t, "via") {
				relations = append(relations, uint16(r))
			}
		}
		for _, both := range []bool{false, true} { // the version after the edit has the rows of these passes
			runsAgree(t, g.via(Via{Relations: relations, Both: both}, m.relations()))
		}
		edit := g.Edit()
		for range rapid.IntRange(0, 20).Draw(t, "changes") {
			x := m.genEdge(t)
			if rapid.Bool().Draw(t, "remove") {
				x.Weight = 0
			}
			edit.Set(x)
			m.set(x)
		}
		g = edit.Graph()
		want := m.only(relations)
		got := g.via(Via{Relations: relations}, m.relations())
		for r := range want.directions { // EdgeOf finds the edges of g
			if !slices.Contains(relations, uint16(r)) {
				got.directions = slices.Clone(got.directions)
				got.directions[r] = false
			}
		}
		want.agree(t, got)
		if got.out.kept.whole() == nil {
			t.Fatal("a pass has not kept the rows")
		}
		want.agree(t, got)
		double := g.via(Via{Relations: relations, Factors: slices.Repeat([]float32{2}, len(relations))}, m.relations())
		for u := range ID(m.nodes) {
			row, twice := got.out.row(u), double.out.row(u)
			if wanted := row.Scaled(2); len(row.To) > 0 && !twice.Equal(wanted) {
				t.Fatalf("row of %d with weights twice as large: %v, want %v", u, twice, wanted)
			}
		}
		if both := g.via(Via{Relations: relations, Both: true}, m.relations()); got.directed {
			want.agreeBothWays(t, both)
			runsAgree(t, both)
			want.agreeBothWays(t, both)
		}
	})
}

// agreeBothWays verifies that the arcs of g lead along the edges of m in both directions.
func (m *edgeMap) agreeBothWays(t rapid.TB, g *Graph) {
	weights := map[Ends]float64{}
	for _, e := range m.edges {
		weights[Ends{U: e.U, V: e.V}] += float64(e.Weight)
		if e.U != e.V {
			weights[Ends{U: e.V, V: e.U}] += float64(e.Weight)
		}
	}
	arcs := 0
	for u := range ID(m.nodes) {
		to, weight := g.Out(u)
		if from, _ := g.In(u); !slices.Equal(from, to) || !slices.IsSorted(to) || len(to) > 0 && !g.Weighted() {
			t.Fatalf("row of %d: %v, from %v, weighted: %v", u, to, from, g.Weighted())
		}
		for i, v := range to {
			got, want := 1.0, min(weights[Ends{U: u, V: v}], MaxWeight)
			if weight != nil {
				got = float64(weight[i])
			}
			if arcs++; math.Abs(got-want) > 1e-6*want {
				t.Fatalf("arc %d -> %d has weight %v, want %v", u, v, got, want)
			}
		}
	}
	if arcs != len(weights) {
		t.Fatalf("%d arcs, want %d", arcs, len(weights))
	}
	if got := slices.Collect(g.Edges()); !slices.Equal(got, m.list()) {
		t.Fatalf("edges %v, want %v", got, m.list())
	}
}

// TestWithout verifies that Without returns the same graph as deleting the edges with an Edit, with
// all rows in the base.
func TestWithout(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 30).Draw(t, "nodes")
		m := genEdges(t, nodes)
		g := m.base()
		rest := g.Edit()
		var hidden []Edge
		for e := range g.Edges() {
			if rapid.Bool().Draw(t, "hidden") {
				e.Weight = 0
				hidden = append(hidden, e)
				rest.Set(e)
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
		m := newEdgeMap(0, directed)
		m.agree(t, NewGraph(directed))
		m.agree(t, m.base())
		if _, ok := NewGraph(directed).Edge(7, 8); ok {
			t.Error("an edge of an empty graph")
		}
		if d := NewGraph(directed).Degree(7); d != 0 {
			t.Errorf("degree %v in an empty graph", d)
		}
	}
}

// TestViews verifies that versions of a graph in memory share the rows that were made for their
// views, that changed rows are made anew, and that the rows take no more memory than the budget.
func TestViews(t *testing.T) {
	t.Parallel()
	m := hubs(spill.Directions{true, false}, false)
	via := func(g *Graph, relation uint16) *Graph {
		return g.via(Via{Relations: []uint16{relation}, Both: true}, m.relations())
	}
	pass := func(g *Graph) {
		for range g.Runs(false) {
			break
		}
	}
	paged, _ := storedGraph(t, m, 1<<20)
	if one, other := via(paged, 0), via(paged, 0); one.out.kept == other.out.kept {
		t.Error("a graph on the disk holds rows of a view")
	}
	g := m.base()
	before := g.Bytes()
	first := via(g, 0)
	pass(first)
	if via(g, 0).out.kept != first.out.kept || g.Bytes() <= before {
		t.Error("the rows of a view are not held, or not counted")
	}

	edit := g.Edit()
	if via(edit.view(), 0).out.kept == first.out.kept {
		t.Error("rows that change are held")
	}
	x := Edge{Ends: Ends{U: 3, V: 4}, Weight: 7}
	edit.Set(x)
	m.set(x)
	next := via(edit.Graph(), 0)
	if next.out.kept != first.out.kept {
		t.Error("versions do not share the rows of a view")
	}
	m.only([]uint16{0}).agreeBothWays(t, next)
	runsAgree(t, next)
	if e, ok := first.Edge(3, 4); ok && e.Weight >= 7 {
		t.Errorf("the version before the edit has %v", e)
	}

	g.typed.cache.Budget = first.out.kept.bytes()
	pass(via(g, 1))
	if via(g, 1); len(g.views.recent) != 1 {
		t.Errorf("the rows of %d views take %d bytes of %d", len(g.views.recent), g.views.bytes(), g.typed.cache.Budget)
	}
}

// TestTypedRowsAreKept verifies that rows by relation are made once for all versions with a base,
// that the ones of changed nodes are made anew, and that they take no more memory than the budget.
func TestTypedRowsAreKept(t *testing.T) {
	t.Parallel()
	m := newEdgeMap(300, true, false)
	for v := range ID(299) {
		m.set(Edge{Ends: Ends{U: v, V: v + 1}, Relation: uint16(v % 2), Weight: 1})
	}
	g := m.base()
	e := g.Edit()
	e.Set(Edge{Ends: Ends{U: 0, V: 2}, Relation: 1, Weight: 1})
	next := e.Graph()
	for u, same := range map[ID]bool{0: false, 1: true, 2: false, 299: true} {
		if first := g.typedRow(u); g.typedRow(u) != first || (next.typedRow(u) == first) != same {
			t.Errorf("rows of node %d are shared: %v", u, !same)
		}
	}
	g.typed.cache.Budget = 100 * g.typedRow(7).bytes()
	typedAgree(t, g)
	typedAgree(t, next)
	if n := g.typed.cache.Size(); n == 0 || n > g.typed.cache.Budget {
		t.Errorf("rows take %d bytes of %d", n, g.typed.cache.Budget)
	}
}

// TestNotes verifies that each version of a graph has notes of its own, and that a graph that is
// being edited, and a view, have none.
func TestNotes(t *testing.T) {
	t.Parallel()
	m := hubs(spill.Directions{true, false}, false)
	g := m.base()
	g.Notes().Store("key", 1)
	edit := g.Edit()
	if edit.view().Notes() != nil {
		t.Error("a graph that changes has notes")
	}
	edit.Set(Edge{Ends: Ends{U: 3, V: 4}, Weight: 7})
	next := edit.Graph()
	if _, known := next.Notes().Load("key"); known {
		t.Error("a version has the notes of the version before")
	}
	if _, known := g.Notes().Load("key"); !known {
		t.Error("a version has lost its notes")
	}
	for _, v := range []Via{{Relations: []uint16{0}}, {Relations: []uint16{0}, Inverse: true}, {Relations: []uint16{0, 1}, Both: true}} {
		if g.via(v, m.relations()).Notes() != nil {
			t.Errorf("the view %v has notes", v)
		}
	}
}
