package edgelist

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// mark is a byte order mark, which may begin a text, and each of several texts in one file.
const mark = "\uFEFF"

// lines reads a text line by line.
type lines struct {
	in    *bufio.Reader // with a buffer of maxLine bytes
	end   byte          // the character that ends a line
	n     int64         // number of lines read
	first int64         // number of the first line of the current record
	marks int64         // number of lines that begin with a byte order mark
	inner bool          // the next byte is within a line that was too long
}

func newLines(in *bufio.Reader) lines { return lines{in: in, end: '\n'} }

// next returns the next line without its end. The bytes are valid until the next call. A line that
// is too long, or holds the end of a line in another style, is reported as a *LineError. A line
// that is too long is reported before its end is read.
func (l *lines) next() ([]byte, error) {
	if err := l.skip(); err != nil {
		return nil, err
	}
	line, err := l.in.ReadSlice(l.end)
	if err == io.EOF && len(line) == 0 {
		return nil, io.EOF
	}
	l.n++
	l.first = l.n
	switch {
	case err == bufio.ErrBufferFull:
		l.inner = true
		return nil, l.bad(line, "line is longer than 1 MiB")
	case err != nil && err != io.EOF:
		return nil, fmt.Errorf("edgelist: line %d: %w", l.n, err)
	}
	if n := len(line) - 1; line[n] == l.end {
		line = line[:n]
	}
	for len(line) > 0 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	if len(line) >= len(mark) && line[0] == mark[0] && string(line[:len(mark)]) == mark {
		l.marks++
		line = line[len(mark):]
	}
	other := byte('\r')
	if l.end == other {
		other = '\n'
	}
	if bytes.IndexByte(line, other) >= 0 && bytes.IndexByte(line, '"') < 0 {
		return nil, l.bad(line, "%q within the line, while the first lines end with %q", other, l.end)
	}
	return line, nil
}

// skip reads the rest of a line that was too long.
func (l *lines) skip() error {
	for l.inner {
		switch _, err := l.in.ReadSlice(l.end); err {
		case bufio.ErrBufferFull:
		case nil, io.EOF:
			l.inner = false
		default:
			return fmt.Errorf("edgelist: line %d: %w", l.n, err)
		}
	}
	return nil
}

// bad returns the error for the current record.
func (l *lines) bad(line []byte, format string, args ...any) *LineError {
	const shown = 60
	text := string(line[:min(len(line), shown)])
	if len(line) > shown {
		text += "..."
	}
	return &LineError{Line: l.first, Text: text, Msg: fmt.Sprintf(format, args...)}
}
