package index

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"kith/index/internal/block"
	"kith/index/internal/pages"
)

// Snapshot is the graph at one version, with its keys, labels, feature vectors, log and events. It
// is immutable and safe for concurrent use; a [Batch] builds the next version.
//
// INVARIANT: the base of Graph has the edges of the generation that Meta names, and its overlay the
// changes of the log since; Verify compares both. Only a salvaged snapshot may differ, until it is
// written with Restart and opened again.
type Snapshot struct {
	Meta  Meta
	Graph *Graph

	log        changeLog
	events     eventList // the newest events
	dict       *dict     // may know keys of later versions: use ID and Key
	nodes      nodeRecords
	features   vectors
	properties properties
	variables  variables
	erased     pages.Array[bool] // the nodes that were erased since the base; dict may have their keys
	via        string            // names the relations of Graph; "": all
}

// Via returns the snapshot with the edges of some relations. It is for reading: it cannot be
// changed, and the cached PageRank of its nodes stays in memory. Of a directed graph whose arcs
// lead both ways it is computed again after each change of an edge.
func (s *Snapshot) Via(v Via) *Snapshot {
	part := *s
	part.via = fmt.Sprint(v)
	part.Graph = s.Graph.via(v, s.Meta.Relations)
	return &part
}

// Side describes the nodes on a side of a relation: the sources of its edges, or the targets. Of an
// undirected relation the sides are equal.
type Side struct {
	Nodes  int64
	Labels []uint16 // their labels, ascending; 0 means that some have none
}

// Sides describes the sources and the targets of each relation. It reads all rows.
func (s *Snapshot) Sides(ctx context.Context) (sides [][2]Side, err error) {
	sides = make([][2]Side, len(s.Graph.directions))
	read := 0
	for u := range ID(s.Graph.nodes) {
		label := s.Label(u)
		for i, a := range []*adjacency{s.Graph.out, s.Graph.in} {
			row := a.edges(u)
			if read += 1 + len(row.To); read >= edgesPerCheck {
				if read = 0; ctx.Err() != nil {
					return nil, ctx.Err()
				}
			}
			for _, relation := range row.Relations() {
				side := &sides[relation][i]
				side.Nodes++
				if at, known := slices.BinarySearch(side.Labels, label); !known {
					side.Labels = slices.Insert(side.Labels, at, label)
				}
			}
		}
	}
	return sides, s.Graph.err()
}

// sideCounter counts the sources and the targets of relations, from their edges by node.
type sideCounter struct {
	relations []Relation
	node      ID             // whose edges are being added
	sides     []sideOf       // of relations, that the node is on
	at        map[uint16]int // places in sides
}

type sideOf struct {
	relation       uint16
	source, target bool
}

// needed reports whether there is a relation whose sides are counted.
func (s *sideCounter) needed() bool {
	for i := range s.relations {
		if s.relations[i].sidesCounted(uint16(i)) {
			return true
		}
	}
	return false
}

// add adds an edge of a relation that leaves or reaches a node. Nodes must come in ascending order.
func (s *sideCounter) add(u ID, relation uint16, target bool) {
	if !s.relations[relation].sidesCounted(relation) {
		return
	}
	if u != s.node {
		s.end()
		s.node = u
	}
	i, known := s.at[relation]
	if !known {
		if s.at == nil {
			s.at = map[uint16]int{}
		}
		i = len(s.sides)
		s.at[relation] = i
		s.sides = append(s.sides, sideOf{relation: relation})
	}
	side := &s.sides[i]
	side.source, side.target = side.source || !target, side.target || target
}

// addRows adds the edges of a node.
func (s *sideCounter) addRows(g *Graph, u ID) {
	for i, rows := range []*adjacency{g.out, g.in} {
		row := rows.edges(u)
		for _, relation := range row.Relations() {
			if int(relation) < len(s.relations) {
				s.add(u, relation, i == 1)
			}
		}
	}
}

// end ends the edges of the node.
func (s *sideCounter) end() {
	for _, side := range s.sides {
		s.relations[side.relation].countSides(side.source, side.target, 1)
	}
	s.sides = s.sides[:0]
	clear(s.at)
}

