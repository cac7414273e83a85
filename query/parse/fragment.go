package parse

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf8"
)

// Fragment is the text of one statement and its position in the script.
type Fragment struct {
	Pos         // of Text
	Text string // from the statement's first word or comment to its semicolon, or to the end of the script
}

// Split cuts a script into statements and yields each as soon as its semicolon has been read. Blank statements are
// left out. For a statement too long to parse, the error is an [*Error], and the statements after it follow. An error
// of the reader is the last pair.
func Split(r io.Reader) iter.Seq2[Fragment, error] {
	return func(yield func(Fragment, error) bool) {
		s := splitter{r: bufio.NewReader(r), pos: start()}
		for {
			f, _, err := s.next()
			switch {
			case err == io.EOF:
				return
			case err != nil:
				yield(f, fmt.Errorf("query: read script: %w", err))
				return
			case len(f.Text) > maxStatement:
				err = f.check()
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

// Complete reports whether text consists of whole statements, the last one closed by its semicolon. Blanks and
// comments may follow it. A prompt asks for another line until Complete returns true.
func Complete(text string) bool {
	s := splitter{r: strings.NewReader(text), pos: start()}
	for {
		_, closed, err := s.next()
		if err != nil {
			return true
		}
		if !closed {
			return false
		}
	}
}

// blank reports whether the text holds no token but a semicolon.
func (f Fragment) blank() bool {
	s := scanner{rest: f.Text, pos: f.Pos}
	t, err := s.next()
	return err == nil && (t.kind == end || t.kind == semicolon)
}

// splitter finds the ends of statements. It recognizes quotes and comments and no other token.
type splitter struct {
	r   io.ByteReader
	pos Pos // of the next byte
}

// next returns the next statement that is not blank and whether a semicolon closes it, or io.EOF.
func (s *splitter) next() (f Fragment, closed bool, err error) {
	for {
		f, closed, err = s.read()
		if err != nil || len(f.Text) > maxStatement || !f.blank() {
			return f, closed, err
		}
	}
}

// read returns the text up to the next semicolon, without the white space before it. If the text is longer than
// maxStatement, read returns its first maxStatement+1 bytes.
func (s *splitter) read() (f Fragment, closed bool, err error) {
	var (
		raw   []byte
		state region
		last  byte // the previous byte; 0 if it belongs to a delimiter
	)
	f.Pos = s.pos
	for !closed {
		c, err := s.r.ReadByte()
		if err == io.EOF && len(raw) > 0 {
			break
		}
		if err != nil {
			return f, false, err
		}
		s.step(c)
		if len(raw) == 0 && strings.IndexByte(" \t\r\n", c) >= 0 {
			f.Pos = s.pos
			continue
		}
		if len(raw) <= maxStatement {
			raw = append(raw, c)
		}
		closed = state == code && c == ';'
		if now := state.after(last, c); now != state {
			state, c = now, 0
		}
		last = c
	}
	f.Text = string(raw)
	return f, closed, nil
}

// step moves the position over a byte.
func (s *splitter) step(c byte) {
	s.pos.Offset++
	switch {
	case c == '\n':
		s.pos.Line++
		s.pos.Col = 1
	case utf8.RuneStart(c):
		s.pos.Col++
	}
}

// region is the part of a script that a byte belongs to.
type region byte

const (
	code region = iota
	inString
	inName
	inLineComment
	inComment
)

// after returns the region after byte c, where last is the byte before c. A doubled quote leaves its region and enters
// it again, which has the same result.
func (g region) after(last, c byte) region {
	switch {
	case g == code && c == '\'':
		return inString
	case g == code && c == '"':
		return inName
	case g == code && last == '-' && c == '-':
		return inLineComment
	case g == code && last == '/' && c == '*':
		return inComment
	case g == inString && c == '\'',
		g == inName && c == '"',
		g == inLineComment && c == '\n',
		g == inComment && last == '*' && c == '/':
		return code
	}
	return g
}
