package parse

import (
	"bufio"
	"io"
	"iter"
	"strings"
	"unicode/utf8"
)

// Fragment is the text of one statement, or of a command of the shell, and its position in the
// script.
type Fragment struct {
	Pos         // of Text; the zero Pos stands for the beginning of a script
	Text string // from the statement's first word or comment to its semicolon, or to the end of the script
}

// Split cuts a script into statements and yields each as soon as its semicolon has been read. Blank
// statements are left out. A line outside of a statement that begins with a dot is one fragment: a
// command of the shell. For a statement too long to parse, the error is an [*Error], and the
// statements after it follow. An error of the reader is the last pair.
func Split(r io.Reader) iter.Seq2[Fragment, error] {
	return func(yield func(Fragment, error) bool) {
		s := splitter{r: bufio.NewReader(r), pos: start()}
		for {
			f, _, err := s.next()
			switch {
			case err == io.EOF:
				return
			case err != nil:
				yield(Fragment{}, err)
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

// IsWhole reports whether text consists of whole statements, the last one closed by its semicolon.
// Blanks and comments may follow it. A prompt asks for another line until IsWhole returns true.
func IsWhole(text string) bool {
	s := splitter{r: strings.NewReader(text), pos: start()}
	for {
		_, closed, err := s.next()
		if err != nil {
			return !s.long
		}
		if !closed && !s.long {
			return false
		}
	}
}

// blank reports whether the text holds no token but a semicolon.
func (f Fragment) blank() bool {
	s := scanner{rest: f.Text, pos: f.Pos}
	t, err := s.next()
	return err == nil && (t.symbol == end || t.symbol == semicolon)
}

// splitter finds the ends of statements. It recognizes quotes and comments and no other token.
type splitter struct {
	r     io.ByteReader
	pos   Pos    // of the next byte
	state region // of the next byte
	last  byte   // the previous byte; 0 if it belongs to a delimiter
	long  bool   // within a statement that is longer than maxStatement, whose beginning has been returned
}

// next returns the next statement that is not blank and whether a semicolon closes it, or io.EOF.
// It returns the first maxStatement+1 bytes of a longer statement, as soon as they are read.
func (s *splitter) next() (f Fragment, closed bool, err error) {
	for {
		long := s.long
		f, closed, err = s.read()
		if err != nil || !long && (len(f.Text) > maxStatement || !f.blank()) {
			return f, closed, err
		}
	}
}

// read returns the text up to the next semicolon, without the white space before it, or a line that
// begins with a dot.
func (s *splitter) read() (f Fragment, closed bool, err error) {
	var raw []byte
	f.Pos = s.pos
	for !closed {
		c, err := s.r.ReadByte()
		if err == io.EOF && len(raw) > 0 && !s.long {
			break
		}
		if err != nil {
			return f, false, err
		}
		at := s.pos
		s.step(c)
		switch {
		case s.long:
		case c == '.' && at.Col == 1 && s.state == code && (Fragment{Text: string(raw)}).blank():
			s.last = 0
			f, err = s.line(at)
			return f, true, err
		case len(raw) == 0 && strings.IndexByte(" \t\r\n", c) >= 0:
			f.Pos = s.pos
			continue
		default:
			raw = append(raw, c)
		}
		closed = s.state == code && c == ';'
		if now := s.state.after(s.last, c); now != s.state {
			s.state, c = now, 0
		}
		s.last = c
		if len(raw) > maxStatement {
			s.long = true
			break
		}
	}
	if closed {
		s.state, s.last, s.long = code, 0, false
	}
	f.Text = string(raw)
	return f, closed, nil
}

// line returns the line of the dot at a position, without the white space behind it.
func (s *splitter) line(at Pos) (Fragment, error) {
	text := []byte{'.'}
	for {
		c, err := s.r.ReadByte()
		if err != nil && err != io.EOF {
			return Fragment{}, err
		}
		if err == nil {
			s.step(c)
		}
		if err == io.EOF || c == '\n' || len(text) > maxStatement {
			return Fragment{at, strings.TrimSpace(string(text))}, nil
		}
		text = append(text, c)
	}
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

// after returns the region after byte c, where last is the byte before c. A doubled quote leaves
// its region and enters it again, which has the same result.
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
