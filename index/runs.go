package index

import (
	"bufio"
	"cmp"
	"container/heap"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
)

// Scratch is a place for bytes that are of no use afterwards, a temporary file.
type Scratch interface {
	io.ReaderAt
	io.WriterAt
}

// runs is a list of edges of any length, to be sorted: an external merge sort (Knuth, The Art of
// Computer Programming 3, section 5.4). What fills the memory it may take is moved to the scratch
// file, as it came; sort then sorts each such run in its place. Sorting is stable and no edge is
// left out, so that the merge meets the edges of a pair in the order in which they came, whatever
// the limit.
type runs struct {
	directed bool // else the two directions of an edge are one pair
	limit    int  // edges in memory; 0: any number
	scratch  func() (Scratch, error)
	file     Scratch
	spilled  []run // in the order in which they came
	tail     []Edge
	total    int64
}

// run is a part of the scratch file.
type run struct {
	at    int64
	edges int
	width int // bytes an edge
}

// An edge in the scratch file: U, V, and where some edge of the run needs them weight and time.
const (
	widthPlain = 8
	widthFull  = 20
)

func (r *runs) len() int64 { return r.total }

// bytes is about the memory the list takes now and while it is sorted.
func (r *runs) bytes() int64 {
	const edge, beside = 24, 2 // of a run are in memory: the edges, and as many to sort them
	return edge*beside*int64(cap(r.tail)) + readAhead*int64(len(r.spilled))
}

func (r *runs) add(e Edge) error {
	if r.limit > 0 && len(r.tail) >= r.limit {
		if err := r.spill(); err != nil {
			return err
		}
	}
	r.tail = append(r.tail, e)
	r.total++
	return nil
}

// spill moves the edges in memory to the scratch file.
func (r *runs) spill() (err error) {
	if r.file == nil {
		if r.file, err = r.scratch(); err != nil {
			return err
		}
	}
	next := run{edges: len(r.tail), width: widthPlain}
	if n := len(r.spilled); n > 0 {
		last := r.spilled[n-1]
		next.at = last.at + int64(last.edges)*int64(last.width)
	}
	if slices.ContainsFunc(r.tail, func(e Edge) bool { return e.Weight != 1 || e.Time != 0 }) {
		next.width = widthFull
	}
	if err := r.write(next, r.tail); err != nil {
		return err
	}
	r.spilled = append(r.spilled, next)
	r.tail = r.tail[:0]
	return nil
}

func (r *runs) write(to run, edges []Edge) error {
	out := bufio.NewWriterSize(io.NewOffsetWriter(r.file, to.at), 256<<10)
	var b [widthFull]byte
	for _, e := range edges {
		binary.LittleEndian.PutUint32(b[:], e.U)
		binary.LittleEndian.PutUint32(b[4:], e.V)
		if to.width == widthFull {
			binary.LittleEndian.PutUint32(b[8:], math.Float32bits(e.Weight))
			binary.LittleEndian.PutUint64(b[12:], uint64(e.Time))
		}
		_, _ = out.Write(b[:to.width]) // Flush tells
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("index: scratch file: %w", err)
	}
	return nil
}

// readAhead is what merging reads of a run at a time, in bytes.
const readAhead = 64 << 10

// read yields the edges of a run. An error is the last pair.
func (r *runs) read(from run) iter.Seq2[Edge, error] {
	return func(yield func(Edge, error) bool) {
		c := r.cursor(from)
		for c.next() {
			if !yield(c.edge, nil) {
				return
			}
		}
		if c.err != nil {
			yield(Edge{}, c.err)
		}
	}
}

// sort gives every edge to final, which may change it, and sorts each run by pairs. It checks ctx
// before each run.
func (r *runs) sort(ctx context.Context, final func(*Edge)) error {
	spare := make([]Edge, len(r.tail))
	r.tail, spare = r.sorted(r.tail, spare, final)
	if len(r.spilled) == 0 {
		return nil
	}
	work := make([]Edge, 0, r.limit)
	spare = slices.Grow(spare[:0], r.limit)
	for i := range r.spilled {
		if err := ctx.Err(); err != nil {
			return err
		}
		work = work[:0]
		for e, err := range r.read(r.spilled[i]) {
			if err != nil {
				return err
			}
			work = append(work, e)
		}
		work, spare = r.sorted(work, spare[:len(work)], final)
		if err := r.write(r.spilled[i], work); err != nil {
			return err
		}
	}
	return nil
}

// sorted returns the edges sorted, and a slice to use again.
func (r *runs) sorted(edges, spare []Edge, final func(*Edge)) (out, free []Edge) {
	for i := range edges {
		final(&edges[i])
	}
	return radixSort(edges, spare, r.directed)
}

// pair is the ends of an edge as one number, in the order of edges. Unless directed, the lower end
// comes first.
func (e Edge) pair(directed bool) uint64 {
	if !directed && e.U > e.V {
		return uint64(e.V)<<32 | uint64(e.U)
	}
	return uint64(e.U)<<32 | uint64(e.V)
}

