package index

import (
	"iter"
	"math"
	"slices"
	"sync/atomic"

	"kith/index/internal/block"
	"kith/index/internal/pages"
	"kith/index/internal/spill"
	"kith/ppr"
)

// adjacency holds the rows in one direction. The row of a node is joined: it has an entry for each
// neighbour. The edges of a row are its entries by relation.
type adjacency struct {
	base    *base
	rows    pages.Array[*row]
	changed int64     // memory of rows in bytes, apart from what base.merged counts
	via     *via      // nil: rows join all edges
	kept    *keptRows // of via
}

// keptRows holds rows of a view that were made by joining edges: rows of the base, all of them once
// a pass has read them, and one by one rows of any version with this base. A nil keptRows holds
// none.
type keptRows struct {
	pages   []atomic.Pointer[keptPage]
	entries atomic.Int64 // of the rows that are held one by one, and of what they take besides
	all     atomic.Pointer[csr]
}

// keptPage holds the rows of consecutive nodes.
type keptPage [256]atomic.Pointer[keptRow]

type keptRow struct {
	block.Entries
	degree    float64
	row, back *row // the changed rows that it was made from; nil: rows of the base
}

// maxKeptEntries is the number of entries that keptRows holds one by one, and the number that it
// holds as compressed rows. A row and a page of rows take as much memory as further entries.
const (
	maxKeptEntries = 1 << 20
	rowEntries     = 8
	pageEntries    = 128
	entryBytes     = 16
)

// keepRows returns an empty keptRows for n nodes.
func keepRows(n int) *keptRows {
	return &keptRows{pages: make([]atomic.Pointer[keptPage], (n+len(keptPage{})-1)/len(keptPage{}))}
}

// row returns the row of u in a, which make makes unless it is kept.
func (k *keptRows) row(a *adjacency, u ID, make func(ID) block.Entries) *keptRow {
	made := &keptRow{}
	made.row, made.back = a.changedAt(u)
	place := k.place(u)
	if place != nil {
		if kept := place.Load(); kept != nil && kept.row == made.row && kept.back == made.back {
			return kept
		}
	}
	made.Entries = make(u)
	made.degree = made.Sum()
	if place != nil && k.entries.Load() <= maxKeptEntries {
		old := place.Swap(made)
		k.entries.Add(made.size() - old.size())
	}
	return made
}

// place returns the place of the row of u, nil if there is none.
func (k *keptRows) place(u ID) *atomic.Pointer[keptRow] {
	no := int(u) / len(keptPage{})
	if k == nil || no >= len(k.pages) {
		return nil
	}
	page := k.pages[no].Load()
	if page == nil {
		page = new(keptPage)
		if !k.pages[no].CompareAndSwap(nil, page) {
			return nil // another reader's is stored
		}
		k.entries.Add(pageEntries)
	}
	return &page[int(u)%len(keptPage{})]
}

// size returns the number of entries that the row counts for.
func (r *keptRow) size() int64 {
	if r == nil {
		return 0
	}
	return int64(len(r.To) + rowEntries)
}

// whole returns all rows of the base, nil until compress has been called.
func (k *keptRows) whole() *csr {
	if k == nil {
		return nil
	}
	return k.all.Load()
}

// bytes returns the memory of the rows, in bytes.
func (k *keptRows) bytes() int64 {
	if k == nil {
		return 0
	}
	n := entryBytes*k.entries.Load() + 8*int64(len(k.pages))
	if all := k.all.Load(); all != nil {
		n += all.bytes()
	}
	return n
}

// compress returns the rows of the base, of n nodes, which further calls of row use, or nil if a
// limit on the number of their entries is above maxKeptEntries. A pass over compressed rows takes a
// fraction of the time that it takes to find, or to join, the edges of one row after the other.
func (a *adjacency) compress(n ID, limit int) *csr {
	all := a.kept.whole()
	if a.kept == nil || all != nil || limit > maxKeptEntries {
		return all
	}
	b, base := rowBuilder{expected: block.RowDirectory{Entries: uint64(limit)}}, a.unchanged()
	for u := range n {
		if err := b.add(u, base.row(u)); err != nil {
			return nil // there are more than before the changes
		}
	}
	rows := b.rows(int(n))
	rows.degree = degrees(rows)
	a.kept.all.CompareAndSwap(nil, &rows) // another reader's are equal
	for i := range a.kept.pages {
		a.kept.pages[i].Store(nil)
	}
	a.kept.entries.Store(0)
	return a.kept.all.Load()
}

