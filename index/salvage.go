package index

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Salvage reads what can be read of the latest version, and returns with it every breach found, each
// ErrCorrupt and with its place. The snapshot is sound, and holds nothing that was never committed: a
// node whose key is lost is deleted, with its edges. Where the meta record is lost or is an earlier
// one, it is derived from the base and the log. Where that is not possible Salvage returns no snapshot.
func Salvage(r Reader) (*Snapshot, []error) {
	v := &salvager{opener: opener{r: r, by: new(owner)}}
	for _, step := range []func() error{v.meta, v.log, v.derive, v.dictionary, v.nodes, v.adjacency, v.features} {
		if err := step(); err != nil {
			return nil, append(v.found, err)
		}
	}
	v.redo()
	v.dropUnsure()
	v.dropLost()
	v.reconcile()
	return v.s, v.found
}

// salvager is an opener that goes on after what it cannot read.
type salvager struct {
	opener
	found   []error
	records []logged  // from Meta.LogStart on
	derived bool      // the meta record is lost or an earlier one
	damaged bool      // a block of the base is lost
	lost    []idRange // ids whose keys are lost
	unsure  []idRange // ids of which it is not known whether they were deleted
}

// logged is a record of the log; nil where it cannot be read.
type logged struct {
	version uint64
	*record
}

// idRange is the ids from first up to but not end.
type idRange struct{ first, end ID }

func (v *salvager) report(format string, args ...any) {
	v.found = append(v.found, fmt.Errorf(format, args...))
}

// meta reads the newest of the meta record and the copies of it beside the generations.
func (v *salvager) meta() error {
	m, err := v.metaAt(metaKey())
	if err != nil {
		v.report("meta: %w", err)
		v.derived = true
	}
	for e, err := range v.r.Scan([]byte{prefixBase}, nil) {
		if err != nil {
			return err
		}
		key, part, ok := splitKey(bytes.Clone(e.Key))
		if !ok || part != 0 {
			continue
		}
		base, err := v.metaAt(key)
		if err != nil || m != nil && base.Version <= m.Version {
			continue // that of the present generation is checked below
		}
		if m != nil && !v.derived {
			v.report("%w: the meta record is that of version %d, a later generation has version %d", ErrCorrupt, m.Version, base.Version)
		}
		m, v.derived = base, true
	}
	if m == nil {
		return fmt.Errorf("%w: no meta record can be read", ErrCorrupt)
	}
	v.s = New(*m)
	v.s.Meta = *m
	if err := v.baseMeta(); err != nil && !v.derived {
		v.report("%w", err)
	}
	return nil
}

func (v *salvager) metaAt(key []byte) (*Meta, error) {
	m, err := readMeta(v.r, key)
	if err == nil && m == nil {
		err = fmt.Errorf("%w: it is missing", ErrCorrupt)
	}
	return m, err
}

