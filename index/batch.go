package index

import (
	"fmt"
	"slices"

	"kith/index/internal/pages"
)

// Batch collects the changes of one commit on top of a snapshot. It must not be used by several
// goroutines at once.
type Batch struct {
	now     Snapshot // the snapshot with the changes so far
	edit    *Edit
	by      *pages.Owner
	index   keyIndex // of record.keys, which are not in the dictionary yet
	record  record   // all changes so far; Write merges the changes of an edge or node
	vectors []vectorChange
	grown   bool // a node, an edge or a vector has been added, even if others have been removed
	// revised is set by a change of an edge that existed. Without one, no edge has changed twice.
	revised bool

	observations     uint64    // number of observations stored
	observationBytes int64     // number of their bytes
	sum              uint32    // their checksum
	began            *Meta     // of the snapshot that the batch began on
	base             *Graph    // likewise
	stored           variables // likewise
	// ends has the numbers of edges that leave or reach a node, for relations whose sides are counted.
	// It has those of nodes whose edges have changed.
	ends map[end]int
	// named has the numbers of relations by name; nil until one is asked for. Numbers of relations
	// that were undone may be left.
	named map[string]uint16
}

// end is a side of a relation at a node.
type end struct {
	node     ID
	relation uint16
	target   bool // the edges that reach the node
}

// vectorChange is a node's feature vector before a change.
type vectorChange struct {
	id  ID
	old []float32
}

// Begin starts a batch of changes that make the version after s.
func (s *Snapshot) Begin() *Batch {
	b := &Batch{now: *s, edit: s.Graph.Edit(), by: new(pages.Owner), began: &s.Meta, base: s.Graph, stored: s.variables, ends: map[end]int{}}
	b.now.Graph = b.edit.view()
	b.now.Meta.Labels = slices.Clone(s.Meta.Labels)
	b.now.Meta.Relations = slices.Clone(s.Meta.Relations)
	b.now.Meta.Properties = slices.Clone(s.Meta.Properties)
	return b
}

// View returns the snapshot as changed so far. It changes with the batch. Changes made after View
// may be missing from its graph until View is called again.
func (b *Batch) View() *Snapshot {
	b.edit.view()
	return &b.now
}

// Meta returns the meta record as changed so far. It changes with the batch.
func (b *Batch) Meta() *Meta { return &b.now.Meta }

// Edge is [Graph.Edge] of the graph as changed so far. It costs less than View.
func (b *Batch) Edge(u, v ID) (Edge, bool) { return b.edit.edge(u, v) }

// EdgeOf is [Graph.EdgeOf] of the graph as changed so far.
func (b *Batch) EdgeOf(x Edge) (Edge, bool) { return b.edit.edgeOf(b.edit.g.inOrder(x)) }

// Relate adds a relation without edges and returns its number. It returns an error for an invalid
// name, or if there are too many relations.
func (b *Batch) Relate(r Relation) (relation uint16, err error) {
	r.Edges, r.Loops = 0, 0
	if relation, err = b.now.Meta.addRelation(r); err == nil {
		b.edit.Relate(r.Directed)
		if b.named != nil {
			b.named[r.Name] = relation
		}
	}
	return relation, err
}

// RelationNumber is [Meta.RelationNumber] for the relations as changed so far. It takes no longer
// for many relations.
func (b *Batch) RelationNumber(name string) (uint16, bool) {
	all := b.now.Meta.Relations
	if b.named == nil {
		b.named = make(map[string]uint16, len(all))
		for i, r := range all {
			b.named[r.Name] = uint16(i)
		}
	}
	number, known := b.named[name]
	return number, known && int(number) < len(all) && all[number].Name == name
}

// Label returns the number of the label of a node, 0 for none.
func (b *Batch) Label(id ID) uint16 { return b.now.Label(id) }

// LabelNumber returns the number of the label with this name, which it makes if it does not exist.
func (b *Batch) LabelNumber(name string) (uint16, error) { return b.now.Meta.label(name) }

// ID returns the id of the node with key k and whether there is one.
func (b *Batch) ID(k Key) (ID, bool) {
	id, ok := b.lookup(k)
	return id, ok && b.now.Live(id)
}

