package index

import (
	"cmp"
	"context"
	"slices"

	"kith/index/internal/pages"
	"kith/index/internal/spill"
	"kith/ppr"
)

// Edit builds a new version of a graph. It starts as a given Graph and shares with it all unchanged
// parts. It must not be used by several goroutines at once.
type Edit struct {
	g          Graph
	by         *pages.Owner
	baseSurvey *survey // survey of the graph the edit started from
	// changes holds all changes, because baseSurvey may be requested during the edit.
	changes []ppr.Change
	pending map[rowOf]pendingRow  // pending changes of long rows
	later   map[*adjacency][]Edge // changes of setLater, as entries of rows
}

// Edit starts a new version of g.
func (g *Graph) Edit() *Edit {
	e := &Edit{g: *g, by: new(pages.Owner), baseSurvey: g.survey, pending: map[rowOf]pendingRow{}}
	e.g.survey = new(survey)
	out := *g.out
	e.g.out, e.g.in = &out, &out
	if g.directed {
		in := *g.in
		e.g.in = &in
	}
	return e
}

// Hide returns the graph without the given edges. Unlike an Edit it copies no long row of the base:
// the nodes are left out whenever such a row is read. Pairs that have no edge are ignored.
func (g *Graph) Hide(ctx context.Context, edges [][2]ID) (*Graph, error) {
	e := g.Edit()
	hidden := map[rowOf][]ID{}
	for i, pair := range edges {
		if i%edgesPerCheck == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		edge, ok := e.edge(pair[0], pair[1])
		u, v := edge.U, edge.V
		if !ok || slices.Contains(hidden[rowOf{e.g.out, u}], v) || slices.Contains(hidden[rowOf{e.g.in, v}], u) {
			continue
		}
		e.count(ppr.Change{U: u, V: v, Old: edge.Weight})
		e.entries(u, v, func(a *adjacency, u, v ID) { e.hideEntry(hidden, a, u, v) })
	}
	for at, nodes := range hidden {
		if r := at.in.rows.At(at.node); r != nil {
			nodes = append(nodes, r.hidden...)
		}
		slices.Sort(nodes)
		r := &row{by: e.by, hidden: nodes}
		at.in.rows.Set(e.by, at.node, r)
		r.degree = at.in.sum(at.node)
	}
	return e.Graph(), ctx.Err()
}

// hideEntry removes an entry of a row, or adds it to the entries that will be hidden.
func (e *Edit) hideEntry(hidden map[rowOf][]ID, a *adjacency, u, v ID) {
	if r := a.rows.At(u); r == nil || r.hidden != nil {
		if r != nil || a.len(u) >= longRow {
			hidden[rowOf{a, u}] = append(hidden[rowOf{a, u}], v)
			return
		}
	}
	e.setEntry(a, u, v, 0, 0)
}

// view returns the graph as edited so far. The graph and its rows change with further edits.
// Changes made after View may be missing from it until View is called again.
func (e *Edit) view() *Graph {
	e.flushRows()
	return &e.g
}

// Graph ends the edit and returns its graph. The edit must not be used afterwards.
func (e *Edit) Graph() *Graph {
	e.flushRows()
	e.flushLater()
	e.by = nil
	e.g.survey = e.baseSurvey.next(e.changes, e.g.Arcs())
	e.baseSurvey, e.changes = nil, nil
	return &e.g
}

// Grow increases the number of node ids to n, if it is lower.
func (e *Edit) Grow(n int) { e.g.nodes = max(e.g.nodes, n) }

// shrink reduces the number of node ids to n. The edges of the removed ids must have been removed
// already; their rows, which are empty, go with them.
func (e *Edit) shrink(n int) {
	for id := ID(n); int(id) < e.g.nodes; id++ {
		for _, a := range []*adjacency{e.g.out, e.g.in} {
			if r := a.rows.At(id); r != nil {
				a.changed -= r.bytes()
				a.rows.Set(e.by, id, nil)
				delete(e.pending, rowOf{a, id})
			}
		}
	}
	e.g.nodes = n
}

// Set sets the weight w and the time t of the edge u -> v (undirected: u - v), or removes the edge
// if w is 0. It returns the previous weight, 0 if there was no edge. u and v must be below
// NumNodes.
func (e *Edit) Set(u, v ID, w float32, t int64) (old float32) {
	had, ok := e.edge(u, v)
	if ok {
		old = had.Weight
	}
	if ok && had.Weight == w && had.Time == t || !ok && w == 0 {
		return old
	}
	e.count(ppr.Change{U: u, V: v, Old: old, New: w})
	e.entries(u, v, func(a *adjacency, u, v ID) { e.setEntry(a, u, v, w, t) })
	return old
}

// setLater is Set for an edge that has the weight c.Old and changes, in a graph without changed
// rows. It reads no row: the changed rows are made when they are first read. An edit must use
// either Set or setLater.
func (e *Edit) setLater(c *edgeChange) {
	if c.Old == 0 && c.Weight == 0 {
		return // a commit added and removed it
	}
	e.count(ppr.Change{U: c.U, V: c.V, Old: c.Old, New: c.Weight})
	if e.later == nil {
		e.later = map[*adjacency][]Edge{}
	}
	e.entries(c.U, c.V, func(a *adjacency, u, v ID) {
		e.later[a] = append(e.later[a], Edge{U: u, V: v, Weight: c.Weight, Time: c.Time})
	})
}

