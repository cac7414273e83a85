package edgelist

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// sample is the first lines of a text that are not blank.
type sample struct {
	all    [][]byte
	plain  [][]byte
	marked [][]byte // lines that begin with # or %; plain has the others
}

// sampleOf returns the first lines of a text, which end with end. whole says that text is the
// complete text.
func sampleOf(text []byte, end byte, whole bool) (s sample) {
	for len(s.plain) <= guessLines {
		line, rest, ended := bytes.Cut(text, []byte{end})
		if len(line) == 0 && !ended || !ended && !whole {
			return s
		}
		text, line = rest, bytes.TrimPrefix(bytes.TrimRight(line, "\r"), []byte(mark))
		switch trimmed := trimBlanks(line); {
		case len(trimmed) == 0, isComment(trimmed[0]) && len(s.marked) > guessLines:
			continue
		case isComment(trimmed[0]):
			s.marked = append(s.marked, line)
		default:
			s.plain = append(s.plain, line)
		}
		s.all = append(s.all, line)
	}
	return s
}

// guessSeparator guesses the separator of the columns of a text. It is blanks, unless most lines
// have two or more columns by another separator and either do not by blanks, or the separator is
// next to a blank, or the name of the file implies the separator. Tabs count as blanks if blanks
// divide all lines into numbers, or into as many columns. A separator that divides all lines alike
// goes before one that does not.
func guessSeparator(lines [][]byte, name string, q Quotes) string {
	byBlanks, uniformBlanks := commonColumns(lines, "", NoQuotes)
	best := ""
	if n, uniform := commonColumns(lines, "\t", q); uniform && (!uniformBlanks || n != byBlanks && !numeric(lines) || nameImplies(name, "\t")) {
		best = "\t"
	}
	for _, alike := range []bool{true, false} {
		for _, sep := range []string{",", ";", "|", "::", "\x01"} {
			n, uniform := commonColumns(lines, sep, q)
			if n == 0 || uniform != alike || best != "" && !uniform || sep == "," && decimalCommas(lines, q) || best == "\t" && !besideTabs(lines, sep) {
				continue
			}
			switch {
			case byBlanks == 0, uniform && !uniformBlanks && best == "", dated(lines, sep),
				slices.ContainsFunc(lines, func(line []byte) bool { return touches(line, sep) }):
				return sep
			case nameImplies(name, sep):
				best = sep
			}
		}
		if best != "" && best != "\t" {
			return best
		}
	}
	return best
}

// numeric reports whether all columns between blanks are numbers.
func numeric(lines [][]byte) bool {
	l := plainLayout("")
	return !slices.ContainsFunc(lines, func(line []byte) bool {
		fields, _ := l.all(line)
		return slices.ContainsFunc(fields, func(f []byte) bool { return !isNumber(f) })
	})
}

// besideTabs reports whether all lines have a tab next to a separator.
func besideTabs(lines [][]byte, sep string) bool {
	return !slices.ContainsFunc(lines, func(line []byte) bool {
		return !bytes.Contains(line, []byte("\t"+sep)) && !bytes.Contains(line, []byte(sep+"\t"))
	})
}

// decimalCommas reports whether semicolons divide all lines alike, and all commas are between
// digits.
func decimalCommas(lines [][]byte, q Quotes) bool {
	isDigit := func(line []byte, i int) bool { return i >= 0 && i < len(line) && '0' <= line[i] && line[i] <= '9' }
	if _, uniform := commonColumns(lines, ";", q); !uniform {
		return false
	}
	return !slices.ContainsFunc(lines, func(line []byte) bool {
		for i, c := range line {
			if c == ',' && (!isDigit(line, i-1) || !isDigit(line, i+1)) {
				return true
			}
		}
		return false
	})
}

// guessLayout returns a layout to guess a separator or quotes.
func guessLayout(sep string, q Quotes) layout {
	l := plainLayout(sep)
	l.quotes, l.lenient = cmp.Or(q, DoubledQuotes), q == AnyQuotes && sep == "\t"
	return l
}

