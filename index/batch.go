package index

import (
	"fmt"
	"slices"
)

// Batch collects the changes of one commit on top of a snapshot. It must not be used by several goroutines at once.
type Batch struct {
	now      Snapshot // the snapshot with the changes so far
	edit     *Edit
	by       *owner
	pending  map[Key]ID // ids of keys that are not in the dictionary yet
	record   record
	edges    map[[2]ID]int       // index of a pair's change in record.edges
	nodes    map[ID]int          // index of a node's change in record.nodes
	features map[uint32]struct{} // changed blocks of feature vectors
	grown    bool                // a node, an edge or a vector has been added, even if others have been removed
	undo     undo

	observations uint64 // number of observations stored
}

// Begin starts a batch of changes that make the version after s.
func (s *Snapshot) Begin() *Batch {
	b := &Batch{
		now: *s, edit: s.Graph.Edit(), by: new(owner), pending: map[Key]ID{},
		edges: map[[2]ID]int{}, nodes: map[ID]int{}, features: map[uint32]struct{}{},
	}
	b.now.Graph = b.edit.View()
	b.now.Meta.Labels = slices.Clone(s.Meta.Labels)
	return b
}

// View returns the snapshot as changed so far. It changes with the batch. Changes made after View may be missing
// from its graph until View is called again.
func (b *Batch) View() *Snapshot {
	b.edit.View()
	return &b.now
}

// Edge returns the edge from u to v and whether there is one. It costs less than View.
func (b *Batch) Edge(u, v ID) (Edge, bool) { return b.edit.Edge(u, v) }

// ID returns the id of the node with key k and whether there is one.
func (b *Batch) ID(k Key) (ID, bool) {
	if id, ok := b.pending[k]; ok {
		return id, b.now.Live(id)
	}
	id, ok := b.baseID(k)
	return id, ok && b.now.Live(id)
}

// baseID returns the id that a key had before the batch, and whether it had one. The dictionary may contain keys
// of versions later than the one the batch began on.
func (b *Batch) baseID(k Key) (ID, bool) {
	id, ok := b.now.Dict.ID(k)
	return id, ok && int64(id) < b.now.Meta.Nodes-int64(len(b.record.keys))
}

// Key returns the key of a node of the batch.
func (b *Batch) Key(id ID) Key {
	if n := int(b.now.Meta.Nodes) - len(b.record.keys); int(id) >= n {
		return b.record.keys[int(id)-n]
	}
	return b.now.Key(id)
}

// AddNode returns the id of the node with key k, and creates the node if it does not exist. created reports whether
// it did.
func (b *Batch) AddNode(k Key) (id ID, created bool, err error) {
	if err := k.Valid(); err != nil {
		return 0, false, err
	}
	id, known := b.pending[k]
	if !known {
		id, known = b.baseID(k)
	}
	if known && b.now.Live(id) {
		return id, false, nil
	}
	b.now.Meta.Live++
	b.grown = true
	if known {
		b.setNode(id, node{})
		return id, true, nil
	}
	if b.now.Meta.Nodes >= maxEntries {
		return 0, false, fmt.Errorf("%w: %d nodes", ErrTooLarge, b.now.Meta.Nodes)
	}
	id = ID(b.now.Meta.Nodes)
	b.now.Meta.Nodes++
	b.record.keys = append(b.record.keys, k)
	b.pending[k] = id
	b.edit.Grow(int(b.now.Meta.Nodes))
	return id, true, nil
}

// SetLabel sets the label of the node id to the label with this name, "" for none. It returns an error if the
// length of the node's feature vector is not that of the label, or if there are too many labels.
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
		if err := b.now.Meta.fit(label, len(v)); err != nil {
			return err
		}
	}
	n.label = label
	b.setNode(id, n)
	return nil
}