// lookup returns the id of a key, and whether it has one. The dictionary may contain keys of
// versions later than the one the batch began on.
func (b *Batch) lookup(k Key) (ID, bool) {
	first := b.firstNew()
	for i := range b.index.find(k, b.record.keys) {
		if id := ID(first + i); !b.now.erased.At(id) {
			return id, true
		}
	}
	return b.now.lookup(k, first)
}

// firstNew returns the number of ids that were assigned before the batch.
func (b *Batch) firstNew() int { return int(b.now.Meta.Nodes) - len(b.record.keys) }

// Key returns the key of a node of the batch.
func (b *Batch) Key(id ID) Key {
	if n := b.firstNew(); int(id) >= n && !b.now.erased.At(id) {
		return b.record.keys[int(id)-n]
	}
	return b.now.Key(id)
}

// AddNode returns the id of the node with key k, and creates the node if it does not exist. created
// reports whether it did.
func (b *Batch) AddNode(k Key) (id ID, created bool, err error) {
	if err := k.Valid(); err != nil {
		return 0, false, err
	}
	id, known := b.lookup(k)
	if known && b.now.Live(id) {
		return id, false, nil
	}
	if !known && b.now.Meta.Nodes >= MaxNodes {
		return 0, false, tooManyNodes()
	}
	b.now.Meta.Live++
	b.grown = true
	if known {
		b.setNode(id, node{})
		return id, true, nil
	}
	return b.addKey(k), true, nil
}

// addKey assigns the next id to a key that has none.
func (b *Batch) addKey(k Key) ID {
	id := ID(b.now.Meta.Nodes)
	b.now.Meta.Nodes++
	b.index.add(k, len(b.record.keys))
	b.record.keys = append(b.record.keys, k)
	b.edit.Grow(int(b.now.Meta.Nodes))
	return id
}

// SetLabel sets the label of the node id to the label with this name, "" for none. It returns an
// error if the length of the node's feature vector differs from Label.Features, or if there are too
// many labels.
func (b *Batch) SetLabel(id ID, name string) error {
	label, err := b.now.Meta.label(name)
	if err != nil {
		return err
	}
	n := b.now.nodes.at(id)
	if n.label == label {
		return nil
	}
	if v := b.now.Features(id); v != nil {
		if err := b.now.Meta.fitFeatures(label, len(v)); err != nil {
			return err
		}
	}
	n.label = label
	b.setNode(id, n)
	return nil
}

// SetFeatures sets the feature vector of the node id, nil for none. It returns an error if a number
// is not finite, or if the length of v differs from Label.Features.
func (b *Batch) SetFeatures(id ID, v []float32) error {
	for i, x := range v {
		if notFinite(x) {
			return fmt.Errorf("index: feature %d of %d is %v", i, len(v), x)
		}
	}
	if len(v) > 0 {
		if err := b.now.Meta.fitFeatures(b.now.Label(id), len(v)); err != nil {
			return err
		}
		v = append(newVector(len(v))[:0], v...)
		b.grown = true
	} else {
		v = nil
	}
	old := b.now.Features(id)
	b.vectors = append(b.vectors, vectorChange{id, old})
	b.now.Meta.FeatureBytes += 4 * int64(len(v)-len(old))
	b.now.features.set(b.by, id, v)
	return nil
}

// SetEdge sets the weight and the time of an edge, or removes the edge if the weight is 0. It
// returns the previous weight, 0 if there was no edge.
func (b *Batch) SetEdge(x Edge) (old float32, err error) {
	if x.Weight != 0 && !ValidWeight(x.Weight) {
		return 0, fmt.Errorf("%w: %v", ErrWeight, x.Weight)
	}
	change := edgeChange{Edge: b.edit.g.inOrder(x)}
	had, ok := b.edit.edgeOf(change.Edge)
	switch {
	case !ok && x.Weight == 0, ok && had == change.Edge:
		return had.Weight, nil // nothing changes
	case x.Weight == 0:
		change.Time = 0
	}
	change.Old, change.last = had.Weight, had.Time
	b.edit.Set(change.Edge)
	b.grown, b.revised = b.grown || !ok, b.revised || ok
	b.countEdge(change.Edge, edgesAdded(change.Old, change.Weight))
	b.record.edges = append(b.record.edges, change)
	return change.Old, nil
}

