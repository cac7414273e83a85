package index

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"kith/ppr"
)

// Verify compares the records of a store with the snapshot in memory, block by block. It needs memory for the
// changes since the base, not for a second graph. It returns ErrCorrupt with the first difference, or the error of
// ctx.
func (s *Snapshot) Verify(ctx context.Context, r Reader) error {
	meta, err := ReadMeta(r)
	if err != nil {
		return err
	}
	if meta == nil {
		return fmt.Errorf("%w: there is no meta record", ErrCorrupt)
	}
	if !reflect.DeepEqual(*meta, s.Meta) {
		return fmt.Errorf("%w: the meta record is %+v, the graph in memory has %+v", ErrCorrupt, *meta, s.Meta)
	}
	v := &verifier{s: s, stored: opener{ctx: ctx, r: r, s: s}, nodes: map[ID]node{}, edges: map[[2]ID]*edgeHistory{}}
	for _, step := range []func() error{v.stored.baseMeta, v.log, v.dictionary, v.nodeBlocks, v.adjacency, v.events, v.features} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// verifier compares a snapshot with its records.
type verifier struct {
	s      *Snapshot
	stored opener // reads the blocks; does not change s

	// Changes of the commits since the base, from the log.
	keys  []Key
	nodes map[ID]node
	edges map[[2]ID]*edgeHistory
}

// edgeHistory describes the changes of an edge since the base.
type edgeHistory struct {
	first float32 // weight in the base; 0 if the edge was not there
	last  Edge    // the edge now; weight 0 if it was removed
	found bool    // the edge was found in the base
}

// log compares the log with that of the snapshot, and collects the changes since the base.
func (v *verifier) log() error {
	left := v.s.Log.changes
	err := v.stored.records(func(version uint64, rec *record) (err error) {
		left, err = rec.trimPrefix(left)
		if err == nil && version > v.s.Meta.Base {
			err = v.record(rec)
		}
		return err
	})
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("%w: %d changes in memory are not in the log", ErrCorrupt, len(left))
	}
	return err
}

// trimPrefix checks that the list of changes begins with those of the record, and returns the rest of the list.
func (r *record) trimPrefix(changes []ppr.Change) (rest []ppr.Change, err error) {
	for _, e := range r.edges {
		if len(changes) == 0 || changes[0] != (ppr.Change{U: e.U, V: e.V, Old: e.Old, New: e.Weight}) {
			return nil, fmt.Errorf("%w: the change of edge %d -> %d is not in memory", ErrCorrupt, e.U, e.V)
		}
		changes = changes[1:]
	}
	return changes, nil
}

func (v *verifier) record(rec *record) error {
	if int64(rec.first) != v.s.Meta.BaseNodes+int64(len(v.keys)) {
		return fmt.Errorf("%w: its keys are those from node %d on, after %d nodes", ErrCorrupt, rec.first, v.s.Meta.BaseNodes+int64(len(v.keys)))
	}
	v.keys = append(v.keys, rec.keys...)
	for _, n := range rec.nodes {
		v.nodes[n.id] = n.node
	}
	for _, e := range rec.edges {
		if !v.s.Graph.directed && e.U > e.V {
			e.U, e.V = e.V, e.U
		}
		h := v.edges[[2]ID{e.U, e.V}]
		switch {
		case h == nil:
			h = &edgeHistory{first: e.Old}
			v.edges[[2]ID{e.U, e.V}] = h
		case h.last.Weight != e.Old:
			return fmt.Errorf("%w: edge %d -> %d had weight %v, the log says %v", ErrCorrupt, e.U, e.V, h.last.Weight, e.Old)
		}
		h.last = e.Edge
	}
	return nil
}