// radixSort sorts edges by their pairs, stably, byte by byte from the lowest (Knuth 3, section 5.2.5,
// algorithm R). Both slices, of one length, are overwritten; the first result is the sorted one.
func radixSort(edges, spare []Edge, directed bool) (out, free []Edge) {
	var count [8][256]int
	for _, e := range edges {
		for d, k := 0, e.pair(directed); d < 8; d, k = d+1, k>>8 {
			count[d][byte(k)]++
		}
	}
	for d := range count {
		place := &count[d]
		if len(edges) == 0 || place[byte(edges[0].pair(directed)>>(8*d))] == len(edges) {
			continue // all have the same byte here
		}
		at := 0
		for v, n := range place {
			place[v] = at
			at += n
		}
		for _, e := range edges {
			v := byte(e.pair(directed) >> (8 * d))
			spare[place[v]] = e
			place[v]++
		}
		edges, spare = spare, edges
	}
	return edges, spare
}

// merged hands the edges of base, which ascend, and of all runs, which are sorted, to visit: ascending
// by pairs, and those of a pair in the order in which they came. Base came first; gathered says that an
// edge is not of it.
func (r *runs) merged(base iter.Seq[Edge], visit func(e Edge, gathered bool) error) error {
	next, stop := iter.Pull(base)
	defer stop()
	m := merge{directed: r.directed, cursors: make([]*cursor, 0, len(r.spilled)+2)}
	m.add(&cursor{pull: next})
	for _, s := range r.spilled {
		m.add(r.cursor(s))
	}
	m.add(&cursor{rest: r.tail})
	all := slices.Clone(m.cursors)
	m.cursors = slices.DeleteFunc(m.cursors, func(c *cursor) bool { return !c.next() })
	heap.Init(&m)
	for len(m.cursors) > 0 {
		gathered := m.cursors[0].age > 0
		if err := visit(m.take(), gathered); err != nil {
			return err
		}
	}
	for _, c := range all {
		if c.err != nil {
			return c.err
		}
	}
	return nil
}

// cursor is at an edge of one of the lists that are merged.
type cursor struct {
	edge Edge
	age  int // the list's place in the order in which they came
	err  error

	// Where the edges after it are: one of these.
	pull  func() (Edge, bool)
	rest  []Edge
	in    *bufio.Reader
	left  int
	width int
}

func (r *runs) cursor(of run) *cursor {
	part := io.NewSectionReader(r.file, of.at, int64(of.edges)*int64(of.width))
	return &cursor{in: bufio.NewReaderSize(part, readAhead), left: of.edges, width: of.width}
}

// next goes on to the next edge and reports whether there is one.
func (c *cursor) next() (ok bool) {
	switch {
	case c.pull != nil:
		c.edge, ok = c.pull()
		return ok
	case c.in != nil:
		return c.nextRead()
	case len(c.rest) == 0:
		return false
	}
	c.edge, c.rest = c.rest[0], c.rest[1:]
	return true
}

func (c *cursor) nextRead() bool {
	if c.left == 0 {
		return false
	}
	b, err := c.in.Peek(c.width)
	if err != nil {
		c.err = fmt.Errorf("index: scratch file: %w", err)
		return false
	}
	c.edge = Edge{U: binary.LittleEndian.Uint32(b), V: binary.LittleEndian.Uint32(b[4:]), Weight: 1}
	if c.width == widthFull {
		c.edge.Weight = math.Float32frombits(binary.LittleEndian.Uint32(b[8:]))
		c.edge.Time = int64(binary.LittleEndian.Uint64(b[12:]))
	}
	_, _ = c.in.Discard(c.width) // peeked
	c.left--
	return true
}

// merge is a heap of cursors by pair, then age.
type merge struct {
	directed bool
	cursors  []*cursor
}

// add adds the next younger cursor.
func (m *merge) add(c *cursor) {
	c.age = len(m.cursors)
	m.cursors = append(m.cursors, c)
}

func (m *merge) Len() int { return len(m.cursors) }
func (m *merge) Less(i, j int) bool {
	a, b := m.cursors[i], m.cursors[j]
	return cmp.Or(cmp.Compare(a.edge.pair(m.directed), b.edge.pair(m.directed)), cmp.Compare(a.age, b.age)) < 0
}
func (m *merge) Swap(i, j int) { m.cursors[i], m.cursors[j] = m.cursors[j], m.cursors[i] }
func (m *merge) Push(x any)    { m.cursors = append(m.cursors, x.(*cursor)) }
func (m *merge) Pop() any {
	last := len(m.cursors) - 1
	c := m.cursors[last]
	m.cursors = m.cursors[:last]
	return c
}

// take returns the least edge and goes on behind it.
func (m *merge) take() Edge {
	e := m.cursors[0].edge
	if m.cursors[0].next() {
		heap.Fix(m, 0)
	} else {
		heap.Pop(m)
	}
	return e
}
