package edgelist

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// lines reads a text line by line.
type lines struct {
	in *bufio.Reader // with a buffer of maxLine bytes
	n  int64         // number of lines read
}

// next returns the next line without its end. The bytes are valid until the next call. A line that is too long is
// reported as a *LineError.
func (l *lines) next() ([]byte, error) {
	line, err := l.in.ReadSlice('\n')
	if err == io.EOF && len(line) == 0 {
		return nil, io.EOF
	}
	l.n++
	switch {
	case err == bufio.ErrBufferFull:
		bad := l.bad(line, "line is longer than 1 MiB")
		for err == bufio.ErrBufferFull {
			_, err = l.in.ReadSlice('\n')
		}
		if err == nil || err == io.EOF {
			return nil, bad
		}
		fallthrough
	case err != nil && err != io.EOF:
		return nil, fmt.Errorf("edgelist: line %d: %w", l.n, err)
	}
	return bytes.TrimSuffix(line, []byte("\n")), nil
}

// bad returns the error for the current line.
func (l *lines) bad(line []byte, format string, args ...any) *LineError {
	const shown = 60
	text := string(line[:min(len(line), shown)])
	if len(line) > shown {
		text += "..."
	}
	return &LineError{Line: l.n, Text: text, Msg: fmt.Sprintf(format, args...)}
}

// text reads edges from lines of columns.
type text struct {
	lines
	Detected
	line       []byte // the current line
	layout     layout
	guessed    bool   // columns are guessed, and not from a header
	minColumns int    // number of columns that a line must have
	src        string // src and dst are the string keys of the previous edge, which are often repeated
	dst        string
}

// newText detects the layout of a text and the meaning of its columns.
func newText(in *bufio.Reader, o Options) (*text, error) {
	t := &text{lines: lines{in: in}}
	head, err := in.Peek(guessBytes)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("edgelist: %w", err)
	}
	first := sample(head, err == io.EOF)
	t.layout = plainLayout(separator(first, o))
	if o.Format != SNAP || o.Header == WithHeader || o.Names != (Names{}) {
		t.layout.name(first, o.Header, o.Names)
	}
	t.Format, t.Header = t.layout.format(), t.layout.header
	if t.Header {
		first = first[1:]
		t.widen(first, o.Names)
	}
	if err := t.choose(first, o); err != nil {
		return nil, err
	}
	t.minColumns = slices.Max(t.layout.at[:]) + 1
	if !t.guessed { // if columns are guessed, a line with more columns is malformed
		t.Unused = t.layout.unused(first)
	}
	if t.layout.at[roleTime] >= 0 {
		if t.Times = o.Times; t.Times == AnyTime {
			t.Times = guessTimes(first, &t.layout)
		}
	}
	return t, nil
}

// separator returns the separator of the columns; 0 means blanks.
func separator(first [][]byte, o Options) byte {
	switch o.Format {
	case AnyFormat:
		return guessSeparator(first, o.Name)
	case CSV:
		if sep := guessSeparator(first, ".csv"); sep != 0 && sep != '\t' {
			return sep
		}
		return ','
	case TSV:
		return '\t'
	}
	return 0
}

// choose decides which columns are read and what they mean: from the options, otherwise from the header, otherwise from
// the first lines. If the options give columns without names, these are the columns with the usual names in the header
// if it has all of them, otherwise the first columns.
func (t *text) choose(first [][]byte, o Options) error {
	l := &t.layout
	at, columns, err := o.columnsByName(l.names)
	switch {
	case err != nil:
		return err
	case columns != Auto:
		t.Columns, l.at, l.width = columns, at, len(l.names)
	case o.Columns != Auto:
		t.Columns, l.at = o.Columns, o.Columns.places()
	default:
		t.guessed = true
		t.Columns = guess(first, l)
		l.at = t.Columns.places()
	}
	if l.names != nil {
		for role, to := range t.Names.byRole() {
			if at := l.at[role]; at >= 0 && at < len(l.names) {
				*to = cmp.Or(l.names[at], strconv.Itoa(at+1))
			}
		}
	}
	return nil
}

// columnsByName returns the columns by role and their meaning, from the names of all columns: those that the options name,
// otherwise those with the usual names. Without such columns it returns Auto.
func (o *Options) columnsByName(names []string) (at [4]int, c Columns, err error) {
	if o.Names != (Names{}) {
		at, err = o.Names.places(names)
		return at, ColumnsOf(o.Names.Weight != "", o.Names.Time != ""), err
	}
	at = usualPlaces(names)
	if o.Columns == SrcDst || o.Columns == SrcDstTime {
		at[roleWeight] = -1
	}
	if o.Columns == SrcDst || o.Columns == SrcDstWeight {
		at[roleTime] = -1
	}
	c = ColumnsOf(at[roleWeight] >= 0, at[roleTime] >= 0)
	if at[roleSrc] < 0 || at[roleDst] < 0 || o.Columns != Auto && o.Columns != c {
		return at, Auto, nil
	}
	return at, c, nil
}

