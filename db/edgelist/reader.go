package edgelist

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"kith/db/edgelist/internal/foreign"
	"kith/db/edgelist/internal/gorse"
)

// maxLine is the maximal length of a line in bytes, including its end, and the buffer size of a
// Reader.
const maxLine = 1 << 20

// Options says how to read an edge list. The zero value detects everything from the list.
type Options struct {
	Format  Format
	Name    string  // name of the file, which decides if the first bytes are ambiguous
	Columns Columns // meaning of the columns
	Names   Names   // columns of a text by name or number, which also define their meaning
	Times   TimeFormat
	Dialect // of a text
	// Labelled says that the keys of sources and targets get labels, so that the two may have the
	// same numbers.
	Labelled bool
	// Directed makes a symmetric matrix yield both directions of each entry.
	Directed bool
	// Unlinked makes the reader of a split return the pairs without a link instead of the links.
	Unlinked bool
	// Related says that the caller knows the relation of the edges, so that no column is read for
	// it.
	Related bool
	// Relations are the names of relations by their names in the list, such as numbers. A relation
	// that it does not have keeps its name.
	Relations map[string]string
	// Negative is the relation of the edges with a negative weight, which is made positive. ""
	// means that such a weight is malformed.
	Negative string
	// Keyless says that a list of nodes has no keys: line n, from 0, belongs to node n.
	Keyless bool
	// Properties says how the columns of a list of nodes become properties.
	Properties PropertyOptions
	// PropertyType returns the type that a property has already, AnyType for a new one, or an error
	// for a name that no property can have. Nil means that all are new.
	PropertyType func(name string) (PropertyType, error)
	// Spool returns storage for a file that must be read out of order: an array with all sources
	// before all targets, or an archive or a table that is compressed or comes from a stream. Nil
	// means memory.
	Spool func() (Spool, error)
	// MaxSplit is the maximal size of a file of PyTorch in bytes. Reading it takes up to three
	// times its size in memory. 0 means 1 GiB.
	MaxSplit int64
	// Tables reads tables, such as Parquet files. Nil means that they are refused.
	Tables Tables
	// Memory is the number of bytes that reading a table may take. 0 means 64 MiB.
	Memory int64

	file   *io.SectionReader // the file, if it can be read out of order where it is
	nodes  bool              // the list has nodes
	export *gorse.Reader     // the lines of a file of Gorse
}

// Edge is one line of an edge list.
type Edge struct {
	Line     int64 // from 1; in an array, the number of the edge
	Src, Dst Token
	Relation string // "" if the list has no relations, or none for the edge
	// Labels are the labels of the source and of the target in a list that numbers the nodes of
	// each label from 0. It is nil in other lists.
	Labels *[2]string
	Weight float32 // finite and positive; 1 if the list has no weights
	Time   int64   // 0 if the list has no times
}

// Token is the name of a node: an integer or a string. Tokens can be compared with ==.
type Token struct {
	Int   int64  // 0 for a string
	Str   string // empty for an integer
	IsInt bool
}

// LineError is the error for a malformed line. The stream continues after it.
type LineError struct {
	Line int64  // from 1
	Text string // start of the line
	Msg  string
	// Option is the name of an option, such as columns, and Value the value with which the line
	// could be read. Both are "" if no such option is known.
	Option, Value string
}

// Error returns the number of the line, the fault, the start of the line, and the option that would
// help.
func (e *LineError) Error() string {
	s := fmt.Sprintf("edgelist: line %d: %s: %q", e.Line, e.Msg, e.Text)
	if e.Option != "" {
		s += fmt.Sprintf("; try %s = '%s'", e.Option, e.Value)
	}
	return s
}

// help sets the option that would help.
func (e *LineError) help(option, value string) *LineError {
	e.Option, e.Value = option, value
	return e
}

// Detected describes a list, before its first edge or node is read: as the options say, or as was
// detected.
type Detected struct {
	Columns    Columns    `json:"columns"`             // never Auto
	Names      Names      `json:"names"`               // names of the columns that are read, if there is a header
	Properties []Property `json:"properties,omitzero"` // columns of a list of nodes that are properties
	// Unused lists the columns of a text that are not read: their names or, without a header, their
	// numbers from 1 in the first line.
	Unused []string   `json:"unused"`
	Times  TimeFormat `json:"times"` // format of the times; AnyTime means without times
	Format Format     `json:"format"`
	// Header says whether the first line was taken for the names of the columns.
	Header bool `json:"header"`
	// Comments is the number of lines that were left out as comments, so far.
	Comments int64 `json:"comments"`
	// Notes name assumptions and omissions. Reading the list may add more.
	Notes []Note `json:"notes"`

	kinds bool // sources and targets are, or may be, nodes of two kinds
}

