package index

import (
	"bufio"
	"cmp"
	"container/heap"
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
// file, as it came; sort then sorts each such run in its place.
type runs struct {
	limit   int // edges in memory; 0: any number
	scratch func() (Scratch, error)
	file    Scratch
	spilled []run // in the order in which they came
	tail    []Edge
	total   int64
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

// sort gives every edge to final, which may change it, and sorts each run. Of edges with the same
// ends a run keeps the one that came last.
func (r *runs) sort(final func(*Edge)) error {
	spare := make([]Edge, len(r.tail))
	r.tail, spare = sorted(r.tail, spare, final)
	if len(r.spilled) == 0 {
		return nil
	}
	work := make([]Edge, 0, r.limit)
	spare = slices.Grow(spare[:0], r.limit)
	for i := range r.spilled {
		work = work[:0]
		for e, err := range r.read(r.spilled[i]) {
			if err != nil {
				return err
			}
			work = append(work, e)
		}
		work, spare = sorted(work, spare[:len(work)], final)
		r.spilled[i].edges = len(work)
		if err := r.write(r.spilled[i], work); err != nil {
			return err
		}
	}
	return nil
}

// sorted returns the edges sorted, each pair of ends once, and a slice to use again.
func sorted(edges, spare []Edge, final func(*Edge)) (out, free []Edge) {
	for i := range edges {
		final(&edges[i])
	}
	edges, spare = radixSort(edges, spare)
	n := 0
	for i, e := range edges {
		if i+1 < len(edges) && e.pair() == edges[i+1].pair() {
			continue
		}
		edges[n] = e
		n++
	}
	return edges[:n], spare
}

// pair is the ends of an edge as one number, in the order of edges.
func (e Edge) pair() uint64 { return uint64(e.U)<<32 | uint64(e.V) }

// radixSort sorts edges by their ends, stably, byte by byte from the lowest (Knuth 3, section 5.2.5,
// algorithm R). Both slices, of one length, are overwritten; the first result is the sorted one.
func radixSort(edges, spare []Edge) (out, free []Edge) {
	var count [8][256]int
	for _, e := range edges {
		for d, k := 0, e.pair(); d < 8; d, k = d+1, k>>8 {
			count[d][byte(k)]++
		}
	}
	for d := range count {
		place := &count[d]
		if len(edges) == 0 || place[byte(edges[0].pair()>>(8*d))] == len(edges) {
			continue // all have the same byte here
		}
		at := 0
		for v, n := range place {
			place[v] = at
			at += n
		}
		for _, e := range edges {
			v := byte(e.pair() >> (8 * d))
			spare[place[v]] = e
			place[v]++
		}
		edges, spare = spare, edges
	}
	return edges, spare
}

// merged hands the edges of base, which ascend, and of all runs, which are sorted, to visit,
// ascending and each pair of ends once, as it came last; base came first.
func (r *runs) merged(base iter.Seq[Edge], visit func(Edge) error) error {
	next, stop := iter.Pull(base)
	defer stop()
	m := make(merge, 0, len(r.spilled)+2)
	m = append(m, &cursor{pull: next})
	for i, s := range r.spilled {
		c := r.cursor(s)
		c.age = i + 1
		m = append(m, c)
	}
	m = append(m, &cursor{rest: r.tail, age: len(r.spilled) + 1})
	all := slices.Clone(m)
	m = slices.DeleteFunc(m, func(c *cursor) bool { return !c.next() })
	heap.Init(&m)
	for len(m) > 0 {
		e := m.take()
		for len(m) > 0 && m[0].edge.pair() == e.pair() {
			e = m.take()
		}
		if err := visit(e); err != nil {
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

// merge is a heap of cursors by edge, then age.
type merge []*cursor

func (m merge) Len() int { return len(m) }
func (m merge) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(m[i].edge.pair(), m[j].edge.pair()), cmp.Compare(m[i].age, m[j].age)) < 0
}
func (m merge) Swap(i, j int) { m[i], m[j] = m[j], m[i] }
func (m *merge) Push(x any)   { *m = append(*m, x.(*cursor)) }
func (m *merge) Pop() any {
	last := len(*m) - 1
	c := (*m)[last]
	*m = (*m)[:last]
	return c
}

// take returns the least edge and goes on behind it.
func (m *merge) take() Edge {
	e := (*m)[0].edge
	if (*m)[0].next() {
		heap.Fix(m, 0)
	} else {
		heap.Pop(m)
	}
	return e
}
