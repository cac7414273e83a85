package index

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"kith/index/internal/block"
	"kith/index/internal/column"
	"kith/index/internal/spill"
)

// Bulk collects many edges and nodes and adds them to a snapshot's graph at once, as a new base.
// [Repeats] defines the result for an edge that occurs twice or exists already. A node has the last
// one of the values of a property.
//
// Edges are collected in runs, under the numbers that their keys have in a dictionary of the run. A
// run that is full is written to the scratch file, with its keys in order. When all runs are
// complete, a merge of their keys gives each key its final id: existing nodes keep theirs, and new
// ones follow in key order. The edges of a run are then sorted by these ids, and a merge of the
// runs returns all edges in order. So all this takes the memory of a run, whatever the number of
// edges and of nodes and the length of keys.
type Bulk struct {
	s *Snapshot
	o BulkOptions

	source, target uint16     // labels of the endpoints of edges; 0: none
	labels         []Label    // by number
	strict         bool       // no node may have two labels
	guarded        bool       // nodes of the snapshot may have edges of relations with labels
	relations      []Relation // relations by number
	named          map[string]uint16
	directed       spill.Directions
	properties     []Property // by number
	encoded        []byte     // for reuse
	hasEdges       bool       // the load has edges

	run    *run // the run being filled
	writer runWriter

	numbers  numbering
	newKeys  iter.Seq2[Key, error]  // the keys of new nodes, ascending
	sorted   spill.Sorted           // the edges of all runs
	stored   [][]spill.ValueSection // the values of stored runs, by property
	inMemory []spill.Values         // or of the only run, by property, with the final ids of its nodes
	final    []ID
	loaded   spill.Values // for reuse
	sorter   spill.ValueSorter
	mirrored *spill.Sorted // the edges of the result from V to U; see entries
	tally    Tally
	newest   *newestEvents // nil until edges has returned all edges once
}

// Scratch is temporary storage, such as a temporary file.
type Scratch = spill.Scratch

// BulkOptions bounds the memory of a bulk load.
type BulkOptions struct {
	// Memory is the number of bytes for collecting, sorting and merging edges, apart from the
	// result; 0 means any number. One half is for the run that is being filled, the other for the
	// run that is written meanwhile. A run takes 24 bytes an edge, 5 a value plus its stored form
	// and 16 for sorting it, 33 a different integer key and 41 a different string key, plus its
	// length. Values are sorted property by property.
	Memory int64
	// Scratch creates a scratch file. It is called when edges no longer fit into memory, at most
	// twice.
	Scratch func() (Scratch, error)
	Repeats Repeats
	Time    int64 // time of the load, in nanoseconds since 1970
}

// Bulk starts a bulk load on top of s. If its memory is bounded, the caller must call Close.
func (s *Snapshot) Bulk(o BulkOptions) *Bulk {
	return &Bulk{
		s: s, o: o, labels: s.Meta.Labels, relations: slices.Clone(s.Meta.Relations), directed: slices.Clone(s.Graph.directions),
		properties: s.Meta.Properties, guarded: slices.ContainsFunc(s.Meta.Relations, func(r Relation) bool { return max(r.SourceLabel, r.TargetLabel) > 0 }),
		run: new(run), writer: runWriter{file: spill.File{Create: o.Scratch}},
	}
}

// Close waits for the work in the background. Then the scratch files are no longer in use.
func (b *Bulk) Close() { _ = b.writer.wait() }

// SetLabels sets the labels that the sources and the targets of the following edges get, "" for
// none. Two labels become partners. It returns an error for an invalid label.
func (b *Bulk) SetLabels(source, target string) (err error) {
	m := b.s.Meta
	if b.labels != nil {
		m.Labels = b.labels
	}
	if b.source, err = m.label(source); err == nil {
		b.target, err = m.label(target)
	}
	if err == nil && b.source > 0 && b.target > 0 {
		m.addPartner(b.source, b.target)
		if !m.Directed {
			m.addPartner(b.target, b.source)
		}
	}
	b.labels = m.Labels
	return err
}

