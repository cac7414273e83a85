package index

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// Bulk collects many edges and adds them to a snapshot's graph at once, as a new base. [Repeats] defines the result
// for an edge that occurs twice or exists already.
//
// Edges are collected under provisional ids, in the order in which their keys first appear, because the final ids
// follow key order. Memory holds the new keys and one run of edges; the other runs are in the scratch file. Only
// the resulting graph has to fit into memory.
type Bulk struct {
	s       *Snapshot
	repeats Repeats
	ints    map[int64]ID // integer keys that are not in s; ids start at the number of nodes of s
	strs    map[string]ID
	keys    []Key
	runs    runs
	changed map[ID]node // changed nodes of s: a deleted node has edges again, or a node has a new label

	source, target uint16   // labels of the endpoints of edges; 0: none
	labels         []Label  // labels by number, if there are new ones
	keyLabels      []uint16 // labels of keys, if source or target is set
	// last is the previous source key and lastID its id: lists are often grouped by source.
	last   Key
	lastID ID
	any    bool
}

// BulkOptions bounds the memory of a bulk load.
type BulkOptions struct {
	// Run is the number of edges to keep in memory; 0 means all. Sorting takes 48 bytes per edge.
	Run int
	// Scratch creates the scratch file. It is called at most once, when edges no longer fit into memory.
	Scratch func() (Scratch, error)
	Repeats Repeats
}

// Bulk starts a bulk load on top of s.
func (s *Snapshot) Bulk(o BulkOptions) *Bulk {
	return &Bulk{
		s: s, repeats: o.Repeats, ints: map[int64]ID{}, strs: map[string]ID{}, changed: map[ID]node{},
		runs: runs{directed: s.Meta.Directed, limit: o.Run, scratch: o.Scratch},
	}
}

