package index

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"kith/index/internal/block"
	"kith/index/internal/spill"
	"kith/ppr"
)

// Graph is the adjacency of a version of the database: a base in compressed rows and an overlay of
// the rows that have changed since. It is immutable and safe for concurrent use; [Graph.Edit]
// starts the next version. It implements ppr.Graph and model.Graph.
//
// An edge has a relation; relation 0 is the only one of a new graph. Rows, degrees and [Graph.Edge]
// join the edges of all relations between two nodes: their weight is the sum of the weights, their
// time the latest. A graph is directed if one of its relations is. Its undirected edges then lead
// both ways.
//
// INVARIANT: each row ascends strictly by node. An undirected graph is symmetric, its in-rows are
// its out-rows, and a self-loop appears once in its row. The degree of a row is the float64 sum of
// its weights in row order, so that it has the same bits whatever the history of the row.
type Graph struct {
	directions spill.Directions // by relation
	directed   bool             // some relation is directed
	weighted   bool             // an edit has set a weight other than 1
	nodes      int
	edges      int64 // an undirected edge counts once; loops included
	loops      int64
	arcs       int64 // edges in the out-rows
	reversed   bool  // the rows of the two directions have changed places; see inverse
	out        *adjacency
	in         *adjacency // == out when undirected
	survey     *survey
	views      *views     // nil: the rows of each view are made anew
	typed      *typedRows // nil: the rows by relation of each node are made anew
	notes      *sync.Map  // see Notes
}

// NewGraph returns the empty graph.
func NewGraph(directed bool) *Graph {
	g := &Graph{directions: spill.Directions{directed}, directed: directed, out: &adjacency{base: inMemory(csr{})}, survey: new(survey), views: new(views), notes: new(sync.Map)}
	g.in = g.out
	if directed {
		g.in = &adjacency{base: inMemory(csr{})}
	}
	g.typed = &typedRows{cache: &block.Cache{Budget: typedBytes}}
	return g
}

// NumNodes returns the number of ids assigned so far. Deleted nodes keep their ids and have no
// edges.
func (g *Graph) NumNodes() int { return g.nodes }

// several reports whether there is a relation other than 0.
func (g *Graph) several() bool { return len(g.directions) > 1 }

// NumEdges returns the number of edges of all relations, loops included; an undirected edge counts
// once.
func (g *Graph) NumEdges() int64 { return g.edges }

// NumLoops returns the number of self-loops.
func (g *Graph) NumLoops() int64 { return g.loops }

// Directed reports whether edges have a direction.
func (g *Graph) Directed() bool { return g.directed }

// Weighted reports whether some weight may differ from 1.
func (g *Graph) Weighted() bool {
	v := g.out.via
	return g.weighted || g.out.base.weighted() || v != nil && (v.factors != nil || v.against != nil)
}

// Out returns the nodes that u points to, ascending, and the weights (nil: all 1). The caller must
// not modify the slices.
func (g *Graph) Out(u ID) ([]ID, []float32) {
	r := g.out.row(u)
	return r.To, r.Weight
}

// In returns the nodes that point to u, in the form of Out.
func (g *Graph) In(u ID) ([]ID, []float32) {
	r := g.in.row(u)
	return r.To, r.Weight
}

// NumRelations returns the number of relations.
func (g *Graph) NumRelations() int { return len(g.directions) }

// Inverse returns the direction in which the edges of a direction lead back. Direction 2r leads
// along the edges of relation r, and 2r+1 against them; an undirected relation has direction 2r
// only.
func (g *Graph) Inverse(direction int32) int32 {
	if g.directions[direction/2] {
		return direction ^ 1
	}
	return direction
}

// Row returns the nodes that edges of u lead to in a direction, ascending. The caller must not
// modify the slice.
func (g *Graph) Row(u ID, direction int32) []ID { return g.typedRow(u).row(direction) }

// Rows yields the rows of u that are not empty: first along relations, then against them, each
// ascending by relation.
func (g *Graph) Rows(u ID) iter.Seq2[int32, []ID] { return g.typedRow(u).all }