// flushLater makes late rows of the changes of setLater.
func (e *Edit) flushLater() {
	for a, changes := range e.later {
		changes, _ = spill.RadixSort(changes, nil, true)
		for len(changes) > 0 {
			u, n := changes[0].U, 1
			for n < len(changes) && changes[n].U == u {
				n++
			}
			r := &row{late: &lateRow{changes: changes[:n:n]}}
			a.rows.Set(e.by, u, r)
			a.changed += r.bytes()
			changes = changes[n:]
		}
	}
	e.later = nil
}

// entries passes the entries of an edge to visit: in the row of u of an adjacency, the neighbour v.
func (e *Edit) entries(u, v ID, visit func(a *adjacency, u, v ID)) {
	visit(e.g.out, u, v)
	if u != v || e.g.directed {
		visit(e.g.in, v, u)
	}
}

// count records a change and counts the edges.
func (e *Edit) count(c ppr.Change) {
	e.changes = append(e.changes, c)
	if e.g.survey.requested() {
		e.g.survey = new(survey) // the requested survey is outdated
	}
	e.g.weighted = e.g.weighted || c.New != 0 && c.New != 1
	n := int64(0)
	switch {
	case c.Old == 0:
		n = 1
	case c.New == 0:
		n = -1
	}
	e.g.edges += n
	if c.U == c.V {
		e.g.loops += n
	}
}

// setEntry sets an entry of a row.
func (e *Edit) setEntry(a *adjacency, u, v ID, w float32, t int64) {
	r := e.ownRow(a, u)
	before := r.bytes()
	defer func() { a.changed += r.bytes() - before }()
	if len(r.To) >= longRow {
		at := rowOf{a, u}
		if e.pending[at] == nil {
			e.pending[at] = pendingRow{}
		}
		e.pending[at][v] = rowEntry{w, t}
		return
	}
	i, found := slices.BinarySearch(r.To, v)
	if found {
		r.Delete(i)
	}
	if w != 0 {
		r.Insert(i, v, w, t)
	}
	r.degree = r.Sum()
}

// ownRow returns u's row for modification. It copies the row unless this edit has made it.
func (e *Edit) ownRow(a *adjacency, u ID) *row {
	r := a.rows.At(u)
	if r != nil && r.by == e.by && r.hidden == nil && r.late == nil {
		return r
	}
	now := a.row(u)
	own := &row{by: e.by, Entries: now.Grown(1)}
	a.rows.Set(e.by, u, own)
	if a.changed += own.bytes(); r != nil {
		a.changed -= r.bytes()
	}
	return own
}

// longRow is the number of entries from which the changes of a row are collected before they are
// merged into the row. If each change were inserted into the row at once, an edit of n edges of a
// node would take time quadratic in n.
const longRow = 512

// pendingRow holds the pending changes of a long row by neighbour.
type pendingRow map[ID]rowEntry

// rowEntry is an entry of a row; weight 0 means that the entry is removed.
type rowEntry struct {
	weight float32
	time   int64
}

// rowOf identifies a row that has pending changes.
type rowOf struct {
	in   *adjacency
	node ID
}

// flushRows merges all pending changes into their rows.
func (e *Edit) flushRows() {
	for at, p := range e.pending {
		r := at.in.rows.At(at.node)
		changes := make([]Edge, 0, len(p))
		for v, x := range p {
			changes = append(changes, Edge{V: v, Weight: x.weight, Time: x.time})
		}
		slices.SortFunc(changes, func(a, b Edge) int { return cmp.Compare(a.V, b.V) })
		at.in.changed -= r.bytes()
		r.merge(changes)
		at.in.changed += r.bytes()
	}
	clear(e.pending)
}

// edge returns the edge from u to v as edited so far, and whether there is one.
func (e *Edit) edge(u, v ID) (Edge, bool) {
	x, ok := e.pending[rowOf{e.g.out, u}][v]
	if !ok {
		return e.g.Edge(u, v)
	}
	if x.weight == 0 {
		return Edge{}, false
	}
	return e.g.edge(u, v, x.weight, x.time), true
}

// merge applies changes, in the form of lateRow.changes, in time linear in the row and in the
// changes.
func (r *row) merge(changes []Edge) {
	old := r.Entries
	empty := old.Sub(0, 0)
	r.Entries = empty.Grown(len(old.To) + len(changes))
	for k, c := range changes {
		if k+1 < len(changes) && changes[k+1].V == c.V {
			continue
		}
		at, found := slices.BinarySearch(old.To, c.V)
		r.Append(old.Sub(0, at))
		if found {
			at++
		}
		if old = old.Sub(at, len(old.To)); c.Weight != 0 {
			r.Add(c.V, c.Weight, c.Time)
		}
	}
	r.Append(old)
	r.degree = r.Sum()
}

// edgeChange is an edge after a change (weight 0 if it was removed) and the weight it had before.
type edgeChange struct {
	Edge
	Old  float32
	last int64 // time before the change; not stored, as it follows from the graph before the change
}
