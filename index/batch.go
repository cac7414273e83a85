package index

import (
	"fmt"
	"slices"
)

// Batch is the changes of one commit in the making, on top of a snapshot. One goroutine at a time.
type Batch struct {
	now      Snapshot // as changed so far
	edit     *Edit
	by       *owner
	pending  map[Key]ID // keys that the dictionary does not have yet
	record   record
	edges    map[[2]ID]int       // where a pair's change is in record.edges
	nodes    map[ID]int          // where a node's change is in record.nodes
	features map[uint32]struct{} // blocks of feature vectors that changed
	grown    bool                // by a node, an edge or a vector; others may have gone
	undo     undo

	observations uint32 // stored
}

// Begin starts the changes of the version after s.
func (s *Snapshot) Begin() *Batch {
	b := &Batch{
		now: *s, edit: s.Graph.Edit(), by: new(owner), pending: map[Key]ID{},
		edges: map[[2]ID]int{}, nodes: map[ID]int{}, features: map[uint32]struct{}{},
	}
	b.now.Graph = b.edit.View()
	b.now.Meta.Labels = slices.Clone(s.Meta.Labels)
	return b
}

// View returns the snapshot as changed so far. It changes with the batch; what is changed after View
// may be missing from its graph until View is called again.
func (b *Batch) View() *Snapshot {
	b.edit.View()
	return &b.now
}

// Edge returns the edge from u to v and whether there is one, without the cost of a View.
func (b *Batch) Edge(u, v ID) (Edge, bool) { return b.edit.Edge(u, v) }

// ID returns the id of the node with key k and whether there is one.
func (b *Batch) ID(k Key) (ID, bool) {
	if id, ok := b.pending[k]; ok {
		return id, b.now.Live(id)
	}
	id, ok := b.earlier(k)
	return id, ok && b.now.Live(id)
}

// earlier returns the id that a key had before the batch, and whether it had one: the dictionary may
// know keys of versions that are later than the one the batch began on.
func (b *Batch) earlier(k Key) (ID, bool) {
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

// AddNode returns the id of the node with key k, made if there is none, and whether it was made.
func (b *Batch) AddNode(k Key) (id ID, created bool, err error) {
	if err := k.Valid(); err != nil {
		return 0, false, err
	}
	id, known := b.pending[k]
	if !known {
		id, known = b.earlier(k)
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

// SetLabel gives the node id the label with this name, "" for none. It returns an error if the node
// has a feature vector of another length than the label's, or there are too many labels.
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

// SetFeatures gives the node id a feature vector, nil for none. It returns an error where a number
// is not finite, or the length is not that of the other nodes of its label.
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

// SetEdge gives the edge from u to v the weight w > 0 and the time t, or removes it where w is 0,
// and returns the weight it had, 0 if there was none.
func (b *Batch) SetEdge(u, v ID, w float32, t int64) (old float32, err error) {
	if w != 0 && !ValidWeight(w) {
		return 0, fmt.Errorf("%w: %v", ErrWeight, w)
	}
	if !b.now.Meta.Directed && u > v {
		u, v = v, u
	}
	change := EdgeChange{Edge: Edge{U: u, V: v, Weight: w, Time: t}}
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

// Bytes returns about the memory that the next version holds.
func (b *Batch) Bytes() int64 {
	return b.now.Bytes() + addedKey*int64(len(b.record.keys)) + 16*int64(len(b.record.edges))
}

// SetModel says which model answers where a request names none; "": none does.
func (b *Batch) SetModel(name string) { b.now.Meta.Model = name }

// Empty reports whether nothing has been changed.
func (b *Batch) Empty() bool { return b.record.empty() && len(b.features) == 0 }

// Write ends the batch: it hands the records of the next version to w.
func (b *Batch) Write(w Writer) error {
	m := &b.now.Meta
	m.Version++
	if !b.record.empty() {
		b.record.prev, b.record.first = m.LogEnd, ID(m.Nodes)-ID(len(b.record.keys))
		m.LogEnd = m.Version
		if err := putSplit(w, logKey(m.Version), b.record.encode()); err != nil {
			return err
		}
	}
	for block := range b.features {
		if err := b.now.writeFeatures(w, block); err != nil {
			return err
		}
	}
	return putMeta(w, metaKey(), m)
}

// writeFeatures hands a block of feature vectors to w.
func (s *Snapshot) writeFeatures(w Writer, block uint32) error {
	vectors := make([][]float32, featureBlock)
	for i := range vectors {
		vectors[i] = s.Features(block*featureBlock + ID(i))
	}
	return putSplit(w, featureKey(block), appendFeatures(nil, vectors))
}

// Snapshot returns the new version, once what Write wrote is durable.
func (b *Batch) Snapshot() *Snapshot {
	b.now.Graph = b.edit.Graph()
	b.now.Dict.Add(b.record.keys)
	b.now.Log.add(b.now.Meta.Version, b.record.edges)
	b.now.Events = b.now.Events.add(eventsOf(b.record.edges)...)
	next := b.now // the rest of the batch is not to live as long
	return &next
}