// Ends returns the nodes of all rows of u, in the order of Rows.
func (g *Graph) Ends(u ID) []ID { return g.typedRow(u).to() }

// OutLen returns the number of nodes of Out(u). If the rows are stored, and no edge has a weight,
// it does not read the row.
func (g *Graph) OutLen(u ID) int { return g.out.len(u) }

// InLen returns the number of nodes of In(u).
func (g *Graph) InLen(u ID) int { return g.in.len(u) }

// OutHead returns the first n nodes of Out(u), or all if there are fewer. Of a long row that is
// stored, it reads only what it returns. A row that is not in memory is kept there, unless there is
// a buffer, whose memory the result may then use.
func (g *Graph) OutHead(u ID, n int, buffer []ID) []ID { return g.out.head(u, n, buffer) }

// InHead returns the first n nodes of In(u), in the form of OutHead.
func (g *Graph) InHead(u ID, n int, buffer []ID) []ID { return g.in.head(u, n, buffer) }

// HasEdges reports whether u has an edge in either direction.
func (g *Graph) HasEdges(u ID) bool {
	out, _ := g.Out(u)
	in, _ := g.In(u)
	return len(out)+len(in) > 0
}

// OutTimes returns the times of the edges of Out(u), in the same order. 0 means that an edge has no
// time; the slice is nil if the row stores no times.
func (g *Graph) OutTimes(u ID) []int64 {
	return g.out.row(u).Time
}

// OutTimed returns the nodes of Out(u) and OutTimes(u). It reads the row once.
func (g *Graph) OutTimed(u ID) ([]ID, []int64) {
	r := g.out.row(u)
	return r.To, r.Time
}

// InTimes returns the times of the edges of In(u), in the form of OutTimes.
func (g *Graph) InTimes(u ID) []int64 {
	return g.in.row(u).Time
}

// Runs returns the out-rows or the in-rows of all nodes, ascending and as they are stored: the rows
// between two changed rows form one run. Each run comes with its first node and is valid until the
// next one. Package ppr uses it for its passes over the whole graph.
func (g *Graph) Runs(in bool) iter.Seq2[ID, ppr.Run] {
	a := g.out
	if in {
		a = g.in
	}
	runs := a.base.runs
	if a.via != nil {
		all := a.compress(ID(g.nodes), int(g.arcs))
		if all == nil {
			return a.eachRow(ID(g.nodes))
		}
		runs = all.runs
	}
	changed := a.changedNodes()
	return func(yield func(ID, ppr.Run) bool) {
		next := ID(0)
		var start [2]uint32
		for _, u := range changed {
			if !runs(next, u, yield) {
				return
			}
			row := a.row(u)
			start[1] = uint32(len(row.To))
			if !yield(u, ppr.Run{Start: start[:], To: row.To, Weight: row.Weight}) {
				return
			}
			next = u + 1
		}
		runs(next, ID(g.nodes), yield)
	}
}

// Arcs returns the number of edges in all out-rows: an arc counts once for each of its edges, so
// that the number does not depend on the history of the graph.
func (g *Graph) Arcs() int { return int(g.arcs) }

// Degree returns the sum of the weights of u's out-edges.
func (g *Graph) Degree(u ID) float64 {
	a := g.out
	if a.via != nil {
		return a.selectedDegree(u)
	}
	if r := a.at(u); r != nil {
		return r.degree
	}
	c := a.base.memory.Load()
	if c == nil {
		return a.base.degrees.of(u)
	}
	return c.degreeOf(u)
}

// Via says which edges a graph has.
type Via struct {
	Relations []uint16 // ascending
	// Factors are positive, and multiply the weights of the edges of the relations; nil means 1
	// each.
	Factors []float32
	Inverse bool // arcs lead from the target of an edge to its source
	Both    bool // arcs lead both ways
}

