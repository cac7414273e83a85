package edgelist

import (
	"bytes"
	"path"
	"slices"
	"strconv"
	"strings"
)

// layout is the division of the lines of a text into columns.
type layout struct {
	sep    byte     // separator of columns; 0 means any number of blanks
	at     [4]int   // indexes of the columns that are read, by role; -1 means that the role has no column
	width  int      // number of columns in a line, if columns are chosen by name; 0 means not checked
	header bool     // the first line is a header that has not been read yet
	names  []string // names of the columns; nil means that there is no header
}

// plainLayout returns a layout that reads the first columns, whatever their roles are.
func plainLayout(sep byte) layout { return layout{sep: sep, at: SrcDstWeightTime.places()} }

// split returns the columns that are read, by role, and the number of columns of a line: 0 for a line without an edge, -1
// for unbalanced quotes.
func (l *layout) split(line []byte) (fields fields, n int) {
	if trimmed := trimBlanks(line); len(trimmed) == 0 || isComment(trimmed[0]) {
		return fields, 0
	}
	for rest, more := line, true; more; n++ {
		var field []byte
		var ok bool
		if field, rest, more, ok = l.cut(rest); !ok {
			return fields, -1
		}
		for i, at := range l.at {
			if at == n {
				fields[i] = field
			}
		}
	}
	return fields, n
}

// trimBlanks returns a line without the blanks before its columns.
func trimBlanks(line []byte) []byte {
	for len(line) > 0 && isBlank(line[0]) {
		line = line[1:]
	}
	return line
}

// cut returns the first column of a line and the rest. A column may be quoted; a doubled quote inside stands for one
// quote.
func (l *layout) cut(line []byte) (field, rest []byte, more, ok bool) {
	if l.sep == 0 {
		line = trimBlanks(line)
		end := 0
		for end < len(line) && !isBlank(line[end]) {
			end++
		}
		rest = trimBlanks(line[end:])
		return line[:end], rest, len(rest) > 0, true
	}
	line = bytes.TrimLeft(line, " \r")
	if len(line) == 0 || line[0] != '"' {
		field, rest, more = bytes.Cut(line, []byte{l.sep})
		return bytes.TrimRight(field, " \r"), rest, more, true
	}
	end := 1
	for {
		i := bytes.IndexByte(line[end:], '"')
		if i < 0 {
			return nil, nil, false, false
		}
		end += i
		if end+1 == len(line) || line[end+1] != '"' {
			break
		}
		end += 2
	}
	field = bytes.ReplaceAll(line[1:end], []byte(`""`), []byte(`"`))
	rest = bytes.TrimLeft(line[end+1:], " \r")
	if len(rest) == 0 {
		return field, nil, false, true
	}
	return field, rest[1:], true, rest[0] == l.sep
}

func isComment(c byte) bool { return c == '#' || c == '%' }

// sample returns the first lines of a text that may hold an edge. whole says that text is the complete text.
func sample(text []byte, whole bool) (lines [][]byte) {
	for len(lines) <= guessLines {
		line, rest, ended := cutLine(text)
		if !ended && (len(line) == 0 || !whole) {
			break
		}
		text = rest
		if line := trimBlanks(line); len(line) > 0 && !isComment(line[0]) {
			lines = append(lines, line)
		}
	}
	return lines
}

// guessSeparator guesses the separator of the columns of a text. It is blanks, unless most lines have two or more
// columns by another separator and either do not by blanks, or the separator is next to a blank, or the name of the
// file implies the separator. Tabs count as blanks unless all lines have the same number of columns by tabs and not by
// blanks. A separator that fits is not replaced by one that does not fit all lines.
func guessSeparator(lines [][]byte, name string) byte {
	byBlanks, uniformBlanks := commonColumns(lines, 0)
	best := byte(0)
	if _, uniform := commonColumns(lines, '\t'); uniform && (!uniformBlanks || nameImplies(name, '\t') || dated(lines, '\t')) {
		best = '\t'
	}
	for _, sep := range []byte(",;|") {
		n, uniform := commonColumns(lines, sep)
		if n == 0 || best != 0 && !uniform {
			continue
		}
		switch {
		case byBlanks == 0, slices.ContainsFunc(lines, func(line []byte) bool { return touches(line, sep) }), dated(lines, sep):
			return sep
		case nameImplies(name, sep):
			best = sep
		}
	}
	return best
}

// commonColumns returns the number of columns, 2 or more, that at least half of the lines have; 0 means no such number.
// uniform says that all lines have it.
func commonColumns(lines [][]byte, sep byte) (columns int, uniform bool) {
	l := plainLayout(sep)
	count := map[int]int{}
	for _, line := range lines {
		_, n := l.split(line)
		count[n]++
		if n >= 2 && 2*count[n] >= len(lines) && columns == 0 {
			columns = n
		}
	}
	return columns, columns > 0 && count[columns] == len(lines)
}

