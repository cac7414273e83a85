package edgelist

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"
)

// lines reads a text line by line.
type lines struct {
	in *bufio.Reader // of maxLine bytes
	n  int64         // lines read
}

// next returns the next line, without its end. The bytes last until the next call. A line that is too
// long comes as a *LineError.
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

// bad returns the error of the current line.
func (l *lines) bad(line []byte, format string, args ...any) error {
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
	layout  layout
	columns Columns
	guessed bool
	src     string // the string keys of the edge before, which is often a neighbour
	dst     string
}

// newText finds out the layout of a text and what its columns mean.
func newText(in *bufio.Reader, o Options) (*text, error) {
	t := &text{lines: lines{in: in}, columns: o.Columns, guessed: o.Columns == Auto}
	head, err := in.Peek(guessBytes)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("edgelist: %w", err)
	}
	first := sample(head, err == io.EOF)
	sep := byte(0)
	switch o.Format {
	case AnyFormat:
		sep = guessSeparator(first, o.Name)
	case CSV:
		sep = guessSeparator(first, ".csv")
		if sep == 0 || sep == '\t' {
			sep = ','
		}
	case TSV:
		sep = '\t'
	}
	t.layout = plainLayout(sep)
	if o.Format != SNAP || o.Header == WithHeader {
		t.layout.name(first, o.Header)
	}
	if t.layout.header {
		first = first[1:]
	}
	if t.guessed {
		t.columns = guess(first, &t.layout)
	} else if t.columns == SrcDstTime && t.layout.says == SrcDstWeightTime {
		t.layout.at[2] = t.layout.at[3]
	}
	return t, nil
}

func (t *text) format() Format {
	switch t.layout.sep {
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
		e.Line = t.n
		if err != nil {
			return err
		}
		fields, n := t.layout.split(line)
		switch {
		case n == 0:
			continue
		case t.layout.header:
			t.layout.header = false
			continue
		}
		return t.parse(line, fields, n, e)
	}
}

// parse reads the n columns of a line into an edge.
func (t *text) parse(line []byte, fields fields, n int, e *Edge) error {
	want, width := t.columns.count(), t.layout.width
	switch {
	case n < 0:
		return t.bad(line, "a quote is not closed, or not followed by a separator")
	case width > 0 && n != width:
		return t.bad(line, "columns: found %d, the header has %d", n, width)
	case width > 0 && t.layout.at[want-1] >= n:
		return t.bad(line, "columns: the header names no weight or time")
	case n > 3 && width == 0 && t.guessed:
		return t.bad(line, "more than 3 columns, expected %d", want)
	case n < want || n > want && width == 0 && t.guessed:
		return t.bad(line, "columns: found %d, expected %d", n, want)
	case len(fields[0]) == 0 || len(fields[1]) == 0:
		return t.bad(line, "key is empty")
	case !t.token(fields[0], &e.Src, &t.src) || !t.token(fields[1], &e.Dst, &t.dst):
		return t.bad(line, "key is not valid UTF-8 or contains a NUL byte")
	}
	ok := true
	switch t.columns {
	case SrcDstWeight, SrcDstWeightTime:
		if e.Weight, ok = parseWeight(fields[2]); !ok {
			return t.bad(line, "weight is not a finite number above 0 (32 bits)")
		}
	case SrcDstTime:
		return t.time(line, fields[2], e)
	}
	if t.columns == SrcDstWeightTime {
		return t.time(line, fields[3], e)
	}
	return nil
}

func (t *text) time(line, field []byte, e *Edge) error {
	var ok bool
	if e.Time, ok = parseTime(field); !ok {
		return t.bad(line, "time is not an integer (64 bits)")
	}
	return nil
}

// token reads a key; last is the string before in this column, used again where it is the same.
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
