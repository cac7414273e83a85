package index

import (
	"encoding/binary"
	"sort"
	"sync"

	"kith/index/internal/block"
	"kith/ppr"
)

// changeLog holds the recent changes of the graph, for states of earlier versions. It is a
// snapshot: the single writer appends after the end of every existing snapshot.
type changeLog struct {
	start   uint64 // the log contains all commits after this version
	commits []commitMark
	changes []ppr.Change
	sets    *changeSets
}

// changeSets caches the change sets of a log that states have used recently, so that states which
// catch up from the same version share one. It is safe for concurrent use.
type changeSets struct {
	mu   sync.Mutex                // protects following fields
	from map[uint64]*ppr.ChangeSet // by the version after which the set begins
}

func newChangeSets() *changeSets { return &changeSets{from: map[uint64]*ppr.ChangeSet{}} }

// maxSets is the maximum number of cached sets of a log, which bounds their memory: a set may hold
// 16 bytes per change and a word per 25 nodes.
const maxSets = 4

// commitMark marks the end of a commit: its changes end before changes[end].
type commitMark struct {
	version uint64
	end     int
}

// bothWays returns the log with each change in both directions, for an undirected graph that has
// become directed.
func (l *changeLog) bothWays() changeLog {
	next := changeLog{start: l.start, sets: newChangeSets()}
	begin := 0
	for _, m := range l.commits {
		next.changes = append(next.changes, bothWays(l.changes[begin:m.end])...)
		begin = m.end
		next.commits = append(next.commits, commitMark{m.version, len(next.changes)})
	}
	return next
}

func bothWays(changes []ppr.Change) (all []ppr.Change) {
	for _, c := range changes {
		all = append(all, c)
		if c.U != c.V {
			all = append(all, ppr.Change{U: c.V, V: c.U, Old: c.Old, New: c.New})
		}
	}
	return all
}

// since returns the changes after version, in commit order, and false if the log does not reach
// back that far.
func (l *changeLog) since(version uint64) ([]ppr.Change, bool) {
	if version < l.start {
		return nil, false
	}
	i := sort.Search(len(l.commits), func(i int) bool { return l.commits[i].version > version })
	if i == 0 {
		return l.changes, true
	}
	return l.changes[l.commits[i-1].end:], true
}

// unchangedSince reports whether no edge is known to have changed after version.
func (l *changeLog) unchangedSince(version uint64) bool {
	changes, ok := l.since(version)
	return ok && len(changes) == 0
}

// changeSet is like Since, but returns the changes as a ChangeSet for states to catch up with.
func (l *changeLog) changeSet(version uint64) (*ppr.ChangeSet, bool) {
	changes, ok := l.since(version)
	if !ok || l.sets == nil {
		return new(ppr.ChangeSet), ok
	}
	s := l.sets
	s.mu.Lock()
	defer s.mu.Unlock()
	set := s.from[version]
	if set == nil {
		if len(s.from) >= maxSets {
			clear(s.from)
		}
		set = ppr.NewChangeSet(changes)
		s.from[version] = set
	}
	return set, true
}

// len returns the number of changes in the log.
func (l *changeLog) len() int { return len(l.changes) }

func (l *changeLog) add(version uint64, changes []ppr.Change) {
	if len(changes) == 0 {
		return
	}
	l.changes = append(l.changes, changes...)
	l.commits = append(l.commits, commitMark{version, len(l.changes)})
	l.sets = newChangeSets()
}

// from returns the log without the commits up to version.
func (l *changeLog) from(version uint64) changeLog {
	next := changeLog{start: max(version, l.start), sets: newChangeSets()}
	begin := 0
	for _, m := range l.commits {
		if m.version <= version {
			begin = m.end
			continue
		}
		next.commits = append(next.commits, commitMark{m.version, m.end - begin})
	}
	next.changes = append(next.changes, l.changes[begin:]...)
	return next
}

// nodeChange is a node's record after a change.
type nodeChange struct {
	id   ID
	node node
	old  node // record before the change; not stored
}

// record holds the changes of a commit to the graph, in the order in which they are reapplied: new
// keys, then node records, then edges.
//
// INVARIANT: the records of the log form a chain. prev is the version of the previous record, so a
// missing record is detected. first makes the ids of the new keys known without the previous
// records.
type record struct {
	prev  uint64 // version of the previous log record; 0 if none
	first ID     // id of the first new key: the number of ids assigned before
	keys  []Key
	nodes []nodeChange
	edges []edgeChange
	// rows holds the changes of rows, if there are relations; see Edit.changes. Otherwise they follow
	// from the edges.
	rows     []ppr.Change
	directed bool // rows are of a directed graph
}

// rowChanges returns the changes of the rows of a graph.
func (r *record) rowChanges(g *Graph) []ppr.Change {
	switch {
	case r.rows != nil && r.directed == g.directed:
		return r.rows
	case r.rows != nil:
		return bothWays(r.rows)
	}
	all := make([]ppr.Change, 0, len(r.edges))
	for _, c := range r.edges {
		g.pairs(c.Edge, func(u, v ID) { all = append(all, ppr.Change{U: u, V: v, Old: c.Old, New: c.Weight}) })
	}
	return all
}

