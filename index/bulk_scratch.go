package index

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// Scratch is temporary storage, such as a temporary file.
type Scratch interface {
	io.ReaderAt
	io.WriterAt
}

// scratchFile is a scratch file that sections are appended to.
type scratchFile struct {
	create func() (Scratch, error)
	Scratch
	size int64
}

// open creates the file unless it exists.
func (f *scratchFile) open() (err error) {
	if f.Scratch == nil {
		f.Scratch, err = f.create()
	}
	return err
}

// writer returns a writer of the section that starts at the given offset. Its Flush reports the
// first error of all writes.
func (f *scratchFile) writer(at int64, buffer int) *bufio.Writer {
	return bufio.NewWriterSize(io.NewOffsetWriter(f, at), buffer)
}

// reader returns a reader of a section.
func (f *scratchFile) reader(at, size int64, buffer int) *bufio.Reader {
	return bufio.NewReaderSize(io.NewSectionReader(f, at, size), int(min(int64(buffer), size)))
}

// errScratch is the error for bytes in a scratch file that are not those that were written.
var errScratch = errors.New("the data read back are not those written")

// scratchError says where an error arose.
func scratchError(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("index: scratch file: %w", err)
}

// wholeBuffer is the size of the buffer for a section that is read or written alone.
const wholeBuffer = 256 << 10

// mergeBuffer returns the size of the buffers of n sections that are read or written at the same
// time within the given memory. A small buffer costs a system call more often.
func mergeBuffer(memory int64, n int) int {
	return int(max(min(memory/int64(max(n, 1)), 64<<10), 512))
}

// edgeSection is a part of a scratch file that holds edges.
type edgeSection struct {
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

// widthOf returns the bytes per edge of a section with the given edges.
func widthOf(edges []Edge) int {
	for i := range edges {
		if edges[i].Weight != 1 || edges[i].Time != 0 {
			return widthFull
		}
	}
	return widthPlain
}

func (s edgeSection) size() int64 { return int64(s.edges) * int64(s.width) }

// writeEdges writes the edges of a section.
func (f *scratchFile) writeEdges(to edgeSection, edges []Edge) error {
	out := f.writer(to.at, int(min(wholeBuffer, to.size())))
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
		return scratchError(err)
	}
	return nil
}

// readEdges returns a function that returns the next edge of a section, and false after the last
// one or after an error, which it stores in readErr.
func (f *scratchFile) readEdges(from edgeSection, buffer int, readErr *error) func() (Edge, bool) {
	in, left := f.reader(from.at, from.size(), buffer), from.edges
	return func() (e Edge, ok bool) {
		if left == 0 {
			return e, false
		}
		b, err := in.Peek(from.width)
		if err != nil {
			*readErr = scratchError(err)
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