// via returns the graph of the edges that a view has. counts has the numbers of the edges of all
// relations. The result reads the rows of g, and has no survey. Its Arcs count an arc for each of
// its edges, and its EdgeOf finds the edges of g.
func (g *Graph) via(v Via, counts []Relation) *Graph {
	made := g.made(fmt.Sprint(v.Relations, v.Factors))
	part := g.joining(v.Relations, v.Factors, counts, made)
	if v.Inverse {
		part = part.inverse()
	}
	if v.Both && part.directed {
		part = part.undirected(made.both)
	}
	return part
}

// joining returns the graph of the edges of some relations.
func (g *Graph) joining(relations []uint16, factors []float32, counts []Relation, made *madeRows) *Graph {
	v := *g
	v.views, v.typed, v.notes = nil, nil, nil
	v.survey, v.directed, v.edges, v.loops, v.arcs = new(survey), false, 0, 0, 0
	for _, r := range relations {
		c := &counts[r]
		v.directed = v.directed || c.Directed
		v.edges, v.loops, v.arcs = v.edges+c.Edges, v.loops+c.Loops, v.arcs+c.Edges
		if !c.Directed {
			v.arcs += c.Edges - c.Loops
		}
	}
	out, in := *g.out, *g.in
	out.via = &via{relations: relations, factors: factors}
	in.via = out.via
	out.kept, in.kept = made.out, made.in
	if v.out, v.in = &out, &in; !v.directed {
		v.in = v.out
	}
	return &v
}

// views holds the rows that were made for views of a graph, by the relations of the views and their
// factors. All versions with the same base share it, so that a question after a commit makes only
// changed rows anew.
type views struct {
	mu     sync.Mutex
	recent []*madeRows // the last ones first
}

// madeRows holds the rows of a view: along its arcs, against them, and of both ways.
type madeRows struct {
	name          string
	out, in, both *keptRows
}

// newMadeRows returns empty rows of the view with a name, of n nodes.
func newMadeRows(name string, n int) *madeRows {
	return &madeRows{name, keepRows(n), keepRows(n), keepRows(n)}
}

func (m *madeRows) bytes() int64 { return m.out.bytes() + m.in.bytes() + m.both.bytes() }

// viewBytes is the memory for rows of views that no question needs now, in bytes, if the cache of
// blocks is not smaller.
const viewBytes = 64 << 20

// made returns the rows of the view with a name. While the rows of g are not in memory, g holds
// none: memory may be short.
func (g *Graph) made(name string) *madeRows {
	if g.views == nil || !g.Loaded() {
		return newMadeRows(name, g.nodes)
	}
	g.views.mu.Lock()
	defer g.views.mu.Unlock()
	recent := g.views.recent
	i := slices.IndexFunc(recent, func(m *madeRows) bool { return m.name == name })
	if i < 0 {
		i, recent = len(recent), append(recent, newMadeRows(name, g.nodes))
	}
	found := recent[i]
	copy(recent[1:], recent[:i])
	recent[0] = found
	left := min(viewBytes, g.typed.cache.Budget)
	for i, m := range recent {
		if left -= m.bytes(); left < 0 && i > 0 {
			clear(recent[i:])
			recent = recent[:i]
			break
		}
	}
	g.views.recent = recent
	return found
}

