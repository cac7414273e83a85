package index

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"kith/index/internal/pages"
)

// Salvage reads all readable records of the latest version. It returns each violation found as
// ErrCorrupt with its place. The snapshot is sound and contains nothing that was never committed: a
// node whose key is lost is deleted, with its edges. If the meta record is lost or outdated, it is
// derived from the base and the log. If that is not possible, Salvage returns no snapshot.
func Salvage(r Reader) (*Snapshot, []error) { return read(r, nil) }

// read is Salvage, but reads the rows on demand unless on is nil.
func read(r Reader, on *Stored) (*Snapshot, []error) {
	o := &opener{ctx: context.Background(), r: r, by: new(pages.Owner), on: on, times: map[Edge]int64{}}
	for _, step := range []func() error{o.meta, o.readLog, o.derive, o.dictionary, o.nodes, o.adjacency, o.events, o.features, o.values, o.variables} {
		if err := step(); err != nil {
			return nil, append(o.found, err)
		}
	}
	o.redo()
	o.dropMaybeDeleted()
	o.dropLost()
	o.relabel()
	o.reconcile()
	return o.s, o.found
}

// meta reads the newest of the meta record and its copies for the generations.
func (o *opener) meta() error {
	m, err := readMeta(o.r, []byte{prefixMeta})
	if err == nil && m == nil {
		err = fmt.Errorf("meta: %w: it is missing", ErrCorrupt)
	}
	if err != nil {
		o.report("%w", err)
		o.derived = true
	}
	for e, err := range scanSplit(o.r, prefixBase, nil) {
		if err != nil {
			return err
		}
		base, err := decodeMeta(e.Value)
		if e.err != nil || err != nil || m != nil && base.Version <= m.Version {
			continue // the copy of the present generation is checked below
		}
		if m != nil && !o.derived {
			o.report("%w: the meta record is that of version %d, a later generation has version %d", ErrCorrupt, m.Version, base.Version)
		}
		m, o.derived = base, true
	}
	if m == nil {
		return fmt.Errorf("%w: no meta record can be read", ErrCorrupt)
	}
	o.s = New(*m)
	o.s.Meta = *m
	if err := o.baseMeta(); err != nil && !o.derived {
		o.report("%w", err)
	}
	return nil
}

// derive updates an outdated meta record to the newest version that any record mentions. Labels
// created since are unknown.
func (o *opener) derive() error {
	m := &o.s.Meta
	for _, l := range o.records {
		if l.version > m.LogEnd && !o.derived {
			o.report("%w: the meta record is that of version %d, the log goes on", ErrCorrupt, m.Version)
			o.derived = true
		}
		m.LogEnd = max(m.LogEnd, l.version)
		if l.record != nil {
			m.Nodes = max(m.Nodes, int64(l.first)+int64(len(l.keys)))
		}
	}
	m.Version = max(m.Version, m.LogEnd)
	if m.Nodes > MaxNodes {
		return fmt.Errorf("%w: %d nodes", ErrCorrupt, m.Nodes)
	}
	version, err := newest(o.r, prefixObservation, m.Version)
	if err != nil {
		return err
	}
	decisions, err := newest(o.r, prefixDecision, m.Decisions)
	for _, model := range modelEntries(o.r) {
		version = max(version, model.At)
	}
	if !o.derived && (version > m.Version || decisions > m.Decisions) {
		o.report("%w: the meta record is that of version %d with %d decisions, there is version %d and decision %d",
			ErrCorrupt, m.Version, m.Decisions, version, decisions)
		o.derived = true
	}
	m.Version, m.Decisions = version, decisions
	return err
}

// assignLostKeys assigns unused keys to the ids whose keys are lost, and records these ids in
// o.lost.
func (o *opener) assignLostKeys(keys []Key, known []bool) {
	if !slices.Contains(known, false) {
		return
	}
	taken := map[Key]bool{}
	for i, ok := range known {
		if _, isStr := keys[i].Str(); ok && isStr {
			taken[keys[i]] = true
		}
	}
	for i, ok := range known {
		if ok {
			continue
		}
		if o.erased[ID(i)] {
			keys[i] = Erased(ID(i))
			continue
		}
		for name := fmt.Sprintf("lost:%d", i); ; name += "'" {
			if k := Str(name); !taken[k] {
				keys[i] = k
				break
			}
		}
		if n := len(o.lost); n > 0 && o.lost[n-1].end == ID(i) {
			o.lost[n-1].end++
		} else {
			o.lost = append(o.lost, idRange{ID(i), ID(i) + 1})
		}
	}
	for _, s := range o.lost {
		o.report("%w: the keys of nodes %d to %d are lost, and with them the nodes", ErrCorrupt, s.first, s.end-1)
	}
}