// follows reports whether no record is missing between r and the record of version last (0: none),
// in a log that begins after version start.
func (r *record) follows(last, start uint64) bool {
	return r.prev == last || last == 0 && r.prev <= start
}

func (r *record) empty() bool { return len(r.keys)+len(r.nodes)+len(r.edges) == 0 }

// Flags of an edge in a stored record: the tag of the weight before the change, the tag of the
// weight after it, hasTime, and hasRelation unless the relation is 0.
const (
	tagMask     = 3
	newShift    = 2
	hasTime     = 1 << 4
	hasRelation = 1 << 5

	// otherWeight is the tag of a weight that follows as a float; 0 and 1 are the tags of the
	// weights 0 and 1.
	otherWeight = 2
)

func weightTag(w float32) byte {
	if w == 0 || w == 1 {
		return byte(w)
	}
	return otherWeight
}

func (r *record) encode() []byte {
	b := binary.AppendUvarint(nil, r.prev)
	b = binary.AppendUvarint(b, uint64(r.first))
	b = binary.AppendUvarint(b, uint64(len(r.keys)))
	last := int64(0)
	for _, k := range r.keys {
		b = block.AppendKey(b, k, &last)
	}
	b = binary.AppendUvarint(b, uint64(len(r.nodes)))
	for _, n := range r.nodes {
		b = binary.AppendUvarint(b, uint64(n.id))
		b = n.node.append(b)
	}
	b = binary.AppendUvarint(b, uint64(len(r.edges)))
	for _, e := range r.edges {
		b = e.append(b)
	}
	rows := uint64(len(r.rows)) << 1
	if r.directed {
		rows |= 1
	}
	b = binary.AppendUvarint(b, rows)
	for _, c := range r.rows {
		b = appendChange(b, c.U, c.V, c.Old, c.New, 0)
	}
	return b
}

func (e *edgeChange) append(b []byte) []byte {
	flags := byte(0)
	if e.Time != 0 {
		flags |= hasTime
	}
	if e.Relation != 0 {
		flags |= hasRelation
	}
	b = appendChange(b, e.U, e.V, e.Old, e.Weight, flags)
	if e.Relation != 0 {
		b = binary.AppendUvarint(b, uint64(e.Relation))
	}
	if e.Time != 0 {
		b = binary.AppendVarint(b, e.Time)
	}
	return b
}

// appendChange appends the change of a weight between two nodes, with further flags.
func appendChange(b []byte, u, v ID, old, now float32, flags byte) []byte {
	flags |= weightTag(old) | weightTag(now)<<newShift
	b = binary.AppendUvarint(b, uint64(u))
	b = binary.AppendUvarint(b, uint64(v))
	b = append(b, flags)
	for _, w := range [2]float32{old, now} {
		if weightTag(w) == otherWeight {
			b = block.AppendFloat32(b, w)
		}
	}
	return b
}

// decodeRecord decodes a record made by encode. The caller must check the ids.
func decodeRecord(b []byte) (*record, error) {
	d := &block.Decoder{B: b}
	r := &record{prev: d.Uvarint(), first: d.ID()}
	last := int64(0)
	for n := d.Count(); n > 0 && d.Err == nil; n-- {
		r.keys = append(r.keys, d.Key(&last))
	}
	for n := d.Count(); n > 0 && d.Err == nil; n-- {
		r.nodes = append(r.nodes, nodeChange{id: d.ID(), node: decodeNodeRecord(d)})
	}
	for n := d.Count(); n > 0 && d.Err == nil; n-- {
		r.edges = append(r.edges, decodeEdgeChange(d))
	}
	rows := d.Uvarint()
	r.directed = rows&1 != 0
	for n := rows >> 1; n > 0 && d.Err == nil; n-- {
		c, _ := decodeChange(d)
		r.rows = append(r.rows, ppr.Change{U: c.U, V: c.V, Old: c.Old, New: c.Weight})
	}
	return r, d.End()
}

func decodeEdgeChange(d *block.Decoder) edgeChange {
	c, flags := decodeChange(d)
	if flags&hasRelation != 0 {
		c.Relation = d.Relation()
	}
	if flags&hasTime != 0 {
		c.Time = d.Varint()
	}
	return c
}

// decodeChange decodes what appendChange appended.
func decodeChange(d *block.Decoder) (c edgeChange, flags byte) {
	c.U, c.V = d.ID(), d.ID()
	flags = d.Byte()
	c.Old = decodeWeight(d, flags&tagMask)
	c.Weight = decodeWeight(d, flags>>newShift&tagMask)
	return c, flags
}

func decodeWeight(d *block.Decoder, tag byte) float32 {
	if tag < otherWeight {
		return float32(tag)
	}
	return d.Weight()
}
