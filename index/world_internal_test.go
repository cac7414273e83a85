package index

import (
	"fmt"
	"maps"
	"slices"

	"pgregory.net/rapid"
)

// world is a database in maps, the oracle of snapshots.
type world struct {
	directed bool
	nodes    map[Key]worldNode
	edges    map[worldEdge]Edge // weight and time
	lengths  map[string]int     // length of the feature vectors by label
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
	return &world{directed, map[Key]worldNode{}, map[worldEdge]Edge{}, map[string]int{}}
}

func (w *world) clone() *world {
	return &world{w.directed, maps.Clone(w.nodes), maps.Clone(w.edges), maps.Clone(w.lengths)}
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
}

// agree fails t unless s has the same data as w.
func (w *world) agree(t rapid.TB, s *Snapshot) {
	t.Helper()
	checkSound(t, s)
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
