package index

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Salvage reads what can be read of the latest version, and returns with it every breach found, each
// ErrCorrupt and with its place. The snapshot is sound: what is lost is left out of it, but for nodes
// whose keys are lost, which are called 'lost:' and their number. It has no snapshot to return where
// the meta record cannot be read, or keys cannot be told whose they are.
func Salvage(r Reader) (*Snapshot, []error) {
	b, ok, err := getSplit(r, metaKey())
	if err == nil && !ok {
		err = fmt.Errorf("%w: there is no meta record", ErrCorrupt)
	}
	var meta Meta
	if err == nil {
		meta, err = decodeMeta(b)
	}
	if err != nil {
		return nil, []error{fmt.Errorf("meta: %w", err)}
	}
	v := &salvager{opener: opener{r: r, s: New(meta), by: new(owner)}}
	v.s.Meta = meta
	for _, step := range []func() error{v.log, v.dictionary, v.nodes, v.adjacency, v.features} {
		if err := step(); err != nil {
			return nil, append(v.found, err)
		}
	}
	v.redo()
	v.settle()
	return v.s, v.found
}

// salvager is an opener that goes on after what it cannot read.
type salvager struct {
	opener
	found   []error
	records []logged
}

// logged is a record of the log; nil where it cannot be read.
type logged struct {
	version uint64
	*record
}

func (v *salvager) report(format string, args ...any) {
	v.found = append(v.found, fmt.Errorf(format, args...))
}

// log reads the records of the log, those before the base too.
func (v *salvager) log() error {
	prefix := []byte{prefixLog}
	for e, err := range v.r.Scan(prefix, logKey(v.s.Meta.LogStart+1)) {
		if err != nil {
			return err
		}
		key, part, ok := splitKey(bytes.Clone(e.Key))
		if !ok || len(key) != 9 {
			v.report("%w", corruptKey(e.Key))
			continue
		}
		version := binary.BigEndian.Uint64(key[1:])
		if part != 0 || version > v.s.Meta.Version {
			continue
		}
		v.records = append(v.records, logged{version, v.record(key, version)})
	}
	return nil
}

func (v *salvager) record(key []byte, version uint64) *record {
	b, _, err := getSplit(v.r, key)
	var rec *record
	if err == nil {
		rec, err = decodeRecord(b)
	}
	if err != nil {
		v.report("log of version %d: what that commit did is lost: %w", version, err)
		return nil
	}
	return rec
}

// newKeys returns the keys that the log has given since the base, with nil for a record that is lost.
func (v *salvager) newKeys() (lists [][]Key, lost int) {
	for _, l := range v.records {
		switch {
		case l.version <= v.s.Meta.Base:
		case l.record == nil:
			lists = append(lists, nil)
			lost++
		default:
			lists = append(lists, append([]Key{}, l.keys...))
		}
	}
	return lists, lost
}

// dictionary gathers the keys of the base and of the log. As many as are missing stand where
// something was lost, which can be one place alone.
func (v *salvager) dictionary() error {
	var lists [][]Key
	lost, next := 0, uint32(0)
	err := v.each(prefixDict, func(no uint32, block []byte) error {
		for ; next < no; next++ {
			lists, lost = append(lists, nil), lost+1
			v.report("%w: block %c %d is missing: the keys in it are lost", ErrCorrupt, prefixDict, next)
		}
		next++
		keys, err := decodeKeys(block)
		if err != nil {
			lists, lost = append(lists, nil), lost+1
			return fmt.Errorf("the keys in it are lost: %w", err)
		}
		lists = append(lists, keys)
		return nil
	})
	if err != nil {
		return err
	}
	inBase := len(lists)
	since, lostSince := v.newKeys()
	lists = append(lists, since...)
	missing := int(v.s.Meta.Nodes)
	for _, keys := range lists {
		missing -= len(keys)
	}
	if missing > 0 && lost+lostSince == 0 { // the last blocks are gone, and nothing tells of them
		lists = append(lists[:inBase:inBase], append([][]Key{nil}, lists[inBase:]...)...)
		inBase, lost = inBase+1, 1
		v.report("%w: %d keys are missing", ErrCorrupt, missing)
	}
	if missing < 0 || lost+lostSince > 1 && missing > 0 {
		return fmt.Errorf("%w: %d keys of %d are missing, in %d places: nobody can tell whose the others are",
			ErrCorrupt, missing, v.s.Meta.Nodes, lost+lostSince)
	}
	return v.name(lists, inBase, missing)
}

// name gives the nodes their keys, the missing ones in the place of the list that is lost.
func (v *salvager) name(lists [][]Key, inBase, missing int) error {
	var keys []Key
	for i, list := range lists {
		if list == nil {
			for range missing {
				keys = append(keys, Str(fmt.Sprintf("lost:%d", len(keys))))
			}
		}
		if keys = append(keys, list...); i < inBase {
			v.base = len(keys)
		}
	}
	var err error
	v.s.Dict, err = NewDict(keys)
	return err
}

// each hands the blocks of one kind to visit, and reports its errors.
func (v *salvager) each(kind byte, visit func(no uint32, block []byte) error) error {
	return v.blocks(kind, false, func(no uint32, block []byte) error {
		if err := visit(no, block); err != nil {
			v.report("block %c %d of generation %d: %w", kind, no, v.s.Meta.Generation, err)
		}
		return nil
	})
}

func (v *salvager) nodes() error {
	return v.each(prefixNode, func(no uint32, block []byte) error {
		if err := v.nodeBlock(no, block); err != nil {
			return fmt.Errorf("the labels of nodes %d to %d are lost, and which of them were deleted: %w",
				no*nodeBlock, (no+1)*nodeBlock-1, err)
		}
		return nil
	})
}