// Read returns the columns that were read, by their meaning or by their names.
func (d *Detected) Read() string {
	if d.Names != (Names{}) {
		return d.Names.String()
	}
	return d.Columns.String()
}

// note adds a note.
func (d *Detected) note(format string, args ...any) {
	d.Notes = append(d.Notes, Note{Msg: fmt.Sprintf(format, args...)})
}

// hint adds a note with an option that reads the list otherwise.
func (d *Detected) hint(option, value, format string, args ...any) {
	d.Notes = append(d.Notes, Note{fmt.Sprintf(format, args...), []Setting{{option, value}}})
}

// Reader reads one edge list.
type Reader struct {
	source source
	*Detected
	renamed   map[string]string // Options.Relations
	negative  string            // relation of edges with a negative weight
	negatives int64             // number of these edges
	untimed   int64             // number of edges without a time in a list with times
	overlap   *overlap          // nil if sources and targets are not compared
	export    *gorse.Reader     // nil if the list is not from Gorse, or was noted
}

// ErrRelated is returned by [NewReader] for a column of relations in a list of one relation.
var ErrRelated = errors.New("edgelist: a list has a column of relations, or the option relation for all of its edges, not both")

// source yields the edges of a file.
type source interface {
	// next reads the next edge into e, which has default values. The weight may be negative if
	// Options.Negative says what such an edge is. It returns a *LineError for a
	// malformed edge, io.EOF after the last one, and any other error if the file cannot be read
	// further.
	next(e *Edge) error
	detected() *Detected
}

func (d *Detected) detected() *Detected { return d }

// NewReader returns a reader of an edge list, which may be compressed with gzip, zstd or bzip2. It
// reads as much as is necessary to detect format and columns. An archive or a table is read in
// place if r is an [io.ReaderAt] and an [io.Seeker] too, as an opened file is. It returns errors of
// r, of the decompression and of the options.
func NewReader(r io.Reader, o Options) (*Reader, error) {
	if _, err := ParseColumns(o.Columns.String()); err != nil {
		return nil, err
	}
	if o.Related && (o.Names.Relation != "" || o.Columns != Auto && o.Columns.has(roleRelation)) {
		return nil, ErrRelated
	}
	if o.Times < AnyTime || o.Times > RFC2822 {
		return nil, fmt.Errorf("edgelist: unknown times %d", int(o.Times))
	}
	if err := o.Names.check(); err != nil {
		return nil, err
	}
	in, err := open(r, &o)
	if err != nil {
		return nil, err
	}
	switch o.Format {
	case MatrixMarket, NPY, NPZ, Torch, NTriples:
		if err := o.binary(); err != nil {
			return nil, err
		}
	}
	var of source
	switch o.Format {
	case MatrixMarket:
		of, err = newMarket(in, o)
	case NPY:
		of, err = newArrayEdges(in, o, o.Name, [roleCount]*arrayRows{})
	case NPZ, Torch:
		of, err = newArchive(in, o)
	case Parquet:
		of, err = newTableEdges(in, o)
	case Lists:
		of, err = newLists(in, o)
	case NTriples:
		of, err = newStatements(in, o)
	case JSONLines:
		of, err = newObjects(in, o)
	default:
		of, err = newText(in, o)
	}
	if err != nil {
		return nil, err
	}
	l := &Reader{source: of, Detected: of.detected(), renamed: o.Relations, negative: o.Negative, export: o.export}
	if kinds := l.kinds || l.Names != (Names{}) && twoKinds(l.Names.Src, l.Names.Dst); kinds && !o.Labelled {
		l.overlap = newOverlap()
	}
	return l, nil
}

// reads reports whether the options ask for the values of a role, if the list has them.
func (o *Options) reads(r role) bool {
	return o.Columns.has(r) && !(o.Related && r == roleRelation)
}

