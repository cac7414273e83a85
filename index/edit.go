package index

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"kith/index/internal/block"
	"kith/index/internal/pages"
	"kith/index/internal/spill"
	"kith/ppr"
)

// Edit builds a new version of a graph. It starts as a given Graph and shares with it all unchanged
// parts. It must not be used by several goroutines at once.
type Edit struct {
	g          Graph
	by         *pages.Owner
	baseSurvey *survey    // survey of the graph the edit started from
	views      *views     // of that graph
	typed      *typedRows // of that graph; rows that the edit has made change
	// changes holds all changes of rows, because baseSurvey may be requested during the edit. An
	// undirected edge in a directed graph changes two rows.
	changes []ppr.Change
	pending map[rowOf]pendingRow  // pending changes of long rows
	related bool                  // the graph has directions of its own
	later   map[*adjacency][]Edge // changes of setLater, as entries of rows
}

// Edit starts a new version of g.
func (g *Graph) Edit() *Edit {
	e := &Edit{g: *g, by: new(pages.Owner), baseSurvey: g.survey, views: g.views, typed: g.typed, pending: map[rowOf]pendingRow{}}
	e.g.survey, e.g.views, e.g.typed, e.g.notes = new(survey), nil, nil, nil
	out := *g.out
	out.kept = nil // rows change
	e.g.out, e.g.in = &out, &out
	if g.directed {
		in := *g.in
		in.kept = nil
		e.g.in = &in
	}
	return e
}

// Relate adds a relation, whose edges are directed or not, and returns its number. An undirected
// graph becomes directed with its first directed relation: its edges are then in the rows of both
// directions.
func (e *Edit) Relate(directed bool) (relation uint16) {
	if !e.related {
		e.related, e.g.directions = true, slices.Clone(e.g.directions)
	}
	e.g.directions = append(e.g.directions, directed)
	if directed && !e.g.directed {
		e.flushRows()
		e.by = new(pages.Owner) // the rows of both directions are copied when they change
		in := *e.g.out
		e.g.directed, e.g.in = true, &in
		e.g.survey, e.baseSurvey = new(survey), new(survey)
	}
	return uint16(len(e.g.directions) - 1)
}

// unrelate removes the relations from the given number on, which must have no edges.
func (e *Edit) unrelate(n int) {
	e.g.directions = e.g.directions[:n]
	if e.g.directed && !slices.Contains(e.g.directions, true) {
		e.flushRows()
		e.g.directed, e.g.in = false, e.g.out
	}
}

// Hide returns the graph without the given edges, of which only endpoints and relation matter.
// Edges that do not exist are ignored. In a graph without relations, Hide copies no long row of the
// base: the nodes are left out whenever such a row is read.
func (g *Graph) Hide(ctx context.Context, edges []Edge) (*Graph, error) {
	e := g.Edit()
	hidden := map[rowOf][]ID{}
	for i, edge := range edges {
		if i%edgesPerCheck == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if len(g.directions) > 1 {
			edge.Weight = 0
			e.Set(edge)
			continue
		}
		e.hide(hidden, edge)
	}
	for at, nodes := range hidden {
		if r := at.in.rows.At(at.node); r != nil {
			nodes = append(nodes, *r.hidden...)
		}
		slices.Sort(nodes)
		r := &row{by: e.by, hidden: &nodes}
		at.in.rows.Set(e.by, at.node, r)
		r.degree = at.in.sum(at.node)
	}
	return e.Graph(), ctx.Err()
}

// hide removes an edge, or adds its entries to the entries that will be hidden.
func (e *Edit) hide(hidden map[rowOf][]ID, edge Edge) {
	edge, ok := e.edgeOf(edge)
	u, v := edge.U, edge.V
	if !ok || slices.Contains(hidden[rowOf{e.g.out, u}], v) || slices.Contains(hidden[rowOf{e.g.in, v}], u) {
		return
	}
	e.count(edge, -1)
	e.changed(ppr.Change{U: u, V: v, Old: edge.Weight})
	e.entries(edge, func(a *adjacency, u, v ID) { e.hideEntry(hidden, a, u, v) })
}

