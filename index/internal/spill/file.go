// Package spill sorts more edges than fit into memory. Sorted runs of them go to a scratch file,
// and a merge reads the runs at the same time (Knuth, The Art of Computer Programming 3, section
// 5.4).
package spill

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"kith/ppr"
)

// Ends are the nodes of an edge.
type Ends struct{ U, V ppr.ID }

// Edge is one stored edge. For an undirected edge, U <= V. It has four fields, because the compiler
// keeps no larger structs in registers.
type Edge struct {
	Ends
	Weight   float32 // finite, > 0
	Relation uint16
	Time     int64 // seconds since 1970, 0 for an edge without a time
}

// Directions says which relations, by number, have directed edges.
type Directions []bool

// Pair returns the endpoints of an edge as one number, ordered as edges are. Unless the edge is
// directed, the lower endpoint comes first.
func (e *Edge) Pair(directed Directions) uint64 { return e.pair(directed[e.Relation]) }

// common returns the direction of all relations, and whether they have several.
func (d Directions) common() (directed, mixed bool) {
	directed = slices.Contains(d, true)
	return directed, directed && slices.Contains(d, false)
}

func (e Ends) pair(directed bool) uint64 {
	if !directed && e.U > e.V {
		return uint64(e.V)<<32 | uint64(e.U)
	}
	return uint64(e.U)<<32 | uint64(e.V)
}

// Before reports whether an edge comes before another one in the order of pairs and relations.
func (e *Edge) Before(o *Edge, directed Directions) bool {
	p, q := e.Pair(directed), o.Pair(directed)
	return p < q || p == q && e.Relation < o.Relation
}

// Same reports whether two edges have the same pair and relation.
func (e *Edge) Same(o *Edge, directed Directions) bool {
	return e.Relation == o.Relation && e.Pair(directed) == o.Pair(directed)
}

// Scratch is temporary storage, such as a temporary file.
type Scratch interface {
	io.ReaderAt
	io.WriterAt
}

// File is a scratch file that sections are appended to.
type File struct {
	Create func() (Scratch, error)
	Scratch
	Size int64
}

// Open creates the file unless it exists.
func (f *File) Open() (err error) {
	if f.Scratch == nil {
		f.Scratch, err = f.Create()
	}
	return err
}

// Writer returns a writer of the section that starts at the given offset. Its Flush reports the
// first error of all writes.
func (f *File) Writer(at int64, buffer int) *bufio.Writer {
	return bufio.NewWriterSize(io.NewOffsetWriter(f, at), buffer)
}

// Reader returns a reader of a section.
func (f *File) Reader(at, size int64, buffer int) *bufio.Reader {
	return bufio.NewReaderSize(io.NewSectionReader(f, at, size), int(min(int64(buffer), size)))
}

// ErrOther is returned if the bytes read from a scratch file differ from the bytes written.
var ErrOther = errors.New("the data read back are not those written")

// Error says where an error arose.
func Error(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("index: scratch file: %w", err)
}

// WriteIDs writes ids, 4 bytes each.
func (f *File) WriteIDs(at int64, ids []ppr.ID) error {
	out := f.Writer(at, min(WholeBuffer, 4*len(ids)))
	for _, id := range ids {
		// Flush returns the error.
		_, _ = out.Write(binary.LittleEndian.AppendUint32(out.AvailableBuffer(), id))
	}
	if err := out.Flush(); err != nil {
		return Error(err)
	}
	return nil
}

// ReadIDs reads n ids that WriteIDs wrote.
func (f *File) ReadIDs(at int64, n int) ([]ppr.ID, error) {
	ids := make([]ppr.ID, n)
	if err := binary.Read(f.Reader(at, 4*int64(n), WholeBuffer), binary.LittleEndian, ids); err != nil {
		return nil, Error(err)
	}
	return ids, nil
}

// WholeBuffer is the size of the buffer for a section that is read or written alone.
const WholeBuffer = 256 << 10

// MergeBuffer returns the size of the buffers of n sections that are read or written at the same
// time within the given memory. A small buffer costs a system call more often.
func MergeBuffer(memory int64, n int) int {
	return int(max(min(memory/int64(max(n, 1)), 64<<10), 512))
}

// Section is a part of a scratch file that holds edges.
type Section struct {
	at    int64
	edges int
	width int // bytes per edge
}

// Bytes of an edge in the scratch file: U and V, followed by weight and time if some edge of the
// section needs them, and by the relation if some relation is not 0.
const (
	widthPlain    = 8
	widthFull     = 20
	widthRelation = 2
)

// SectionOf returns the section that some edges take which starts at the given offset.
func SectionOf(at int64, edges *Edges) Section { return Section{at, edges.Len(), widthOf(edges)} }

// widthOf returns the bytes per edge of a section with the given edges.
func widthOf(edges *Edges) int {
	width, relation := widthPlain, 0
	for i := range edges.full {
		e := &edges.full[i]
		if e.Weight != 1 || e.Time != 0 {
			width = widthFull
		}
		if e.Relation != 0 {
			relation = widthRelation
		}
	}
	return width + relation
}

// full reports whether the edges of the section have weights and times.
func (s Section) full() bool { return s.width >= widthFull }

// relations reports whether the edges of the section have relations.
func (s Section) relations() bool { return s.width != widthPlain && s.width != widthFull }

// Size returns the length of the section in bytes.
func (s Section) Size() int64 { return int64(s.edges) * int64(s.width) }

// WriteEdges writes the edges of a section.
func (f *File) WriteEdges(to Section, edges *Edges) error {
	out := f.Writer(to.at, int(min(WholeBuffer, to.Size())))
	for i := range edges.Len() {
		e := edges.At(i)
		b := binary.LittleEndian.AppendUint32(out.AvailableBuffer(), e.U)
		b = binary.LittleEndian.AppendUint32(b, e.V)
		if to.full() {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(e.Weight))
			b = binary.LittleEndian.AppendUint64(b, uint64(e.Time))
		}
		if to.relations() {
			b = binary.LittleEndian.AppendUint16(b, e.Relation)
		}
		_, _ = out.Write(b) // Flush returns the error
	}
	if err := out.Flush(); err != nil {
		return Error(err)
	}
	return nil
}

// ReadEdges returns a function that returns the next edge of a section, and false after the last
// one or after an error, which it stores in readErr.
func (f *File) ReadEdges(from Section, buffer int, readErr *error) func() (Edge, bool) {
	in, left := f.Reader(from.at, from.Size(), buffer), from.edges
	return func() (e Edge, ok bool) {
		if left == 0 {
			return e, false
		}
		b, err := in.Peek(from.width)
		if err != nil {
			*readErr = Error(err)
			return e, false
		}
		e = Edge{Ends: Ends{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])}, Weight: 1}
		if from.full() {
			e.Weight = math.Float32frombits(binary.LittleEndian.Uint32(b[8:]))
			e.Time = int64(binary.LittleEndian.Uint64(b[12:]))
		}
		if from.relations() {
			e.Relation = binary.LittleEndian.Uint16(b[from.width-widthRelation:])
		}
		_, _ = in.Discard(from.width) // cannot fail after Peek
		left--
		return e, true
	}
}