// Relation returns the number of the relation with this name, and whether it is directed. It makes
// the relation, directed or not, if it does not exist. If the relation has labels, the nodes of its
// edges get them, and no node of the load may have two labels. It returns an error for an invalid
// name, or if there are too many relations.
func (b *Bulk) Relation(name string, directed bool) (relation uint16, isDirected bool, err error) {
	if b.named == nil {
		b.named = make(map[string]uint16, len(b.relations))
		for i, r := range b.relations {
			b.named[r.Name] = uint16(i)
		}
	}
	relation, known := b.named[name]
	if !known {
		if err := checkRelation(name, len(b.relations)); err != nil {
			return 0, false, err
		}
		relation = uint16(len(b.relations))
		b.relations = append(b.relations, Relation{Name: name, Directed: directed})
		b.directed, b.named[name] = append(b.directed, directed), relation
	}
	r := &b.relations[relation]
	b.strict = b.strict || max(r.SourceLabel, r.TargetLabel) > 0
	return relation, b.directed[relation], nil
}

// Edge adds one edge. It returns an error for an invalid key or weight, ErrFeatureLen or ErrLabel
// for a node that cannot have its label, or an error of the scratch file, after which the load
// cannot continue.
func (b *Bulk) Edge(src, dst Key, relation uint16, w float32, t int64) error {
	if !ValidWeight(w) {
		return fmt.Errorf("%w: %v", ErrWeight, w)
	}
	if err := dst.Valid(); err != nil {
		return err // check dst before src becomes a node
	}
	r := &b.relations[relation]
	source, target := cmp.Or(r.SourceLabel, b.source), cmp.Or(r.TargetLabel, b.target)
	err := cmp.Or(b.checkLabel(src, source), b.checkLabel(dst, target))
	if err == nil && b.strict && src == dst {
		err = b.fits(src, source, target)
	}
	if err != nil {
		return err
	}
	e := Edge{Relation: relation, Weight: w, Time: t}
	if err := b.makeRoom(b.run.edges.Growth(&e)); err != nil {
		return err
	}
	u, err := b.run.source(src)
	if err != nil {
		return err
	}
	v, err := b.run.keys.id(dst)
	if err != nil {
		return err
	}
	b.run.keys.setLabel(u, source)
	b.run.keys.setLabel(v, target)
	b.hasEdges = true
	e.Ends = Ends{U: u, V: v}
	b.run.edges.Add(e)
	return nil
}

// Label returns the number of the label with this name, 0 for "". It makes the label if it does not
// exist. It returns an error for an invalid name, or if there are too many labels.
func (b *Bulk) Label(name string) (uint16, error) {
	m := Meta{Labels: b.labels}
	label, err := m.label(name)
	b.labels = m.Labels
	return label, err
}

// Property returns the number of the property with this name for values of the given type. It makes
// the property if it does not exist. It returns ErrKind if the property has another type, or an
// error for an invalid name, or if there are too many properties.
func (b *Bulk) Property(name string, kind Kind) (uint16, error) {
	m := Meta{Properties: b.properties}
	property, err := m.property(name, kind)
	if err == nil {
		m.Properties = slices.Clone(m.Properties)
		m.Properties[property].Nodes = max(m.Properties[property].Nodes, 1) // the load has values of this type; see newValues.counted
	}
	b.properties = m.Properties
	return property, err
}

// NodeValue is a value of a property, by the number of the property.
type NodeValue struct {
	Property uint16
	Value    // not none
}

// Node adds one node. It gets the label unless that is 0, and the values, which [Value.Check] must
// have accepted. Node returns an error for an invalid key, ErrKind for a value of another type than
// its property has, ErrFeatureLen for a node that cannot have its label, or an error of the scratch
// file, after which the load cannot continue.
func (b *Bulk) Node(key Key, label uint16, values []NodeValue) error {
	for i := range values {
		v := &values[i]
		if p := &b.properties[v.Property]; !p.Kind.Has(v.Kind()) {
			return fmt.Errorf("property %q: %w: it is of type %v, not %v", p.Name, ErrKind, p.Kind, v.Kind())
		}
	}
	err := key.Valid()
	if err == nil {
		err = b.checkLabel(key, label)
	}
	if err == nil {
		err = b.makeRoom(0)
	}
	if err != nil {
		return err
	}
	id, err := b.run.keys.id(key)
	if err != nil {
		return err
	}
	b.run.keys.setLabel(id, label)
	for i := range values {
		b.encoded = values[i].Append(b.encoded[:0])
		b.run.add(id, values[i].Property, b.encoded)
	}
	return nil
}

