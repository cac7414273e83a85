package edgelist

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
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

// isBlank reports whether c separates columns. A carriage return counts, because it may be part of
// a line's end.
func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// fields are the columns of a line that are read.
type fields [roleCount][]byte

// parseInt parses an int64 in its canonical spelling: no plus sign, no leading zeros, no -0.
func parseInt(field []byte) (int64, bool) {
	digits, limit := field, uint64(math.MaxInt64)
	negative := len(field) > 1 && field[0] == '-'
	if negative {
		digits, limit = field[1:], limit+1
	}
	if len(digits) == 0 || len(digits) > 19 || digits[0] == '0' && len(field) > 1 {
		return 0, false
	}
	var n uint64 // 19 digits cannot overflow
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + uint64(c-'0')
	}
	switch {
	case n > limit:
		return 0, false
	case negative:
		return -int64(n), true
	}
	return int64(n), true
}

// parseWeight parses a float32 that is finite and positive or, if signed is set, negative.
func parseWeight(field []byte, signed bool) (float32, bool) {
	if n, ok := parseInt(field); ok && n < 1<<24 && n > -1<<24 { // exact
		return validWeight(float32(n), signed)
	}
	if !isNumber(field) {
		return 0, false
	}
	w, err := strconv.ParseFloat(string(field), 32)
	if err != nil {
		return 0, false
	}
	return validWeight(float32(w), signed)
}

// validWeight returns a weight, and whether it is finite and positive or, if signed is set,
// negative.
func validWeight(w float32, signed bool) (float32, bool) {
	return w, w-w == 0 && (w > 0 || signed && w < 0)
}

// isInt reports whether a field is an integer in its canonical spelling.
func isInt(field []byte) bool {
	_, ok := parseInt(field)
	return ok
}

// isDecimalComma reports whether a field is a number with a decimal comma.
func isDecimalComma(field []byte) bool {
	return bytes.Count(field, []byte(",")) == 1 && isNumber(bytes.Replace(field, []byte(","), nil, 1)) && bytes.IndexByte(field, '.') < 0
}

// isNumber reports whether a field has only the characters of a decimal number. This excludes the
// infinities, NaN and hexadecimal numbers, which strconv accepts.
func isNumber(field []byte) bool {
	digits := 0
	for _, c := range field {
		switch {
		case '0' <= c && c <= '9':
			digits++
		case c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E':
			return false
		}
	}
	return digits > 0
}