// open decompresses a file, skips a byte order mark, and sets Format to the format of the file if
// it is AnyFormat and the file is not a text.
func open(r io.Reader, o *Options) (*bufio.Reader, error) {
	if o.Format == Folder {
		return nil, errFile
	}
	file, err := inPlace(r)
	if err != nil {
		return nil, err
	}
	r, packed, err := decompress(r)
	if err != nil {
		return nil, err
	}
	if !packed {
		o.file = file
	}
	in := bufio.NewReaderSize(r, maxLine)
	if bom, _ := in.Peek(3); string(bom) == "\uFEFF" {
		_, _ = in.Discard(3) // cannot fail after Peek
	}
	switch o.Format {
	case Gorse:
		return openExport(in, o)
	case AnyFormat:
		head, _ := in.Peek(foreign.Bytes)
		if o.Format = detect(head); o.nodes && len(head) > 0 && head[0] == '{' {
			head, _ = in.Peek(maxLine) // a whole line
		}
		switch {
		case o.Format != AnyFormat:
		case o.isObjects(head):
			o.Format = JSONLines
		default:
			return in, foreignError(head)
		}
	}
	return in, nil
}

// foreignError returns an error for a file in a format that is not read.
func foreignError(head []byte) error {
	f, ok := foreign.Recognize(head)
	if !ok {
		return nil
	}
	return fmt.Errorf("edgelist: this looks like %s, which is not read; %s. For a list after all, give its format: %s", f.Name, f.Do, strings.Join(Formats(), ", "))
}

// binary returns an error for options that apply only to text.
func (o *Options) binary() error {
	switch {
	case o.Names != (Names{}):
		return fmt.Errorf("edgelist: columns %v are of text, this is %v", o.Names, o.Format)
	case o.Format == MatrixMarket && o.Columns != Auto && o.Columns != SrcDst && o.Columns != SrcDstWeight && o.Columns != SrcDstTime:
		return fmt.Errorf("edgelist: columns %v are not those of a matrix, which has one number for each edge", o.Columns)
	case o.Separator != "":
		return fmt.Errorf("edgelist: a separator is of text, this is %v", o.Format)
	case o.Times == RFC3339, o.Times == RFC2822:
		return fmt.Errorf("edgelist: times %v are of text, this is %v", o.Times, o.Format)
	}
	return nil
}

// Edges yields the edges in the order of the file. A malformed line yields a [*LineError] instead
// of an edge. Any other error ends the sequence. A further range continues where the last one
// stopped.
func (r *Reader) Edges() iter.Seq2[Edge, error] {
	return func(yield func(Edge, error) bool) {
		var e Edge // one for all, because it escapes
		for {
			e = Edge{Weight: 1}
			err := r.source.next(&e)
			switch {
			case err == io.EOF:
				r.noteTimes()
				r.noteNegatives()
				r.noteExport(&r.export)
				if r.overlap != nil {
					r.overlap.report(r.Detected)
					r.overlap = nil
				}
			case err == nil:
				r.look(&e)
			}
			if err == io.EOF || !yield(e, err) || err != nil && !errors.As(err, new(*LineError)) {
				return
			}
		}
	}
}

// look gives an edge its relation if it has another name in the list, or a negative weight. It
// counts edges with a negative weight or without a time, and numbers that are both sources and
// targets.
func (r *Reader) look(e *Edge) {
	if r.renamed != nil {
		e.Relation = cmp.Or(r.renamed[e.Relation], e.Relation)
	}
	if e.Weight < 0 {
		e.Weight, e.Relation = -e.Weight, r.negative
		r.negatives++
	}
	if e.Time == 0 && r.Times != AnyTime {
		r.untimed++
	}
	if r.overlap != nil {
		r.overlap.edge(e)
	}
}

// noteNegatives adds a note about edges with a negative weight.
func (r *Reader) noteNegatives() {
	if r.negatives > 0 {
		r.note("edges with a negative weight, which was made positive: %d; they have the relation %s", r.negatives, r.negative)
		r.negatives = 0
	}
}

// noteTimes adds a note about edges without a time.
func (r *Reader) noteTimes() {
	if r.untimed > 0 {
		r.note("edges without a time, which is missing or 0: %d", r.untimed)
		r.untimed = 0
	}
}