// countEdge counts an edge that is added, or removed if n is -1, and its ends.
func (b *Batch) countEdge(x Edge, n int64) {
	m := &b.now.Meta
	m.countEdge(x, n)
	r := &m.Relations[x.Relation]
	if n == 0 || !r.sidesCounted(x.Relation) {
		return
	}
	for _, at := range []end{{x.U, x.Relation, false}, {x.V, x.Relation, true}} {
		other := end{at.node, at.relation, !at.target}
		had, has := b.edgesAt(at), b.edgesAt(other) > 0
		b.ends[at] = had + int(n)
		if (had > 0) == (had+int(n) > 0) {
			continue
		}
		r.countSides(!at.target, at.target, n)
		if has {
			r.Both += n
		}
	}
}

// edgesAt returns the number of edges at an end.
func (b *Batch) edgesAt(at end) int {
	n, known := b.ends[at]
	if known || int(at.node) >= b.base.nodes || int(at.relation) >= len(b.base.directions) {
		return n
	}
	rows := b.base.out
	if at.target {
		rows = b.base.in
	}
	edges := rows.only(at.node, at.relation)
	return len(edges.To)
}

// DeleteNode removes a node with its edges, label, features and properties. Its key keeps the id.
func (b *Batch) DeleteNode(id ID) error {
	for _, x := range b.edit.view().Touching(id) {
		x.Weight = 0
		if _, err := b.SetEdge(x); err != nil {
			return err
		}
	}
	if b.now.Features(id) != nil {
		if err := b.SetFeatures(id, nil); err != nil {
			return err
		}
	}
	for property := range b.now.Meta.Properties {
		b.changeValue(id, uint16(property), Value{})
	}
	b.now.Meta.Live--
	b.setNode(id, node{deleted: true})
	return nil
}

// Known returns the id of a key, also while its node is deleted, and whether it has one.
func (b *Batch) Known(k Key) (ID, bool) { return b.lookup(k) }

// Erase removes a node as DeleteNode does, and its key: the id keeps a key that says nothing, and
// the key gets another id when it is added again. The node may be deleted already. What names the
// node is removed from other records by [Snapshot.Scrub].
func (b *Batch) Erase(id ID) error {
	if b.now.Live(id) {
		if err := b.DeleteNode(id); err != nil {
			return err
		}
	}
	b.setErased(id)
	return nil
}

func (b *Batch) setErased(id ID) {
	b.record.erased = append(b.record.erased, id)
	b.now.erased.Set(b.by, id, true)
	b.now.Meta.Erased++
}

func (b *Batch) setNode(id ID, n node) {
	old := b.now.nodes.at(id)
	b.record.nodes = append(b.record.nodes, nodeChange{id: id, node: n, old: old})
	b.now.nodes.set(b.by, id, n)
	b.now.Meta.count(old, n)
}

// Grows reports whether something has been added.
func (b *Batch) Grows() bool { return b.grown }

// KeptBytes returns the KeptBytes of the next version.
func (b *Batch) KeptBytes() int64 {
	return b.now.KeptBytes() + addedKey*int64(len(b.record.keys)) + weightChangeBytes*int64(len(b.record.edges))
}

// LoadedBytes returns the LoadedBytes of the next version.
func (b *Batch) LoadedBytes() int64 { return b.now.Graph.LoadedBytes() + b.KeptBytes() }

// SetModel sets the model that answers requests which name no model; "" means no such model.
func (b *Batch) SetModel(name string) { b.now.Meta.Model = name }

// Follow makes the batch follow a version of the database that has the same graph as the one on
// which it began. m is the meta record of that version.
func (b *Batch) Follow(m *Meta) {
	own := &b.now.Meta
	own.Version, own.History, own.Time, own.Model = m.Version, m.History, m.Time, m.Model
	own.Kept, own.KeptBytes = m.Kept, m.KeptBytes
}

// Empty reports whether nothing has been changed.
func (b *Batch) Empty() bool {
	return b.record.empty() && len(b.vectors) == 0 && len(b.now.Meta.Relations) == len(b.began.Relations) &&
		len(b.stored.changes(b.now.variables)) == 0
}