// bytes returns the memory of the rows, in bytes.
func (v *views) bytes() (n int64) {
	if v == nil {
		return 0
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, m := range v.recent {
		n += m.bytes()
	}
	return n
}

// inverse returns the graph with its arcs reversed. The order of the ends of its edges follows.
func (g *Graph) inverse() *Graph {
	r := *g
	r.survey, r.out, r.in, r.reversed, r.views, r.typed, r.notes = new(survey), g.in, g.out, !g.reversed, nil, nil, nil
	return &r
}

// undirected returns g, a graph of some relations, with arcs that lead both ways. It keeps its rows
// in kept.
func (g *Graph) undirected(kept *keptRows) *Graph {
	r, both := *g, *g.out
	v := *g.out.via
	v.against, v.directions = g.in, g.directions
	both.via, both.kept = &v, kept
	r.survey, r.out, r.in, r.directed, r.arcs = new(survey), &both, &both, false, 2*g.edges-g.loops
	return &r
}

// Edge returns the edges from u to v, joined to one of relation 0, and whether there are any.
func (g *Graph) Edge(u, v ID) (Edge, bool) {
	row := g.out.row(u)
	i, ok := slices.BinarySearch(row.To, v)
	if !ok {
		return Edge{}, false
	}
	w, t := row.At(i)
	return g.joined(u, v, w, t), true
}

// EdgeOf returns the edge with the endpoints and the relation of x, and whether there is one.
func (g *Graph) EdgeOf(x Edge) (Edge, bool) {
	edges := g.out.between(x.U, x.V)
	i, ok := edges.Find(x.V, x.Relation)
	if !ok {
		return Edge{}, false
	}
	return g.inOrder(edgeAt(x.U, &edges, i)), true
}

// Between returns the edges from u to v, ascending by relation.
func (g *Graph) Between(u, v ID) []Edge {
	edges := g.out.between(u, v)
	var all []Edge
	for i := range edges.To {
		if e := edgeAt(u, &edges, i); g.out.via.has(e.Relation) {
			all = append(all, g.inOrder(e))
		}
	}
	return all
}

// Joining returns the edges whose arcs lead from the first node of a pair to the second, with their
// ends in the order of their relations. An edge comes once, however often its pair is given.
func (g *Graph) Joining(pairs [][2]ID) (all []Edge) {
	for _, p := range pairs {
		edges := []Edge{{Ends: Ends{U: p[0], V: p[1]}}}
		if g.several() {
			edges = g.Between(p[0], p[1])
		}
		for _, e := range edges {
			if g.reversed {
				e.U, e.V = e.V, e.U
			}
			all = append(all, g.inOrder(e))
		}
	}
	slices.SortFunc(all, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.U, b.U), cmp.Compare(a.V, b.V), cmp.Compare(a.Relation, b.Relation))
	})
	return slices.CompactFunc(all, func(a, b Edge) bool { return a.Ends == b.Ends && a.Relation == b.Relation })
}

// From returns the edges that leave u, ascending by neighbour and relation, with u first.
func (g *Graph) From(u ID) []Edge { return g.out.list(u) }

// Touching returns the edges of node u, the ones that leave first. A loop comes once.
func (g *Graph) Touching(u ID) (all []Edge) {
	for _, e := range g.out.list(u) {
		all = append(all, g.inOrder(e))
	}
	if !g.directed {
		return all
	}
	for _, e := range g.in.list(u) {
		if e.V != u && g.directions[e.Relation] {
			e.U, e.V = e.V, u
			all = append(all, e)
		}
	}
	return all
}

// inOrder returns an edge with its ends in the order of its relation.
func (g *Graph) inOrder(x Edge) Edge {
	if !g.directions[x.Relation] && x.U > x.V {
		x.U, x.V = x.V, x.U
	}
	return x
}

// joined returns the edges from u to v as one.
func (g *Graph) joined(u, v ID, w float32, t int64) Edge {
	if !g.directed && u > v {
		u, v = v, u
	}
	return Edge{Ends: Ends{U: u, V: v}, Weight: w, Time: t}
}

// Edges yields every edge once, ascending by (U, V) and relation.
func (g *Graph) Edges() iter.Seq[Edge] {
	return func(yield func(Edge) bool) {
		for u := range ID(g.nodes) {
			row := g.out.edges(u)
			i := 0
			if !g.directed && (g.out.via == nil || g.out.via.against == nil) {
				i, _ = slices.BinarySearch(row.To, u)
			}
			for ; i < len(row.To); i++ {
				e := edgeAt(u, &row, i)
				if e.V < u && !g.directions[e.Relation] || !g.out.via.has(e.Relation) {
					continue // it is in the row of the neighbour, or not selected
				}
				if !yield(e) {
					return
				}
			}
		}
	}
}