// SetLabels sets the labels that the sources and the targets of the following edges get, "" for none. Two labels
// become partners. It returns an error for an invalid label.
func (b *Bulk) SetLabels(source, target string) (err error) {
	m := b.s.Meta
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

// Edge adds one edge. It returns an error for an invalid key or weight, ErrTooLarge beyond 2^32 nodes,
// ErrFeatureLen for a node that cannot have its label, or an error of the scratch file.
func (b *Bulk) Edge(src, dst Key, w float32, t int64) error {
	if !ValidWeight(w) {
		return fmt.Errorf("%w: %v", ErrWeight, w)
	}
	if err := dst.Valid(); err != nil {
		return err // check dst before src becomes a node
	}
	if err := cmp.Or(b.checkLabel(src, b.source), b.checkLabel(dst, b.target)); err != nil {
		return err
	}
	if !b.any || src != b.last {
		id, err := b.id(src, b.source)
		if err != nil {
			return err
		}
		b.last, b.lastID, b.any = src, id, true
	}
	v, err := b.id(dst, b.target)
	if err != nil {
		return err
	}
	return b.runs.add(Edge{U: b.lastID, V: v, Weight: w, Time: t})
}

// Bytes returns the approximate memory for collecting and sorting, in bytes.
func (b *Bulk) Bytes() int64 { return b.runs.bytes() + addedKey*int64(len(b.keys)) }

// id returns the provisional id of the node with key k. The node gets the label unless that is 0.
func (b *Bulk) id(k Key, label uint16) (ID, error) {
	n := ID(b.s.Graph.nodes)
	if id, ok := b.provisional(k); ok {
		if label > 0 {
			b.keyLabels[id-n] = label
		}
		return id, nil
	}
	if id, ok := b.s.Dict.ID(k); ok && id < n {
		b.change(id, label)
		return id, nil
	}
	if err := k.Valid(); err != nil {
		return 0, err
	}
	if int64(n)+int64(len(b.keys)) >= maxEntries {
		return 0, fmt.Errorf("%w: %d nodes", ErrTooLarge, int64(n)+int64(len(b.keys)))
	}
	id := n + ID(len(b.keys))
	if k.isStr {
		b.strs[k.str] = id
	} else {
		b.ints[k.num] = id
	}
	b.keys = append(b.keys, k)
	if b.source > 0 || b.target > 0 {
		b.keyLabels = append(b.keyLabels, label)
	}
	return id, nil
}

// change makes a node of s live and sets its label unless that is 0.
func (b *Bulk) change(id ID, label uint16) {
	was := b.s.nodes.at(id)
	n, ok := b.changed[id]
	if !ok && !was.deleted {
		n = was
	}
	if label > 0 {
		n.label = label
	}
	if n != was {
		b.changed[id] = n
	} else if ok {
		delete(b.changed, id)
	}
}

// checkLabel checks that the node with key k may have a label, if s has such a node with features.
func (b *Bulk) checkLabel(k Key, label uint16) error {
	if label == 0 || b.s.featureBytes == 0 {
		return nil
	}
	id, ok := b.s.Dict.ID(k)
	if !ok || int(id) >= b.s.Graph.nodes || b.s.Features(id) == nil {
		return nil
	}
	m := Meta{Labels: b.labels}
	err := m.fitFeatures(label, len(b.s.Features(id)))
	b.labels = m.Labels
	return err
}

func (b *Bulk) provisional(k Key) (id ID, ok bool) {
	if k.isStr {
		id, ok = b.strs[k.str]
		return id, ok
	}
	id, ok = b.ints[k.num]
	return id, ok
}

// Result returns the next version of the snapshot, to be written under generation, and the repeats that occurred.
// Before it allocates the graph and its dictionary, it calls fits with their size in bytes, and returns an error of
// fits. It returns ErrRepeated for a repeat that the options do not allow, ErrWeight for weights whose sum is not a
// valid weight, or the error of ctx.
func (b *Bulk) Result(
	ctx context.Context, generation uint32, fits func(bytes int64) error,
) (next *Snapshot, t Tally, err error) {
	d, rank, err := b.dictionary()
	if err != nil {
		return nil, t, err
	}
	if err := b.runs.sort(ctx, b.final(rank)); err != nil {
		return nil, t, err
	}
	var newest *newestEvents // collected in the second pass
	edges := func(visit func(Edge) error) (err error) {
		t, err = b.combined(ctx, d, newest, visit)
		return err
	}
	base, err := newBase(b.s.Meta.Directed, d.Len(), edges, func(bytes int64) error {
		newest = new(newestEvents)
		return fits(bytes + d.Bytes())
	})
	if err != nil {
		return nil, t, err
	}
	next = b.s.replace(base, d, generation)
	next.Events = b.s.Events.merge(newest.sorted())
	next.Meta.BaseEvents = int64(len(next.Events.All()))
	b.setNodes(next, rank)
	return next, t, nil
}

// combined passes each edge of the result to visit, ascending, and adds the events of the collected edges to newest
// unless that is nil. It returns the repeats that occurred.
func (b *Bulk) combined(ctx context.Context, d *Dict, newest *newestEvents, visit func(Edge) error) (Tally, error) {
	c := combiner{repeats: b.repeats, directed: b.s.Meta.Directed, dict: d, visit: visit, newest: newest}
	n := 0
	err := b.runs.merged(b.s.Graph.Edges(), func(e Edge, loaded bool) error {
		if n++; n%edgesPerCheck == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		return c.add(e, loaded)
	})
	if err == nil {
		err = c.flush()
	}
	return c.tally, err
}

// dictionary numbers the new keys in key order after the existing ones. The i-th key collected gets the id rank[i].
func (b *Bulk) dictionary() (d *Dict, rank []ID, err error) {
	b.ints, b.strs = nil, nil
	n := b.s.Graph.nodes
	order := make([]ID, len(b.keys))
	for i := range order {
		order[i] = ID(i)
	}
	slices.SortFunc(order, func(x, y ID) int { return b.keys[x].Compare(b.keys[y]) })
	keys := b.s.Dict.Keys()[:n]
	rank = make([]ID, len(b.keys))
	for r, i := range order {
		rank[i] = ID(n + r)
		keys = append(keys, b.keys[i])
	}
	b.keys = nil
	d, err = newDict(keys)
	return d, rank, err
}

// final returns a function that replaces the provisional ids of an edge by the final ones.
func (b *Bulk) final(rank []ID) func(*Edge) {
	n := ID(b.s.Graph.nodes)
	return func(e *Edge) {
		if e.U >= n {
			e.U = rank[e.U-n]
		}
		if e.V >= n {
			e.V = rank[e.V-n]
		}
	}
}

// setNodes makes deleted nodes that have edges again live, and sets the labels.
func (b *Bulk) setNodes(next *Snapshot, rank []ID) {
	by := new(owner)
	for id, n := range b.changed {
		if b.s.nodes.at(id).deleted {
			next.Meta.Live++
		}
		next.nodes.set(by, id, n)
	}
	for i, label := range b.keyLabels {
		if label > 0 {
			next.nodes.set(by, rank[i], node{label: label})
		}
	}
	if b.labels != nil {
		next.Meta.Labels = b.labels
	}
}