// format returns the format of a text with this separator.
func (l *layout) format() Format {
	switch l.sep {
	case 0:
		return SNAP
	case '\t':
		return TSV
	}
	return CSV
}

func (t *text) next(e *Edge) error {
	for {
		line, err := t.lines.next()
		t.line, e.Line = line, t.n
		if err != nil {
			return err
		}
		fields, n := t.layout.split(line)
		switch {
		case n == 0 && len(trimBlanks(line)) > 0:
			t.Comments++
			continue
		case n == 0:
			continue
		case t.layout.header:
			t.layout.header = false
			continue
		}
		return t.parse(line, fields, n, e)
	}
}

// parse parses the n columns of a line into an edge.
func (t *text) parse(line []byte, fields fields, n int, e *Edge) error {
	want, width := t.Columns.count(), t.layout.width
	switch {
	case n < 0:
		return t.bad(line, "a quote is not closed, or not followed by a separator")
	case width > 0 && n != width:
		return t.bad(line, "columns: found %d, the header has %d", n, width)
	case n > want && t.guessed:
		return t.tooMany(line, n)
	case n < t.minColumns:
		return t.bad(line, "columns: found %d, expected %d", n, t.minColumns)
	case len(fields[0]) == 0 || len(fields[1]) == 0:
		return t.bad(line, "key is empty")
	case !t.token(fields[0], &e.Src, &t.src) || !t.token(fields[1], &e.Dst, &t.dst):
		return t.bad(line, "key is not valid UTF-8 or contains a NUL byte")
	}
	ok := true
	if t.layout.at[roleWeight] >= 0 {
		if e.Weight, ok = parseWeight(fields[roleWeight]); !ok {
			return t.badWeight(line, fields[roleWeight])
		}
	}
	if t.layout.at[roleTime] >= 0 {
		if e.Time, ok = t.Times.parse(fields[roleTime]); !ok {
			return t.badTime(line, fields[roleTime])
		}
	}
	return nil
}

// tooMany returns the error for a line with more columns than were guessed.
func (t *text) tooMany(line []byte, n int) error {
	err := t.bad(line, "columns: found %d, expected %d", n, t.Columns.count())
	switch columns, _ := t.layout.all(line); {
	case n == 4 && t.layout.sep == 0 && timeFormatOf(columns[2]) == Date && new(civil).clock(columns[3]) != AnyTime:
		err.Msg = "a date and a time of day are two columns; write them with a T between, or separate the columns by commas or tabs"
		return err
	case t.layout.names != nil:
		err.Msg += "; the header has " + strings.Join(named(t.layout.names), ", ")
		return err.help("columns", "src=NAME,dst=NAME")
	case n == SrcDstWeightTime.count():
		return err.help("columns", SrcDstWeightTime.String())
	}
	return err.help("columns", "src=1,dst=2")
}

// badWeight returns the error for an invalid weight.
func (t *text) badWeight(line, field []byte) error {
	err := t.bad(line, "weight is not a finite number above 0 (32 bits)")
	if _, numeric := parseFloor(field); numeric && compactOf(field) == AnyTime || timeFormatOf(field) == AnyTime || t.Columns != SrcDstWeight {
		return err
	}
	err.Msg = "weight is a time"
	names := t.Names
	if names.Time, names.Weight = names.Weight, ""; t.layout.width > 0 {
		return err.help("columns", names.String())
	}
	return err.help("columns", SrcDstTime.String())
}

// badTime returns the error for a time that is invalid or in another format.
func (t *text) badTime(line, field []byte) error {
	msg, form := t.Times.wrongTime(field)
	err := t.bad(line, "%s", msg)
	if form != AnyTime {
		return err.help("times", form.String())
	}
	return err
}

// token parses a key. last is the previous string in this column, which is reused if it is the same.
func (t *text) token(field []byte, to *Token, last *string) bool {
	if to.Int, to.IsInt = parseInt(field); to.IsInt {
		return true
	}
	if !utf8.Valid(field) || bytes.IndexByte(field, 0) >= 0 {
		return false
	}
	if string(field) != *last {
		*last = string(field)
	}
	to.Str = *last
	return true
}