// New returns an empty graph with the options of meta.
func New(meta Meta) *Snapshot {
	meta.Format = Format
	meta.Labels, meta.Relations, meta.InRows = []Label{{}}, []Relation{{Directed: meta.Directed}}, meta.Directed
	d, _ := newDict(nil) // an empty list has no duplicates
	return &Snapshot{Meta: meta, Graph: NewGraph(meta.Directed), dict: d}
}

// WriteMeta writes the meta record of s to w.
func (s *Snapshot) WriteMeta(w Writer) error { return putMeta(w, []byte{prefixMeta}, &s.Meta) }

// ID returns the id of the node with key k and whether there is one.
func (s *Snapshot) ID(k Key) (ID, bool) {
	id, ok := s.lookup(k, s.Graph.nodes)
	return id, ok && s.Live(id)
}

// lookup returns the id below n that a key has, also while its node is deleted, and whether it has
// one.
func (s *Snapshot) lookup(k Key, n int) (ID, bool) {
	id, ok := s.dict.id(k)
	if ok && s.erased.At(id) {
		ok = false
		for _, later := range s.dict.later(k) {
			if int(later) < n && !s.erased.At(later) {
				id, ok = later, true
			}
		}
	}
	return id, ok && int(id) < n
}

// Key returns the key of id, which must be below Graph.NumNodes.
func (s *Snapshot) Key(id ID) Key {
	if s.erased.At(id) {
		return Erased(id)
	}
	return s.dict.key(id)
}

// Erased reports whether id is a node that was erased.
func (s *Snapshot) Erased(id ID) bool { return int(id) < s.Graph.nodes && s.Key(id).Erased() }

// numErased returns the number of nodes that were erased since the base.
func (s *Snapshot) numErased() (n int64) {
	for _, is := range s.erased.All() {
		if is {
			n++
		}
	}
	return n
}

// Live reports whether id is a node that is not deleted.
func (s *Snapshot) Live(id ID) bool {
	return int(id) < s.Graph.nodes && !s.nodes.at(id).deleted
}

// Nodes yields the ids of the nodes that are not deleted, ascending.
func (s *Snapshot) Nodes() iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for id := range ID(s.Graph.nodes) {
			if !s.nodes.at(id).deleted && !yield(id) {
				return
			}
		}
	}
}

// Label returns the number of id's label, 0 for none.
func (s *Snapshot) Label(id ID) uint16 { return s.nodes.at(id).label }

// Labelled yields the ids of the nodes with the label number l > 0, ascending.
func (s *Snapshot) Labelled(l uint16) iter.Seq[ID] { return s.nodes.labelled(l, s.Graph.nodes) }

// Keyed yields the nodes with keys from low on, in key order, as long as their keys are within.
// Deleted nodes are left out. It takes time for the keys that it passes, and for the keys that were
// added since the base.
func (s *Snapshot) Keyed(low Key, within func(Key) bool) iter.Seq2[block.KeyEntry, error] {
	return func(yield func(block.KeyEntry, error) bool) {
		added := s.dict.addedWhere(0, func(k block.KeyEntry) bool { return k.Compare(low) >= 0 && within(k.Key) })
		for k, err := range mergeKeys(s.dict.baseFrom(low), added) {
			if err == nil && !within(k.Key) {
				return
			}
			if (err != nil || s.Live(k.ID) && !s.erased.At(k.ID)) && !yield(k, err) {
				return
			}
		}
	}
}

// CountLabels returns the number of nodes of each label, by label number. Number 0 counts the nodes
// without a label.
func (s *Snapshot) CountLabels() []int64 {
	n := make([]int64, len(s.Meta.Labels))
	n[0] = s.Meta.Live
	for i, l := range s.Meta.Labels[1:] {
		n[i+1] = l.Nodes
		n[0] -= l.Nodes
	}
	return n
}

// NumChangesSince returns the number of changes of edges after a version, as far as the log
// reaches.
func (s *Snapshot) NumChangesSince(version uint64) int {
	changes, _ := s.log.since(version)
	return len(changes)
}