// SetFeatures sets the feature vector of the node id, nil for none. It returns an error if a number is not finite,
// or if the length is not that of the other nodes with its label.
func (b *Batch) SetFeatures(id ID, v []float32) error {
	for i, x := range v {
		if infinite(x) {
			return fmt.Errorf("index: feature %d of %d is %v", i, len(v), x)
		}
	}
	if len(v) > 0 {
		if err := b.now.Meta.fit(b.now.Label(id), len(v)); err != nil {
			return err
		}
		v = slices.Clone(v)
		b.grown = true
	} else {
		v = nil
	}
	b.undo.features(b, id)
	b.now.featureBytes += 4 * int64(len(v)-len(b.now.Features(id)))
	b.now.features.set(b.by, id, v)
	b.features[id/featureBlock] = struct{}{}
	return nil
}

// SetEdge sets the weight w > 0 and the time t of the edge from u to v, or removes the edge if w is 0. It returns
// the previous weight, 0 if there was no edge.
func (b *Batch) SetEdge(u, v ID, w float32, t int64) (old float32, err error) {
	if w != 0 && !ValidWeight(w) {
		return 0, fmt.Errorf("%w: %v", ErrWeight, w)
	}
	if !b.now.Meta.Directed && u > v {
		u, v = v, u
	}
	change := edgeChange{Edge: Edge{U: u, V: v, Weight: w, Time: t}}
	had, ok := b.edit.Edge(u, v)
	switch {
	case !ok && w == 0, ok && had == change.Edge:
		return had.Weight, nil // nothing changes
	case w == 0:
		change.Time = 0
	}
	b.undo.edge(b, u, v)
	old = b.edit.Set(u, v, w, t)
	change.Old, change.last = old, had.Time
	b.grown = b.grown || old == 0
	b.now.Meta.Edges, b.now.Meta.Loops = b.now.Graph.edges, b.now.Graph.loops
	if i, ok := b.edges[[2]ID{u, v}]; ok {
		change.Old, change.last = b.record.edges[i].Old, b.record.edges[i].last
		b.record.edges[i] = change
		return old, nil
	}
	b.edges[[2]ID{u, v}] = len(b.record.edges)
	b.record.edges = append(b.record.edges, change)
	return old, nil
}

// DeleteNode removes a node with its edges, label and features. Its key keeps the id.
func (b *Batch) DeleteNode(id ID) error {
	out, _ := b.edit.View().Out(id)
	for _, v := range slices.Clone(out) {
		if _, err := b.SetEdge(id, v, 0, 0); err != nil {
			return err
		}
	}
	in, _ := b.edit.View().In(id)
	for _, u := range slices.Clone(in) {
		if _, err := b.SetEdge(u, id, 0, 0); err != nil {
			return err
		}
	}
	if b.now.Features(id) != nil {
		if err := b.SetFeatures(id, nil); err != nil {
			return err
		}
	}
	b.now.Meta.Live--
	b.setNode(id, node{deleted: true})
	return nil
}

func (b *Batch) setNode(id ID, n node) {
	b.undo.node(b, id)
	b.now.nodes.set(b.by, id, n)
	if i, ok := b.nodes[id]; ok {
		b.record.nodes[i].node = n
		return
	}
	b.nodes[id] = len(b.record.nodes)
	b.record.nodes = append(b.record.nodes, nodeChange{id, n})
}

// Grows reports whether something has been added.
func (b *Batch) Grows() bool { return b.grown }

// Bytes returns the approximate memory that the next version holds, in bytes.
func (b *Batch) Bytes() int64 {
	return b.now.Bytes() + addedKey*int64(len(b.record.keys)) + 16*int64(len(b.record.edges))
}

// SetModel sets the model that answers requests which name no model; "" means no such model.
func (b *Batch) SetModel(name string) { b.now.Meta.Model = name }

// Empty reports whether nothing has been changed.
func (b *Batch) Empty() bool { return b.record.empty() && len(b.features) == 0 }

// Write ends the batch and writes the records of the next version to w.
func (b *Batch) Write(w Writer) error {
	m := &b.now.Meta
	m.Version++
	if !b.record.empty() {
		b.record.prev, b.record.first = m.LogEnd, ID(m.Nodes)-ID(len(b.record.keys))
		m.LogEnd = m.Version
		if err := putSplit(w, makeKey(prefixLog, m.Version), b.record.encode()); err != nil {
			return err
		}
	}
	for block := range b.features {
		if err := b.now.writeFeatures(w, block); err != nil {
			return err
		}
	}
	return putMeta(w, []byte{prefixMeta}, m)
}