// dictionary compares the keys of the base, then those of the log.
func (v *verifier) dictionary() error {
	n := 0
	compare := func(keys []Key) error {
		for _, k := range keys {
			if n >= v.s.Graph.nodes || v.s.Key(ID(n)) != k {
				return fmt.Errorf("%w: the key of node %d is stored as %v", ErrCorrupt, n, k)
			}
			n++
		}
		return nil
	}
	if err := v.stored.baseKeys(compare); err != nil {
		return err
	}
	if err := compare(v.keys); err != nil {
		return err
	}
	if n != v.s.Graph.nodes {
		return fmt.Errorf("%w: %d keys are stored for %d nodes", ErrCorrupt, n, v.s.Graph.nodes)
	}
	return nil
}

// nodeBlocks compares the records of nodes. Each node with a record in the snapshot must have it in the base or in
// the log.
func (v *verifier) nodeBlocks() error {
	left := 0
	for _, n := range v.s.nodes.all() {
		if n != (node{}) {
			left++
		}
	}
	compare := func(id ID, n node) error {
		if int64(id) >= v.s.Meta.Nodes || n != v.s.nodes.at(id) {
			return fmt.Errorf("%w: the records of node %d differ", ErrCorrupt, id)
		}
		if n != (node{}) {
			left--
		}
		return nil
	}
	err := v.stored.baseNodes(func(id ID, n node) error {
		if _, changed := v.nodes[id]; changed {
			return nil
		}
		return compare(id, n)
	})
	if err != nil {
		return err
	}
	for id, n := range v.nodes {
		if err := compare(id, n); err != nil {
			return err
		}
	}
	if left != 0 {
		return fmt.Errorf("%w: %d records of nodes are missing", ErrCorrupt, left)
	}
	return nil
}

// adjacency compares the edges of the base, with the changes of the log applied.
func (v *verifier) adjacency() error {
	order := baseBuilder{directed: v.s.Graph.directed, nodes: int(v.s.Meta.BaseNodes)}
	edges := int64(0)
	err := v.stored.dense(prefixAdjacency, func(_ uint32, block []byte) error {
		return eachEdge(block, func(e Edge) error {
			if err := order.check(e); err != nil {
				return err
			}
			if h := v.edges[[2]ID{e.U, e.V}]; h != nil {
				h.found = true
				if h.first != e.Weight {
					return fmt.Errorf("%w: edge %d -> %d has weight %v, the log says %v", ErrCorrupt, e.U, e.V, e.Weight, h.first)
				}
				return nil
			}
			edges++
			return v.edge(e)
		})
	})
	if err != nil {
		return err
	}
	for _, h := range v.edges {
		if !h.found && h.first != 0 {
			return fmt.Errorf("%w: edge %d -> %d is missing, the log says it has weight %v", ErrCorrupt, h.last.U, h.last.V, h.first)
		}
		if h.last.Weight != 0 {
			edges++
		}
		if err := v.edge(h.last); err != nil {
			return err
		}
	}
	if edges != v.s.Graph.edges {
		return fmt.Errorf("%w: %d edges are stored, %d are in memory", ErrCorrupt, edges, v.s.Graph.edges)
	}
	return nil
}

// edge compares a stored edge with the snapshot; weight 0 means that the edge must not exist.
func (v *verifier) edge(e Edge) error {
	now, ok := v.s.Graph.Edge(e.U, e.V)
	if ok != (e.Weight != 0) || ok && now != e {
		return fmt.Errorf("%w: edge %d -> %d is stored with weight %v and time %d, and is %v and %d in memory",
			ErrCorrupt, e.U, e.V, e.Weight, e.Time, now.Weight, now.Time)
	}
	return nil
}

// features compares the feature vectors.
func (v *verifier) features() error {
	left := 0
	for _, f := range v.s.features.all() {
		if f != nil {
			left++
		}
	}
	err := v.stored.vectors(func(id ID, f []float32) error {
		if !slices.Equal(f, v.s.Features(id)) {
			return fmt.Errorf("%w: the features of node %d differ", ErrCorrupt, id)
		}
		left--
		return nil
	})
	if err != nil {
		return err
	}
	if left != 0 {
		return fmt.Errorf("%w: %d feature vectors are missing", ErrCorrupt, left)
	}
	return nil
}

// events checks that the newest events of the base can be read.
func (v *verifier) events() error {
	_, err := v.stored.readEvents()
	return err
}
