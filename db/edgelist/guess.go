package edgelist

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
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