// writeFeatures writes a block of feature vectors to w.
func (s *Snapshot) writeFeatures(w Writer, block uint32) error {
	vectors := make([][]float32, featureBlock)
	for i := range vectors {
		vectors[i] = s.Features(block*featureBlock + ID(i))
	}
	return putSplit(w, makeKey(prefixFeature, block), appendFeatures(nil, vectors))
}

// Snapshot returns the new version. It must be called only once the records of Write are durable.
func (b *Batch) Snapshot() *Snapshot {
	b.now.Graph = b.edit.Graph()
	b.now.Dict.Add(b.record.keys)
	b.now.Log.add(b.now.Meta.Version, b.record.edges)
	b.now.Events = b.now.Events.add(eventsOf(b.record.edges)...)
	next := b.now // a copy, so that the rest of the batch can be collected
	return &next
}

// undo holds the steps that undo the changes of a batch since its first open savepoint, in the order of the
// changes.
type undo struct {
	points int // number of open savepoints
	steps  []func()
}

// Savepoint calls f and undoes the changes of f if it returns an error or panics. Savepoints may be nested.
func (b *Batch) Savepoint(f func() error) (err error) {
	u := &b.undo
	u.points++
	back, done := b.rollback(), false
	defer func() {
		if !done || err != nil {
			back()
		}
		if u.points--; u.points == 0 {
			u.steps = nil
		}
	}()
	err = f()
	done = true
	return err
}

// rollback returns a function that undoes all later changes.
func (b *Batch) rollback() func() {
	meta, grown, featureBytes := b.now.Meta, b.grown, b.now.featureBytes
	steps, keys, changes := len(b.undo.steps), len(b.record.keys), len(b.edit.changes)
	return func() {
		b.undo.undoTo(steps)
		for _, k := range b.record.keys[keys:] {
			delete(b.pending, k)
		}
		b.record.keys = b.record.keys[:keys]
		b.edit.shrink(int(meta.Nodes))
		b.edit.changes = b.edit.changes[:changes]
		b.now.Meta, b.grown, b.now.featureBytes = meta, grown, featureBytes
	}
}

// undoTo undoes all steps after the first n, the last one first.
func (u *undo) undoTo(n int) {
	for i := len(u.steps) - 1; i >= n; i-- {
		u.steps[i]()
	}
	u.steps = u.steps[:n]
}

// edge records the current edge from s to t for undo.
func (u *undo) edge(b *Batch, s, t ID) {
	if u.points == 0 {
		return
	}
	had, _ := b.edit.Edge(s, t) // weight 0 if there is no edge
	at, recorded := b.edges[[2]ID{s, t}]
	var change edgeChange
	if recorded {
		change = b.record.edges[at]
	}
	u.steps = append(u.steps, func() {
		b.edit.Set(s, t, had.Weight, had.Time)
		if recorded {
			b.record.edges[at] = change
			return
		}
		delete(b.edges, [2]ID{s, t})
		b.record.edges = b.record.edges[:len(b.record.edges)-1]
	})
}

// node records the current record of a node for undo.
func (u *undo) node(b *Batch, id ID) {
	if u.points == 0 {
		return
	}
	had := b.now.nodes.at(id)
	at, recorded := b.nodes[id]
	u.steps = append(u.steps, func() {
		b.now.nodes.set(b.by, id, had)
		if recorded {
			b.record.nodes[at].node = had
			return
		}
		delete(b.nodes, id)
		b.record.nodes = b.record.nodes[:len(b.record.nodes)-1]
	})
}

// features records the current vector of a node for undo.
func (u *undo) features(b *Batch, id ID) {
	if u.points == 0 {
		return
	}
	had := b.now.Features(id)
	_, marked := b.features[id/featureBlock]
	u.steps = append(u.steps, func() {
		b.now.features.set(b.by, id, had)
		if !marked {
			delete(b.features, id/featureBlock)
		}
	})
}
