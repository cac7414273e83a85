package index

// redo applies the log to the base. If blocks of the base are lost, and all earlier records of the log are present,
// it begins with the records from before the base, which contain part of the lost data: on undamaged blocks, they
// end at the state of the base.
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
		kept := l.edges[:0]
		for _, e := range l.edges {
			if int64(e.U) >= v.s.Meta.Nodes || int64(e.V) >= v.s.Meta.Nodes {
				v.report("%w: log of version %d: edge %d -> %d among %d nodes", ErrCorrupt, l.version, e.U, e.V, v.s.Meta.Nodes)
				continue
			}
			had, _ := edit.Edge(e.U, e.V)
			e.last = had.Time
			kept = append(kept, e)
			old := edit.Set(e.U, e.V, e.Weight, e.Time)
			if sound && l.version > v.s.Meta.Base && old != e.Old {
				v.report("%w: log of version %d: edge %d -> %d had weight %v, the record says %v", ErrCorrupt, l.version, e.U, e.V, old, e.Old)
			}
		}
		if l.version > v.s.Meta.Base { // the base has the earlier events
			v.s.Events = v.s.Events.add(eventsOf(kept)...)
		}
	}
	v.s.Graph = edit.Graph()
}

// wholeUpTo reports whether the log has all records up to a version.
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

// dropMaybeDeleted deletes the nodes that may have been deleted before and have no edges or features.
func (v *salvager) dropMaybeDeleted() {
	n := 0
	for _, r := range v.maybeDeleted {
		for id := r.first; id < r.end; id++ {
			if v.s.nodes.at(id) == (node{}) && v.s.Features(id) == nil && !v.s.Graph.HasEdges(id) {
				v.s.nodes.set(v.by, id, node{deleted: true})
				n++
			}
		}
	}
	if n > 0 {
		v.report("%w: %d nodes without edges, which may have been deleted, were dropped", ErrCorrupt, n)
	}
}

// reconcile makes the parts of the snapshot consistent, and reports what was wrong.
func (v *salvager) reconcile() {
	s, m := v.s, v.s.Meta
	m.Live, m.Edges, m.Loops = m.Nodes, s.Graph.edges, s.Graph.loops
	for id, n := range s.nodes.all() {
		if int(n.label) >= len(m.Labels) {
			v.report("%w: node %d has label %d of %d", ErrCorrupt, id, n.label, len(m.Labels))
			n.label = 0
			s.nodes.set(v.by, id, n)
		}
		if n.deleted && v.s.Graph.HasEdges(id) { // the record that re-created the node is lost
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