// adjacency reads the blocks that can be read into the base.
func (v *salvager) adjacency() error {
	var blocks [][]byte
	var last Edge
	next := uint32(0)
	err := v.each(prefixAdjacency, func(no uint32, block []byte) error {
		if no > next {
			v.report("%w: block %c %d is missing: the edges from node %d on are lost", ErrCorrupt, prefixAdjacency, next, last.U)
		}
		next = no + 1
		err := EachEdge(block, func(e Edge) error {
			last = e
			return nil
		})
		if err != nil {
			return fmt.Errorf("the edges from node %d on are lost: %w", last.U, err)
		}
		blocks = append(blocks, bytes.Clone(block))
		return nil
	})
	if err != nil {
		return err
	}
	v.s.Graph, err = Base(v.s.Meta.Directed, v.base, func(visit func(Edge) error) error {
		for _, b := range blocks {
			if err := EachEdge(b, visit); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// features reads the blocks of feature vectors that can be read.
func (v *salvager) features() error {
	for e, err := range v.r.Scan([]byte{prefixFeature}, nil) {
		if err != nil {
			return err
		}
		key, part, ok := splitKey(bytes.Clone(e.Key))
		if !ok || len(key) != 5 {
			v.report("%w", corruptKey(e.Key))
			continue
		}
		if part != 0 {
			continue
		}
		no := binary.BigEndian.Uint32(key[1:])
		b, _, err := getSplit(v.r, key)
		if err == nil {
			err = v.featureBlock(no, b)
		}
		if err != nil {
			v.report("features of nodes %d to %d are lost: %w", no*featureBlock, (no+1)*featureBlock-1, err)
		}
	}
	return nil
}

// redo does the log again, from its start: it gives back what it holds of damaged blocks.
func (v *salvager) redo() {
	edit := v.s.Graph.Edit()
	edit.Grow(int(v.s.Meta.Nodes))
	sound := len(v.found) == 0
	for _, l := range v.records {
		if l.record == nil {
			continue
		}
		for _, n := range l.nodes {
			if int64(n.id) < v.s.Meta.Nodes {
				v.s.nodes.set(v.by, n.id, n.node)
			}
		}
		for _, e := range l.edges {
			if int64(e.U) >= v.s.Meta.Nodes || int64(e.V) >= v.s.Meta.Nodes {
				v.report("%w: log of version %d: edge %d -> %d among %d nodes", ErrCorrupt, l.version, e.U, e.V, v.s.Meta.Nodes)
				continue
			}
			old := edit.Set(e.U, e.V, e.Weight, e.Time)
			if sound && l.version > v.s.Meta.Base && old != e.Old {
				v.report("%w: log of version %d: edge %d -> %d had weight %v, the record says %v", ErrCorrupt, l.version, e.U, e.V, old, e.Old)
			}
		}
	}
	v.s.Graph = edit.Graph()
}

// settle puts right what the parts say of each other, and reports what was wrong.
func (v *salvager) settle() {
	s, m := v.s, v.s.Meta
	m.Live, m.Edges, m.Loops = m.Nodes, s.Graph.edges, s.Graph.loops
	for id, n := range s.nodes.all() {
		if int(n.label) >= len(m.Labels) {
			v.report("%w: node %d has label %d of %d", ErrCorrupt, id, n.label, len(m.Labels))
			n.label = 0
			s.nodes.set(v.by, id, n)
		}
		if n.deleted {
			m.Live--
		}
	}
	for id, x := range s.features.all() {
		if want := m.Labels[s.Label(id)].Features; x != nil && len(x) != want {
			v.report("%w: node %d has %d features, its label has %d", ErrCorrupt, id, len(x), want)
			s.features.set(v.by, id, nil)
		}
	}
	if was := s.Meta; was.Live != m.Live || was.Edges != m.Edges || was.Loops != m.Loops {
		v.report("%w: %d nodes, %d edges, %d loops can be read; the meta record says %d, %d, %d",
			ErrCorrupt, m.Live, m.Edges, m.Loops, was.Live, was.Edges, was.Loops)
	}
	s.Meta = m
}

// Restart hands to w all records of s, as the version it is, under a generation number that was never
// used, but for the meta record: the log begins anew. States and damaged feature blocks are deleted.
func (s *Snapshot) Restart(r Reader, w Writer, generation uint32) (*Snapshot, error) {
	next := *s
	m := &next.Meta
	m.Generation, m.Base, m.LogStart = generation, m.Version, m.Version
	if err := deleteRange(r, w, []byte{prefixState}, nil, nil); err != nil {
		return nil, err
	}
	if err := s.restartFeatures(r, w); err != nil {
		return nil, err
	}
	return &next, s.WriteGeneration(w, generation)
}

// restartFeatures writes the blocks of feature vectors that there are and deletes all others.
func (s *Snapshot) restartFeatures(r Reader, w Writer) error {
	blocks := map[uint32]bool{}
	for id, x := range s.features.all() {
		if x != nil {
			blocks[id/featureBlock] = true
		}
	}
	for e, err := range r.Scan([]byte{prefixFeature}, nil) {
		if err != nil {
			return err
		}
		if key, _, ok := splitKey(e.Key); ok && len(key) == 5 && blocks[binary.BigEndian.Uint32(key[1:])] {
			continue
		}
		if err := w.Delete(bytes.Clone(e.Key)); err != nil {
			return err
		}
	}
	for no := range blocks {
		if err := s.writeFeatures(w, no); err != nil {
			return err
		}
	}
	return nil
}