// NumChangesOf is NumChangesSince for the edges of the relation with this name; "" means all edges.
func (s *Snapshot) NumChangesOf(name string, version uint64) (n int) {
	relation, ok := s.Meta.RelationNumber(name)
	if !ok || name == "" {
		return s.NumChangesSince(version)
	}
	changes, _ := s.log.since(version)
	for _, c := range changes {
		if c.Relation == relation {
			n++
		}
	}
	return n
}

// LoggedChanges returns the number of changes in the log.
func (s *Snapshot) LoggedChanges() int { return s.log.len() }

// NumEvents returns the number of events that are kept.
func (s *Snapshot) NumEvents() int { return len(s.events.all()) }

// LatestEvent returns the latest time of the events; 0 if there are no events.
func (s *Snapshot) LatestEvent() int64 { return s.events.latestTime() }

// Features returns id's feature vector, or nil. The caller must not modify the slice.
func (s *Snapshot) Features(id ID) []float32 { return s.features.at(id) }

// Variable returns the value of a variable; nil means none. The caller must not modify it.
func (s *Snapshot) Variable(name string) []byte {
	if i, known := s.variables.find(name); known {
		return s.variables[i].Value
	}
	return nil
}

// Variables returns all variables, ascending by name. The caller must not modify them.
func (s *Snapshot) Variables() []Variable { return s.variables }

// Bytes returns the approximate memory that the graph, its dictionary, its log and the vectors
// hold, in bytes.
func (s *Snapshot) Bytes() int64 {
	return s.Graph.Bytes() + s.dict.bytes() + s.features.bytes(s.Meta.FeatureBytes) + s.properties.bytes() + s.KeptBytes()
}

// LoadedBytes is Bytes once [Snapshot.Load] has loaded the base into memory.
func (s *Snapshot) LoadedBytes() int64 {
	n := s.Graph.LoadedBytes() + s.dict.loadedBytes() + s.KeptBytes() + s.Meta.FeatureBytes
	if s.nodes.base != nil {
		n += s.nodes.base.loadedBytes()
	}
	return n + s.properties.bytes()
}

// storedPart is a part of a base that can be read on demand.
type storedPart interface {
	Loaded() bool
	Load(context.Context) error  // reads all of it into memory
	Check(context.Context) error // reads all of it
}

// parts returns the parts of the base that have blocks, and the feature vectors.
func (s *Snapshot) parts() []storedPart {
	all := []storedPart{s.Graph, versionDict{s.dict, s}}
	if s.nodes.base != nil {
		all = append(all, s.nodes.base)
	}
	if s.features.base != nil {
		all = append(all, s.features.base)
	}
	if s.properties.base != nil {
		all = append(all, s.properties.base)
	}
	return all
}

// Loaded reports whether the whole base is in memory.
func (s *Snapshot) Loaded() bool {
	return !slices.ContainsFunc(s.parts(), func(p storedPart) bool { return !p.Loaded() })
}

// ChangedBytes is the part of Bytes that a new base would free: rows and blocks of vectors that
// have changed, and keys that were added.
func (s *Snapshot) ChangedBytes() int64 {
	return s.Graph.changedBytes() + s.features.kept + s.properties.kept + addedKey*(s.Meta.Nodes-s.Meta.BaseNodes)
}

// KeptBytes is the part of Bytes that cannot be read on demand.
func (s *Snapshot) KeptBytes() int64 {
	return s.dict.keptBytes() + s.features.kept + s.properties.kept + weightChangeBytes*int64(s.log.len()) + s.variables.bytes()
}

// Load reads the base and all vectors into memory. All versions with this base use them from then
// on. It returns ErrCorrupt, which Err returns from then on, too, or the error of ctx.
func (s *Snapshot) Load(ctx context.Context) error {
	for _, p := range s.parts() {
		if err := p.Load(ctx); err != nil {
			return err
		}
	}
	return nil
}