// commonColumns returns the number of columns, 2 or more, that at least half of the lines have; 0
// means no such number. uniform says that all lines have it.
func commonColumns(lines [][]byte, sep string, q Quotes) (columns int, uniform bool) {
	return guessLayout(sep, q).usual(lines)
}

// usual is commonColumns for a layout.
func (l layout) usual(lines [][]byte) (columns int, uniform bool) {
	count := map[int]int{}
	lines = l.joined(lines)
	for _, line := range lines {
		_, n := l.split(line)
		count[n]++
		if n >= 2 && 2*count[n] >= len(lines) && columns == 0 {
			columns = n
		}
	}
	return columns, columns > 0 && count[columns] == len(lines)
}

// dated reports whether at least half of the lines have a column with a date and a time that are
// separated by a blank.
func dated(lines [][]byte, sep string) bool {
	l, n := guessLayout(sep, DoubledQuotes), 0
	for _, line := range lines {
		fields, _ := l.split(line)
		if slices.ContainsFunc(fields[:], func(f []byte) bool { return bytes.IndexByte(f, ' ') > 0 && timeFormatOf(f) != AnyTime }) {
			n++
		}
	}
	return n > 0 && 2*n >= len(lines)
}

// touches reports whether a separator has a blank next to it.
func touches(line []byte, sep string) bool {
	for at := 0; ; at += len(sep) {
		i := bytes.Index(line[at:], []byte(sep))
		if i < 0 {
			return false
		}
		at += i
		if end := at + len(sep); at > 0 && (isBlank(line[at-1]) || end < len(line) && isBlank(line[end])) {
			return true
		}
	}
}

// guessQuotes decides how quotes enclose the columns of a text, and returns the lines again, where
// lines that a quoted column joins are one.
func (l *layout) guessQuotes(lines [][]byte, o Options) [][]byte {
	l.quotes, l.lenient = o.Quotes, false
	switch {
	case o.Quotes != AnyQuotes:
	case len(l.sep) == 0:
		l.quotes = NoQuotes
		if o.Format != SNAP && l.quotedBlanks(lines) {
			l.quotes = DoubledQuotes
		}
	default:
		l.quotes, l.lenient = DoubledQuotes, string(l.sep) == "\t"
		if slices.ContainsFunc(lines, func(line []byte) bool { return bytes.Contains(line, []byte(`\"`)) }) {
			back := guessLayout(string(l.sep), BackslashedQuotes)
			if back.faults(lines) < guessLayout(string(l.sep), DoubledQuotes).faults(lines) {
				l.quotes, l.lenient = BackslashedQuotes, false
			}
		}
	}
	return l.joined(lines)
}

// faults returns the number of lines whose quotes do not enclose columns.
func (l layout) faults(lines [][]byte) (n int) {
	for _, line := range lines {
		if _, columns := l.split(line); columns < 0 {
			n++
		}
	}
	return n
}

// quotedBlanks reports whether all lines have quoted columns between blanks, as R writes them: the
// first two columns of each are in quotes, or the first one is and there are more.
func (l *layout) quotedBlanks(lines [][]byte) bool {
	quoted := guessLayout("", DoubledQuotes)
	return len(lines) > 0 && !slices.ContainsFunc(lines, func(line []byte) bool {
		_, n := quoted.split(line)
		return n < 2 || trimBlanks(line)[0] != '"'
	})
}

// joined returns lines, but lines that share a quoted column as a single line.
func (l *layout) joined(lines [][]byte) (list [][]byte) {
	if l.lenient || l.quotes == NoQuotes {
		return lines
	}
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		_, n := l.split(line)
		for j := i + 1; n == openQuote && j < len(lines); j++ {
			line = append(append(slices.Clip(line), '\n'), lines[j]...)
			if _, n = l.split(line); n != openQuote {
				i = j
			}
		}
		list = append(list, line)
	}
	return list
}

const (
	guessBytes = 64 << 10 // bytes of a list from which columns are guessed
	guessLines = 100      // maximal number of edges from which columns are guessed
	firstTime  = 1e8      // larger numbers are taken for times; March 1973 in Unix seconds
)