// fits returns ErrLabel if a node with a label cannot have another one.
func (b *Bulk) fits(k Key, has, label uint16) error {
	if has == 0 || label == 0 || has == label {
		return nil
	}
	return fmt.Errorf("%w: node %v has label %s, the edge wants %s", ErrLabel, k.Literal(), b.labels[has].Name, b.labels[label].Name)
}

// checkLabel checks that the node with key k may have a label, if there is such a node.
func (b *Bulk) checkLabel(k Key, label uint16) error {
	if label == 0 || b.s.Meta.FeatureBytes == 0 && !b.strict && !b.guarded {
		return nil
	}
	if b.strict {
		if err := b.fits(k, b.run.keys.label(k), label); err != nil {
			return err
		}
	}
	id, ok := b.s.lookup(k, b.s.Graph.nodes)
	if !ok {
		return nil
	}
	if b.strict {
		if err := b.fits(k, b.s.Label(id), label); err != nil {
			return err
		}
	}
	if has := b.s.Label(id); b.guarded && has != label {
		if r, ok := b.s.Wanting(id); ok {
			return fmt.Errorf("%w: node %v cannot get label %s: it has edges of relation %s, which joins nodes of label %s",
				ErrLabel, k.Literal(), b.labels[label].Name, r.Name, b.labels[has].Name)
		}
	}
	if b.s.Features(id) == nil {
		return nil
	}
	m := Meta{Labels: b.labels}
	err := m.fitFeatures(label, len(b.s.Features(id)))
	b.labels = m.Labels
	return err
}

// Write writes the blocks of the result under the given generation number, and returns the next
// version, whose rows are read from the given place when they are asked for, and the repeats that
// occurred. It returns ErrTooLarge beyond MaxNodes, ErrRepeated for a repeat that the options do
// not allow, ErrWeight for weights whose sum is not a valid weight, or the error of ctx.
func (b *Bulk) Write(ctx context.Context, w Writer, generation uint32, from *Stored) (next *Snapshot, t Tally, err error) {
	if err := b.sort(ctx); err != nil {
		return nil, t, err
	}
	entries, events := b.s.Graph.entries, b.s.events // as they are, if the load has no edges
	if b.hasEdges || len(b.directed) > len(b.s.Graph.directions) {
		if err := b.mirror(ctx); err != nil {
			return nil, t, err
		}
		entries = func(in bool, visit func(Edge) error) error { return b.entries(ctx, in, visit) }
		events = events.merge(b.newest.sorted())
	}
	labels := b.countedLabels()
	values := &newValues{b: b, more: make([]int64, len(b.properties))}
	c := content{
		directions: b.directed, nodes: b.s.Graph.nodes + int(b.numbers.added), keys: b.keys, ascending: b.ascending,
		labels: len(labels), records: &b.numbers.nodes, values: values.merged, numProperties: len(b.properties),
		events: events.all(), entries: entries,
	}
	base, err := c.write(w, generation, from)
	if err = cmp.Or(values.err, err); err != nil {
		return nil, t, err
	}
	next = b.s.replace(base, generation, b.o.Time)
	next.events = events
	next.Meta.BaseEvents = int64(len(events.all()))
	next.Meta.Live += b.numbers.revived
	if b.mirrored != nil { // otherwise the sides are the same
		if err := b.countSides(ctx); err != nil {
			return nil, t, err
		}
	}
	next.Meta.Labels, next.Meta.Relations = labels, b.relations
	next.Meta.Properties, next.Meta.BaseProperties = values.counted(), len(b.properties)
	return next, b.tally, nil
}