// log reads the records of the log, those before the base too, and reports those that are missing.
func (v *salvager) log() error {
	m, last := &v.s.Meta, uint64(0)
	for e, err := range v.r.Scan([]byte{prefixLog}, logKey(m.LogStart+1)) {
		if err != nil {
			return err
		}
		key, part, ok := splitKey(bytes.Clone(e.Key))
		if !ok || len(key) != 9 {
			v.report("%w", corruptKey(e.Key))
			continue
		}
		if part != 0 {
			continue
		}
		l := logged{version: binary.BigEndian.Uint64(key[1:])}
		l.record = v.record(key, l.version)
		if l.record != nil && !l.follows(last, m.LogStart) {
			v.report("%w: log: what the commits after version %d up to version %d did is lost", ErrCorrupt, max(last, m.LogStart), l.prev)
		}
		v.records = append(v.records, l)
		last = l.version
	}
	if last < m.LogEnd && m.LogEnd > m.LogStart {
		v.report("%w: log: what the commits after version %d up to version %d did is lost", ErrCorrupt, max(last, m.LogStart), m.LogEnd)
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

// derive brings an earlier meta record up to the newest version that any record tells of. Labels that
// were made since are not known.
func (v *salvager) derive() error {
	m := &v.s.Meta
	for _, l := range v.records {
		if l.version > m.LogEnd && !v.derived {
			v.report("%w: the meta record is that of version %d, the log goes on", ErrCorrupt, m.Version)
			v.derived = true
		}
		m.LogEnd = max(m.LogEnd, l.version)
		if l.record != nil {
			m.Nodes = max(m.Nodes, int64(l.first)+int64(len(l.keys)))
		}
	}
	m.Version = max(m.Version, m.LogEnd)
	if m.Nodes > maxEntries {
		return fmt.Errorf("%w: %d nodes", ErrCorrupt, m.Nodes)
	}
	version, decisions := m.Version, m.Decisions
	for e, err := range scanSplit(v.r, []byte{prefixModel}, nil) {
		if err != nil {
			break // reported with the models
		}
		if entry, ok := decodeModelEntry(e.Value); ok {
			m.Version = max(m.Version, entry.At)
		}
	}
	observed, err := lastNumber(v.r, prefixObservation)
	if err != nil {
		return err
	}
	decided, err := lastNumber(v.r, prefixDecision)
	m.Version, m.Decisions = max(m.Version, observed), max(m.Decisions, decided)
	if !v.derived && (m.Version > version || m.Decisions > decisions) {
		v.report("%w: the meta record is that of version %d with %d decisions, there is version %d and decision %d",
			ErrCorrupt, version, decisions, m.Version, m.Decisions)
		v.derived = true
	}
	return err
}

// lastNumber returns the greatest number after the prefix in the keys of a kind, 0 if there are no keys.
func lastNumber(r Reader, prefix byte) (last uint64, err error) {
	for e, err := range r.Scan([]byte{prefix}, nil) {
		if err != nil {
			return 0, err
		}
		if len(e.Key) >= 9 {
			last = binary.BigEndian.Uint64(e.Key[1:])
		}
	}
	return last, nil
}

// dictionary gathers the keys of the base and of the log. Each list of keys tells its first id, so
// what is lost shifts no other.
func (v *salvager) dictionary() error {
	keys := make([]Key, v.s.Meta.Nodes)
	known := make([]bool, len(keys))
	add := func(first ID, list []Key) error {
		if int64(first)+int64(len(list)) > int64(len(keys)) {
			return fmt.Errorf("%w: keys of nodes %d to %d of %d", ErrCorrupt, first, int(first)+len(list)-1, len(keys))
		}
		for i, k := range list {
			keys[int(first)+i], known[int(first)+i] = k, true
		}
		return nil
	}
	err := v.each(prefixDict, func(first uint32, block []byte) error {
		list, err := decodeKeys(block)
		if err != nil {
			return err
		}
		return add(first, list)
	})
	if err != nil {
		return err
	}
	for _, l := range v.records {
		if l.record == nil {
			continue
		}
		if err := add(l.first, l.keys); err != nil {
			v.report("log of version %d: %w", l.version, err)
		}
	}
	v.nameLost(keys, known)
	v.s.Dict, err = NewDict(keys)
	return err
}

// nameLost gives the ids whose keys are lost keys that no node has, and notes them.
func (v *salvager) nameLost(keys []Key, known []bool) {
	taken := map[Key]bool{}
	for i, ok := range known {
		if ok && len(keys[i].str) > 0 {
			taken[keys[i]] = true
		}
	}
	for i, ok := range known {
		if ok {
			continue
		}
		for name := fmt.Sprintf("lost:%d", i); ; name += "'" {
			if k := Str(name); !taken[k] {
				keys[i] = k
				break
			}
		}
		if n := len(v.lost); n > 0 && v.lost[n-1].end == ID(i) {
			v.lost[n-1].end++
		} else {
			v.lost = append(v.lost, idRange{ID(i), ID(i) + 1})
		}
	}
	for _, s := range v.lost {
		v.report("%w: the keys of nodes %d to %d are lost, and with them the nodes", ErrCorrupt, s.first, s.end-1)
	}
}

// each hands the blocks of one kind to visit, and reports its errors.
func (v *salvager) each(kind byte, visit func(no uint32, block []byte) error) error {
	return v.blocks(kind, func(no uint32, block []byte) error {
		if err := visit(no, block); err != nil {
			v.damaged = true
			v.report("block %c %d of generation %d: %w", kind, no, v.s.Meta.Generation, err)
		}
		return nil
	})
}

func (v *salvager) nodes() error {
	lose := func(no uint32, err error) error {
		r := idRange{ID(no * nodeBlock), ID(min(int64(no+1)*nodeBlock, v.s.Meta.BaseNodes))}
		v.unsure = append(v.unsure, r)
		return fmt.Errorf("the labels of nodes %d to %d are lost, and which of them were deleted: %w", r.first, r.end-1, err)
	}
	next := uint32(0)
	missing := func(end uint32) {
		for end = min(end, v.s.Meta.nodeBlocks()); next < end; next++ {
			v.damaged = true
			v.report("%w", lose(next, missingBlock(prefixNode, next)))
		}
		next = end + 1
	}
	err := v.each(prefixNode, func(no uint32, block []byte) error {
		missing(no)
		if err := v.nodeBlock(no, block); err != nil {
			return lose(no, err)
		}
		return nil
	})
	missing(v.s.Meta.nodeBlocks())
	return err
}

// adjacency reads the blocks that can be read into the base.
func (v *salvager) adjacency() error {
	var blocks [][]byte
	var last Edge
	next := uint32(0)
	err := v.each(prefixAdjacency, func(no uint32, block []byte) error {
		if no > next {
			v.damaged = true
			v.report("%w: the edges from node %d on are lost", missingBlock(prefixAdjacency, next), last.U)
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
	v.s.Graph, err = Base(v.s.Meta.Directed, int(v.s.Meta.BaseNodes), func(visit func(Edge) error) error {
		for _, b := range blocks {
			if err := EachEdge(b, visit); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && v.s.Graph.edges != v.s.Meta.BaseEdges {
		v.damaged = true
	}
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

// redo applies the log to the base. Where blocks of the base are lost it begins with the records from
// before the base, which have a part of what was lost, if these are all there: applied to sound blocks
// they end where the base is.
func (v *salvager) redo() {
	edit := v.s.Graph.Edit()
	edit.Grow(int(v.s.Meta.Nodes))
	sound, start := len(v.found) == 0, v.s.Meta.Base
	if v.damaged && v.wholeUpTo(start) {
		start = 0
	}
	for _, l := range v.records {
		if l.record == nil || l.version <= start {
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

// wholeUpTo reports whether no record of the log is missing up to a version.
func (v *salvager) wholeUpTo(version uint64) bool {
	last, start := uint64(0), v.s.Meta.LogStart
	for _, l := range v.records {
		if l.version > version {
			return l.record != nil && l.follows(last, start)
		}
		if l.record == nil || !l.follows(last, start) {
			return false
		}
		last = l.version
	}
	return v.s.Meta.LogEnd <= max(last, start)
}

// dropLost deletes the nodes whose keys are lost, with their edges and features.
func (v *salvager) dropLost() {
	edit, before := v.s.Graph.Edit(), v.s.Graph.edges
	for _, s := range v.lost {
		for id := s.first; id < s.end; id++ {
			out, _ := v.s.Graph.Out(id)
			for _, w := range out {
				edit.Set(id, w, 0, 0)
			}
			in, _ := v.s.Graph.In(id)
			for _, u := range in {
				edit.Set(u, id, 0, 0)
			}
			v.s.nodes.set(v.by, id, node{deleted: true})
			v.s.features.set(v.by, id, nil)
		}
	}
	v.s.Graph = edit.Graph()
	if n := before - v.s.Graph.edges; n > 0 {
		v.report("%w: %d edges of nodes whose keys are lost were dropped", ErrCorrupt, n)
	}
}

// dropUnsure deletes the nodes without edges and features of which it is not known whether they were
// deleted.
func (v *salvager) dropUnsure() {
	n := 0
	for _, r := range v.unsure {
		for id := r.first; id < r.end; id++ {
			if v.s.nodes.at(id) == (node{}) && v.s.Features(id) == nil && !v.hasEdges(id) {
				v.s.nodes.set(v.by, id, node{deleted: true})
				n++
			}
		}
	}
	if n > 0 {
		v.report("%w: %d nodes without edges, which may have been deleted, were dropped", ErrCorrupt, n)
	}
}

func (v *salvager) hasEdges(id ID) bool {
	out, _ := v.s.Graph.Out(id)
	in, _ := v.s.Graph.In(id)
	return len(out)+len(in) > 0
}

// reconcile corrects what the parts say of each other, and reports what was wrong.
func (v *salvager) reconcile() {
	s, m := v.s, v.s.Meta
	m.Live, m.Edges, m.Loops = m.Nodes, s.Graph.edges, s.Graph.loops
	for id, n := range s.nodes.all() {
		if int(n.label) >= len(m.Labels) {
			v.report("%w: node %d has label %d of %d", ErrCorrupt, id, n.label, len(m.Labels))
			n.label = 0
			s.nodes.set(v.by, id, n)
		}
		if n.deleted && v.hasEdges(id) { // what made it live again is lost
			v.report("%w: node %d is deleted and has edges", ErrCorrupt, id)
			n.deleted = false
			s.nodes.set(v.by, id, n)
		}
		if n.deleted {
			m.Live--
		}
	}
	for id, x := range s.features.all() {
		if x == nil {
			continue
		}
		if !s.Live(id) {
			v.report("%w: node %d is deleted and has features", ErrCorrupt, id)
			s.features.set(v.by, id, nil)
			continue
		}
		l := &m.Labels[s.Label(id)]
		if l.Features == 0 && v.derived {
			l.Features = len(x)
		}
		if len(x) != l.Features {
			v.report("%w: node %d has %d features, its label has %d", ErrCorrupt, id, len(x), l.Features)
			s.features.set(v.by, id, nil)
		}
	}
	if was := s.Meta; !v.derived && (was.Live != m.Live || was.Edges != m.Edges || was.Loops != m.Loops) {
		v.report("%w: %d nodes, %d edges, %d loops can be read; the meta record says %d, %d, %d",
			ErrCorrupt, m.Live, m.Edges, m.Loops, was.Live, was.Edges, was.Loops)
	}
	s.Meta = m
}

// Restart hands to w all records of s, as the version it is, under a generation number that was never
// used, but for those of WriteBase: the log begins with the next version. States and damaged feature
// blocks are deleted.
func (s *Snapshot) Restart(r Reader, w Writer, generation uint32) (*Snapshot, error) {
	next := *s
	m := &next.Meta
	m.Generation, m.Base, m.LogStart = generation, m.Version, m.Version
	m.BaseNodes, m.BaseEdges = m.Nodes, m.Edges
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