// redo applies the log to the base, and keeps the changes from before the base for states of
// earlier versions. If blocks of the base are lost, and all earlier records of the log are present,
// it begins with the records from before the base, which contain part of the lost data: on
// undamaged blocks, they end at the state of the base.
func (o *opener) redo() {
	m := &o.s.Meta
	edit := o.s.Graph.Edit()
	edit.Grow(int(m.Nodes))
	for _, directed := range m.directions()[len(o.s.Graph.directions):] {
		edit.Relate(directed)
	}
	sound, start, nodes := len(o.found) == 0, m.Base, m.BaseNodes
	if o.damaged && o.wholeUpTo(start) {
		start = 0
	}
	o.s.log = changeLog{start: m.LogStart}
	for _, l := range o.records {
		if l.record == nil {
			continue
		}
		o.s.log.add(l.version, l.edges)
		if l.version <= start {
			continue
		}
		since := l.version > m.Base // the base has the effects of earlier records
		if sound && since && int64(l.first) != nodes {
			o.report("%w: log of version %d: its keys are those from node %d on, after %d nodes", ErrCorrupt, l.version, l.first, nodes)
		}
		nodes = int64(l.first) + int64(len(l.keys))
		events := o.redoRecord(edit, l, sound && since)
		if since {
			o.s.events = o.s.events.add(events...)
		}
	}
	o.s.Graph = edit.Graph()
}

// redoRecord applies a record to edit and to the node records, and returns its events. If sound,
// the edges must have had the weights that the record states.
func (o *opener) redoRecord(edit *Edit, l logged, sound bool) (events []Event) {
	limit := o.s.Meta.Nodes
	for _, n := range l.nodes {
		if int64(n.id) >= limit {
			o.report("%w: log of version %d: node %d of %d", ErrCorrupt, l.version, n.id, limit)
			continue
		}
		o.s.nodes.set(o.by, n.id, n.node)
	}
	for i := range l.values {
		c := &l.values[i]
		if int64(c.id) >= limit || int(c.property) >= len(o.s.Meta.Properties) {
			o.report("%w: log of version %d: property %d of %d of node %d of %d", ErrCorrupt, l.version, c.property, len(o.s.Meta.Properties), c.id, limit)
			continue
		}
		o.s.properties.set(o.by, c.property, c.id, c.value)
	}
	for _, e := range l.edges {
		if int64(max(e.U, e.V)) >= limit {
			o.report("%w: log of version %d: edge %d -> %d among %d nodes", ErrCorrupt, l.version, e.U, e.V, limit)
			continue
		}
		if n := len(o.s.Meta.Relations); int(e.Relation) >= n {
			o.report("%w: log of version %d: edge %d -> %d of relation %d of %d", ErrCorrupt, l.version, e.U, e.V, e.Relation, n)
			continue
		}
		e.last = o.lastTime(edit, &e)
		if v, ok := e.event(); ok {
			events = append(events, v)
		}
		if o.cache != nil { // Verify compares the weights
			edit.setLater(&e)
		} else if old := edit.Set(e.Edge); sound && old != e.Old {
			o.report("%w: log of version %d: edge %d -> %d had weight %v, the record says %v", ErrCorrupt, l.version, e.U, e.V, old, e.Old)
		}
	}
	return events
}

// lastTime returns the time of an edge before a change of it. If rows are read on demand, it reads
// only the rows of edges that had a time.
func (o *opener) lastTime(edit *Edit, c *edgeChange) int64 {
	if o.cache == nil {
		had, _ := edit.edgeOf(c.Edge)
		return had.Time
	}
	edge, timed := Edge{Ends: Ends{U: c.U, V: c.V}, Relation: c.Relation}, o.s.Graph.out.base.stored.Times
	last, changed := o.times[edge]
	if !changed && timed && c.Time != 0 && c.Old != 0 {
		had, _ := o.s.Graph.EdgeOf(edge)
		last = had.Time
	}
	if changed || timed || c.Time != 0 {
		o.times[edge] = c.Time
	}
	return last
}

// wholeUpTo reports whether the log has all records up to a version.
func (o *opener) wholeUpTo(version uint64) bool {
	last, start := uint64(0), o.s.Meta.LogStart
	for _, l := range o.records {
		if l.version > version {
			return l.record != nil && l.follows(last, start)
		}
		if l.record == nil || !l.follows(last, start) {
			return false
		}
		last = l.version
	}
	return o.s.Meta.LogEnd <= max(last, start)
}

