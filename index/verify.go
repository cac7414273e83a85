package index

import (
	"context"
	"encoding/binary"
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
	v := &verifier{ctx: ctx, s: s, stored: opener{r: r, s: s}, nodes: map[ID]node{}, edges: map[[2]ID]*edgeHistory{}}
	for _, step := range []func() error{v.stored.baseMeta, v.log, v.dictionary, v.nodeBlocks, v.adjacency, v.events, v.features} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// verifier compares a snapshot with its records.
type verifier struct {
	ctx    context.Context
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

// log compares the log with that of the snapshot, and collects the changes since the base. The records must form a
// chain.
func (v *verifier) log() error {
	m, last, left := &v.s.Meta, uint64(0), v.s.Log.changes
	for e, err := range scanSplit(v.stored.r, []byte{prefixLog}, logKey(m.LogStart+1)) {
		if err == nil {
			err = v.ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("log: %w", err)
		}
		if len(e.Key) != 9 {
			return corruptKey(e.Key)
		}
		version := binary.BigEndian.Uint64(e.Key[1:])
		rec, err := decodeRecord(e.Value)
		if err == nil && !rec.follows(last, m.LogStart) {
			err = fmt.Errorf("%w: the record of version %d, which comes before it, is missing", ErrCorrupt, rec.prev)
		}
		if err == nil {
			left, err = rec.trimPrefix(left)
		}
		if err == nil && version > m.Base {
			err = v.record(rec)
		}
		if err != nil {
			return fmt.Errorf("log of version %d: %w", version, err)
		}
		last = version
	}
	if len(left) > 0 || max(last, m.LogStart) != max(m.LogEnd, m.LogStart) {
		return fmt.Errorf("%w: the log ends at version %d, the meta record says %d", ErrCorrupt, last, m.LogEnd)
	}
	return nil
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
		return v.ctx.Err()
	}
	err := v.stored.blocks(prefixDict, func(first uint32, block []byte) error {
		if int(first) != n {
			return missingBlock(prefixDict, uint32(n))
		}
		keys, err := decodeKeys(block)
		if err != nil {
			return err
		}
		return compare(keys)
	})
	if err != nil {
		return err
	}
	if base := v.s.Meta.BaseNodes; int64(n) != base {
		return fmt.Errorf("%w: the base has %d keys, the meta record says %d", ErrCorrupt, n, base)
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
	blocks := uint32(0)
	err := v.stored.dense(prefixNode, func(no uint32, block []byte) error {
		blocks++
		b, err := verifyChecksum(block)
		if err != nil {
			return err
		}
		d := &decoder{b: b}
		for id := ID(no) * nodeBlock; len(d.b) > 0 && d.err == nil; id++ {
			n := d.node()
			if _, changed := v.nodes[id]; changed || d.err != nil {
				continue
			}
			if err := compare(id, n); err != nil {
				return err
			}
		}
		if d.err != nil {
			return d.err
		}
		return v.ctx.Err()
	})
	if err == nil && blocks != v.s.Meta.nodeBlocks() {
		err = missingBlock(prefixNode, blocks)
	}
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
	var last Edge
	read, edges := int64(0), int64(0)
	err := v.stored.dense(prefixAdjacency, func(_ uint32, block []byte) error {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		return EachEdge(block, func(e Edge) error {
			ascends := read == 0 || e.U > last.U || e.U == last.U && e.V > last.V
			if !ascends || int64(max(e.U, e.V)) >= v.s.Meta.BaseNodes || !v.s.Graph.directed && e.U > e.V {
				return fmt.Errorf("%w: edge %d -> %d is out of order", ErrCorrupt, e.U, e.V)
			}
			last = e
			read++
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
	for e, err := range scanSplit(v.stored.r, []byte{prefixFeature}, nil) {
		if err == nil {
			err = v.ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("features: %w", err)
		}
		if len(e.Key) != 5 {
			return corruptKey(e.Key)
		}
		no := binary.BigEndian.Uint32(e.Key[1:])
		vectors, err := decodeFeatures(e.Value)
		if err != nil {
			return fmt.Errorf("feature block %d: %w", no, err)
		}
		for i, f := range vectors {
			id := no*featureBlock + ID(i)
			if f == nil {
				continue
			}
			if !slices.Equal(f, v.s.Features(id)) {
				return fmt.Errorf("%w: the features of node %d differ", ErrCorrupt, id)
			}
			left--
		}
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
