package index

import (
	"encoding/binary"
	"maps"
	"slices"
	"sort"
	"sync"

	"kith/index/internal/block"
	"kith/index/internal/column"
	"kith/ppr"
)

// changeLog holds the recent changes of the graph, for states of earlier versions. It is a
// snapshot: the single writer appends after the end of every existing snapshot.
type changeLog struct {
	start   uint64 // the log contains all commits after this version
	commits []commitMark
	changes []weightChange
	sets    *changeSets
}

// changeSets caches the change sets of a log that states have used recently, so that states which
// catch up from the same version share one. It is safe for concurrent use.
type changeSets struct {
	mu   sync.Mutex // protects following fields
	from map[changesOf]*ppr.ChangeSet
}

// changesOf identifies a set: the version after which it begins, and the relations of the graph.
type changesOf struct {
	version uint64
	via     string // Snapshot.via
}

func newChangeSets() *changeSets { return &changeSets{from: map[changesOf]*ppr.ChangeSet{}} }

// maxSets is the maximum number of cached sets of a log, which bounds their memory: a set may hold
// 16 bytes per change and a word per 25 nodes.
const maxSets = 4

// commitMark marks the end of a commit: its changes end before changes[end].
type commitMark struct {
	version uint64
	end     int
}

// weightChange is a change of the weight of an edge.
type weightChange struct {
	Ends
	Relation uint16
	Old, New float32
}

// weightChangeBytes is the size of a weightChange.
const weightChangeBytes = 20

