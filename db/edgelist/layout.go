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
	sep     []byte // separator of columns; empty means any number of blanks
	quotes  Quotes // not AnyQuotes
	lenient bool   // a quote that does not enclose a column is a character
	stray   int64  // number of columns with such a quote so far
	// comments says whether lines that begin with # or % are comments; Detect means the lines
	// without the usual number of columns.
	comments Switch
	common   int // the usual number of columns
	// at holds the indexes of the columns that are read, by role; -1 means that the role has no
	// column.
	at places
	// width is the number of columns in a line, if columns are chosen by name; 0 means not checked.
	width  int
	header bool // the first line is a header that has not been read yet
	names  []string
}

// plainLayout returns a layout without quotes that reads the first columns, whatever their roles
// are.
func plainLayout(sep string) layout {
	return layout{sep: []byte(sep), quotes: NoQuotes, comments: On, at: SrcDstWeightTime.places()}
}

// Results of [layout.split] for lines that cannot be divided.
const (
	badQuote  = -1 // a quote is not followed by a separator
	openQuote = -2 // a quote is not closed on the line
)

// split returns the columns that are read, by role, and the number of columns of a line that is not
// blank, or badQuote or openQuote.
func (l *layout) split(line []byte) (fields fields, n int) {
	n = l.splitTo(line, &fields)
	return fields, n
}

// splitTo is split for a line among many: the array is not copied.
func (l *layout) splitTo(line []byte, to *fields) (n int) {
	*to = fields{}
	if len(l.sep) == 0 && l.quotes == NoQuotes {
		return l.splitBlanks(line, to)
	}
	for rest, more := line, true; more; n++ {
		var field []byte
		var fault int
		if field, rest, more, fault = l.cut(rest); fault < 0 {
			return fault
		}
		for r := range l.at {
			if l.at[r] == n {
				to[r] = field
			}
		}
	}
	return n
}

// splitBlanks is splitTo for columns between blanks.
func (l *layout) splitBlanks(line []byte, to *fields) (n int) {
	for i := 0; ; n++ {
		for i < len(line) && isBlank(line[i]) {
			i++
		}
		if i == len(line) {
			return n
		}
		begin := i
		for i < len(line) && !isBlank(line[i]) {
			i++
		}
		for r := range l.at { // a copy of the array would cost more than the columns
			if l.at[r] == n {
				to[r] = line[begin:i]
			}
		}
	}
}

// trimBlanks returns a line without the blanks before its columns.
func trimBlanks(line []byte) []byte {
	for len(line) > 0 && isBlank(line[0]) {
		line = line[1:]
	}
	return line
}

// isPadding reports whether c may stand between a separator and a column.
func isPadding(c byte) bool { return c == ' ' || c == '\r' }

// trimLeft returns a line without the padding of its first column.
func trimLeft(line []byte) []byte {
	for len(line) > 0 && isPadding(line[0]) {
		line = line[1:]
	}
	return line
}

// cut returns the first column of a line and the rest. fault is 0, badQuote or openQuote.
func (l *layout) cut(line []byte) (field, rest []byte, more bool, fault int) {
	if len(l.sep) == 0 {
		line = trimBlanks(line)
	} else {
		line = trimLeft(line)
	}
	if len(line) == 0 || line[0] != '"' || l.quotes == NoQuotes {
		field, rest, more = l.cutPlain(line)
		return field, rest, more, 0
	}
	if field, rest, more, fault = l.cutQuoted(line); fault < 0 && l.lenient {
		l.stray++
		field, rest, more = l.cutPlain(line)
		fault = 0
	}
	return field, rest, more, fault
}

// cutPlain cuts a column without quotes.
func (l *layout) cutPlain(line []byte) (field, rest []byte, more bool) {
	if len(l.sep) > 0 {
		field, rest, more = bytes.Cut(line, l.sep)
		for len(field) > 0 && isPadding(field[len(field)-1]) {
			field = field[:len(field)-1]
		}
		return field, rest, more
	}
	end := 0
	for end < len(line) && !isBlank(line[end]) {
		end++
	}
	rest = trimBlanks(line[end:])
	return line[:end], rest, len(rest) > 0
}

