package index

import (
	"cmp"
	"fmt"
	"slices"
)

// Bulk gathers many edges and lays them into a snapshot's graph at once, as a new base. An edge
// that is there already, or comes twice, keeps the weight and time that came last.
type Bulk struct {
	s     *Snapshot
	ids   map[Key]ID // keys that s does not know, numbered from s's nodes on
	keys  []Key
	edges []Edge
	// last is the key asked for before: lists come grouped by source.
	last   Key
	lastID ID
	any    bool
}

// Bulk begins a bulk load on top of s.
func (s *Snapshot) Bulk() *Bulk { return &Bulk{s: s, ids: map[Key]ID{}} }

// Edge adds one edge. It returns an error for a key or a weight that cannot be stored.
func (b *Bulk) Edge(src, dst Key, w float32, t int64) error {
	if !ValidWeight(w) {
		return fmt.Errorf("%w: %v", ErrWeight, w)
	}
	if err := dst.Valid(); err != nil {
		return err // before src becomes a node
	}
	if !b.any || src != b.last {
		id, err := b.id(src)
		if err != nil {
			return err
		}
		b.last, b.lastID, b.any = src, id, true
	}
	v, err := b.id(dst)
	if err != nil {
		return err
	}
	e := Edge{U: b.lastID, V: v, Weight: w, Time: t}
	b.edges = append(b.edges, e)
	return nil
}

// Len returns the number of edges gathered.
func (b *Bulk) Len() int { return len(b.edges) }

// Bytes returns about the memory that gathering and sorting takes.
func (b *Bulk) Bytes() int64 {
	return 24*(2*int64(len(b.edges))+b.s.Graph.edges) + addedKey*int64(len(b.keys))
}

func (b *Bulk) id(k Key) (ID, error) {
	if id, ok := b.ids[k]; ok {
		return id, nil
	}
	if id, ok := b.s.Dict.ID(k); ok && int(id) < b.s.Graph.nodes {
		return id, nil
	}
	if err := k.Valid(); err != nil {
		return 0, err
	}
	n := b.s.Graph.nodes + len(b.keys)
	if n >= maxEntries {
		return 0, fmt.Errorf("%w: %d nodes", ErrTooLarge, n)
	}
	b.ids[k] = ID(n)
	b.keys = append(b.keys, k)
	return ID(n), nil
}

// Result returns the next version of the snapshot, to be written under generation, and how many of
// the edges gathered repeat another or one that was there.
func (b *Bulk) Result(generation uint32) (next *Snapshot, repeated int64, err error) {
	d, err := b.dictionary()
	if err != nil {
		return nil, 0, err
	}
	gathered := int64(len(b.edges))
	b.edges = b.merged()
	g, err := Base(b.s.Meta.Directed, d.Len(), func(visit func(Edge) error) error {
		for _, e := range b.edges {
			if err := visit(e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	next = b.s.Replace(g, d, generation)
	b.revive(next)
	return next, gathered - (g.edges - b.s.Graph.edges), nil
}

// dictionary numbers the new keys in key order behind the ones that are there, and renumbers the
// gathered edges.
func (b *Bulk) dictionary() (*Dict, error) {
	n := b.s.Graph.nodes
	order := make([]ID, len(b.keys))
	for i := range order {
		order[i] = ID(i)
	}
	slices.SortFunc(order, func(x, y ID) int { return b.keys[x].Compare(b.keys[y]) })
	keys := b.s.Dict.Keys()[:n]
	rank := make([]ID, len(b.keys))
	for r, i := range order {
		rank[i] = ID(n + r)
		keys = append(keys, b.keys[i])
	}
	renumber := func(id ID) ID {
		if int(id) < n {
			return id
		}
		return rank[int(id)-n]
	}
	for i := range b.edges {
		e := &b.edges[i]
		e.U, e.V = renumber(e.U), renumber(e.V)
		if !b.s.Meta.Directed && e.U > e.V {
			e.U, e.V = e.V, e.U
		}
	}
	return NewDict(keys)
}

// merged returns the edges there were and the gathered ones, ascending, each pair as it came last.
func (b *Bulk) merged() []Edge {
	pair := func(e Edge) uint64 { return uint64(e.U)<<32 | uint64(e.V) }
	all := slices.AppendSeq(make([]Edge, 0, int(b.s.Graph.edges)+len(b.edges)), b.s.Graph.Edges())
	all = append(all, b.edges...)
	slices.SortStableFunc(all, func(x, y Edge) int { return cmp.Compare(pair(x), pair(y)) })
	n := 0
	for i, e := range all {
		if i+1 < len(all) && pair(e) == pair(all[i+1]) {
			continue
		}
		all[n] = e
		n++
	}
	return all[:n]
}

// revive makes the deleted nodes that have edges again live.
func (b *Bulk) revive(next *Snapshot) {
	by := new(owner)
	for _, e := range b.edges {
		for _, id := range [2]ID{e.U, e.V} {
			if next.nodes.at(id).deleted {
				next.nodes.set(by, id, node{})
				next.Meta.Live++
			}
		}
	}
}