// hideEntry removes an entry of a row, or adds it to the entries that will be hidden.
func (e *Edit) hideEntry(hidden map[rowOf][]ID, a *adjacency, u, v ID) {
	if r := a.rows.At(u); r == nil || r.hidden != nil {
		if r != nil || a.len(u) >= longRow {
			hidden[rowOf{a, u}] = append(hidden[rowOf{a, u}], v)
			return
		}
	}
	e.setEntry(a, Edge{Ends: Ends{U: u, V: v}})
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
	e.g.survey, e.g.views, e.g.typed, e.g.notes = e.baseSurvey.next(e.changes, e.g.Arcs()), e.views, e.typed, new(sync.Map)
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

// Set sets the weight and the time of an edge, or removes the edge if the weight is 0. It returns
// the previous weight, 0 if there was no edge. U and V must be below NumNodes.
func (e *Edit) Set(x Edge) (old float32) {
	had, ok := e.edgeOf(x)
	if ok {
		old = had.Weight
	}
	if ok && had.Weight == x.Weight && had.Time == x.Time || !ok && x.Weight == 0 {
		return old
	}
	e.count(x, edgesAdded(old, x.Weight))
	if !e.g.several() {
		e.setEntries(x)
		e.changed(ppr.Change{U: x.U, V: x.V, Old: old, New: x.Weight})
		return old
	}
	var changes []ppr.Change
	e.g.arcsOf(x, func(u, v ID) { changes = append(changes, ppr.Change{U: u, V: v, Old: e.weight(u, v)}) })
	e.setEntries(x)
	for _, c := range changes {
		c.New = e.weight(c.U, c.V)
		e.changed(c)
	}
	return old
}

// arcsOf passes to visit the arcs of an edge, of which an undirected graph lists one direction.
func (g *Graph) arcsOf(x Edge, visit func(u, v ID)) {
	if g.reversed {
		x.U, x.V = x.V, x.U
	}
	visit(x.U, x.V)
	if g.directed && !g.directions[x.Relation] && x.U != x.V {
		visit(x.V, x.U)
	}
}

// setEntries sets the entries of an edge, in the rows of both of its nodes.
func (e *Edit) setEntries(x Edge) {
	e.entries(x, func(a *adjacency, u, v ID) {
		entry := x
		entry.U, entry.V = u, v
		e.setEntry(a, entry)
	})
}

// weight returns the weight of the edges of all relations from u to v.
func (e *Edit) weight(u, v ID) float32 {
	edge, _ := e.edge(u, v)
	return edge.Weight
}

// edgesAdded returns by how much the number of edges grows when a weight changes.
func edgesAdded(old, now float32) int64 {
	switch {
	case old == 0 && now != 0:
		return 1
	case old != 0 && now == 0:
		return -1
	}
	return 0
}

// setLater is Set for an edge that has the weight c.Old and changes, in a graph without changed
// rows. It reads no row: the changed rows are made when they are first read. An edit must use
// either Set or setLater.
func (e *Edit) setLater(c *edgeChange) {
	if c.Old == 0 && c.Weight == 0 {
		return // a commit added and removed it
	}
	e.count(c.Edge, edgesAdded(c.Old, c.Weight))
	e.g.arcsOf(c.Edge, func(u, v ID) { e.changed(ppr.Change{U: u, V: v, Old: c.Old, New: c.Weight}) })
	if e.later == nil {
		e.later = map[*adjacency][]Edge{}
	}
	e.entries(c.Edge, func(a *adjacency, u, v ID) {
		entry := c.Edge
		entry.U, entry.V = u, v
		e.later[a] = append(e.later[a], entry)
	})
}

// flushLater makes late rows of the changes of setLater.
func (e *Edit) flushLater() {
	for a, changes := range e.later {
		changes, _ = spill.RadixSort(changes, nil, slices.Repeat(spill.Directions{true}, len(e.g.directions)))
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
func (e *Edit) entries(x Edge, visit func(a *adjacency, u, v ID)) {
	visit(e.g.out, x.U, x.V)
	if x.U != x.V || e.g.directed {
		visit(e.g.in, x.V, x.U)
	}
	if x.U != x.V && e.g.directed && !e.g.directions[x.Relation] {
		visit(e.g.out, x.V, x.U)
		visit(e.g.in, x.U, x.V)
	}
}

// count adds n to the number of edges, for an edge.
func (e *Edit) count(x Edge, n int64) {
	e.g.edges, e.g.arcs = e.g.edges+n, e.g.arcs+n
	switch {
	case x.U == x.V:
		e.g.loops += n
	case !e.g.directions[x.Relation]:
		e.g.arcs += n
	}
}

// changed records a change of a row.
func (e *Edit) changed(c ppr.Change) {
	e.changes = append(e.changes, c)
	if e.g.survey.requested() {
		e.g.survey = new(survey) // the requested survey is outdated
	}
	e.g.weighted = e.g.weighted || c.New != 0 && c.New != 1
}

// setEntry sets an entry of a row: the neighbour x.V of x.U.
func (e *Edit) setEntry(a *adjacency, x Edge) {
	r := e.ownRow(a, x.U)
	before := r.bytes()
	defer func() { a.changed += r.bytes() - before }()
	if len(r.To) >= longRow {
		at := rowOf{a, x.U}
		if e.pending[at] == nil {
			e.pending[at] = pendingRow{}
		}
		e.pending[at].set(r, x)
		return
	}
	r.set(x)
}

// ownRow returns u's row for modification. It copies the row unless this edit has made it.
func (e *Edit) ownRow(a *adjacency, u ID) *row {
	r := a.rows.At(u)
	if r != nil && r.by == e.by && r.hidden == nil && r.late == nil {
		return r
	}
	now := a.edges(u)
	own := &row{by: e.by}
	own.hold(now.Grown(1)) // the change that follows sets the degree
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

// pendingRow holds the changes of a long row, by neighbour: all edges to it, ascending by relation.
type pendingRow map[ID]rowEntry

// rowEntry is an entry of a row; weight 0 means that the entry is removed.
type rowEntry struct {
	relation uint16
	weight   float32
	time     int64
	next     *rowEntry // of the same neighbour, with a higher relation
}

// set sets or removes an edge of the row r.
func (p pendingRow) set(r *row, x Edge) {
	first, known := p[x.V]
	now := rowEntry{relation: x.Relation, weight: x.Weight, time: x.Time}
	if !known && (r.edges != nil || x.Relation != 0) {
		edges := r.between(x.V)
		for i := range edges.To {
			w, t := edges.At(i)
			first.put(rowEntry{relation: edges.RelationAt(i), weight: w, time: t}, i == 0)
		}
		known = len(edges.To) > 0
	}
	first.put(now, !known)
	p[x.V] = first
}

// put sets the entry of a relation among e and the entries after it; e is empty if first is set.
func (e *rowEntry) put(x rowEntry, first bool) {
	switch {
	case first:
		*e = x
	case x.relation == e.relation:
		e.weight, e.time = x.weight, x.time
	case x.relation < e.relation:
		rest := *e
		*e, e.next = x, &rest
	case e.next == nil:
		last := x
		e.next = &last
	default:
		e.next.put(x, false)
	}
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
		for v, first := range p {
			for x := &first; x != nil; x = x.next {
				changes = append(changes, Edge{Ends: Ends{V: v}, Relation: x.relation, Weight: x.weight, Time: x.time})
			}
		}
		slices.SortFunc(changes, func(a, b Edge) int {
			return cmp.Or(cmp.Compare(a.V, b.V), cmp.Compare(a.Relation, b.Relation))
		})
		at.in.changed -= r.bytes()
		r.merge(changes)
		at.in.changed += r.bytes()
	}
	clear(e.pending)
}

// edge returns the edges of all relations from u to v as edited so far, joined as in [Graph.Edge].
func (e *Edit) edge(u, v ID) (Edge, bool) {
	first, changed := e.pending[rowOf{e.g.out, u}][v]
	if !changed {
		return e.g.Edge(u, v)
	}
	var joined block.Joiner
	for x := &first; x != nil; x = x.next {
		if x.weight != 0 {
			joined.Add(x.weight, x.time)
		}
	}
	if joined.Weight() == 0 {
		return Edge{}, false
	}
	return e.g.joined(u, v, joined.Weight(), joined.Time), true
}

// edgeOf returns the edge with the endpoints and the relation of x as edited so far, and whether
// there is one.
func (e *Edit) edgeOf(x Edge) (Edge, bool) {
	first, changed := e.pending[rowOf{e.g.out, x.U}][x.V]
	if !changed {
		return e.g.EdgeOf(x)
	}
	for own := &first; own != nil; own = own.next {
		if own.relation == x.Relation && own.weight != 0 {
			x.Weight, x.Time = own.weight, own.time
			return e.g.inOrder(x), true
		}
	}
	return Edge{}, false
}

// setEdges sets the edges of the row and its degree.
func (r *row) setEdges(edges block.Entries) {
	r.hold(edges)
	r.degree = r.Sum()
}

// hold sets the edges of the row.
func (r *row) hold(edges block.Entries) {
	if edges.Relation == nil {
		r.Entries, r.edges = edges, nil
		return
	}
	kept := edges // a row without relations does not pay for its allocation
	r.Entries, r.edges = kept.Joined(), &kept
	if len(r.To) == len(kept.To) { // they may share memory, and each changes in its own way
		r.Entries = r.Grown(1)
	}
}

// between returns the edges to v in the row.
func (r *row) between(v ID) block.Entries {
	if r.edges != nil {
		return r.edges.Between(v)
	}
	return r.Between(v)
}

// set sets or removes an edge of the row.
func (r *row) set(x Edge) {
	if r.edges == nil && x.Relation == 0 {
		setIn(&r.Entries, x)
		r.degree = r.Sum()
		return
	}
	if r.edges == nil {
		edges := r.Grown(1)
		r.edges = &edges
	}
	setIn(r.edges, x)
	var all block.Joiner
	edges := r.edges.Between(x.V)
	for i := range edges.To {
		all.Add(edges.At(i))
	}
	setIn(&r.Entries, Edge{Ends: Ends{V: x.V}, Weight: all.Weight(), Time: all.Time})
	r.degree = r.Sum()
}

// setIn sets or removes the entry of an edge.
func setIn(e *block.Entries, x Edge) {
	i, found := e.Find(x.V, x.Relation)
	if found {
		e.Delete(i)
	}
	if x.Weight != 0 {
		e.Insert(i, x.V, x.Relation, x.Weight, x.Time)
	}
}

// merge applies changes, in the form of lateRow.changes, in time linear in the row and in the
// changes.
func (r *row) merge(changes []Edge) {
	old := r.Entries
	if r.edges != nil {
		old = *r.edges
	}
	empty := old.Sub(0, 0)
	merged := empty.Grown(len(old.To) + len(changes))
	for k, c := range changes {
		if k+1 < len(changes) && changes[k+1].V == c.V && changes[k+1].Relation == c.Relation {
			continue
		}
		at, found := old.Find(c.V, c.Relation)
		merged.Append(old.Sub(0, at))
		if found {
			at++
		}
		if old = old.Sub(at, len(old.To)); c.Weight != 0 {
			merged.Add(c.V, c.Relation, c.Weight, c.Time)
		}
	}
	merged.Append(old)
	r.setEdges(merged)
}

// edgeChange is an edge after a change (weight 0 if it was removed) and the weight it had before.
type edgeChange struct {
	Edge
	Old  float32
	last int64 // time before the change; not stored, as it follows from the graph before the change
}
