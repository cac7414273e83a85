package index

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"kith/index/internal/column"
)

// world is a database in maps, the oracle of snapshots.
type world struct {
	directed bool
	nodes    map[Key]worldNode
	edges    map[worldEdge]Edge // weight and time
	lengths  map[string]int     // length of the feature vectors by label
	values   map[worldValue]string
	// variables are values by name.
	variables map[string]string
}

// worldValue names a value of a property. The world has its kind and its text.
type worldValue struct {
	node     Key
	property string
}

type worldNode struct {
	label    string
	features string // as printed; "" means none
}

// worldEdge names an edge. The lower key of an undirected edge is the first one.
type worldEdge struct {
	relation string
	a, b     Key
}

// worldRelations returns which relations with a name are directed.
func worldRelations() map[string]bool { return map[string]bool{"likes": false, "follows": true} }

// genRelation draws the name of a relation, mostly none.
var genRelation = rapid.SampledFrom([]string{"", "", "", "likes", "follows"})

func newWorld(directed bool) *world {
	return &world{directed, map[Key]worldNode{}, map[worldEdge]Edge{}, map[string]int{}, map[worldValue]string{}, map[string]string{}}
}

func (w *world) clone() *world {
	return &world{w.directed, maps.Clone(w.nodes), maps.Clone(w.edges), maps.Clone(w.lengths), maps.Clone(w.values), maps.Clone(w.variables)}
}

// isDirected reports whether the edges of a relation are directed.
func (w *world) isDirected(relation string) bool {
	if relation == "" {
		return w.directed
	}
	return worldRelations()[relation]
}

func (w *world) pair(relation string, a, b Key) worldEdge {
	if !w.isDirected(relation) && a.Compare(b) > 0 {
		a, b = b, a
	}
	return worldEdge{relation, a, b}
}

func (w *world) setEdge(relation string, a, b Key, weight float32, at int64) {
	for _, k := range [2]Key{a, b} {
		if _, ok := w.nodes[k]; !ok {
			w.nodes[k] = worldNode{}
		}
	}
	w.edges[w.pair(relation, a, b)] = Edge{Weight: weight, Time: at}
}

func (w *world) deleteNode(k Key) {
	delete(w.nodes, k)
	maps.DeleteFunc(w.edges, func(p worldEdge, _ Edge) bool { return p.a == k || p.b == k })
	maps.DeleteFunc(w.values, func(v worldValue, _ string) bool { return v.node == k })
}

// agree fails t unless s has the same data as w.
// agreeOnVariables compares the variables, which ascend.
func (w *world) agreeOnVariables(t rapid.TB, s *Snapshot) {
	t.Helper()
	got, last := map[string]string{}, ""
	for _, v := range s.Variables() {
		if got[v.Name] = string(v.Value); v.Name <= last {
			t.Fatalf("variable %q follows %q", v.Name, last)
		}
		last = v.Name
	}
	if !maps.Equal(got, w.variables) {
		t.Fatalf("variables %q, want %q", got, w.variables)
	}
}

func (w *world) agree(t rapid.TB, s *Snapshot) {
	t.Helper()
	checkSound(t, s)
	w.agreeOnVariables(t, s)
	nodes := map[Key]worldNode{}
	labelled := map[string]int{}
	for id := range s.Nodes() {
		n := worldNode{label: s.Meta.Labels[s.Label(id)].Name}
		if v := s.Features(id); v != nil {
			n.features = fmt.Sprint(v)
		}
		nodes[s.Key(id)] = n
		labelled[n.label]++
		if back, ok := s.ID(s.Key(id)); !ok || back != id {
			t.Fatalf("id of %v is %d, %v, want %d", s.Key(id), back, ok, id)
		}
	}
	if !maps.Equal(nodes, w.nodes) {
		t.Fatalf("nodes are %v, want %v", nodes, w.nodes)
	}
	w.agreeOnValues(t, s)
	typedAgree(t, s.Graph)
	for i, l := range s.Meta.Labels {
		if n := len(slices.Collect(s.Labelled(uint16(i)))); i > 0 && n != labelled[l.Name] {
			t.Fatalf("label %q: %d nodes, want %d", l.Name, n, labelled[l.Name])
		}
	}
	edges := map[worldEdge]Edge{}
	for e := range s.Graph.Edges() {
		edges[w.pair(s.Meta.Relations[e.Relation].Name, s.Key(e.U), s.Key(e.V))] = Edge{Weight: e.Weight, Time: e.Time}
	}
	if !maps.Equal(edges, w.edges) || s.Meta.Edges != int64(len(edges)) || s.Meta.Live != int64(len(nodes)) {
		t.Fatalf("edges are %v, want %v", edges, w.edges)
	}
}