// CheckStored reads all blocks of the base and all vectors. It returns ErrCorrupt, which Err
// returns from then on, too, or the error of ctx.
func (s *Snapshot) CheckStored(ctx context.Context) error {
	for _, p := range s.parts() {
		if err := p.Check(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Err returns the error of the first block that could not be read, after which answers may be
// wrong. All parts of a base have one cache, which keeps the error.
func (s *Snapshot) Err() error { return s.dict.err() }

// Check verifies that the parts of the snapshot are consistent: the dictionary in both directions,
// rows in order and symmetric, degrees, counters. It returns each violation it finds, up to 20, as
// ErrCorrupt, or the error of ctx.
func (s *Snapshot) Check(ctx context.Context) (breaches []error, err error) {
	c := &checker{s: s}
	if err := (versionDict{s.dict, s}).Check(ctx); err != nil && ctx.Err() == nil {
		c.report("dictionary: %v", err)
	}
	err = cmp.Or(c.rows(ctx), c.counters(ctx), c.values(ctx))
	return c.found, err
}

// versionDict is the dictionary as a version sees it.
type versionDict struct {
	*dict
	s *Snapshot
}

// Check is dict.Check for the nodes of the version. Several of them may have had the same key, if
// all but one are erased.
func (d versionDict) Check(ctx context.Context) error {
	return d.check(ctx, func(k Key, id ID) bool {
		back, ok := d.s.lookup(k, d.s.Graph.nodes)
		return ok && back == id || d.s.erased.At(id) || int(id) >= d.s.Graph.nodes
	})
}

const maxFindings = 20

type checker struct {
	s     *Snapshot
	found []error
}

func (c *checker) report(format string, args ...any) {
	if len(c.found) < maxFindings {
		c.found = append(c.found, fmt.Errorf("%w: "+format, append([]any{ErrCorrupt}, args...)...))
	}
}

// rows checks that each row ascends, has valid weights and the stated degree, that each edge also
// appears in the row of its other endpoint, and the number of edges and loops.
func (c *checker) rows(ctx context.Context) error {
	g, m := c.s.Graph, &c.s.Meta
	both := newBalance(g.directions)
	counted := Meta{Relations: uncounted(m.Relations)}
	sides := sideCounter{relations: counted.Relations}
	needed := sides.needed()
	visited := 0
	for u := range ID(g.nodes) {
		if needed {
			sides.addRows(g, u)
		}
		out := g.out.edges(u)
		if visited += 1 + len(out.To); visited >= edgesPerCheck {
			if visited = 0; ctx.Err() != nil {
				return ctx.Err()
			}
		}
		joined := g.out.row(u)
		c.row(u, out, joined)
		both.add(u, out, false)
		for i, v := range out.To {
			if relation := out.RelationAt(i); int(relation) < len(g.directions) && (u <= v || g.directions[relation]) {
				counted.countEdge(Edge{Ends: Ends{U: u, V: v}, Relation: relation}, 1)
				c.labels(u, v, &m.Relations[relation])
			}
		}
		if d := joined.Sum(); d != g.Degree(u) {
			c.report("degree of node %d is %v, its row sums to %v", u, g.Degree(u), d)
		}
		if len(out.To) > 0 && c.s.nodes.at(u).deleted {
			c.report("node %d is deleted and has %d edges", u, len(out.To))
		}
		if g.directed {
			in := g.in.edges(u)
			c.row(u, in, g.in.row(u))
			both.add(u, in, true)
		}
	}
	sides.end()
	if err := both.err(); err != nil {
		c.found = append(c.found, err)
	}
	if counted.Edges != m.Edges || counted.Loops != m.Loops {
		c.report("counters say %d edges, %d loops; there are %d, %d", m.Edges, m.Loops, counted.Edges, counted.Loops)
	}
	for i, r := range counted.Relations {
		if own := m.Relations[i]; r != own {
			c.report("relation %q has %d edges, %d loops, %d sources, %d targets, %d both; the counters say %d, %d, %d, %d, %d",
				r.Name, r.Edges, r.Loops, r.Sources, r.Targets, r.Both, own.Edges, own.Loops, own.Sources, own.Targets, own.Both)
		}
	}
	return g.err()
}

// labels checks that the nodes of an edge have the labels of its relation.
func (c *checker) labels(u, v ID, r *Relation) {
	if r.SourceLabel == 0 && r.TargetLabel == 0 {
		return
	}
	has := [2]uint16{c.s.Label(u), c.s.Label(v)}
	want, ok := r.ends(has[0], has[1])
	if !ok || want[0] != 0 && has[0] != want[0] || want[1] != 0 && has[1] != want[1] {
		name := func(label uint16) string { return c.s.Meta.Labels[label].Name }
		c.report("edge %d -> %d of relation %q joins labels %q and %q, it should be %q and %q", u, v, r.Name, name(has[0]), name(has[1]), name(want[0]), name(want[1]))
	}
}

// Wanting returns a relation of an edge of a node that wants the label that the node has, and
// whether there is one.
func (s *Snapshot) Wanting(id ID) (r Relation, ok bool) {
	has := s.Label(id)
	wants := func(r Relation) bool { return has != 0 && (r.SourceLabel == has || r.TargetLabel == has) }
	if !slices.ContainsFunc(s.Meta.Relations, wants) {
		return r, false
	}
	for _, e := range s.Graph.Touching(id) {
		if r = s.Meta.Relations[e.Relation]; wants(r) {
			return r, true
		}
	}
	return r, false
}

// row checks the edges of a row, and the row that joins them.
func (c *checker) row(u ID, edges, joined block.Entries) {
	g := c.s.Graph
	for i, v := range edges.To {
		weight, _ := edges.At(i)
		relation := edges.RelationAt(i)
		at, ok := edges.Find(v, relation)
		if !ok || at != i || int(v) >= g.nodes || int(relation) >= len(g.directions) || !ValidWeight(weight) {
			c.report("row of node %d: entry %d is node %d, relation %d with weight %v", u, i, v, relation, weight)
		}
	}
	if want := edges.Joined(); !joined.Equal(want) {
		c.report("row of node %d: its edges do not add up to it", u)
	}
}

func (c *checker) counters(ctx context.Context) error {
	s, m := c.s, &c.s.Meta
	live, labelled := int64(0), make([]int64, len(m.Labels))
	for id := range s.Nodes() {
		live++
		labelled[s.Label(id)]++
	}
	for i, l := range m.Labels {
		if i > 0 && l.Nodes != labelled[i] {
			c.report("label %q has %d nodes, %d are counted", l.Name, labelled[i], l.Nodes)
		}
	}
	if live != m.Live || int64(s.Graph.nodes) != m.Nodes {
		c.report("counters say %d ids, %d nodes; there are %d, %d", m.Nodes, m.Live, s.Graph.nodes, live)
	}
	if n := s.dict.len(); n < s.Graph.nodes {
		c.report("%d keys for %d nodes", n, s.Graph.nodes)
	}
	if n := s.numErased(); n > m.Erased {
		c.report("%d nodes were erased since the base, the counter says %d", n, m.Erased)
	}
	return c.features(ctx)
}

// values checks that only nodes have values, of the type of the property, and their numbers.
func (c *checker) values(ctx context.Context) error {
	s := c.s
	for i, p := range s.Meta.Properties {
		n, visited := int64(0), 0
		for id, v := range s.Having(uint16(i)) {
			if err := checkEvery(ctx, visited); err != nil {
				return err
			}
			visited++
			if n++; !s.Live(id) || v.Kind() != p.Kind || v.Check() != nil {
				c.report("node %d has a value of property %q that it cannot have", id, p.Name)
			}
		}
		if n != p.Nodes {
			c.report("%d nodes have property %q, the counter says %d", n, p.Name, p.Nodes)
		}
	}
	return s.Err()
}

// features checks the numbers of features.
func (c *checker) features(ctx context.Context) error {
	s, m := c.s, &c.s.Meta
	bytes := int64(0)
	for id := range ID(s.Graph.nodes) {
		if err := checkEvery(ctx, int(id)); err != nil {
			return err
		}
		v := s.features.at(id)
		bytes += 4 * int64(len(v))
		if label := s.Label(id); v != nil && (int(label) >= len(m.Labels) || len(v) != m.Labels[label].Features) {
			c.report("node %d has %d features, its label has another number", id, len(v))
		}
	}
	if bytes != m.FeatureBytes {
		c.report("there are %d bytes of features, the counter says %d", bytes, m.FeatureBytes)
	}
	return nil
}

// Value returns the value that a node has of a property, or none.
func (s *Snapshot) Value(property uint16, id ID) Value {
	return s.properties.at(property, id).As(s.Meta.Properties[property].Kind)
}

// Values yields the values of a node, by the number of the property.
func (s *Snapshot) Values(id ID) iter.Seq2[uint16, Value] {
	return func(yield func(uint16, Value) bool) {
		for i := range s.Meta.Properties {
			if v := s.Value(uint16(i), id); v.Kind() != NoValue && !yield(uint16(i), v) {
				return
			}
		}
	}
}

// HasWords reports whether the properties of nodes have words.
func (s *Snapshot) HasWords() bool {
	for i := range s.Meta.Properties {
		if s.properties.wordsOf(uint16(i), &s.Meta) != nil {
			return true
		}
	}
	return false
}

// Words appends the words of a node's properties to a list, as numbers below n, ascending and
// different. Properties that identify nodes have no words.
func (s *Snapshot) Words(id ID, n int, to []uint32) []uint32 {
	first := len(to)
	for i := range s.Meta.Properties {
		of := s.properties.wordsOf(uint16(i), &s.Meta)
		if of == nil {
			continue
		}
		if v := s.Value(uint16(i), id); v.Kind() != NoValue {
			to = of.Append(to, v, n)
		}
	}
	slices.Sort(to[first:])
	return to[:first+len(slices.Compact(to[first:]))]
}

// EachWord calls f with the properties of a node and their words, as people read them. A word may
// come several times.
func (s *Snapshot) EachWord(id ID, f func(property, word string)) {
	for i := range s.Meta.Properties {
		of := s.properties.wordsOf(uint16(i), &s.Meta)
		if of == nil {
			continue
		}
		if v := s.Value(uint16(i), id); v.Kind() != NoValue {
			of.Each(v, func(word string) { f(of.Name, word) })
		}
	}
}

// NumValuesSinceBase returns the number of values of properties that were set since the base.
func (s *Snapshot) NumValuesSinceBase() int { return s.properties.number }

// Having yields the values of a property, by node.
func (s *Snapshot) Having(property uint16) iter.Seq2[ID, Value] {
	return func(yield func(ID, Value) bool) {
		for id, v := range s.properties.all(property) {
			if !yield(id, v.As(s.Meta.Properties[property].Kind)) {
				return
			}
		}
	}
}

// Tester returns a function that reports whether a node has a value of a property that passes a
// test. It is fast for nodes in ascending order: it reads each block once. It must not be called by
// several goroutines at once.
func (s *Snapshot) Tester(property uint16, t Test) func(ID) bool {
	p, kind := &s.properties, s.Meta.Properties[property].Kind
	var match func(i int) bool // of the present block, which has the nodes from first up to end
	first, end, changes := uint64(1), uint64(0), false
	return func(id ID) bool {
		if u := uint64(id); u < first || u >= end {
			match, first, end = p.testBlock(property, id, kind, &t)
			changes = int(property) < len(p.changed) && p.changed[property].HasBetween(ID(first), ID(end-1))
		}
		if changes {
			if v := p.changed[property].At(id); v != nil {
				return t.Matches(v.As(kind))
			}
		}
		return match != nil && match(int(uint64(id)-first))
	}
}

// Vectors yields the feature vectors of the nodes from lo up to but not including hi, by node. It
// does not change what the cache holds. A vector is valid until the next one.
func (s *Snapshot) Vectors(lo, hi ID) iter.Seq2[ID, []float32] {
	return func(yield func(ID, []float32) bool) {
		var buffer vectorBlock
		for no := lo / featureBlock; no*featureBlock < hi; no++ {
			b := s.features.changed.At(no)
			if b == nil && (s.features.base == nil || int(no) >= s.features.base.Len()) {
				continue
			}
			if b == nil {
				var err error
				if b, err = s.features.base.Peek(int(no), &buffer); err != nil {
					return // the cache keeps the error
				}
			}
			for i, v := range b {
				if id := no*featureBlock + ID(i); v != nil && lo <= id && id < hi && !yield(id, v) {
					return
				}
			}
		}
	}
}
