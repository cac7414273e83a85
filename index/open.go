package index

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

func putMeta(w Writer, m *Meta) error {
	b, err := m.encode()
	if err != nil {
		return err
	}
	return putSplit(w, metaKey(), b)
}

// WriteMeta hands the meta record of s to w.
func (s *Snapshot) WriteMeta(w Writer) error { return putMeta(w, &s.Meta) }

// ReadMeta reads the meta record from r, nil if there is none. It returns ErrFormat for one of another
// format, and ErrCorrupt.
func ReadMeta(r Reader) (*Meta, error) {
	b, ok, err := getSplit(r, metaKey())
	if err != nil {
		return nil, fmt.Errorf("meta: %w", err)
	}
	if !ok {
		return nil, nil
	}
	m, err := decodeMeta(b)
	return &m, err
}

// Open reads the latest version from r. It returns nil if there is none, ErrFormat if it is of
// another format, and ErrCorrupt with the place where the records do not fit together.
func Open(r Reader) (*Snapshot, error) {
	meta, err := ReadMeta(r)
	if meta == nil || err != nil {
		return nil, err
	}
	s := New(*meta)
	s.Meta = *meta
	o := opener{r: r, s: s, by: new(owner)}
	for _, step := range []func() error{o.dictionary, o.nodes, o.adjacency, o.features, o.log, o.countObserved, o.settle} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// opener puts a snapshot together from its records.
type opener struct {
	r    Reader
	s    *Snapshot
	by   *owner
	base int // nodes of the base
}

// blocks hands the blocks of one kind of the generation to visit, which must be numbered without a
// gap if dense is set.
func (o *opener) blocks(kind byte, dense bool, visit func(no uint32, block []byte) error) error {
	g := o.s.Meta.Generation
	if g == 0 {
		return nil
	}
	next := uint32(0)
	for e, err := range o.r.Scan(generationPrefix(kind, g), nil) {
		if err != nil {
			return err
		}
		if len(e.Key) != 9 {
			return corruptKey(e.Key)
		}
		no := binary.BigEndian.Uint32(e.Key[5:])
		if dense && no != next {
			return fmt.Errorf("%w: block %c %d is missing", ErrCorrupt, kind, next)
		}
		next++
		if err := visit(no, e.Value); err != nil {
			return fmt.Errorf("block %c %d of generation %d: %w", kind, no, g, err)
		}
	}
	return nil
}

func (o *opener) dictionary() error {
	var keys []Key
	err := o.blocks(prefixDict, true, func(_ uint32, block []byte) error {
		list, err := decodeKeys(block)
		keys = append(keys, list...)
		return err
	})
	if err != nil {
		return err
	}
	o.base = len(keys)
	o.s.Dict, err = NewDict(keys)
	return err
}

// decodeKeys reads a block of the dictionary.
func decodeKeys(block []byte) ([]Key, error) {
	b, err := unsealed(block)
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

func (o *opener) nodes() error { return o.blocks(prefixNode, false, o.nodeBlock) }

// nodeBlock reads a block of node records.
func (o *opener) nodeBlock(no uint32, block []byte) error {
	b, err := unsealed(block)
	if err != nil {
		return err
	}
	d := &decoder{b: b}
	for id := uint64(no) * nodeBlock; len(d.b) > 0 && d.err == nil; id++ {
		if err := o.inRange(id); err != nil {
			return err
		}
		if n := d.node(); n != (node{}) {
			o.s.nodes.set(o.by, ID(id), n)
		}
	}
	return d.err
}

// inRange checks that the id of a record is one that was given.
func (o *opener) inRange(id uint64) error {
	if id >= uint64(o.s.Meta.Nodes) {
		return fmt.Errorf("%w: record of node %d of %d", ErrCorrupt, id, o.s.Meta.Nodes)
	}
	return nil
}

func (o *opener) adjacency() error {
	var blocks [][]byte
	err := o.blocks(prefixAdjacency, true, func(_ uint32, block []byte) error {
		blocks = append(blocks, bytes.Clone(block))
		return nil
	})
	if err != nil {
		return err
	}
	o.s.Graph, err = Base(o.s.Meta.Directed, o.base, func(visit func(Edge) error) error {
		for no, b := range blocks {
			if err := EachEdge(b, visit); err != nil {
				return fmt.Errorf("adjacency block %d: %w", no, err)
			}
		}
		return nil
	})
	return err
}

func (o *opener) features() error {
	for e, err := range scanSplit(o.r, []byte{prefixFeature}, nil) {
		if err != nil {
			return fmt.Errorf("features: %w", err)
		}
		if len(e.Key) != 5 {
			return corruptKey(e.Key)
		}
		no := binary.BigEndian.Uint32(e.Key[1:])
		if err := o.featureBlock(no, e.Value); err != nil {
			return fmt.Errorf("feature block %d: %w", no, err)
		}
	}
	return nil
}

// featureBlock reads a block of feature vectors.
func (o *opener) featureBlock(no uint32, block []byte) error {
	vectors, err := decodeFeatures(block)
	if err != nil {
		return err
	}
	for i, v := range vectors {
		if v == nil {
			continue
		}
		if err := o.inRange(uint64(no)*featureBlock + uint64(i)); err != nil {
			return err
		}
		o.s.features.set(o.by, no*featureBlock+ID(i), v)
		o.s.featureBytes += 4 * int64(len(v))
	}
	return nil
}

// log does the commits since the base again, and keeps the ones before it for the states that stand
// at an earlier version.
func (o *opener) log() error {
	o.s.Log = Log{start: o.s.Meta.LogStart}
	edit := o.s.Graph.Edit()
	for e, err := range scanSplit(o.r, []byte{prefixLog}, logKey(o.s.Meta.LogStart+1)) {
		if err != nil {
			return fmt.Errorf("log: %w", err)
		}
		if len(e.Key) != 9 {
			return corruptKey(e.Key)
		}
		version := binary.BigEndian.Uint64(e.Key[1:])
		if version > o.s.Meta.Version {
			break // of a commit that did not finish
		}
		if err := o.redo(edit, version, e.Value); err != nil {
			return fmt.Errorf("log of version %d: %w", version, err)
		}
	}
	edit.Grow(int(o.s.Meta.Nodes))
	o.s.Graph = edit.Graph()
	return nil
}

func (o *opener) redo(edit *Edit, version uint64, b []byte) error {
	rec, err := decodeRecord(b)
	if err != nil {
		return err
	}
	o.s.Log.add(version, rec.edges)
	if version <= o.s.Meta.Base {
		return nil
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
	for _, e := range rec.edges {
		if int(e.U) >= o.s.Dict.Len() || int(e.V) >= o.s.Dict.Len() {
			return fmt.Errorf("%w: edge %d -> %d among %d nodes", ErrCorrupt, e.U, e.V, o.s.Dict.Len())
		}
		if old := edit.Set(e.U, e.V, e.Weight, e.Time); old != e.Old {
			return fmt.Errorf("%w: edge %d -> %d had weight %v, the log says %v", ErrCorrupt, e.U, e.V, old, e.Old)
		}
	}
	return nil
}

// settle holds what was read against the counters.
func (o *opener) settle() error {
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