// Write ends the batch and writes the records of the next version to w.
func (b *Batch) Write(w Writer, c Commit) error {
	m := &b.now.Meta
	version := m.Version + 1
	b.record.nodes = mergeRepeats(b.record.nodes, func(c *nodeChange) ID { return c.id },
		func(c, later *nodeChange) { c.node = later.node })
	b.mergeEdges()
	b.record.values = mergeRepeats(b.record.values, func(c *valueChange) [2]ID { return [2]ID{c.id, ID(c.property)} },
		func(c, later *valueChange) { c.value = later.value })
	slices.Sort(b.record.erased)
	sum, bytes := b.sum, b.observationBytes
	if !b.record.empty() {
		b.record.prev, b.record.first = m.LogEnd, ID(m.Nodes)-ID(len(b.record.keys))
		m.LogEnd = version
		logged := b.record.encode()
		if err := putSplit(w, makeKey(prefixLog, version), logged); err != nil {
			return err
		}
		sum, bytes = addSum(sum, logged), bytes+int64(len(logged))
	}
	blocks := map[uint32]bool{}
	for _, c := range b.vectors {
		blocks[c.id/featureBlock] = true
	}
	for block := range blocks {
		if err := b.now.writeFeatures(w, block); err != nil {
			return err
		}
	}
	variables := b.stored.changes(b.now.variables)
	for _, v := range variables {
		if err := v.write(w); err != nil {
			return err
		}
	}
	sum = addVariables(sum, variables)
	var change *Change
	if m.KeepBytes > 0 {
		change = b.change(c.Decisions)
		change.Bytes, change.Variables = bytes, variables
	}
	if c.Sum != nil {
		if change != nil {
			change.Scrubbed = &Scrubbed{Before: *c.Sum, After: sum}
		}
		sum = *c.Sum
	}
	if err := m.record(w, &c, sum, change); err != nil {
		return err
	}
	return putMeta(w, []byte{prefixMeta}, m)
}

// mergeEdges merges the changes of each edge.
func (b *Batch) mergeEdges() {
	if !b.revised {
		return
	}
	later := func(c, later *edgeChange) { c.Edge = later.Edge }
	if len(b.now.Meta.Relations) == 1 { // a key of 64 bits is looked up faster
		b.record.edges = mergeRepeats(b.record.edges, func(c *edgeChange) uint64 { return uint64(c.U)<<32 | uint64(c.V) }, later)
		return
	}
	b.record.edges = mergeRepeats(b.record.edges, func(c *edgeChange) [3]ID { return [3]ID{c.U, c.V, ID(c.Relation)} }, later)
}

// mergeRepeats merges the later changes of a key into the first one, in place.
func mergeRepeats[T any, K comparable](list []T, key func(*T) K, merge func(first, later *T)) []T {
	if len(list) < 2 {
		return list
	}
	first, n := make(map[K]int, len(list)), 0
	for i := range list {
		k := key(&list[i])
		if at, ok := first[k]; ok {
			merge(&list[at], &list[i])
			continue
		}
		list[n], first[k] = list[i], n
		n++
	}
	return list[:n]
}

// Snapshot returns the new version. It must be called only once the records of Write are durable.
func (b *Batch) Snapshot() *Snapshot {
	b.now.Graph = b.edit.Graph()
	b.now.dict.add(b.record.keys)
	b.now.log.add(b.now.Meta.Version, b.record.edges)
	b.now.events = b.now.events.add(eventsOf(b.record.edges)...)
	next := b.now // a copy, so that the rest of the batch can be collected
	return &next
}

// Savepoint calls f and undoes the changes of f if it returns an error or panics. Savepoints may be
// nested.
func (b *Batch) Savepoint(f func() error) (err error) {
	failed, before, changes := true, *b, len(b.edit.changes)
	defer func() {
		if failed {
			b.rollback(&before, changes)
		}
	}()
	err = f()
	failed = err != nil
	return err
}