// Bytes returns the memory that the graph takes, in bytes.
func (g *Graph) Bytes() int64 {
	n := g.out.bytes() + g.views.bytes()
	if g.directed {
		n += g.in.bytes()
	}
	if s := g.out.base.stored; s != nil {
		n += s.cache.Size()
	} else if g.typed != nil {
		n += g.typed.cache.Size()
	}
	return n
}

// LoadedBytes returns the memory that the graph takes once [Graph.Load] has loaded its rows, in
// bytes.
func (g *Graph) LoadedBytes() int64 {
	n := g.out.loadedBytes()
	if g.directed {
		n += g.in.loadedBytes()
	}
	return n
}

// changedBytes returns the memory of the changed rows, in bytes.
func (g *Graph) changedBytes() int64 {
	n := g.out.changedBytes()
	if g.directed {
		n += g.in.changedBytes()
	}
	return n
}

// typedRows holds rows by relation, which are made when they are asked for. All versions with the
// same base share it, so that a commit costs nothing and rows that it has not changed stay.
type typedRows struct {
	cache *block.Cache
	rows  atomic.Pointer[block.Set[typedRow]] // by node; nil until a row is asked for
}

// typedBytes is the memory for the rows by relation of a graph without a store, in bytes. The cache
// of blocks holds the rows of other graphs.
const typedBytes = 32 << 20

// typedRow has the edges of a node by relation.
type typedRow struct {
	out, in *row     // the changed rows that it was made from; nil: rows of the base
	has     uint64   // a set of the directions modulo 64
	rows    int      // number of directions
	data    []uint32 // see by, end and to
}

// by returns the directions, in the form of order.
func (r *typedRow) by() []uint32 { return r.data[:r.rows] }

// end returns where the rows end: the row of direction i is to[end[i-1]:end[i]].
func (r *typedRow) end() []uint32 { return r.data[r.rows : 2*r.rows] }

// to returns the nodes of all rows.
func (r *typedRow) to() []ID { return r.data[2*r.rows : len(r.data) : len(r.data)] }

// order returns the place of a direction in the order of Graph.Rows, and byOrder is its inverse.
func order(direction int32) uint32 { return uint32(direction)>>1 | uint32(direction)<<31 }
func byOrder(place uint32) int32   { return int32(place<<1 | place>>31) }

// typedRow returns the edges of u by relation.
func (g *Graph) typedRow(u ID) *typedRow {
	out := g.out.rows.At(u)
	in := out
	if g.directed {
		in = g.in.rows.At(u)
	}
	if g.typed == nil {
		made := g.makeTyped(u, out, in)
		return &made
	}
	rows := g.typed.rows.Load()
	for rows == nil || int(u) >= rows.Len() {
		more := block.NewSet[typedRow](g.typed.cache, max(g.nodes, int(u)+1)*5/4, nil)
		g.typed.rows.CompareAndSwap(rows, more) // the rows of the old set are evicted in time
		rows = g.typed.rows.Load()
	}
	if r := rows.Use(int(u)); r != nil && r.out == out && r.in == in {
		return r
	}
	made := g.makeTyped(u, out, in)
	return rows.Put(int(u), made, made.bytes())
}

// makeTyped makes the edges of u by relation from its rows, of which out and in have changed.
func (g *Graph) makeTyped(u ID, out, in *row) typedRow {
	edges := g.out.edges(u)
	keys := make([]uint64, 0, 2*len(edges.To)) // in the order of Graph.Rows
	for i, v := range edges.To {
		keys = append(keys, uint64(order(2*int32(edges.RelationAt(i))))<<32|uint64(v))
	}
	if g.directed {
		edges = g.in.edges(u)
		for i, v := range edges.To {
			if r := edges.RelationAt(i); g.directions[r] {
				keys = append(keys, uint64(order(2*int32(r)+1))<<32|uint64(v))
			}
		}
	}
	slices.Sort(keys)
	r := typedRow{out: out, in: in}
	for i, k := range keys {
		if i == 0 || k>>32 != keys[i-1]>>32 {
			r.rows++
		}
	}
	r.data = make([]uint32, 2*r.rows+len(keys))
	row := -1
	for i, k := range keys {
		if i == 0 || k>>32 != keys[i-1]>>32 {
			row++
			r.by()[row] = uint32(k >> 32)
			r.has |= 1 << (byOrder(uint32(k>>32)) % 64)
		}
		r.end()[row], r.to()[i] = uint32(i+1), ID(k)
	}
	return r
}

