package edgelist

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// text reads edges from lines of columns.
type text struct {
	lines
	Detected
	line       []byte // the current record
	layout     layout
	begun      bool     // a header or a line with data has been read
	blanks     int64    // number of blank lines so far
	guessed    bool     // columns are guessed, and not from a header
	offset     int      // number of columns before the guessed columns
	minColumns int      // number of columns that a line must have
	ragged     bool     // the first lines have different numbers of columns
	lists      bool     // and seem to hold a node and all nodes that it links to
	decimals   bool     // weights have decimal commas
	headings   [][]byte // names of the columns of sources and targets, if there is a header
	// src and dst are the string keys of the previous edge, which are often repeated.
	src       string
	dst       string
	relations nameSet
	signed    bool       // weights may be negative
	prefix    *[2]string // of the keys of sources and targets; nil means none
	seen      seen
	keys      bool // the text is a list of nodes
}

// record returns the next line that is not blank, no comment and not the header. Lines that a
// quoted column joins are one.
func (t *text) record() ([]byte, error) {
	for {
		line, err := t.lines.next()
		if t.line = line; err != nil {
			return nil, err
		}
		trimmed := trimBlanks(line)
		switch {
		case len(trimmed) == 0:
			t.blanks++
			continue
		case isComment(trimmed[0]) && t.leaveOut(line):
			continue
		}
		if line, err = t.complete(line); err != nil {
			return nil, err
		}
		t.begun, t.line = true, line
		if t.layout.header {
			t.layout.header = false
			continue
		}
		return line, nil
	}
}

// maxJoined is the maximal number of lines of a record.
const maxJoined = 1000

// complete returns a line with the lines that follow it, up to the line that closes its last quote.
func (t *text) complete(line []byte) ([]byte, error) {
	l := &t.layout
	if l.quotes == NoQuotes || l.lenient || bytes.IndexByte(line, '"') < 0 {
		return line, nil
	}
	_, n := l.split(line)
	if n != openQuote {
		return line, nil
	}
	start := t.first
	long := bytes.Clone(line)
	for range maxJoined {
		more, err := t.lines.next()
		t.first = start
		if err == io.EOF || err == nil && len(long)+len(more) > maxLine {
			break
		}
		if err != nil && !errors.As(err, new(*LineError)) {
			return nil, err
		}
		if err != nil {
			break
		}
		long = append(append(long, '\n'), more...)
		if bytes.IndexByte(more, '"') < 0 {
			continue
		}
		switch _, n = l.split(long); {
		case n >= 0:
			t.seen.joined++
			return long, nil
		case n == badQuote:
			return nil, t.unclosed()
		}
	}
	return nil, t.unclosed()
}

func (t *text) next(e *Edge) error {
	var fields fields
	for {
		line, err := t.record()
		e.Line = t.first
		if err != nil {
			if err == io.EOF {
				t.seen.report(t)
			}
			return err
		}
		n := t.layout.splitTo(line, &fields)
		if t.headings != nil && bytes.Equal(fields[roleSrc], t.headings[0]) && bytes.Equal(fields[roleDst], t.headings[1]) {
			t.seen.headers++
			continue
		}
		if err = t.parse(line, &fields, n, e); err == nil {
			t.seen.edge(e)
		}
		return err
	}
}

