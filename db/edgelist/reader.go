package edgelist

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/klauspost/compress/gzip"
)

// maxLine is the longest line, in bytes with its end; it is also what a Reader buffers.
const maxLine = 1 << 20

// Options says how to read an edge list.
type Options struct {
	Columns Columns // what the columns mean; zero: decide on the first lines
}

// Edge is one line of an edge list.
type Edge struct {
	Line     int64 // from 1
	Src, Dst Token
	Weight   float32 // finite and positive; 1 if the list has no weights
	Time     int64   // 0 if the list has no times
}

// Token is the name of a node: an integer or a string. Two tokens are equal if they are ==.
type Token struct {
	Int   int64  // 0 if it is a string
	Str   string // empty if it is an integer
	IsInt bool
}

// LineError is a line that is no edge. The stream goes on after it.
type LineError struct {
	Line int64  // from 1
	Text string // what the line begins with
	Msg  string
}

// Error returns the line's number, what is wrong with it and what it begins with.
func (e *LineError) Error() string {
	return fmt.Sprintf("edgelist: line %d: %s: %q", e.Line, e.Msg, e.Text)
}

// Reader reads one edge list.
type Reader struct {
	in      *bufio.Reader
	columns Columns
	guessed bool
	line    int64  // lines read
	src     string // the string keys of the edge before, which is often a neighbour
	dst     string
}

// NewReader begins to read an edge list, plain or gzip. It reads as far as the columns have to be
// guessed; the error is one of r, of gzip or of the options.
func NewReader(r io.Reader, o Options) (*Reader, error) {
	if o.Columns < Auto || o.Columns > SrcDstTime {
		return nil, fmt.Errorf("edgelist: unknown columns %d", int(o.Columns))
	}
	raw := bufio.NewReaderSize(r, 64<<10)
	r = raw
	if magic, _ := raw.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(raw)
		if err != nil {
			return nil, fmt.Errorf("edgelist: %w", err)
		}
		r = z
	}
	l := &Reader{in: bufio.NewReaderSize(r, maxLine), columns: o.Columns, guessed: o.Columns == Auto}
	if bom, _ := l.in.Peek(3); string(bom) == "\uFEFF" {
		_, _ = l.in.Discard(3) // peeked
	}
	if !l.guessed {
		return l, nil
	}
	text, err := l.in.Peek(guessBytes)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("edgelist: %w", err)
	}
	l.columns = guess(text, err == io.EOF)
	return l, nil
}

// Columns returns what the columns mean, given or guessed; never Auto.
func (r *Reader) Columns() Columns { return r.columns }

// Edges returns the edges in the order of the file. A malformed line comes as a [*LineError] in the
// place of an edge; any other error is the last pair. Ranging again goes on where the last stopped.
func (r *Reader) Edges() iter.Seq2[Edge, error] {
	return func(yield func(Edge, error) bool) {
		for {
			line, err := r.next()
			if err == io.EOF {
				return
			}
			e := Edge{Line: r.line, Weight: 1}
			if err == nil {
				fields, n := split(line)
				if n == 0 {
					continue
				}
				err = r.parse(line, fields, n, &e)
			}
			if !yield(e, err) || err != nil && !errors.As(err, new(*LineError)) {
				return
			}
		}
	}
}

// next returns the next line, without its end. The bytes last until the next call.
func (r *Reader) next() ([]byte, error) {
	line, err := r.in.ReadSlice('\n')
	if err == io.EOF && len(line) == 0 {
		return nil, io.EOF
	}
	r.line++
	switch {
	case err == bufio.ErrBufferFull:
		bad := r.bad(line, "line is longer than 1 MiB")
		for err == bufio.ErrBufferFull {
			_, err = r.in.ReadSlice('\n')
		}
		if err == nil || err == io.EOF {
			return nil, bad
		}
		fallthrough
	case err != nil && err != io.EOF:
		return nil, fmt.Errorf("edgelist: line %d: %w", r.line, err)
	}
	return bytes.TrimSuffix(line, []byte("\n")), nil
}

// bad returns the error of the current line.
func (r *Reader) bad(line []byte, format string, args ...any) error {
	const shown = 60
	text := string(line[:min(len(line), shown)])
	if len(line) > shown {
		text += "..."
	}
	return &LineError{Line: r.line, Text: text, Msg: fmt.Sprintf(format, args...)}
}