// countedLabels returns the labels of the result.
func (b *Bulk) countedLabels() []Label {
	labels := slices.Clone(b.labels)
	for l, n := range b.numbers.counts {
		if l > 0 {
			labels[l].Nodes += n
		}
	}
	return labels
}

// newValues are the values that a load adds.
type newValues struct {
	b    *Bulk
	more []int64 // how many more nodes have a value, by property
	err  error
}

// reader returns a function that returns the next value of a property by node, and false after the
// last one or after an error. It is valid until the next call of reader.
func (n *newValues) reader(property uint16) func() (spill.Value, bool) {
	b := n.b
	switch {
	case int(property) < len(b.inMemory):
		next, err := b.sorter.Sorted(&b.inMemory[property], b.final)
		n.err = cmp.Or(n.err, err)
		return next
	case int(property) < len(b.stored):
		return b.sorted.File.MergeValues(b.stored[property], b.o.Memory/4, &n.err)
	}
	return func() (v spill.Value, ok bool) { return v, false }
}

// of returns the values of a property.
func (n *newValues) of(property uint16) *valueStream {
	s, next := n.b.s, n.reader(property)
	return newValueStream(func() (id ID, v Value, ok bool) {
		stored, ok := next()
		if !ok || n.err != nil {
			return 0, v, false
		}
		d := block.Decoder{B: stored.Stored}
		if v = column.DecodeUnchecked(&d); d.Err != nil {
			n.err = spill.Error(spill.ErrOther)
			return 0, Value{}, false
		}
		if int(stored.ID) >= s.Graph.nodes || s.properties.at(property, stored.ID).Kind() == NoValue {
			n.more[property]++
		}
		return stored.ID, v, true
	})
}

// merged passes the values of a property of the result to visit or to whole, as
// [properties.merged].
func (n *newValues) merged(property uint16, visit func(ID, Value) error, whole func(first ID, block []byte) error) error {
	p := &n.b.s.properties
	return cmp.Or(p.mergedWith(property, n.of(property).over(p.changes(property)), visit, whole), n.err)
}

// counted returns the properties of the result.
func (n *newValues) counted() []Property {
	all := slices.Clone(n.b.properties)
	for i := range all {
		all[i].Nodes = n.more[i]
		if i < len(n.b.s.Meta.Properties) {
			all[i].Nodes += n.b.s.Meta.Properties[i].Nodes
		}
	}
	return all
}

// keys yields the keys of all nodes of the result, by id.
func (b *Bulk) keys(yield func(Key, error) bool) {
	for k, err := range b.s.keys(b.s.Graph.nodes) {
		if !yield(k, err) || err != nil {
			return
		}
	}
	b.newKeys(yield)
}

// ascending yields the keys of all nodes of the result, in key order.
func (b *Bulk) ascending(yield func(block.KeyEntry, error) bool) {
	first := b.s.Graph.nodes
	mergeKeys(b.s.ascending(first), func(yield func(block.KeyEntry, error) bool) {
		next := ID(first)
		for k, err := range b.newKeys {
			if !yield(block.KeyEntry{Key: k, ID: next}, err) {
				return
			}
			next++
		}
	})(yield)
}

// key returns the key of a node of the result, for messages.
func (b *Bulk) key(id ID) (key Key) {
	n := ID(b.s.Graph.nodes)
	if id < n {
		return b.s.Key(id)
	}
	for k, err := range b.newKeys {
		if n == id || err != nil {
			return k
		}
		n++
	}
	return key
}

// edges passes each edge of the result to visit, ascending by (U, V). The first complete pass also
// counts the repeats and collects the newest events.
func (b *Bulk) edges(ctx context.Context, visit func(Edge) error) error {
	c := combiner{repeats: b.o.Repeats, directed: b.directed, key: b.key, visit: visit}
	counted := Meta{Relations: uncounted(b.relations)}
	if b.newest == nil {
		c.newest = new(newestEvents)
		c.visit = func(e Edge) error {
			counted.countEdge(e, 1)
			return visit(e)
		}
	}
	base, stop := iter.Pull(b.s.Graph.Edges())
	defer stop()
	var readErr error
	in := b.sorted.Reader(base, &readErr)
	n := 0
	for e, list, ok := in.Next(); ok; e, list, ok = in.Next() {
		if n++; n%edgesPerCheck == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := c.add(e, list > 0); err != nil {
			return err
		}
	}
	if readErr != nil {
		return readErr
	}
	if err := c.flush(); err != nil {
		return err
	}
	if b.newest == nil {
		b.tally, b.newest, b.relations = c.tally, c.newest, counted.Relations
	}
	return nil
}