// agreeOnValues compares the values of properties: by node, by property and by a test.
func (w *world) agreeOnValues(t rapid.TB, s *Snapshot) {
	t.Helper()
	byNode, byProperty := map[worldValue]string{}, map[worldValue]string{}
	for id := range s.Nodes() {
		for i, v := range s.Values(id) {
			byNode[worldValue{s.Key(id), s.Meta.Properties[i].Name}] = spellingOf(v)
		}
	}
	for i, p := range s.Meta.Properties {
		has := s.Tester(uint16(i), Test{})
		for id, v := range s.Having(uint16(i)) {
			byProperty[worldValue{s.Key(id), p.Name}] = spellingOf(v)
			is, bound := s.Tester(uint16(i), Test{In: []Value{v}}), Bound{Value: v}
			if v.Kind() == ListKind {
				continue
			}
			within := s.Tester(uint16(i), Test{Low: bound, High: bound})
			if beyond := s.Tester(uint16(i), Test{Low: Bound{Value: v, Open: true}}); !has(id) || !is(id) || !within(id) || beyond(id) {
				t.Fatalf("node %d has %v, which a test does not select", id, v)
			}
		}
		for id := range ID(s.Graph.NumNodes()) {
			if got, want := has(id), s.Value(uint16(i), id).Kind() != NoValue; got != want {
				t.Fatalf("node %d has a value of %q: %v, want %v", id, p.Name, got, want)
			}
		}
	}
	if !maps.Equal(byNode, w.values) || !maps.Equal(byProperty, w.values) {
		t.Fatalf("values are %v and %v, want %v", byNode, byProperty, w.values)
	}
}

// genProperty draws a property and a type of its values. The property "any" takes each type while
// no node has it.
func genProperty(t *rapid.T) (name string, kind Kind) {
	kinds := map[string]Kind{
		"ok": BoolKind, "count": IntegerKind, "price": FloatKind, "name": StringKind, "at": TimeKind, "tags": ListKind,
		"any": Kind(rapid.IntRange(int(BoolKind), int(ListKind)).Draw(t, "kind")),
	}
	name = rapid.SampledFrom(slices.Sorted(maps.Keys(kinds))).Draw(t, "property")
	return name, kinds[name]
}

// fitValue reports whether a property may get a value of a type, and returns the values that then
// become floats.
func (w *world) fitValue(name string, kind Kind) (fits bool, wider map[worldValue]string) {
	fits, wider = true, map[worldValue]string{}
	for of, text := range w.values {
		if of.property != name || strings.HasPrefix(text, kind.String()) {
			continue
		}
		if n := int64(0); kind == FloatKind && strings.HasPrefix(text, IntegerKind.String()) {
			_, _ = fmt.Sscanf(text, "integer %d", &n)
			wider[of] = spellingOf(column.FloatOf(float64(n)))
			continue
		}
		fits = false
	}
	return fits, wider
}

// spellingOf returns the kind and the text of a value.
func spellingOf(v Value) string { return fmt.Sprint(v.Kind(), v.Int(), v.Text(), v.List()) }

// genValue draws a value of a kind.
func genValue(t *rapid.T, kind Kind) Value {
	text := rapid.StringMatching("[a-c]{0,2}")
	switch kind {
	case BoolKind:
		return column.BoolOf(rapid.Bool().Draw(t, "value"))
	case IntegerKind:
		return column.IntOf(rapid.OneOf(rapid.Int64(), rapid.Int64Range(-3, 300)).Draw(t, "value"))
	case FloatKind:
		return column.FloatOf(rapid.OneOf(rapid.Float64(), rapid.Float64Range(-1, 1)).Draw(t, "value"))
	case TimeKind:
		return column.TimeOf(86_400_000_000 * rapid.Int64Range(-3, 20_000).Draw(t, "value"))
	case StringKind:
		return column.StringOf(text.Draw(t, "value"))
	}
	return column.ListOf(rapid.SliceOfN(rapid.StringMatching("[a-c]{1,2}"), 0, 3).Draw(t, "value"))
}
