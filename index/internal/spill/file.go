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

	"kith/ppr"
)

// Edge is one stored edge. For an undirected edge, U <= V.
type Edge struct {
	U, V   ppr.ID
	Weight float32 // finite, > 0
	Time   int64   // seconds since 1970, 0 for an edge without a time
}

// Pair returns the endpoints of an edge as one number, ordered as edges are. Unless directed, the
// lower endpoint comes first.
func (e *Edge) Pair(directed bool) uint64 {
	if !directed && e.U > e.V {
		return uint64(e.V)<<32 | uint64(e.U)
	}
	return uint64(e.U)<<32 | uint64(e.V)
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
// section needs them.
const (
	widthPlain = 8
	widthFull  = 20
)

// SectionOf returns the section that some edges take which starts at the given offset.
func SectionOf(at int64, edges []Edge) Section { return Section{at, len(edges), widthOf(edges)} }

// widthOf returns the bytes per edge of a section with the given edges.
func widthOf(edges []Edge) int {
	for i := range edges {
		if edges[i].Weight != 1 || edges[i].Time != 0 {
			return widthFull
		}
	}
	return widthPlain
}

// Size returns the length of the section in bytes.
func (s Section) Size() int64 { return int64(s.edges) * int64(s.width) }

// WriteEdges writes the edges of a section.
func (f *File) WriteEdges(to Section, edges []Edge) error {
	out := f.Writer(to.at, int(min(WholeBuffer, to.Size())))
	var b [widthFull]byte
	for i := range edges {
		e := &edges[i]
		binary.LittleEndian.PutUint32(b[:], e.U)
		binary.LittleEndian.PutUint32(b[4:], e.V)
		if to.width == widthFull {
			binary.LittleEndian.PutUint32(b[8:], math.Float32bits(e.Weight))
			binary.LittleEndian.PutUint64(b[12:], uint64(e.Time))
		}
		_, _ = out.Write(b[:to.width]) // Flush returns the error
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