// guess guesses the meaning of the columns after the first offset ones from the first lines. It
// notes that a column was read as relations, or could be. related says that no column is one.
func (t *text) guess(first [][]byte, related bool) {
	rows := t.layout.rows(first, t.offset)
	t.Columns = rows.guess()
	if related {
		return
	}
	switch c := rows.triples(); {
	case c != Auto:
		place, other := "second", SrcDstRelation
		if t.Columns = c; c.places()[roleRelation] == 2 {
			place, other = "third", SrcRelationDst
		}
		t.hint("columns", other.String(), "the %s column was read as the names of relations", place)
	case t.Columns == SrcDstWeight && rows.all(1, isName) && rows.all(0, isInt) && rows.all(2, isInt) &&
		rows.distinct(1) < len(rows) && rows.distinct(1) <= rows.distinct(2):
		t.hint("columns", SrcRelationDst.String(), "the third column was read as weights, and the second, which has words between integers, as the targets")
	}
}

// firstRows are the columns of the first lines.
type firstRows [][][]byte

// rows returns the columns of lines after the first offset ones. A column at the end that is empty
// does not count, because a separator may end the line.
func (l *layout) rows(lines [][]byte, offset int) (all firstRows) {
	for _, line := range lines[:min(len(lines), guessLines)] {
		row, _ := l.all(line)
		row = row[min(offset, len(row)):]
		if n := len(row) - 1; n > 1 && len(row[n]) == 0 {
			row = row[:n]
		}
		all = append(all, row)
	}
	return all
}

// guess guesses the columns of a list without relations.
func (rs firstRows) guess() Columns {
	var two, three, times, numbers int
	for _, row := range rs {
		switch {
		case len(row) > 2:
			three++
			switch isTime, number := looksLikeTime(row[2]); {
			case isTime:
				times++
			case number:
				numbers++
			}
		case len(row) == 2:
			two++
		}
	}
	switch {
	case three <= two:
		return SrcDst
	case times > 0 && numbers == 0:
		return SrcDstTime
	}
	return SrcDstWeight
}

// triples returns the columns of a list of three or four columns, one of which names relations. It
// returns Auto if no column plainly does.
func (rs firstRows) triples() (c Columns) {
	if len(rs) == 0 {
		return Auto
	}
	width := len(rs[0])
	if width != 3 && width != 4 || slices.ContainsFunc(rs, func(row [][]byte) bool { return len(row) != width }) {
		return Auto
	}
	middle := (rs.all(1, isName) || rs.all(1, isInt)) && rs.all(2, isNoValue) && rs.repeats(1)
	last := rs.all(2, isName) && rs.repeats(2)
	if middle && last {
		middle, last = rs.lessLikeKeys(1, 2), rs.lessLikeKeys(2, 1)
	}
	switch {
	case middle, rs.all(1, isName) && rs.all(0, isKeyNumber) && rs.all(2, isKeyNumber) && rs.any(2, isPadded):
		c = SrcRelationDst
	case last:
		c = SrcDstRelation
	default:
		return Auto
	}
	isTime := func(f []byte) bool { is, _ := looksLikeTime(f); return is }
	switch {
	case width == 3:
		return c
	case rs.all(3, isTime):
		return c + ",time"
	case rs.all(3, isNumber):
		return c + ",weight"
	}
	return Auto
}

// lessLikeKeys reports whether a column looks less like the keys of the first column than another
// one does: fewer of its values are among them, or begin like the key on the line, as Q7 does like
// Q5, or it has clearly fewer different values.
func (rs firstRows) lessLikeKeys(column, other int) bool {
	sources := map[string]bool{}
	for _, row := range rs {
		sources[string(row[0])] = true
	}
	shared := func(column int) (n int) {
		for _, row := range rs {
			if sources[string(row[column])] {
				n++
			}
		}
		return n
	}
	alike := func(column int) (n int) {
		for _, row := range rs {
			if stem, ok := keyStem(row[0]); ok && bytes.HasPrefix(row[column], stem) && len(row[column]) > len(stem) && isDigit(row[column][len(stem)]) {
				n++
			}
		}
		return n
	}
	for _, count := range []func(int) int{shared, alike} {
		if a, b := count(column), count(other); a != b {
			return a < b
		}
	}
	return 4*rs.distinct(column) <= 3*rs.distinct(other)
}