// parse parses the n columns of a line into an edge.
func (t *text) parse(line []byte, fields *fields, n int, e *Edge) error {
	switch {
	case n < 0:
		return t.badQuotes(line)
	case t.layout.width > 0 && n != t.layout.width:
		return t.bad(line, "columns: found %d, the header has %d", n, t.layout.width)
	case n > t.minColumns && t.guessed && (n > t.minColumns+1 || len(t.layout.last(line)) > 0):
		// One more column is accepted if it is empty: a separator may end the line.
		return t.tooMany(line, n)
	case n < t.minColumns:
		return t.tooFew(line, n)
	case len(fields[roleSrc]) == 0 || len(fields[roleDst]) == 0:
		return t.bad(line, "key is empty")
	case !t.token(fields[roleSrc], &e.Src, &t.src) || !t.token(fields[roleDst], &e.Dst, &t.dst):
		return t.bad(line, "key is not valid UTF-8 or contains a NUL byte or the end of a line")
	}
	if n > t.seen.widest {
		t.seen.widest = n
	}
	ok := true
	if t.layout.at[roleRelation] >= 0 {
		if e.Relation, ok = t.relations.of(fields[roleRelation]); !ok {
			return t.bad(line, "%s", t.relations.fault(fields[roleRelation]))
		}
	}
	if t.layout.at[roleWeight] >= 0 {
		if e.Weight, ok = parseWeight(fields[roleWeight], t.signed); !ok && t.decimals && isDecimalComma(fields[roleWeight]) {
			e.Weight, ok = parseWeight(bytes.Replace(fields[roleWeight], []byte(","), []byte("."), 1), t.signed)
		}
		if !ok {
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

// token parses a key. last is the previous string in this column, which is reused if it is the
// same.
func (t *text) token(field []byte, to *Token, last *string) bool {
	if to.Int, to.IsInt = parseInt(field); to.IsInt && t.prefix == nil {
		return true
	}
	if !utf8.Valid(field) || bytes.IndexByte(field, 0) >= 0 || t.n != t.first && bytes.IndexByte(field, '\n') >= 0 {
		return false
	}
	if t.prefix != nil {
		*to = t.spaced(field, last)
		return true
	}
	if string(field) != *last {
		*last = string(field)
		t.seen.key(t.first, field, last == &t.dst, t.src)
	}
	to.Str = *last
	return true
}

// spaced returns the key of a field in a list with spaces of keys, which is a string if its column
// has one. last is as in token.
func (t *text) spaced(field []byte, last *string) (key Token) {
	prefix := t.prefix[0]
	if last == &t.dst {
		prefix = t.prefix[1]
	}
	if key.Int, key.IsInt = parseInt(field); key.IsInt && prefix == "" {
		return key
	}
	return Token{Str: prefix + string(field)}
}

const (
	maxNames = math.MaxUint16 // maximal number of relations
	maxName  = 1 << 10        // maximal number of bytes of the name of one
)

// nameSet has the names of relations that a list has so far. Edges share their strings.
type nameSet struct {
	known map[string]string
	last  string
}

// of returns the name in a field, "" for an empty field. It returns false for an invalid name, or
// if there are too many.
func (n *nameSet) of(field []byte) (string, bool) {
	if string(field) == n.last {
		return n.last, true
	}
	name, ok := n.known[string(field)]
	if !ok {
		if len(n.known) == maxNames || len(field) > maxName || !utf8.Valid(field) || bytes.IndexByte(field, 0) >= 0 {
			return "", false
		}
		if n.known == nil {
			n.known = map[string]string{}
		}
		name = string(field)
		n.known[name] = name
	}
	n.last = name
	return name, true
}

// number is of for a number.
func (n *nameSet) number(x number) (string, bool) {
	if !x.isInt {
		return "", false
	}
	var text [20]byte
	return n.of(strconv.AppendInt(text[:0], x.whole, 10))
}

// faultOf is fault for a number.
func (n *nameSet) faultOf(x number) string {
	if !x.isInt {
		return "relation is not an integer"
	}
	return n.fault(nil)
}

// fault returns what is wrong with a name for which of returned false.
func (n *nameSet) fault(field []byte) string {
	if len(n.known) == maxNames {
		return fmt.Sprintf("more than %d relations, of which this line has another one: the column of relations is probably not the one that was read", maxNames)
	}
	return fmt.Sprintf("relation is not valid UTF-8, contains a NUL byte or is longer than %d bytes", maxName)
}

// Quoted returns the spelling of a string key in a column of strings. Such a column may have
// integer keys too, in their canonical decimal spelling. A string key that would be read as one is
// in single quotes, as in statements: 7 is the integer, '7' the string. A string that is spelled
// like one in quotes gets further quotes.
func Quoted(s string) string {
	if spelled(s) {
		return "'" + s + "'"
	}
	return s
}

// unquoted returns the key that is spelled s in a column of strings; see [Quoted].
func unquoted(s string) Token {
	if n, ok := parseInt([]byte(s)); ok {
		return Token{Int: n, IsInt: true}
	}
	if spelled(s) {
		s = s[1 : len(s)-1]
	}
	return Token{Str: s}
}

// spelled reports whether s is an integer, in any number of quotes.
func spelled(s string) bool {
	for len(s) > 2 && strings.HasPrefix(s, "'") && strings.HasSuffix(s, "'") {
		s = s[1 : len(s)-1]
	}
	_, ok := parseInt([]byte(s))
	return ok
}