// dropLost deletes the nodes whose keys are lost, with their edges and features.
func (o *opener) dropLost() {
	edit, before := o.s.Graph.Edit(), o.s.Graph.edges
	for _, s := range o.lost {
		for id := s.first; id < s.end; id++ {
			for _, x := range o.s.Graph.Touching(id) {
				x.Weight = 0
				edit.Set(x)
			}
			o.s.nodes.set(o.by, id, node{deleted: true})
			o.s.features.set(o.by, id, nil)
			for property := range o.s.Meta.Properties {
				o.s.properties.set(o.by, uint16(property), id, Value{})
			}
		}
	}
	o.s.Graph = edit.Graph()
	if n := before - o.s.Graph.edges; n > 0 {
		o.report("%w: %d edges of nodes whose keys are lost were dropped", ErrCorrupt, n)
	}
}

// relabel gives nodes whose labels are lost the labels of the relations of their edges, and deletes
// edges whose nodes have other labels.
func (o *opener) relabel() {
	m := &o.s.Meta
	if o.cache != nil || !slices.ContainsFunc(m.Relations, func(r Relation) bool { return max(r.SourceLabel, r.TargetLabel) > 0 }) {
		return // Check verifies what is read on demand
	}
	edit, labelled, dropped := o.s.Graph.Edit(), 0, 0
	for e := range o.s.Graph.Edges() {
		want, ok := m.Relations[e.Relation].ends(o.s.Label(e.U), o.s.Label(e.V))
		if !ok || e.U == e.V && want[0] != want[1] && min(want[0], want[1]) > 0 {
			e.Weight = 0
			edit.Set(e)
			dropped++
			continue
		}
		for i, id := range []ID{e.U, e.V} {
			if n := o.s.nodes.at(id); want[i] > 0 && n.label == 0 {
				n.label = want[i]
				o.s.nodes.set(o.by, id, n)
				labelled++
			}
		}
	}
	o.s.Graph = edit.Graph()
	if labelled+dropped > 0 {
		o.report("%w: %d nodes got the label of a relation, and %d edges of nodes with another label were dropped", ErrCorrupt, labelled, dropped)
	}
}

// dropMaybeDeleted deletes the nodes that may have been deleted before and have no edges or
// features.
func (o *opener) dropMaybeDeleted() {
	n := 0
	for _, r := range o.maybeDeleted {
		for id := r.first; id < r.end; id++ {
			if o.s.nodes.at(id) == (node{}) && o.s.Features(id) == nil && !o.s.Graph.HasEdges(id) {
				o.s.nodes.set(o.by, id, node{deleted: true})
				n++
			}
		}
	}
	if n > 0 {
		o.report("%w: %d nodes without edges, which may have been deleted, were dropped", ErrCorrupt, n)
	}
}

// reconcile makes the parts of the snapshot consistent, and reports the errors.
func (o *opener) reconcile() {
	s, m := o.s, o.s.Meta
	m.Edges, m.Loops = s.Graph.edges, s.Graph.loops
	if o.cache == nil {
		m.Relations = m.recount(s.Graph)
		m.Live, m.Labels = m.Nodes, slices.Clone(m.Labels)
		for i := range m.Labels {
			m.Labels[i].Nodes = 0
		}
	}
	for id, n := range s.nodes.sinceBase {
		if int(n.label) >= len(m.Labels) {
			o.report("%w: node %d has label %d of %d", ErrCorrupt, id, n.label, len(m.Labels))
			n.label = 0
			s.nodes.set(o.by, id, n)
		}
		if o.cache != nil {
			continue // the counts, and what deleted nodes have, are verified by Check
		}
		if n.deleted && o.s.Graph.HasEdges(id) { // the record that re-created the node is lost
			o.report("%w: node %d is deleted and has edges", ErrCorrupt, id)
			n.deleted = false
			s.nodes.set(o.by, id, n)
		}
		if n.deleted {
			m.Live--
		}
		m.count(node{}, n)
	}
	m.Erased = max(m.Erased, s.numErased())
	if o.cache == nil {
		m.FeatureBytes = 0
	}
	for id, x := range s.features.sinceBase() {
		l := &m.Labels[s.Label(id)]
		if l.Features == 0 && o.derived && s.Live(id) {
			l.Features = len(x)
		}
		switch {
		case !s.Live(id):
			o.report("%w: node %d is deleted and has features", ErrCorrupt, id)
		case len(x) != l.Features:
			o.report("%w: node %d has %d features, its label has %d", ErrCorrupt, id, len(x), l.Features)
		default:
			m.FeatureBytes += 4 * int64(len(x))
			continue
		}
		s.features.set(o.by, id, nil)
	}
	o.reconcileValues(&m)
	if n := s.Meta.FeatureBytes; !o.derived && n != m.FeatureBytes {
		o.report("%w: features of nodes are lost: %d bytes can be read, the meta record says %d", ErrCorrupt, m.FeatureBytes, n)
	}
	if !o.derived && !slices.EqualFunc(s.Meta.Labels, m.Labels, func(a, b Label) bool { return a.Nodes == b.Nodes }) {
		o.report("%w: the numbers of nodes with a label are not those of the meta record", ErrCorrupt)
	}
	if !o.derived && !slices.Equal(s.Meta.Relations, m.Relations) {
		o.report("%w: the numbers of edges of the relations are not those of the meta record", ErrCorrupt)
	}
	if was := s.Meta; !o.derived && (was.Live != m.Live || was.Edges != m.Edges || was.Loops != m.Loops) {
		o.report("%w: %d nodes, %d edges, %d loops can be read; the meta record says %d, %d, %d",
			ErrCorrupt, m.Live, m.Edges, m.Loops, was.Live, was.Edges, was.Loops)
	}
	s.Meta = m
}