// rollback undoes all changes since the batch had the state before, the last ones first, and drops
// the changes of the edit after the first given number.
func (b *Batch) rollback(before *Batch, changes int) {
	for _, c := range slices.Backward(b.record.edges[len(before.record.edges):]) {
		b.countEdge(c.Edge, edgesAdded(c.Weight, c.Old))
		b.edit.Set(Edge{Ends: Ends{U: c.U, V: c.V}, Relation: c.Relation, Weight: c.Old, Time: c.last})
	}
	for _, c := range slices.Backward(b.record.nodes[len(before.record.nodes):]) {
		b.now.nodes.set(b.by, c.id, c.old)
		b.now.Meta.count(c.node, c.old)
	}
	for _, c := range slices.Backward(b.vectors[len(before.vectors):]) {
		b.now.features.set(b.by, c.id, c.old)
	}
	for _, c := range slices.Backward(b.record.values[len(before.record.values):]) {
		b.now.properties.set(b.by, c.property, c.id, c.old)
		b.now.Meta.countValue(c.property, c.value, c.old)
		b.now.properties.forgetWords(b.by, c.property)
	}
	for _, id := range b.record.erased[len(before.record.erased):] {
		b.now.erased.Set(b.by, id, false)
	}
	b.edit.unrelate(len(before.now.Meta.Relations))
	b.edit.shrink(int(before.now.Meta.Nodes))
	b.edit.changes = b.edit.changes[:changes]
	b.record, b.vectors, b.grown = before.record, before.vectors, before.grown
	b.now.variables = before.now.variables
	counted, related, valued := b.now.Meta.Labels, b.now.Meta.Relations, b.now.Meta.Properties
	b.now.Meta = before.now.Meta
	copy(b.now.Meta.Relations, related)
	for i := range b.now.Meta.Labels {
		// The labels may have been copied, and counted further, since then.
		b.now.Meta.Labels[i].Nodes = counted[i].Nodes
	}
	for i := range b.now.Meta.Properties {
		b.now.Meta.Properties[i].Nodes = valued[i].Nodes
	}
}

// writeFeatures writes a block of feature vectors to w.
func (s *Snapshot) writeFeatures(w Writer, no uint32) error {
	b := s.features.block(no)
	return putSplit(w, makeKey(prefixFeature, no), appendFeatures(nil, &b))
}

// SetProperty sets the value that the node id has of the property with this name; no value removes
// it. It returns ErrKind if the property has another type, or an error for a value that cannot be
// stored, for an invalid name, or if there are too many properties.
func (b *Batch) SetProperty(id ID, name string, v Value) error {
	if v.Kind() == NoValue {
		if number, known := b.now.Meta.PropertyNumber(name); known {
			b.changeValue(id, number, v)
		}
		return nil
	}
	number, err := b.now.Meta.propertyFor(name, v)
	if err == nil {
		b.changeValue(id, number, v)
	}
	return err
}

// changeValue sets a value unless the node has it already.
func (b *Batch) changeValue(id ID, property uint16, v Value) {
	if !b.now.properties.at(property, id).Equal(v) {
		b.setValue(id, property, v)
	}
}

// setValue sets and records a value.
func (b *Batch) setValue(id ID, property uint16, v Value) {
	old := b.now.properties.at(property, id)
	b.record.values = append(b.record.values, valueChange{id: id, property: property, value: v, old: old})
	b.now.properties.set(b.by, property, id, v)
	b.now.Meta.countValue(property, old, v)
	if !b.now.properties.keepsWords(property, id, &b.now.Meta) {
		b.now.properties.forgetWords(b.by, property)
	}
	b.grown = b.grown || v.Kind() != NoValue
}

// SetVariable sets the value of a variable; no bytes remove it. It returns ErrTooLarge beyond the
// limits, or an error for an invalid name.
func (b *Batch) SetVariable(name string, value []byte) error {
	if err := checkName("variable", name); err != nil {
		return err
	}
	if n := len(value); n > MaxVariable {
		return fmt.Errorf("%w: variable %q: a value of %d bytes; at most %d are accepted", ErrTooLarge, name, n, MaxVariable)
	}
	next := b.now.variables.with(name, value)
	if len(next) > MaxVariables {
		return tooMany("variable", name, MaxVariables)
	}
	if n := next.bytes(); n > MaxVariableBytes {
		return fmt.Errorf("%w: variable %q: all variables together would have %d bytes; at most %d are accepted", ErrTooLarge, name, n, MaxVariableBytes)
	}
	b.now.variables, b.now.Meta.Variables = next, len(next)
	return nil
}