// dated reports whether at least half of the lines have a column with a date and a time that are separated by a blank.
func dated(lines [][]byte, sep byte) bool {
	l, n := plainLayout(sep), 0
	for _, line := range lines {
		fields, _ := l.split(line)
		if slices.ContainsFunc(fields[:], func(f []byte) bool { return bytes.IndexByte(f, ' ') > 0 && timeFormatOf(f) != AnyTime }) {
			n++
		}
	}
	return n > 0 && 2*n >= len(lines)
}

// touches reports whether a separator has a blank next to it.
func touches(line []byte, sep byte) bool {
	for i, c := range line {
		if c == sep && i > 0 && (isBlank(line[i-1]) || i+1 < len(line) && isBlank(line[i+1])) {
			return true
		}
	}
	return false
}

// nameImplies reports whether the name of a file implies that sep separates its columns.
func nameImplies(name string, sep byte) bool {
	f, _ := extensions(name)
	return f == CSV && sep != '\t' || f == TSV && sep == '\t'
}

// extensions returns the format and the compression that the name of a file says: AnyFormat and "" if it says none.
func extensions(name string) (f Format, packing string) {
	name = strings.ToLower(name)
	switch ext := path.Ext(name); ext {
	case ".gz", ".zst", ".bz2":
		name, packing = strings.TrimSuffix(name, ext), ext
	}
	return map[string]Format{".csv": CSV, ".tsv": TSV, ".tab": TSV, ".txt": SNAP, ".parquet": Parquet}[path.Ext(name)], packing
}

// Header says whether the first line of a table names its columns.
type Header int

const (
	AnyHeader Header = iota // detected from the lines
	WithHeader
	WithoutHeader
)

// name detects whether the first line is a header. asked are the column names that the user gave. A list with blanks as
// separators has a header only if the user says so, because an edge between two words may well be the first of edges
// between numbers.
func (l *layout) name(lines [][]byte, h Header, asked Names) {
	if h == WithoutHeader || len(lines) == 0 {
		return
	}
	names := l.columns(lines[0])
	usual := usualPlaces(names)
	known := usual[roleSrc] >= 0 && usual[roleDst] >= 0
	switch {
	case h == WithHeader, asked.among(names):
	case l.sep == 0, !known && !l.heads(lines):
		return
	}
	l.header, l.names = true, names
}

// usualPlaces finds the columns of each role by their usual names. The index of a missing role is -1.
func usualPlaces(names []string) (at [4]int) {
	for role, usual := range usualNames() {
		at[role] = find(names, usual...)
	}
	return at
}

// unused returns the columns that are not read: their names or, without a header, their numbers from 1 in the first
// line.
func (l *layout) unused(lines [][]byte) (list []string) {
	n := len(l.names)
	if n == 0 && len(lines) > 0 {
		n = len(l.columns(lines[0]))
	}
	for i := range n {
		switch {
		case slices.Contains(l.at[:], i):
		case l.names != nil && l.names[i] == "":
			// a note names the columns without a name
		case l.names != nil:
			list = append(list, l.names[i])
		default:
			list = append(list, strconv.Itoa(i+1))
		}
	}
	return list
}

// find returns the index of the first column with one of the names; -1 means no such column.
func find(names []string, any ...string) int {
	return slices.IndexFunc(names, func(n string) bool { return slices.Contains(any, strings.ToLower(n)) })
}

// all returns all columns of a line, and false for unbalanced quotes.
func (l *layout) all(line []byte) (list [][]byte, ok bool) {
	for rest, more := line, true; more; {
		var field []byte
		if field, rest, more, ok = l.cut(rest); !ok {
			return nil, false
		}
		list = append(list, field)
	}
	return list, true
}

// columns returns all columns of a line, or nil for unbalanced quotes.
func (l *layout) columns(line []byte) (list []string) {
	fields, _ := l.all(line)
	for _, field := range fields {
		list = append(list, string(field))
	}
	return list
}

// heads reports whether the first line is a header: all other lines have integers in the first two columns and it does
// not, or all other lines have a number or a time in a later column and it does not.
func (l *layout) heads(lines [][]byte) bool {
	if len(lines) < 2 {
		return false
	}
	head, rest := l.columns(lines[0]), lines[1:]
	if len(head) < 2 {
		return false
	}
	// all reports whether every value of a column, but not its name, is of a kind.
	all := func(column int, is func([]byte) bool) bool {
		return head[column] != "" && !is([]byte(head[column])) && !slices.ContainsFunc(rest, func(line []byte) bool {
			columns := l.columns(line)
			return column >= len(columns) || !is([]byte(columns[column]))
		})
	}
	if all(0, isInt) && all(1, isInt) {
		return true
	}
	for column := 2; column < len(head); column++ {
		if all(column, isValue) {
			return true
		}
	}
	return false
}

func isInt(field []byte) bool {
	_, ok := parseInt(field)
	return ok
}

// isValue reports whether a field is a number or a time.
func isValue(field []byte) bool { return isNumber(field) || timeFormatOf(field) != AnyTime }