// cutQuoted cuts a column that begins with a quote.
func (l *layout) cutQuoted(line []byte) (field, rest []byte, more bool, fault int) {
	end, escaped := l.closingQuote(line)
	if end < 0 {
		return nil, nil, false, openQuote
	}
	field = line[1:end]
	if escaped && l.quotes == BackslashedQuotes {
		field = bytes.ReplaceAll(field, []byte(`\"`), []byte(`"`))
	} else if escaped {
		field = bytes.ReplaceAll(field, []byte(`""`), []byte(`"`))
	}
	if len(l.sep) == 0 {
		after := line[end+1:]
		rest = trimBlanks(after)
		if len(after) > 0 && !isBlank(after[0]) {
			fault = badQuote
		}
		return field, rest, len(rest) > 0, fault
	}
	rest = trimLeft(line[end+1:])
	if len(rest) == 0 {
		return field, nil, false, 0
	}
	if !bytes.HasPrefix(rest, l.sep) {
		return nil, nil, false, badQuote
	}
	return field, rest[len(l.sep):], true, 0
}

// closingQuote returns the place of the quote that ends a quoted column, or -1, and whether quotes
// inside are escaped.
func (l *layout) closingQuote(line []byte) (end int, escaped bool) {
	for end = 1; ; end++ {
		i := bytes.IndexByte(line[end:], '"')
		if i < 0 {
			return -1, escaped
		}
		end += i
		switch {
		case l.quotes == BackslashedQuotes:
			slashes := end - len(bytes.TrimRight(line[1:end], `\`)) - 1
			if slashes%2 == 0 {
				return end, escaped
			}
		case end+1 == len(line) || line[end+1] != '"':
			return end, escaped
		default:
			end++
		}
		escaped = true
	}
}

// first returns the first column of a line, or nil.
func (l *layout) first(line []byte) []byte {
	field, _, _, _ := l.cut(line)
	return field
}

// last returns the last column of a line.
func (l *layout) last(line []byte) (field []byte) {
	for more := true; more; {
		field, line, more, _ = l.cut(line)
	}
	return field
}

// all returns all columns of a line, and false for unbalanced quotes.
func (l *layout) all(line []byte) (list [][]byte, ok bool) { return l.appendAll(nil, line) }

// appendAll appends all columns of a line. It returns false for unbalanced quotes.
func (l *layout) appendAll(list [][]byte, line []byte) (_ [][]byte, ok bool) {
	for rest, more := line, true; more; {
		var field []byte
		var fault int
		if field, rest, more, fault = l.cut(rest); fault < 0 {
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

// comma reports whether columns may contain a comma.
func (l *layout) comma() bool { return string(l.sep) != "," }

// format returns the format of a text with this separator.
func (l *layout) format() Format {
	switch {
	case len(l.sep) == 0 && l.quotes == NoQuotes:
		return SNAP
	case string(l.sep) == "\t":
		return TSV
	}
	return CSV
}

// unused returns the columns that are not read: their names or, without a header, their numbers
// from 1 in the first line.
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

// usualPlaces finds the columns of each role by their usual names.
func usualPlaces(names []string) (at places) {
	for r := range roles {
		at[r] = find(names, roles[r].usual...)
	}
	at[roleSrc], at[roleDst], _, _ = pairOf(names)
	if isTriple(names) {
		at[roleRelation] = 1
	}
	if at[roleTime] == at[roleDst] { // a column t of targets
		at[roleTime] = -1
	}
	return at
}

// find returns the index of the first column with one of the names; -1 means no such column. The
// type after a name in the notation of Neo4j, as in price:float, is not part of the name.
func find(names []string, any ...string) int {
	return slices.IndexFunc(names, func(n string) bool {
		n = strings.ToLower(n)
		if colon := strings.IndexByte(n, ':'); colon > 0 && !slices.Contains(any, n) {
			n = n[:colon]
		}
		return slices.Contains(any, n)
	})
}

// nameImplies reports whether the name of a file implies that sep separates its columns.
func nameImplies(name, sep string) bool {
	f, _ := extensions(name)
	return f == CSV && sep != "\t" || f == TSV && sep == "\t"
}

// extensions returns the format and the compression that the name of a file says: AnyFormat and ""
// if it says none.
func extensions(name string) (f Format, packing string) {
	name = strings.ToLower(name)
	switch ext := path.Ext(name); ext {
	case ".gz", ".zst", ".bz2":
		name, packing = strings.TrimSuffix(name, ext), ext
	}
	return map[string]Format{".csv": CSV, ".tsv": TSV, ".tab": TSV, ".txt": SNAP, ".nt": NTriples, ".jsonl": JSONLines, ".parquet": Parquet}[path.Ext(name)], packing
}
