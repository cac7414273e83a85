package index

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
)

// Scratch is temporary storage, such as a temporary file.
type Scratch interface {
	io.ReaderAt
	io.WriterAt
}

// runs is a list of edges of any length that can be sorted by an external merge sort (Knuth, The Art of Computer
// Programming 3, section 5.4). When the edges in memory reach the limit they are moved, unsorted, to the scratch
// file as a run; sort then sorts each run in place. Sorting is stable and keeps all edges, so the merge returns the
// edges of a pair in the order in which they were added, whatever the limit.
type runs struct {
	directed bool // if false, the two directions of an edge are one pair
	limit    int  // maximum number of edges in memory; 0: any number
	scratch  func() (Scratch, error)
	file     Scratch
	spilled  []run // runs in the scratch file, in the order of addition
	tail     []Edge
}

// run is a section of the scratch file.
type run struct {
	at    int64
	edges int
	width int // bytes per edge
}

// Bytes of an edge in the scratch file: U and V, followed by weight and time if some edge of the run needs them.
const (
	widthPlain = 8
	widthFull  = 20
)

// bytes returns the approximate memory that the list takes, including while it is sorted, in bytes.
func (r *runs) bytes() int64 {
	const edge, beside = 24, 2 // edge is the size of an edge; memory holds the edges of a run twice while sorting
	return edge*beside*int64(cap(r.tail)) + readAhead*int64(len(r.spilled))
}

func (r *runs) add(e Edge) error {
	if r.limit > 0 && len(r.tail) >= r.limit {
		if err := r.spill(); err != nil {
			return err
		}
	}
	r.tail = append(r.tail, e)
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
	out := bufio.NewWriterSize(io.NewOffsetWriter(r.file, to.at), min(256<<10, len(edges)*to.width))
	var b [widthFull]byte
	for _, e := range edges {
		binary.LittleEndian.PutUint32(b[:], e.U)
		binary.LittleEndian.PutUint32(b[4:], e.V)
		if to.width == widthFull {
			binary.LittleEndian.PutUint32(b[8:], math.Float32bits(e.Weight))
			binary.LittleEndian.PutUint64(b[12:], uint64(e.Time))
		}
		_, _ = out.Write(b[:to.width]) // Flush returns the error
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("index: scratch file: %w", err)
	}
	return nil
}

// readAhead is the number of bytes that the merge reads from a run at a time.
const readAhead = 64 << 10

// reader returns a function that returns the next edge of a run, and false after the last one or after an error, which
// it stores in readErr.
func (r *runs) reader(from run, readErr *error) func() (Edge, bool) {
	size := from.edges * from.width
	in, left := bufio.NewReaderSize(io.NewSectionReader(r.file, from.at, int64(size)), min(readAhead, size)), from.edges
	return func() (e Edge, ok bool) {
		if left == 0 {
			return e, false
		}
		b, err := in.Peek(from.width)
		if err != nil {
			*readErr = fmt.Errorf("index: scratch file: %w", err)
			return e, false
		}
		e = Edge{U: binary.LittleEndian.Uint32(b), V: binary.LittleEndian.Uint32(b[4:]), Weight: 1}
		if from.width == widthFull {
			e.Weight = math.Float32frombits(binary.LittleEndian.Uint32(b[8:]))
			e.Time = int64(binary.LittleEndian.Uint64(b[12:]))
		}
		_, _ = in.Discard(from.width) // cannot fail after Peek
		left--
		return e, true
	}
}

// sort calls final for every edge, which may change the edge, and sorts each run by pairs. It checks ctx before
// each run.
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
		var readErr error
		next := r.reader(r.spilled[i], &readErr)
		for e, ok := next(); ok; e, ok = next() {
			work = append(work, e)
		}
		if readErr != nil {
			return readErr
		}
		work, spare = r.sorted(work, spare[:len(work)], final)
		if err := r.write(r.spilled[i], work); err != nil {
			return err
		}
	}
	return nil
}

// sorted returns the sorted edges, and a slice for reuse.
func (r *runs) sorted(edges, spare []Edge, final func(*Edge)) (out, free []Edge) {
	for i := range edges {
		final(&edges[i])
	}
	return radixSort(edges, spare, r.directed)
}

// pair returns the endpoints of an edge as one number, ordered as edges are. Unless directed, the lower endpoint
// comes first.
func (e Edge) pair(directed bool) uint64 {
	if !directed && e.U > e.V {
		return uint64(e.V)<<32 | uint64(e.U)
	}
	return uint64(e.U)<<32 | uint64(e.V)
}

// radixSort sorts edges by their pairs, stably, byte by byte from the lowest (Knuth 3, section 5.2.5, algorithm R).
// Both slices have the same length and are overwritten. out is the sorted slice, free the other one.
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
			continue // all edges have the same byte here
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

// merged passes the edges of base, which must ascend, and of all sorted runs to visit, ascending by pairs. The
// edges of a pair come in the order in which they were added, those of base first. loaded is false for edges of
// base.
func (r *runs) merged(base iter.Seq[Edge], visit func(e Edge, loaded bool) error) error {
	next, stop := iter.Pull(base)
	defer stop()
	var readErr error
	lists := []func() (Edge, bool){next}
	for _, s := range r.spilled {
		lists = append(lists, r.reader(s, &readErr))
	}
	tail := r.tail
	lists = append(lists, func() (e Edge, ok bool) {
		if len(tail) == 0 {
			return e, false
		}
		e, tail = tail[0], tail[1:]
		return e, true
	})
	left := make([]cursor, 0, len(lists)) // the next one last
	advance := func(c cursor) {
		var ok bool
		if c.edge, ok = lists[c.list](); ok {
			c.pair = c.edge.pair(r.directed)
			i, _ := slices.BinarySearchFunc(left, c, cursor.orderBackward)
			left = slices.Insert(left, i, c)
		}
	}
	for i := range lists {
		advance(cursor{list: i})
	}
	for len(left) > 0 {
		c := left[len(left)-1]
		left = left[:len(left)-1]
		if err := visit(c.edge, c.list > 0); err != nil {
			return err
		}
		advance(c)
	}
	return readErr
}

// cursor is the current edge of one of the lists that are merged.
type cursor struct {
	edge Edge
	pair uint64
	list int // index of the list in the order of addition
}

func (c cursor) orderBackward(d cursor) int {
	return cmp.Or(cmp.Compare(d.pair, c.pair), cmp.Compare(d.list, c.list))
}