// keyStem returns the start of a key, before its first digit, and false for a key without digits.
func keyStem(key []byte) (stem []byte, ok bool) {
	i := bytes.IndexAny(key, "0123456789")
	return key[:max(i, 0)], i >= 0
}

// all reports whether a column has only values of a kind.
func (rs firstRows) all(column int, is func([]byte) bool) bool {
	return len(rs) > 0 && !rs.any(column, func(f []byte) bool { return !is(f) })
}

// any reports whether a column has a value of a kind. A missing column has an empty value.
func (rs firstRows) any(column int, is func([]byte) bool) bool {
	return slices.ContainsFunc(rs, func(row [][]byte) bool {
		if column >= len(row) {
			return is(nil)
		}
		return is(row[column])
	})
}

// distinct returns the number of different values of a column.
func (rs firstRows) distinct(column int) int {
	values := map[string]bool{}
	for _, row := range rs {
		values[string(row[column])] = true
	}
	return len(values)
}

// repeats reports whether the values of a column occur often enough to be names of relations.
func (rs firstRows) repeats(column int) bool {
	const few = 8
	return len(rs) < few || 4*rs.distinct(column) <= 3*len(rs)
}

// isName reports whether a field looks like the name of a relation: it begins with no digit, sign
// or bracket, has a letter, and is neither a truth value nor a word for a missing number.
func isName(field []byte) bool {
	if !isNoValue(field) || bytes.IndexByte([]byte("0123456789+-."), field[0]) >= 0 {
		return false
	}
	return bytes.ContainsFunc(field, unicode.IsLetter)
}

// isNoValue reports whether a field cannot be meant as a number, a time or a document.
func isNoValue(field []byte) bool {
	number := isNumber(field) && field[0]|0x20 != 'e'
	if len(field) == 0 || isMissing(field) || number || isDecimalComma(field) || bytes.IndexByte([]byte("{["), field[0]) >= 0 {
		return false
	}
	switch strings.ToLower(string(field)) {
	case "true", "false", "inf", "infinity", "-inf", "n/a":
		return false
	}
	isTime, _ := looksLikeTime(field)
	return !isTime && !dayOrMonth(field)
}

// isKeyNumber reports whether a field is an integer, perhaps with zeros in front.
func isKeyNumber(field []byte) bool { return isInt(field) || isPadded(field) }

// noteUnreadRelation notes that a column is not read although its name and its values may be of
// relations.
func (t *text) noteUnreadRelation(first [][]byte) {
	l := &t.layout
	words := []string{"rel", "pred", "type", "kind", "edge", "link", "action", "event", "verb", "property", "behavior", "behaviour", "interaction"}
	isDirection := func(f []byte) bool { return bytes.HasSuffix(bytes.ToLower(f), []byte("directed")) }
	rows := l.rows(first, 0)
	for at, name := range l.names {
		may := func(word string) bool { return strings.Contains(strings.ToLower(name), word) }
		if slices.Contains(l.at[:], at) || !slices.ContainsFunc(words, may) || !rows.all(at, isName) || rows.all(at, isDirection) {
			continue
		}
		names := t.Names
		names.Relation = name
		t.hint("columns", names.String(), "the column %s, which may name relations, was not read", name)
		return
	}
}

// namesOnly reports whether a line has words for the ends of an edge.
func namesOnly(columns []string) bool {
	_, _, _, ok := pairOf(columns)
	return ok
}

// sepDirective returns the separator that a first line such as sep=; says, as Excel writes it.
func sepDirective(text []byte) (sep string, ok bool) {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	line = bytes.Trim(bytes.TrimPrefix(line, []byte(mark)), "\r\"")
	if len(line) != len("sep=;") || !strings.EqualFold(string(line[:4]), "sep=") {
		return "", false
	}
	return string(line[4:]), true
}

// lineEnd returns the character that ends the lines of a text: a carriage return, as on old Macs,
// or a newline.
func lineEnd(text []byte) byte {
	if bytes.IndexByte(text, '\n') < 0 && bytes.IndexByte(text, '\r') >= 0 {
		return '\r'
	}
	return '\n'
}
