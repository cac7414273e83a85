package edgelist

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
)

// maxLine is the longest line, in bytes with its end; it is also what a Reader buffers.
const maxLine = 1 << 20

// Options says how to read an edge list. The zero value tells everything from the list.
type Options struct {
	Format  Format
	Name    string  // of the file; it decides where the first bytes leave a doubt
	Columns Columns // what the columns mean
	Names   Names   // which columns of a text these are; they say what the columns mean, too
	Times   TimeFormat
	Header  Header // of CSV and TSV
	// Directed makes a symmetric matrix yield both directions of what it holds once.
	Directed bool
	// Negative reads, of a split, the pairs that are no links instead of the links.
	Negative bool
	// Keyless says that a list of nodes has no keys: the n-th line, from 0, is of node n.
	Keyless bool
	// Spool makes a place for a file that has to be read out of order: an archive, or an array
	// of all sources before all targets. Nil: memory.
	Spool func() (Spool, error)
	// MaxSplit is the longest file of PyTorch that is accepted, in bytes: its reader takes up to
	// three times that in memory. 0: 1 GiB.
	MaxSplit int64
}

// Edge is one line of an edge list.
type Edge struct {
	Line     int64 // from 1; of an array, the edge's number
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
	// Option and Value are an option, as columns, and the value with which the line would be read, "" if none
	// is known.
	Option, Value string
}

// Error returns the line's number, what is wrong with it, what it begins with and which option would help.
func (e *LineError) Error() string {
	s := fmt.Sprintf("edgelist: line %d: %s: %q", e.Line, e.Msg, e.Text)
	if e.Option != "" {
		s += fmt.Sprintf("; try %s = '%s'", e.Option, e.Value)
	}
	return s
}

// help says which option would help.
func (e *LineError) help(option, value string) *LineError {
	e.Option, e.Value = option, value
	return e
}

// Reader reads one edge list.
type Reader struct {
	source  source
	format  Format
	columns Columns
	header  bool
	times   TimeFormat
	names   Names
	unused  []string
}

// source is the edges of a file.
type source interface {
	// next reads the next edge into e, which has its defaults. It returns a *LineError for one that is
	// malformed, io.EOF after the last, and any other error where the file cannot be read on.
	next(e *Edge) error
}

// NewReader begins to read an edge list, plain or packed with gzip, zstd or bzip2. It reads as far as
// format and columns have to be guessed; the error is one of r, of the packing or of the options.
func NewReader(r io.Reader, o Options) (*Reader, error) {
	if o.Format == Folder {
		return nil, errFile
	}
	if o.Columns < Auto || o.Columns > SrcDstWeightTime {
		return nil, fmt.Errorf("edgelist: unknown columns %d", int(o.Columns))
	}
	if o.Times < AnyTime || o.Times > Date {
		return nil, fmt.Errorf("edgelist: unknown times %d", int(o.Times))
	}
	if err := o.Names.check(); err != nil {
		return nil, err
	}
	r, err := Decompress(r)
	if err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(r, maxLine)
	if bom, _ := in.Peek(3); string(bom) == "\uFEFF" {
		_, _ = in.Discard(3) // peeked
	}
	if o.Format == AnyFormat {
		head, _ := in.Peek(len(magicMTX))
		if o.Format = detect(head); o.Format == AnyFormat {
			if err := foreign(head); err != nil {
				return nil, err
			}
		}
	}
	switch o.Format {
	case MatrixMarket, NPY, NPZ, Torch:
		if err := o.binary(); err != nil {
			return nil, err
		}
	}
	switch o.Format {
	case MatrixMarket:
		m, err := newMarket(in, o)
		if err != nil {
			return nil, err
		}
		return &Reader{source: m, format: MatrixMarket, columns: m.columns, times: timesOf(m.columns, m.times)}, nil
	case NPY:
		a, err := newArray(in, o)
		if err != nil {
			return nil, err
		}
		return &Reader{source: a, format: NPY, columns: a.columns, times: timesOf(a.columns, a.times)}, nil
	case NPZ, Torch:
		return newArchive(in, o)
	}
	t, err := newText(in, o)
	if err != nil {
		return nil, err
	}
	return &Reader{
		source: t, format: t.format(), columns: t.columns, header: t.layout.header,
		times: timesOf(t.columns, t.times), names: t.names, unused: t.unused,
	}, nil
}

// binary returns an error for options that are of text alone.
func (o *Options) binary() error {
	switch {
	case o.Names != (Names{}):
		return fmt.Errorf("edgelist: columns %v are of text, this is %v", o.Names, o.Format)
	case o.Columns == SrcDstWeightTime:
		return fmt.Errorf("edgelist: columns %v are of text, this is %v", o.Columns, o.Format)
	case o.Times >= RFC3339:
		return fmt.Errorf("edgelist: times %v are of text, this is %v", o.Times, o.Format)
	}
	return nil
}

// timesOf is the format of the times of a list, AnyTime if it has none.
func timesOf(c Columns, f TimeFormat) TimeFormat {
	if c != SrcDstTime && c != SrcDstWeightTime {
		return AnyTime
	}
	return f
}

// Columns returns what the columns mean, given or guessed; never Auto.
func (r *Reader) Columns() Columns { return r.columns }

// Format returns the format of the list, given or detected.
func (r *Reader) Format() Format { return r.format }

// Header reports whether the first line was taken for the names of the columns.
func (r *Reader) Header() bool { return r.header }

// Times returns how times are written, given or detected; AnyTime if there are none.
func (r *Reader) Times() TimeFormat { return r.times }

// Names returns what the header calls the columns that are read; the zero value if there is no header.
func (r *Reader) Names() Names { return r.names }

// Unused returns the columns of a text that are not read: what the header calls them or, without a header, their
// places from 1 in the first line.
func (r *Reader) Unused() []string { return r.unused }

// Edges returns the edges in the order of the file. A malformed line comes as a [*LineError] in the
// place of an edge; any other error is the last pair. Ranging again goes on where the last stopped.
func (r *Reader) Edges() iter.Seq2[Edge, error] {
	return func(yield func(Edge, error) bool) {
		var e Edge // one for all: it escapes
		for {
			e = Edge{Weight: 1}
			err := r.source.next(&e)
			if err == io.EOF || !yield(e, err) || err != nil && !errors.As(err, new(*LineError)) {
				return
			}
		}
	}
}
