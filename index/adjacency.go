package index

import (
	"math"
	"slices"
	"sync/atomic"

	"kith/index/internal/block"
	"kith/index/internal/pages"
	"kith/ppr"
)

// adjacency holds the rows in one direction.
type adjacency struct {
	base    *base
	rows    pages.Array[*row]
	changed int64 // memory of rows in bytes, apart from what base.merged counts
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
	degree []float64 // nil if Weight is nil
}

// row is a changed row, in full.
type row struct {
	by *pages.Owner
	block.Entries
	degree float64
	// hidden, if not nil, lists nodes, ascending: the row is the row of the base without them, and
	// Entries is empty.
	hidden []ID
	// late, if not nil, has the row, which is made when it is first read.
	late *lateRow
}

// lateRow is the row of a base with changes: entries as edges from the row's node, ascending. If a
// neighbour has several entries, the last one counts. Weight 0 means that the entry is removed.
type lateRow struct {
	changes []Edge
	row     atomic.Pointer[row] // nil: not read yet
}

// rowBytes is the memory of a changed row besides its entries, in bytes, if no row of a close id
// has changed: the row, and two spans of the pages.
const rowBytes = 380

func (r *row) bytes() int64 {
	n := rowBytes + r.Bytes()
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
	made := &row{Entries: a.base.row(u)}
	made.merge(r.late.changes)
	if r.late.row.CompareAndSwap(nil, made) { // another reader's is equal
		a.base.merged.Add(made.bytes())
	}
	return r.late.row.Load()
}

func (a *adjacency) row(u ID) block.Entries {
	r := a.at(u)
	switch {
	case r == nil:
		return a.base.row(u)
	case r.hidden != nil:
		return withoutNodes(r.hidden, a.base.row(u))
	}
	return r.Entries
}

// len returns the number of entries of the row of u.
func (a *adjacency) len(u ID) int {
	r := a.at(u)
	switch {
	case r == nil:
		return a.base.len(u)
	case r.hidden != nil:
		return a.base.len(u) - len(r.hidden)
	}
	return len(r.To)
}

// head returns the first n nodes of the row of u, or all if there are fewer. See [Graph.OutHead]
// for buffer.
func (a *adjacency) head(u ID, n int, buffer []ID) []ID {
	r := a.at(u)
	switch {
	case r == nil:
		return a.base.head(u, n, buffer)
	case r.hidden != nil:
		to := a.base.head(u, n+min(len(r.hidden), math.MaxInt-n), buffer)
		hidden := r.hidden
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

// bytes returns the memory of the rows, in bytes, apart from cached blocks.
func (b *base) bytes() (n int64) {
	if c := b.memory.Load(); c != nil {
		n = c.bytes()
	}
	if b.stored != nil {
		n += 20 * int64(len(b.stored.First))
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

func (c *csr) bytes() int64 {
	return 4*int64(len(c.off)+len(c.To)+len(c.Weight)) + 8*int64(len(c.Time)+len(c.degree))
}

// edgeBytes is the size of an edge in memory.
const edgeBytes = 24