// bytes returns the memory of the row, in bytes.
func (r *typedRow) bytes() int64 { return 160 + 4*int64(cap(r.data)) }

// row returns the nodes that edges lead to in a direction.
func (r *typedRow) row(direction int32) []ID {
	if r.has>>(direction%64)&1 == 0 {
		return nil
	}
	i, found := slices.BinarySearch(r.by(), order(direction))
	if !found {
		return nil
	}
	return r.at(i)
}

// at returns row i.
func (r *typedRow) at(i int) []ID {
	first, end := uint32(0), r.end()
	if i > 0 {
		first = end[i-1]
	}
	return r.to()[first:end[i]:end[i]]
}

// all yields the rows with their directions.
func (r *typedRow) all(yield func(int32, []ID) bool) {
	for i, place := range r.by() {
		if !yield(byOrder(place), r.at(i)) {
			return
		}
	}
}

// survey holds the survey of a graph, which is made on the first request.
type survey struct {
	before *ppr.Survey // survey of an earlier version; nil if no survey can be carried over
	arcs   int         // of that version
	since  *delta      // changes since that version
	made   atomic.Pointer[ppr.Survey]
}

// delta is a linked list of the changes of an edit and of the edits before it. Versions share the
// common part.
type delta struct {
	earlier *delta
	changes []ppr.Change
	total   int
}

// all returns the changes in order.
func (d *delta) all() []ppr.Change {
	out := make([]ppr.Change, d.total)
	for ; d != nil; d = d.earlier {
		copy(out[d.total-len(d.changes):], d.changes)
	}
	return out
}

// requested reports whether the survey has been requested.
func (s *survey) requested() bool { return s.made.Load() != nil }

// next returns the survey of the version that changes make, of a graph with the given number of
// arcs. It does not read the graph, so that an edit does not pay for a survey that may never be
// requested. Once there are more changes than arcs, the survey is no longer carried over.
func (s *survey) next(changes []ppr.Change, arcs int) *survey {
	n := &survey{before: s.before, arcs: s.arcs, since: s.since}
	if own := s.made.Load(); own != nil {
		n.before, n.arcs, n.since = own, arcs, nil
	}
	if n.before == nil || len(changes) == 0 {
		return n
	}
	total := len(changes)
	if n.since != nil {
		total += n.since.total
	}
	if total > n.arcs {
		return new(survey)
	}
	n.since = &delta{n.since, changes, total}
	return n
}

// Survey returns the survey of the graph, or nil while its rows are not in memory. If an earlier
// version had one, it is carried over, in time linear in the changes; otherwise it is made in a
// pass over the graph. If deletes have split a component, the survey depends on the history of the
// graph; results based on it are exact nevertheless.
func (g *Graph) Survey() *ppr.Survey {
	s := g.survey
	if made := s.made.Load(); made != nil || !g.Loaded() || g.out.via != nil {
		return made
	}
	made := s.before
	switch {
	case made == nil:
		made = ppr.NewSurvey(g)
	case s.since != nil:
		made = made.After(g, s.since.all())
	}
	s.made.CompareAndSwap(nil, made) // another reader's is equal
	return s.made.Load()
}

// Notes keeps what the readers of the graph compute of it, by keys of their own. It is nil for a
// graph that is being edited, and for the edges of some relations.
func (g *Graph) Notes() *sync.Map { return g.notes }

// Ends are the nodes of an edge.
type Ends = spill.Ends
