package index

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"sync"

	"kith/ppr"
)

// Log is what changed in the graph of late, for states that stand at an earlier version. A Log is a
// snapshot: the one writer appends behind what any snapshot sees.
type Log struct {
	start   uint64 // has all commits after this version
	commits []commitMark
	changes []ppr.Change
	sets    *changeSets
}

// changeSets are the stretches of one log that states have followed of late, so that those which
// follow the same one share what is prepared of it. Safe for concurrent use.
type changeSets struct {
	mu   sync.Mutex // protects following fields
	list []*ppr.ChangeSet
	from []uint64 // the version that each begins after
}

// maxSets bounds the memory that a log's sets take: each may hold 16 bytes a change and a word for
// 25 nodes.
const maxSets = 4

// commitMark says that the changes of version end before changes[end].
type commitMark struct {
	version uint64
	end     int
}

// Since returns the changes after version, in commit order, and false where the log does not reach
// back that far.
func (l *Log) Since(version uint64) ([]ppr.Change, bool) {
	if version < l.start {
		return nil, false
	}
	i := sort.Search(len(l.commits), func(i int) bool { return l.commits[i].version > version })
	if i == 0 {
		return l.changes, true
	}
	return l.changes[l.commits[i-1].end:], true
}

// Set is Since, prepared for states to catch up.
func (l *Log) Set(version uint64) (*ppr.ChangeSet, bool) {
	changes, ok := l.Since(version)
	if !ok || l.sets == nil {
		return new(ppr.ChangeSet), ok
	}
	s := l.sets
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.from, version); i >= 0 {
		return s.list[i], true
	}
	if len(s.list) == maxSets {
		s.list, s.from = s.list[1:], s.from[1:]
	}
	set := ppr.NewChangeSet(changes)
	s.list, s.from = append(s.list, set), append(s.from, version)
	return set, true
}

// Len returns the number of changes the log holds.
func (l *Log) Len() int { return len(l.changes) }

func (l *Log) add(version uint64, changes []EdgeChange) {
	if len(changes) == 0 {
		return
	}
	for _, c := range changes {
		l.changes = append(l.changes, ppr.Change{U: c.U, V: c.V, Old: c.Old, New: c.Weight})
	}
	l.commits = append(l.commits, commitMark{version, len(l.changes)})
	l.sets = new(changeSets)
}

// from returns the log without the commits up to version.
func (l *Log) from(version uint64) Log {
	next := Log{start: max(version, l.start), sets: new(changeSets)}
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

// EdgeChange is an edge as it is after a change (weight 0: gone) and the weight it had before.
type EdgeChange struct {
	Edge
	Old  float32
	last int64 // time it had before; not stored, as the graph before tells it
}

// nodeChange is a node's record as it is after a change.
type nodeChange struct {
	id   ID
	node node
}

// record is what one commit did to the graph, in the order in which it is applied again: new keys,
// then node records, then edges.
//
// INVARIANT: the records of the log form a chain. prev is the version of the record before, so a
// record that is missing shows; first tells the ids of the new keys without the records before.
type record struct {
	prev  uint64 // version of the log record before; 0: none
	first ID     // the id of the first new key: the number of ids given before
	keys  []Key
	nodes []nodeChange
	edges []EdgeChange
}

// follows reports whether no record is missing between that of version last, 0 for none, and r in a
// log that begins after version start.
func (r *record) follows(last, start uint64) bool {
	return r.prev == last || last == 0 && r.prev <= start
}

func (r *record) empty() bool { return len(r.keys)+len(r.nodes)+len(r.edges) == 0 }

// Flags of an edge in a stored record: how its weights are written.
const (
	oldNone = 0 // there was no edge
	oldOne  = 1 // its weight was 1
	oldSome = 2 // a float follows
	oldMask = 3

	newShift = 2 // the same three for the weight after
	hasTime  = 1 << 4
)

func weightFlag(w float32) byte {
	switch w {
	case 0:
		return oldNone
	case 1:
		return oldOne
	}
	return oldSome
}

func (r *record) encode() []byte {
	b := binary.AppendUvarint(nil, r.prev)
	b = binary.AppendUvarint(b, uint64(r.first))
	b = binary.AppendUvarint(b, uint64(len(r.keys)))
	last := int64(0)
	for _, k := range r.keys {
		b = appendKey(b, k, &last)
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
	return b
}

func (e *EdgeChange) append(b []byte) []byte {
	flags := weightFlag(e.Old) | weightFlag(e.Weight)<<newShift
	if e.Time != 0 {
		flags |= hasTime
	}
	b = binary.AppendUvarint(b, uint64(e.U))
	b = binary.AppendUvarint(b, uint64(e.V))
	b = append(b, flags)
	if flags&oldMask == oldSome {
		b = appendFloat32(b, e.Old)
	}
	if flags>>newShift&oldMask == oldSome {
		b = appendFloat32(b, e.Weight)
	}
	if e.Time != 0 {
		b = binary.AppendVarint(b, e.Time)
	}
	return b
}

// decodeRecord reads what encode wrote. Ids are checked by whoever applies the record.
func decodeRecord(b []byte) (*record, error) {
	d := &decoder{b: b}
	r := &record{prev: d.uvarint(), first: d.id()}
	last := int64(0)
	for n := d.count(); n > 0 && d.err == nil; n-- {
		r.keys = append(r.keys, d.key(&last))
	}
	for n := d.count(); n > 0 && d.err == nil; n-- {
		r.nodes = append(r.nodes, nodeChange{d.id(), d.node()})
	}
	for n := d.count(); n > 0 && d.err == nil; n-- {
		r.edges = append(r.edges, d.edgeChange())
	}
	return r, d.end()
}

func (d *decoder) edgeChange() EdgeChange {
	c := EdgeChange{Edge: Edge{U: d.id(), V: d.id()}}
	flags := d.byte()
	c.Old = d.weight(flags & oldMask)
	c.Weight = d.weight(flags >> newShift & oldMask)
	if flags&hasTime != 0 {
		c.Time = d.varint()
	}
	return c
}

func (d *decoder) weight(flag byte) float32 {
	switch flag {
	case oldNone:
		return 0
	case oldOne:
		return 1
	}
	w := d.float32()
	if d.err == nil && !ValidWeight(w) {
		d.err = fmt.Errorf("%w: weight %v", ErrCorrupt, w)
	}
	return w
}

func (d *decoder) id() ID {
	v := d.uvarint()
	if v > maxEntries {
		d.fail("a node number")
		return 0
	}
	return ID(v)
}