// entries passes the row entries of the result to visit, ascending by row, neighbour and relation:
// each entry e is an edge between its row e.U and the neighbour e.V. The rows hold the edges that
// arrive if in is set, and the edges that leave otherwise. An undirected edge that is not a loop is
// in the rows of both its ends, and does both.
func (b *Bulk) entries(ctx context.Context, in bool, visit func(Edge) error) error {
	if err := b.mirror(ctx); err != nil {
		return err
	}
	m := mirrorReader{b: b, ctx: ctx, arriving: in, visit: visit}
	m.merger = b.mirrored.Reader(nil, &m.err)
	m.advance()
	err := b.edges(ctx, func(e Edge) error {
		if in && !b.bothWays(&e) {
			return nil
		}
		for m.ok && m.next.Before(&e, b.mirrored.Directed) {
			if err := m.pass(); err != nil {
				return err
			}
		}
		return visit(e)
	})
	for err == nil && m.ok {
		err = m.pass()
	}
	return cmp.Or(err, m.err)
}

// countSides counts the sources and the targets of the relations of the result, in one pass over
// the edges by source and by target.
func (b *Bulk) countSides(ctx context.Context) error {
	s := sideCounter{relations: b.relations}
	if !s.needed() {
		return nil
	}
	var readErr error
	arriving := b.mirrored.Reader(nil, &readErr)
	next, _, ok := arriving.Next()
	arrive := func(last ID) {
		for ok && next.U <= last {
			s.add(next.U, next.Relation, true)
			next, _, ok = arriving.Next()
		}
	}
	err := b.edges(ctx, func(e Edge) error {
		arrive(e.U)
		s.add(e.U, e.Relation, false)
		return nil
	})
	if err = cmp.Or(err, readErr); err != nil {
		return err
	}
	arrive(MaxNodes)
	s.end()
	return readErr
}

// bothWays reports whether an edge is in the rows of both its ends.
func (b *Bulk) bothWays(e *Edge) bool { return !b.directed[e.Relation] && e.U != e.V }

// mirrorReader reads the mirrored edges that the rows in one direction have.
type mirrorReader struct {
	b        *Bulk
	ctx      context.Context
	arriving bool // the rows hold edges that arrive: all mirrored ones
	visit    func(Edge) error
	merger   *spill.Merger[Edge]
	next     Edge
	ok       bool // there is a next edge
	n        int  // number of edges passed
	err      error
}

// advance reads the next edge.
func (m *mirrorReader) advance() {
	m.next, _, m.ok = m.merger.Next()
	for m.ok && !m.arriving && !m.b.bothWays(&m.next) {
		m.next, _, m.ok = m.merger.Next()
	}
}

// pass passes the next edge to visit.
func (m *mirrorReader) pass() error {
	if m.n++; m.n%edgesPerCheck == 0 && m.ctx.Err() != nil {
		return m.ctx.Err()
	}
	e := m.next
	m.advance()
	return m.visit(e)
}

// mirror sorts the edges of the result by (V, U), unless that has been done.
func (b *Bulk) mirror(ctx context.Context) error {
	if b.mirrored != nil {
		return nil
	}
	all := slices.Repeat(spill.Directions{true}, len(b.directed))
	m := &spill.Sorted{Directed: all, ByU: true, Limit: b.o.Memory / 2, Buffers: b.o.Memory / 4, File: spill.File{Create: b.o.Scratch}}
	m.Reuse(&b.sorted)
	err := b.edges(ctx, func(e Edge) error {
		e.U, e.V = e.V, e.U
		return m.Add(e)
	})
	if err == nil {
		m.Sort()
		b.mirrored = m
	}
	return err
}