// since returns the changes after version, in commit order, and false if the log does not reach
// back that far.
func (l *changeLog) since(version uint64) ([]weightChange, bool) {
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

// changeSet is like since, but returns the changes of the arcs of the graph of s, a snapshot with
// this log, as a ChangeSet for states to catch up with.
func (l *changeLog) changeSet(version uint64, s *Snapshot) (*ppr.ChangeSet, bool) {
	changes, ok := l.since(version)
	if v := s.Graph.out.via; ok && len(changes) > 0 && v != nil && v.against != nil {
		return nil, false // arcs that lead both ways are not derived from changes of edges
	}
	if !ok || l.sets == nil {
		return new(ppr.ChangeSet), ok
	}
	sets, of := l.sets, changesOf{version, s.via}
	sets.mu.Lock()
	defer sets.mu.Unlock()
	set := sets.from[of]
	if set == nil {
		if len(sets.from) >= maxSets {
			clear(sets.from)
		}
		set = ppr.NewChangeSet(s.Graph.arcChanges(changes))
		sets.from[of] = set
	}
	return set, true
}

// len returns the number of changes in the log.
func (l *changeLog) len() int { return len(l.changes) }

func (l *changeLog) add(version uint64, changes []edgeChange) {
	if len(changes) == 0 {
		return
	}
	l.changes = withRoom(l.changes, len(changes))
	for _, c := range changes {
		l.changes = append(l.changes, weightChange{c.Ends, c.Relation, c.Old, c.Weight})
	}
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

// arcChanges returns the changes of the arcs of g that changes of edges have made, each in the form
// of Edit.changes.
func (g *Graph) arcChanges(changes []weightChange) []ppr.Change {
	all := make([]ppr.Change, 0, len(changes))
	if !g.several() {
		for _, c := range changes {
			all = append(all, ppr.Change{U: c.U, V: c.V, Old: c.Old, New: c.New})
		}
		return all
	}
	before := map[Ends]map[uint16]float32{} // the first Old of each edge, by arc and relation
	for _, c := range changes {
		if !g.out.via.has(c.Relation) {
			continue
		}
		g.arcsOf(Edge{Ends: c.Ends, Relation: c.Relation}, func(u, v ID) {
			arc := Ends{U: u, V: v}
			if before[arc] == nil {
				before[arc] = map[uint16]float32{}
				all = append(all, ppr.Change{U: u, V: v})
			}
			if _, later := before[arc][c.Relation]; !later {
				before[arc][c.Relation] = c.Old
			}
		})
	}
	for i := range all {
		c := &all[i]
		c.Old, c.New = g.arcChange(c.U, c.V, before[Ends{U: c.U, V: c.V}])
	}
	return all
}

// arcChange returns the weight of the arc from u to v when some of its edges had other weights, by
// relation, and its weight in g.
func (g *Graph) arcChange(u, v ID, before map[uint16]float32) (old, now float32) {
	edges := g.out.between(u, v)
	var oldSum, nowSum block.Joiner
	relations := slices.AppendSeq(edges.Relations(), maps.Keys(before))
	slices.Sort(relations)
	for _, relation := range slices.Compact(relations) {
		if !g.out.via.has(relation) {
			continue
		}
		weight := float32(0)
		if i, ok := edges.Find(v, relation); ok {
			weight, _ = edges.At(i)
			nowSum.Add(g.out.via.scaled(relation, weight), 0)
		}
		if was, changed := before[relation]; changed {
			weight = was
		}
		oldSum.Add(g.out.via.scaled(relation, weight), 0)
	}
	return oldSum.Weight(), nowSum.Weight()
}

// nodeChange is a node's record after a change.
type nodeChange struct {
	id   ID
	node node
	old  node // record before the change; not stored
}

// record holds the changes of a commit to the graph, in the order in which they are reapplied: new
// keys, then node records, edges, values of properties and which nodes are erased.
//
// INVARIANT: the records of the log form a chain. prev is the version of the previous record, so a
// missing record is detected. first makes the ids of the new keys known without the previous
// records.
type record struct {
	prev   uint64 // version of the previous log record; 0 if none
	first  ID     // id of the first new key: the number of ids assigned before
	keys   []Key
	nodes  []nodeChange
	edges  []edgeChange
	values []valueChange
	erased []ID // nodes that lose their keys, which the record does not name
}

// follows reports whether no record is missing between r and the record of version last (0: none),
// in a log that begins after version start.
func (r *record) follows(last, start uint64) bool {
	return r.prev == last || last == 0 && r.prev <= start
}

func (r *record) empty() bool {
	return len(r.keys)+len(r.nodes)+len(r.edges)+len(r.values)+len(r.erased) == 0
}

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
	b := make([]byte, 0, 32+16*(len(r.keys)+len(r.edges)))
	b = binary.AppendUvarint(b, r.prev)
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
	b = binary.AppendUvarint(b, uint64(len(r.values)))
	for i := range r.values {
		b = r.values[i].append(b)
	}
	if len(r.erased) == 0 {
		return b
	}
	b = binary.AppendUvarint(b, uint64(len(r.erased)))
	for _, id := range r.erased {
		b = binary.AppendUvarint(b, uint64(id))
	}
	return b
}

func (e *edgeChange) append(b []byte) []byte {
	flags := weightTag(e.Old) | weightTag(e.Weight)<<newShift
	if e.Time != 0 {
		flags |= hasTime
	}
	if e.Relation != 0 {
		flags |= hasRelation
	}
	b = binary.AppendUvarint(b, uint64(e.U))
	b = binary.AppendUvarint(b, uint64(e.V))
	b = append(b, flags)
	for _, w := range [2]float32{e.Old, e.Weight} {
		if weightTag(w) == otherWeight {
			b = block.AppendFloat32(b, w)
		}
	}
	if e.Relation != 0 {
		b = binary.AppendUvarint(b, uint64(e.Relation))
	}
	if e.Time != 0 {
		b = binary.AppendVarint(b, e.Time)
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
	for n := d.Count(); n > 0 && d.Err == nil; n-- {
		r.values = append(r.values, decodeValueChange(d))
	}
	if d.Err == nil && len(d.B) > 0 {
		n := d.Count()
		if n == 0 {
			d.Fail("the number of erased nodes")
		}
		for ; n > 0 && d.Err == nil; n-- {
			r.erased = append(r.erased, d.ID())
		}
	}
	return r, d.End()
}

func decodeEdgeChange(d *block.Decoder) edgeChange {
	c := edgeChange{Edge: Edge{Ends: Ends{U: d.ID(), V: d.ID()}}}
	flags := d.Byte()
	c.Old = decodeWeight(d, flags&tagMask)
	c.Weight = decodeWeight(d, flags>>newShift&tagMask)
	if flags&hasRelation != 0 {
		c.Relation = d.Relation()
	}
	if flags&hasTime != 0 {
		c.Time = d.Varint()
	}
	return c
}

func decodeWeight(d *block.Decoder, tag byte) float32 {
	if tag < otherWeight {
		return float32(tag)
	}
	return d.Weight()
}

// valueChange is the value of a property after a change.
type valueChange struct {
	id       ID
	property uint16
	value    Value // none: it was removed
	old      Value // value before the change; not stored
}

func (c *valueChange) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(c.id))
	return c.value.Append(binary.AppendUvarint(b, uint64(c.property)))
}

func decodeValueChange(d *block.Decoder) valueChange {
	return valueChange{id: d.ID(), property: d.Relation(), value: column.DecodeValue(d)}
}
