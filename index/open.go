package index

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
)

func putMeta(w Writer, key []byte, m *Meta) error {
	b, err := m.encode()
	if err != nil {
		return err
	}
	return putSplit(w, key, b)
}

// WriteMeta writes the meta record of s to w.
func (s *Snapshot) WriteMeta(w Writer) error { return putMeta(w, metaKey(), &s.Meta) }

// WithModel returns the snapshot with the named model as the one that answers requests which name no model; "" means no
// such model.
func (s *Snapshot) WithModel(name string) *Snapshot {
	if s.Meta.Model == name {
		return s
	}
	next := *s
	next.Meta.Model = name
	return &next
}

// ReadMeta reads the meta record from r. It returns nil if there is no record, ErrMismatch for a record in a different
// format, or ErrCorrupt.
func ReadMeta(r Reader) (*Meta, error) {
	m, err := readMeta(r, metaKey())
	if err != nil {
		return nil, fmt.Errorf("meta: %w", err)
	}
	return m, nil
}

func readMeta(r Reader, key []byte) (*Meta, error) {
	b, ok, err := getSplit(r, key)
	if !ok || err != nil {
		return nil, err
	}
	m, err := decodeMeta(b)
	if err != nil {
		return nil, err
	}
	return &m, nil
}

// Open reads the latest version from r. It returns nil if there is no version, ErrMismatch if the store has another
// format, or ErrCorrupt with the place if the records are inconsistent.
func Open(r Reader) (*Snapshot, error) {
	meta, err := ReadMeta(r)
	if meta == nil || err != nil {
		return nil, err
	}
	s := New(*meta)
	s.Meta = *meta
	o := opener{ctx: context.Background(), r: r, s: s, by: new(owner)}
	for _, step := range []func() error{o.baseMeta, o.dictionary, o.nodes, o.adjacency, o.events, o.features, o.log, o.checkNewest, o.checkCounters} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// opener builds a snapshot from its records.
type opener struct {
	ctx context.Context
	r   Reader
	s   *Snapshot
	by  *owner
}

// baseMeta checks the copy of the meta record that belongs to the generation.
func (o *opener) baseMeta() error {
	m := &o.s.Meta
	base, err := readMeta(o.r, baseKey(m.Generation))
	if err == nil && (base == nil || base.Generation != m.Generation || base.Version > m.Version) {
		err = fmt.Errorf("%w: it is missing, or of a different version", ErrCorrupt)
	}
	if err != nil {
		return fmt.Errorf("meta record of generation %d: %w", m.Generation, err)
	}
	return nil
}

// blocks passes the blocks of one kind of the generation to visit, in order.
func (o *opener) blocks(kind byte, visit func(no uint32, block []byte) error) error {
	g := o.s.Meta.Generation
	if g == 0 {
		return nil
	}
	for e, err := range o.r.Scan(generationPrefix(kind, g), nil) {
		if err := cmp.Or(err, o.ctx.Err()); err != nil {
			return err
		}
		if len(e.Key) != 9 {
			return corruptKey(e.Key)
		}
		no := binary.BigEndian.Uint32(e.Key[5:])
		if err := visit(no, e.Value); err != nil {
			return fmt.Errorf("block %c %d of generation %d: %w", kind, no, g, err)
		}
	}
	return nil
}

// dense is like blocks for a kind whose blocks have consecutive numbers. It returns ErrCorrupt if a block between
// others is missing.
func (o *opener) dense(kind byte, visit func(no uint32, block []byte) error) error {
	next := uint32(0)
	return o.blocks(kind, func(no uint32, block []byte) error {
		if no != next {
			return missingBlock(kind, next)
		}
		next++
		return visit(no, block)
	})
}

func missingBlock(kind byte, no uint32) error {
	return fmt.Errorf("%w: block %c %d is missing", ErrCorrupt, kind, no)
}

func (o *opener) dictionary() error {
	var keys []Key
	err := o.baseKeys(func(list []Key) error {
		keys = append(keys, list...)
		return nil
	})
	if err == nil {
		o.s.Dict, err = newDict(keys)
	}
	return err
}

// baseKeys passes the keys of the base to visit, block by block.
func (o *opener) baseKeys(visit func([]Key) error) error {
	n := int64(0)
	err := o.blocks(prefixDict, func(first uint32, block []byte) error {
		if int64(first) != n {
			return missingBlock(prefixDict, uint32(n))
		}
		keys, err := decodeKeys(block)
		if err != nil {
			return err
		}
		n += int64(len(keys))
		return visit(keys)
	})
	if base := o.s.Meta.BaseNodes; err == nil && n != base {
		err = fmt.Errorf("%w: the base has %d keys, the meta record says %d", ErrCorrupt, n, base)
	}
	return err
}

// decodeKeys decodes a block of the dictionary.
func decodeKeys(block []byte) ([]Key, error) {
	b, err := verifyChecksum(block)
	if err != nil {
		return nil, err
	}
	keys, last := []Key{}, int64(0)
	d := &decoder{b: b}
	for len(d.b) > 0 && d.err == nil {
		keys = append(keys, d.key(&last))
	}
	return keys, d.err
}

func (o *opener) nodes() error { return o.baseNodes(o.setNode) }

func (o *opener) setNode(id ID, n node) error {
	if n != (node{}) {
		o.s.nodes.set(o.by, id, n)
	}
	return nil
}

// baseNodes passes the node records of the base to visit.
func (o *opener) baseNodes(visit func(ID, node) error) error {
	n := uint32(0)
	err := o.dense(prefixNode, func(no uint32, block []byte) error {
		n++
		return o.nodeBlock(no, block, visit)
	})
	if err == nil && n != o.s.Meta.nodeBlocks() {
		err = missingBlock(prefixNode, n)
	}
	return err
}

// nodeBlocks returns the number of blocks of node records in the base.
func (m *Meta) nodeBlocks() uint32 {
	if m.Generation == 0 {
		return 0
	}
	return uint32((m.BaseNodes + nodeBlock - 1) / nodeBlock)
}

// nodeBlock passes the records of a block to visit.
func (o *opener) nodeBlock(no uint32, block []byte, visit func(ID, node) error) error {
	b, err := verifyChecksum(block)
	if err != nil {
		return err
	}
	d := &decoder{b: b}
	for id := uint64(no) * nodeBlock; len(d.b) > 0; id++ {
		if err := o.checkID(id); err != nil {
			return err
		}
		n := d.node()
		if d.err != nil {
			return d.err
		}
		if err := visit(ID(id), n); err != nil {
			return err
		}
	}
	return nil
}

// checkID checks that the id of a record has been assigned.
func (o *opener) checkID(id uint64) error {
	if id >= uint64(o.s.Meta.Nodes) {
		return fmt.Errorf("%w: record of node %d of %d", ErrCorrupt, id, o.s.Meta.Nodes)
	}
	return nil
}

func (o *opener) adjacency() error {
	var blocks [][]byte
	err := o.dense(prefixAdjacency, func(_ uint32, block []byte) error {
		blocks = append(blocks, bytes.Clone(block))
		return nil
	})
	if err != nil {
		return err
	}
	o.s.Graph, err = newBase(o.s.Meta.Directed, int(o.s.Meta.BaseNodes), func(visit func(Edge) error) error {
		for no, b := range blocks {
			if err := eachEdge(b, visit); err != nil {
				return fmt.Errorf("adjacency block %d: %w", no, err)
			}
		}
		return nil
	})
	if n := o.s.Meta.BaseEdges; err == nil && o.s.Graph.edges != n {
		err = fmt.Errorf("%w: the base has %d edges, the meta record says %d", ErrCorrupt, o.s.Graph.edges, n)
	}
	return err
}

func (o *opener) features() error { return o.vectors(o.setVector) }

func (o *opener) setVector(id ID, v []float32) error {
	o.s.features.set(o.by, id, v)
	o.s.featureBytes += 4 * int64(len(v))
	return nil
}

// vectors passes the stored feature vectors to visit.
func (o *opener) vectors(visit func(ID, []float32) error) error {
	for e, err := range scanSplit(o.r, []byte{prefixFeature}, nil) {
		if err := cmp.Or(err, o.ctx.Err()); err != nil {
			return fmt.Errorf("features: %w", err)
		}
		if len(e.Key) != 5 {
			return corruptKey(e.Key)
		}
		no := binary.BigEndian.Uint32(e.Key[1:])
		if err := o.featureBlock(no, e.Value, visit); err != nil {
			return fmt.Errorf("feature block %d: %w", no, err)
		}
	}
	return nil
}

// featureBlock passes the vectors of a block to visit.
func (o *opener) featureBlock(no uint32, block []byte, visit func(ID, []float32) error) error {
	vectors, err := decodeFeatures(block)
	if err != nil {
		return err
	}
	for i, v := range vectors {
		if v == nil {
			continue
		}
		err := o.checkID(uint64(no)*featureBlock + uint64(i))
		if err == nil {
			err = visit(no*featureBlock+ID(i), v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// log applies the commits since the base, and keeps the earlier ones for states of earlier versions.
func (o *opener) log() error {
	o.s.Log = Log{start: o.s.Meta.LogStart}
	edit := o.s.Graph.Edit()
	err := o.records(func(version uint64, rec *record) error { return o.redo(edit, version, rec) })
	if err != nil {
		return err
	}
	edit.Grow(int(o.s.Meta.Nodes))
	o.s.Graph = edit.Graph()
	return nil
}

// records passes the records of the log to visit. They must form a chain that ends at the version stated by the meta
// record.
func (o *opener) records(visit func(version uint64, rec *record) error) error {
	m, last := &o.s.Meta, uint64(0)
	for e, err := range scanSplit(o.r, []byte{prefixLog}, logKey(m.LogStart+1)) {
		if err := cmp.Or(err, o.ctx.Err()); err != nil {
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
			err = visit(version, rec)
		}
		if err != nil {
			return fmt.Errorf("log of version %d: %w", version, err)
		}
		last = version
	}
	if max(last, m.LogStart) != max(m.LogEnd, m.LogStart) {
		return fmt.Errorf("%w: the log ends at version %d, the meta record says %d", ErrCorrupt, last, m.LogEnd)
	}
	return nil
}

// checkNewest checks that no observation and no decision is later than the meta record states. A later one means
// that the meta record is outdated.
func (o *opener) checkNewest() error {
	m := &o.s.Meta
	for prefix, last := range map[byte]uint64{prefixObservation: m.Version, prefixDecision: m.Decisions} {
		for e, err := range o.r.Scan([]byte{prefix}, binary.BigEndian.AppendUint64([]byte{prefix}, last+1)) {
			if err == nil {
				err = fmt.Errorf("%w: the meta record is older than record %q", ErrCorrupt, e.Key)
			}
			return err
		}
	}
	return nil
}

// redo applies the record of version, unless the base has its changes.
func (o *opener) redo(edit *Edit, version uint64, rec *record) error {
	o.s.Log.add(version, rec.edges)
	if version <= o.s.Meta.Base {
		return nil
	}
	if int(rec.first) != o.s.Dict.Len() {
		return fmt.Errorf("%w: its keys are those from node %d on, after %d nodes", ErrCorrupt, rec.first, o.s.Dict.Len())
	}
	for _, k := range rec.keys {
		if id, ok := o.s.Dict.ID(k); ok {
			return fmt.Errorf("%w: key %v is that of node %d already", ErrCorrupt, k, id)
		}
		o.s.Dict.Add([]Key{k})
	}
	edit.Grow(o.s.Dict.Len())
	for _, n := range rec.nodes {
		if int(n.id) >= o.s.Dict.Len() {
			return fmt.Errorf("%w: node %d of %d", ErrCorrupt, n.id, o.s.Dict.Len())
		}
		o.s.nodes.set(o.by, n.id, n.node)
	}
	for i := range rec.edges {
		e := &rec.edges[i]
		if int(e.U) >= o.s.Dict.Len() || int(e.V) >= o.s.Dict.Len() {
			return fmt.Errorf("%w: edge %d -> %d among %d nodes", ErrCorrupt, e.U, e.V, o.s.Dict.Len())
		}
		had, _ := edit.Edge(e.U, e.V)
		e.last = had.Time
		if old := edit.Set(e.U, e.V, e.Weight, e.Time); old != e.Old {
			return fmt.Errorf("%w: edge %d -> %d had weight %v, the log says %v", ErrCorrupt, e.U, e.V, old, e.Old)
		}
	}
	o.s.Events = o.s.Events.add(eventsOf(rec.edges)...)
	return nil
}

// checkCounters compares the records with the counters of the meta record.
func (o *opener) checkCounters() error {
	m, g := &o.s.Meta, o.s.Graph
	live := m.Nodes
	for id, n := range o.s.nodes.all() {
		if int(n.label) >= len(m.Labels) {
			return fmt.Errorf("%w: node %d has label %d of %d", ErrCorrupt, id, n.label, len(m.Labels))
		}
		if n.deleted {
			live--
		}
	}
	if int64(g.nodes) != m.Nodes || o.s.Dict.Len() != g.nodes || live != m.Live || g.edges != m.Edges || g.loops != m.Loops {
		return fmt.Errorf("%w: %d ids, %d nodes, %d edges, %d loops read; the meta record says %d, %d, %d, %d",
			ErrCorrupt, o.s.Dict.Len(), live, g.edges, g.loops, m.Nodes, m.Live, m.Edges, m.Loops)
	}
	for id, v := range o.s.features.all() {
		if want := m.Labels[o.s.Label(id)].Features; v != nil && len(v) != want {
			return fmt.Errorf("%w: node %d has %d features, its label has %d", ErrCorrupt, id, len(v), want)
		}
	}
	return nil
}