// reconcileValues drops values that nodes cannot have, and counts the others in m.
func (o *opener) reconcileValues(m *Meta) {
	if o.cache != nil {
		return // verified by Check
	}
	m.Properties = slices.Clone(m.Properties)
	for i := range m.Properties {
		p, n := &m.Properties[i], int64(0)
		for id, v := range o.s.properties.sinceBase(uint16(i)) {
			switch {
			case v.Kind() == NoValue:
			case !p.Kind.Has(v.Kind()) || !o.s.Live(id):
				o.report("%w: node %d has a value of property %q that it cannot have", ErrCorrupt, id, p.Name)
				o.s.properties.set(o.by, uint16(i), id, Value{})
			default:
				n++
			}
		}
		if n != p.Nodes && !o.derived {
			o.report("%w: values of property %q are lost: %d can be read, the meta record says %d", ErrCorrupt, p.Name, n, p.Nodes)
		}
		p.Nodes = n
	}
}

// Restart writes to w all records of s except the records of WriteBase, at the same version, under
// a generation number that was never used. The log begins with the next version, and no change is
// kept. States and damaged feature blocks are deleted.
func (s *Snapshot) Restart(r Reader, w Writer, generation uint32) (*Snapshot, error) {
	next := *s
	m := &next.Meta
	m.Generation, m.Base, m.LogStart = generation, m.Version, m.Version
	m.keepNone()
	next.log = changeLog{start: m.Version}
	m.BaseNodes, m.BaseEdges, m.BaseEvents = m.Nodes, m.Edges, int64(len(s.events.all()))
	m.InRows, m.BaseProperties = s.Graph.directed, len(m.Properties)
	for _, kind := range []byte{prefixState, prefixChange, prefixModelChange} {
		if err := deleteRange(r, w, []byte{kind}, nil, nil); err != nil {
			return nil, err
		}
	}
	if err := s.restartFeatures(r, w); err != nil {
		return nil, err
	}
	if err := s.restartVariables(r, w); err != nil {
		return nil, err
	}
	_, err := s.WriteGeneration(w, generation, new(Stored))
	return &next, err
}

// restartFeatures writes the blocks of feature vectors of s and deletes all others.
func (s *Snapshot) restartFeatures(r Reader, w Writer) error {
	blocks := map[uint32]bool{}
	for id := range s.features.sinceBase() {
		blocks[id/featureBlock] = true
	}
	for e, err := range r.Scan([]byte{prefixFeature}, nil) {
		if err != nil {
			return err
		}
		key, _, _ := splitKey(e.Key)
		if n, ok := keyNumbers(key); ok && blocks[uint32(n[0])] {
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

// recount returns the relations with the numbers of the edges that g has.
func (m *Meta) recount(g *Graph) []Relation {
	counted := Meta{Relations: uncounted(m.Relations)}
	if len(counted.Relations) == 1 {
		counted.Relations[0].Edges, counted.Relations[0].Loops = g.edges, g.loops
		return counted.Relations
	}
	for e := range g.Edges() {
		counted.countEdge(e, 1)
	}
	if s := (sideCounter{relations: counted.Relations}); s.needed() {
		for u := range ID(g.nodes) {
			s.addRows(g, u)
		}
		s.end()
	}
	return counted.Relations
}

// restartVariables deletes all variables and writes those of s.
func (s *Snapshot) restartVariables(r Reader, w Writer) error {
	err := deleteRange(r, w, []byte{prefixVariable}, nil, nil)
	for _, v := range s.variables {
		err = cmp.Or(err, v.write(w))
	}
	return err
}