// unchanged returns the rows of the base that a joins.
func (a *adjacency) unchanged() *adjacency {
	b := &adjacency{base: a.base, via: a.via}
	if a.via.against != nil {
		v := *a.via
		v.against = &adjacency{base: v.against.base}
		b.via = &v
	}
	return b
}

// changedAt returns the rows that have changed among the rows that the row of u joins.
func (a *adjacency) changedAt(u ID) (row, back *row) {
	row = a.rows.At(u)
	if a.via != nil && a.via.against != nil {
		back = a.via.against.rows.At(u)
	}
	return row, back
}

// ofBase reports whether the row of u joins rows of the base that have not changed.
func (a *adjacency) ofBase(u ID) bool {
	row, back := a.changedAt(u)
	return row == nil && back == nil
}

// changedNodes returns the nodes whose rows join changed rows, ascending.
func (a *adjacency) changedNodes() (all []ID) {
	for u, r := range a.rows.All() {
		if r != nil {
			all = append(all, u)
		}
	}
	if a.via == nil || a.via.against == nil {
		return all
	}
	for u, r := range a.via.against.rows.All() {
		if r != nil {
			all = append(all, u)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// via says which edges rows join.
type via struct {
	relations []uint16  // ascending
	factors   []float32 // of their weights; nil: all are 1
	// against, if not nil, has the rows of the other direction: rows join the edges of both. Rows
	// are then all that the graph has; its edges are those of one direction.
	against    *adjacency
	directions spill.Directions // by relation
}

// scaled returns the weight that an edge has in rows.
func (v *via) scaled(relation uint16, weight float32) float32 {
	if v == nil || v.factors == nil || weight == 0 {
		return weight
	}
	i, _ := slices.BinarySearch(v.relations, relation)
	return block.Scaled(weight, v.factors[i])
}

// base holds the rows in one direction that have not changed since the generation was written: in
// the store, and in memory once they are loaded.
type base struct {
	memory  atomic.Pointer[csr] // nil: not loaded
	stored  *storedRows         // nil if the rows were made in memory
	degrees *storedDegrees      // of stored out-rows
	// merged is the memory in bytes of the rows that were late, in all versions with this base.
	merged atomic.Int64
}

// inMemory returns a base that consists of c.
func inMemory(c csr) *base {
	b := new(base)
	b.memory.Store(&c)
	return b
}

// csr holds compressed sparse rows: row u has the entries off[u] to off[u+1].
type csr struct {
	off []uint32
	block.Entries
	degree   []float64 // nil if Weight is nil
	relation uint16    // of all edges, unless segments has them
	segments *segments // the edges, if they have several relations
}

// segments holds the edges of rows by relation: row u has the segments off[u] to off[u+1]. Segment
// s has the edges of a relation, the entries end[s-1] to end[s]. Relations ascend within a row, and
// neighbours within a segment.
type segments struct {
	off      []uint32
	relation []uint16
	end      []uint32
	block.Entries
	sorter *block.Sorter // of add; nil once all rows are there
}

// row is a changed row, in full.
type row struct {
	by *pages.Owner
	block.Entries
	edges  *block.Entries // nil if they are Entries, all of relation 0
	degree float64
	// hidden, if not nil, lists nodes, ascending: the row is the row of the base without them, and
	// Entries is empty. No edge of the base has a relation other than 0. It is a pointer because few
	// rows have it and there are many rows.
	hidden *[]ID
	// late, if not nil, has the row, which is made when it is first read.
	late *lateRow
}

// lateRow is the row of a base with changes: entries as edges from the row's node, ascending. If an
// edge occurs several times, the last one counts. Weight 0 means that the edge is removed.
type lateRow struct {
	changes []Edge
	row     atomic.Pointer[row] // nil: not read yet
}

// rowBytes is the memory of a changed row besides its entries, in bytes, if no row of a close id
// has changed: the row, and two spans of the pages.
const rowBytes = 350

func (r *row) bytes() int64 {
	n := rowBytes + r.Bytes()
	if r.edges != nil {
		n += r.edges.Bytes()
	}
	if r.late != nil {
		n += edgeBytes * int64(len(r.late.changes))
	}
	return n
}

func (a *adjacency) bytes() int64 { return a.changedBytes() + a.base.bytes() }

func (a *adjacency) loadedBytes() int64 { return a.changedBytes() + a.base.loadedBytes() }

func (a *adjacency) changedBytes() int64 { return a.changed + a.base.merged.Load() }

// at returns the row of u if it has changed, nil otherwise.
func (a *adjacency) at(u ID) *row {
	r := a.rows.At(u)
	if r == nil || r.late == nil {
		return r
	}
	if made := r.late.row.Load(); made != nil {
		return made
	}
	made := new(row)
	made.setEdges(a.base.edges(u))
	made.merge(r.late.changes)
	if r.late.row.CompareAndSwap(nil, made) { // another reader's is equal
		a.base.merged.Add(made.bytes())
	}
	return r.late.row.Load()
}

// row returns the row of u.
func (a *adjacency) row(u ID) block.Entries {
	if a.via != nil {
		return a.selected(u)
	}
	return a.joined(u)
}

// joined returns the row of u that joins the edges of all relations.
func (a *adjacency) joined(u ID) block.Entries {
	r := a.at(u)
	switch {
	case r == nil:
		return a.base.row(u)
	case r.hidden != nil:
		return withoutNodes(*r.hidden, a.base.row(u))
	}
	return r.Entries
}

// selected returns the row that joins the edges of the relations of a.via.
func (a *adjacency) selected(u ID) block.Entries {
	if all := a.kept.whole(); all != nil && a.ofBase(u) {
		return all.row(u)
	}
	if a.via.single() {
		return a.only(u, a.via.relations[0])
	}
	return a.made(u).Entries
}

// selectedDegree returns the sum of the weights of the row that selected returns.
func (a *adjacency) selectedDegree(u ID) float64 {
	if all := a.kept.whole(); all != nil && a.ofBase(u) {
		return all.degreeOf(u)
	}
	if a.via.single() {
		row := a.only(u, a.via.relations[0])
		return row.Sum()
	}
	return a.made(u).degree
}

// made returns the row of u that joins the edges of a.via, which are not those of a single
// relation.
func (a *adjacency) made(u ID) *keptRow {
	if a.via.against != nil {
		return a.kept.row(a, u, a.bothWays)
	}
	return a.kept.row(a, u, a.several)
}

// single reports whether rows are the edges of a relation as they are.
func (v *via) single() bool { return len(v.relations) == 1 && v.factors == nil && v.against == nil }

// several returns the row that joins the edges of several relations.
func (a *adjacency) several(u ID) block.Entries {
	var all block.Entries
	for i, relation := range a.via.relations {
		edges := a.only(u, relation)
		if a.via.factors != nil {
			edges = edges.Scaled(a.via.factors[i])
		}
		all.Append(edges.Of(relation))
	}
	all.Sort()
	return all.Joined()
}

// bothWays returns the row of u that joins the edges of both directions. Undirected edges and
// loops, which stand in the rows of both, count once.
func (a *adjacency) bothWays(u ID) (all block.Entries) {
	back := func(row block.Entries) block.Entries {
		if _, loop := slices.BinarySearch(row.To, u); loop {
			return withoutNodes([]ID{u}, row)
		}
		return row
	}
	if len(a.via.relations) == len(a.via.directions) && a.via.factors == nil && !slices.Contains(a.via.directions, false) {
		out, in := a.joined(u), a.via.against.joined(u)
		return out.Merged(back(in))
	}
	for i, relation := range a.via.relations {
		edges := a.only(u, relation)
		if a.via.directions[relation] {
			edges = edges.Merged(back(a.via.against.only(u, relation)))
		}
		if a.via.factors != nil {
			edges = edges.Scaled(a.via.factors[i])
		}
		all = all.Merged(edges)
	}
	return all
}

// has reports whether rows join edges of a relation.
func (v *via) has(relation uint16) bool {
	if v == nil {
		return true
	}
	_, ok := slices.BinarySearch(v.relations, relation)
	return ok
}

// list returns the edges of the row of u that rows join, with u first.
func (a *adjacency) list(u ID) []Edge {
	row := a.edges(u)
	all := make([]Edge, 0, len(row.To))
	for i := range row.To {
		if e := edgeAt(u, &row, i); a.via.has(e.Relation) {
			all = append(all, e)
		}
	}
	return all
}

// edgeAt returns entry i of the row of u as an edge from u.
func edgeAt(u ID, row *block.Entries, i int) Edge {
	weight, time := row.At(i)
	return Edge{Ends: Ends{U: u, V: row.To[i]}, Relation: row.RelationAt(i), Weight: weight, Time: time}
}

// eachRow yields the rows of n nodes, a row each time.
func (a *adjacency) eachRow(n ID) iter.Seq2[ID, ppr.Run] {
	return func(yield func(ID, ppr.Run) bool) {
		var start [2]uint32
		for u := range n {
			row := a.row(u)
			start[1] = uint32(len(row.To))
			if !yield(u, ppr.Run{Start: start[:], To: row.To, Weight: row.Weight}) {
				return
			}
		}
	}
}

// edges returns the edges of the row of u, whatever a.via says.
func (a *adjacency) edges(u ID) block.Entries {
	r := a.at(u)
	switch {
	case r == nil:
		return a.base.edges(u)
	case r.edges != nil:
		return *r.edges
	}
	return a.joined(u)
}

// only returns the edges of a relation in the row of u.
func (a *adjacency) only(u ID, relation uint16) block.Entries {
	if r := a.at(u); r != nil {
		edges := a.edges(u)
		return edges.Only(relation)
	}
	return a.base.only(u, relation)
}

// count returns the number of edges of a relation in the row of u. It copies none.
func (a *adjacency) count(u ID, relation uint16) int {
	if _, one := a.base.relation(); a.at(u) == nil && (one || a.base.memory.Load() != nil) {
		return len(a.base.only(u, relation).To) // it is a part of the rows
	}
	edges := a.edges(u)
	return edges.Count(relation)
}

// between returns the edges to v in the row of u.
func (a *adjacency) between(u, v ID) block.Entries {
	r := a.at(u)
	switch {
	case r == nil:
		return a.base.between(u, v)
	case r.hidden != nil:
		edges := a.joined(u)
		return edges.Between(v)
	}
	return r.between(v)
}

// len returns the number of entries of the row of u.
func (a *adjacency) len(u ID) int {
	if a.via != nil && a.via.single() && a.kept.whole() == nil {
		return a.count(u, a.via.relations[0])
	}
	if a.via != nil {
		return len(a.selected(u).To)
	}
	r := a.at(u)
	switch {
	case r == nil:
		return a.base.len(u)
	case r.hidden != nil:
		return a.base.len(u) - len(*r.hidden)
	}
	return len(r.To)
}

// head returns the first n nodes of the row of u, or all if there are fewer. See [Graph.OutHead]
// for buffer.
func (a *adjacency) head(u ID, n int, buffer []ID) []ID {
	if a.via != nil {
		to := a.selected(u).To
		return to[:min(n, len(to))]
	}
	r := a.at(u)
	switch {
	case r == nil:
		return a.base.head(u, n, buffer)
	case r.hidden != nil:
		hidden := *r.hidden
		to := a.base.head(u, n+min(len(hidden), math.MaxInt-n), buffer)
		if last := len(to) - 1; last >= 0 {
			end, _ := slices.BinarySearch(hidden, to[last]+1)
			hidden = hidden[:end]
		}
		to = withoutNodes(hidden, block.Entries{To: to}).To
		return to[:min(n, len(to))]
	}
	return r.To[:min(n, len(r.To))]
}

// sum returns the sum of the weights of the row of u, which it reads if there are weights.
func (a *adjacency) sum(u ID) float64 {
	if !a.base.weighted() {
		return float64(a.len(u))
	}
	r := a.row(u)
	return r.Sum()
}

// withoutNodes returns a row without the given nodes, ascending, which it must have.
func withoutNodes(nodes []ID, row block.Entries) block.Entries {
	empty := row.Sub(0, 0)
	rest := empty.Grown(len(row.To) - len(nodes))
	from := 0
	for _, u := range nodes {
		at, _ := slices.BinarySearch(row.To[from:], u)
		rest.Append(row.Sub(from, from+at))
		from += at + 1
	}
	rest.Append(row.Sub(from, len(row.To)))
	return rest
}

func (b *base) row(u ID) block.Entries {
	if c := b.memory.Load(); c != nil {
		return c.row(u)
	}
	return b.stored.row(u)
}

// relation returns the relation of all edges, and false if they have several.
func (b *base) relation() (uint16, bool) {
	if c := b.memory.Load(); c != nil {
		return c.relation, c.segments == nil
	}
	return b.stored.Low, !b.stored.Several()
}

// edges returns the edges of the row of u.
func (b *base) edges(u ID) block.Entries {
	relation, one := b.relation()
	switch c := b.memory.Load(); {
	case one:
		row := b.row(u)
		return row.Of(relation)
	case c != nil:
		return c.segments.edges(u)
	}
	return b.stored.edges(u)
}

// only returns the edges of a relation in the row of u.
func (b *base) only(u ID, relation uint16) block.Entries {
	all, one := b.relation()
	switch c := b.memory.Load(); {
	case one && all == relation:
		return b.row(u)
	case one:
		return block.Entries{}
	case c != nil:
		return c.segments.only(u, relation)
	}
	return b.stored.only(u, relation)
}

// between returns the edges to v in the row of u.
func (b *base) between(u, v ID) block.Entries {
	relation, one := b.relation()
	switch c := b.memory.Load(); {
	case one:
		row := b.row(u)
		edge := row.Between(v)
		return edge.Of(relation)
	case c != nil:
		return c.segments.between(u, v)
	}
	edges := b.stored.edges(u)
	return edges.Between(v)
}

// weighted reports whether some weight is not 1.
func (b *base) weighted() bool {
	if c := b.memory.Load(); c != nil {
		return c.Weight != nil
	}
	return b.stored.Weights
}

// len returns the number of entries of the row of u. It reads stored rows only if there are
// weights, or no degrees.
func (b *base) len(u ID) int {
	if c := b.memory.Load(); c != nil {
		lo, hi := c.span(u)
		return hi - lo
	}
	if b.degrees != nil && !b.stored.Weights {
		return int(b.degrees.of(u))
	}
	return len(b.stored.row(u).To)
}

// head returns the first n nodes of the row of u, or all if there are fewer.
func (b *base) head(u ID, n int, buffer []ID) []ID {
	if c := b.memory.Load(); c != nil {
		lo, hi := c.span(u)
		hi = lo + min(n, hi-lo)
		return c.To[lo:hi:hi]
	}
	return b.stored.head(u, n, buffer)
}

// runs yields the rows of the nodes from lo up to but not including hi, and reports whether to go
// on.
func (b *base) runs(lo, hi ID, yield func(ID, ppr.Run) bool) bool {
	if c := b.memory.Load(); c != nil {
		return c.runs(lo, hi, yield)
	}
	return b.stored.runs(lo, hi, yield)
}

// entries returns the number of entries of all rows.
func (b *base) entries() uint64 {
	if c := b.memory.Load(); c != nil {
		return uint64(len(c.To))
	}
	return b.stored.Entries
}

// numEdges returns the number of edges of all rows.
func (b *base) numEdges() uint64 {
	c := b.memory.Load()
	switch {
	case c == nil:
		return b.stored.Entries + b.stored.Parallel
	case c.segments != nil:
		return uint64(len(c.segments.To))
	}
	return uint64(len(c.To))
}

// bytes returns the memory of the rows, in bytes, apart from cached blocks.
func (b *base) bytes() (n int64) {
	if c := b.memory.Load(); c != nil {
		n = c.bytes()
	}
	if b.stored != nil {
		n += int64(b.stored.blockBytes() * len(b.stored.First))
	}
	if b.degrees != nil {
		n += b.degrees.Bytes()
	}
	return n
}

// loadedBytes returns the memory of the rows once they are loaded, in bytes.
func (b *base) loadedBytes() int64 {
	if c := b.memory.Load(); c != nil {
		return b.bytes()
	}
	n := b.bytes() + b.stored.Bytes(b.stored.nodes)
	if b.stored.Several() {
		n += b.stored.SplitBytes(b.stored.nodes)
	}
	if b.stored.Weights && b.stored.kind == prefixOut {
		n += 8 * int64(b.stored.nodes) // degrees
	}
	return n
}

// runs yields the rows of the nodes from lo up to but not including hi, and reports whether to go
// on.
func (c *csr) runs(lo, hi ID, yield func(ID, ppr.Run) bool) bool {
	if end := min(hi, ID(max(len(c.off), 1)-1)); lo < end {
		if !yield(lo, ppr.Run{Start: c.off[lo : end+1], To: c.To, Weight: c.Weight}) {
			return false
		}
		lo = end
	}
	// The remaining nodes are newer than the base.
	return lo >= hi || yield(lo, ppr.Run{Start: make([]uint32, hi-lo+1)})
}

func (c *csr) row(u ID) block.Entries { return c.Sub(c.span(u)) }

// span returns the first entry of row u, and the first entry after the row.
func (c *csr) span(u ID) (lo, hi int) {
	if int(u) >= len(c.off)-1 {
		return 0, 0
	}
	return int(c.off[u]), int(c.off[u+1])
}

// degreeOf returns the sum of the weights of row u.
func (c *csr) degreeOf(u ID) float64 {
	if int(u) < len(c.degree) {
		return c.degree[u]
	}
	lo, hi := c.span(u)
	return float64(hi - lo)
}

func (c *csr) bytes() int64 {
	n := 4*int64(len(c.off)+len(c.To)+len(c.Weight)) + 8*int64(len(c.Time)+len(c.degree))
	if s := c.segments; s != nil {
		n += s.bytes()
	}
	return n
}

// of returns the segments of row u: the first one, and the one after the last.
func (s *segments) of(u ID) (lo, hi int) {
	if int(u) >= len(s.off)-1 {
		return 0, 0
	}
	return int(s.off[u]), int(s.off[u+1])
}

// begin returns the index of the first entry of a segment.
func (s *segments) begin(segment int) int {
	if segment == 0 {
		return 0
	}
	return int(s.end[segment-1])
}

// segment returns the entries of a segment.
func (s *segments) segment(i int) block.Entries { return s.Sub(s.begin(i), int(s.end[i])) }

// only returns the edges of a relation in row u.
func (s *segments) only(u ID, relation uint16) block.Entries {
	lo, hi := s.of(u)
	i, ok := slices.BinarySearch(s.relation[lo:hi], relation)
	if !ok {
		return block.Entries{}
	}
	return s.segment(lo + i)
}

// edges returns the edges of row u.
func (s *segments) edges(u ID) block.Entries {
	lo, hi := s.of(u)
	if lo == hi {
		return block.Entries{}
	}
	var all block.Entries
	for i := lo; i < hi; i++ {
		segment := s.segment(i)
		all.Append(segment.Of(s.relation[i]))
	}
	all.Sort()
	return all
}

// between returns the edges to v in row u.
func (s *segments) between(u, v ID) (edges block.Entries) {
	lo, hi := s.of(u)
	for i := lo; i < hi; i++ {
		segment := s.segment(i)
		edge := segment.Between(v)
		edges.Append(edge.Of(s.relation[i]))
	}
	return edges
}

// add adds the edges of row u, which is below no row before.
func (s *segments) add(u ID, edges block.Entries) {
	for len(s.off) <= int(u) {
		s.off = append(s.off, uint32(len(s.end)))
	}
	if s.sorter == nil {
		s.sorter = new(block.Sorter)
	}
	s.sorter.Append(&s.Entries, edges, func(relation uint16, end int) {
		s.relation, s.end = append(s.relation, relation), append(s.end, uint32(end))
	})
}

// finish ends the last row.
func (s *segments) finish() { s.off, s.sorter = append(s.off, uint32(len(s.end))), nil }

func (s *segments) bytes() int64 {
	return 4*int64(len(s.off)+len(s.end)) + 2*int64(len(s.relation)) + s.Bytes()
}

// edgeBytes is the size of an edge in memory.
const edgeBytes = 24
