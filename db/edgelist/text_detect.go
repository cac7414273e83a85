package edgelist

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// newText detects the layout of a text and the meaning of its columns.
func newText(in *bufio.Reader, o Options) (*text, error) {
	t := &text{lines: newLines(in), signed: o.Negative != ""}
	first, err := t.examine(o, func(lines [][]byte) bool { return t.layout.findHeader(lines, o.Header, o.Names) })
	if err != nil {
		return nil, err
	}
	t.Format, t.Header = t.layout.format(), t.layout.header
	if t.Header {
		first = first[1:]
		t.widen(first)
	}
	if err := t.choose(first, o); err != nil {
		return nil, err
	}
	t.minColumns = t.layout.at.last() + 1
	if !t.guessed || t.offset > 0 { // if columns are guessed, a line with more columns is malformed
		t.Unused = t.layout.unused(first)
	}
	t.ragged, t.lists = t.layout.ragged(first)
	t.seen.columns(t, first)
	if at := t.layout.at[roleWeight]; at >= 0 && t.layout.comma() {
		t.decimals = t.noteDecimals(first)
	}
	if t.layout.at[roleTime] >= 0 {
		if t.Times = o.Times; t.Times == AnyTime {
			t.Times = guessTimes(first, &t.layout)
		}
	}
	t.layout.stray = 0
	return t, nil
}

// examine detects the layout of a text, and returns its first lines with data or a header.
// findHeader detects a header, and returns whether it is in doubt.
func (t *text) examine(o Options, findHeader func(lines [][]byte) bool) (first [][]byte, err error) {
	head, _ := t.in.Peek(len(mark) + len("sep=;\r\n"))
	if sep, ok := sepDirective(head); ok {
		o.Separator = Separator(sep)
		if _, err := t.lines.next(); err != nil {
			return nil, err
		}
	}
	head, err = t.in.Peek(guessBytes)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("edgelist: %w", err)
	}
	t.end = lineEnd(head)
	s := sampleOf(head, t.end, err == io.EOF)
	if o.Comments == Detect && len(s.marked) > 0 && isGroups(s) {
		return nil, &Refusal{Note{"this looks like LGL, where a comment names the source of the lines below it, which is not read; write a source and a target on each line", []Setting{{"comments", "on"}}}}
	}
	l := &t.layout
	first = s.plain
	if len(first) == 0 {
		first = s.marked
	}
	*l = plainLayout(separator(first, o))
	if t.keys && len(l.sep) == 0 && o.Format == AnyFormat {
		l.sep = separatorOf(first, o.Name)
	}
	first = l.guessQuotes(s.plain, o)
	doubt := findHeader(first)
	l.common, _ = l.usual(first)
	if len(s.marked) > 0 {
		first = l.joined(l.chooseComments(s, l.header, o))
	}
	if l.comments != On {
		l.header, l.names = false, nil
		doubt = findHeader(first)
	}
	t.noteHeader(first, doubt, o)
	t.seen.comments = o.Comments
	// KONECT marks a bipartite graph so.
	t.kinds = t.kinds || len(s.marked) > 0 && bytes.HasPrefix(s.marked[0], []byte("% bip "))
	return first, nil
}

// separator returns the separator of the columns; "" means blanks.
func separator(first [][]byte, o Options) string {
	switch {
	case o.Separator == " ":
		return ""
	case o.Separator != "":
		return string(o.Separator)
	}
	switch o.Format {
	case AnyFormat:
		return guessSeparator(first, o.Name, o.Quotes)
	case CSV:
		if sep := guessSeparator(first, ".csv", o.Quotes); sep != "" && sep != "\t" {
			return sep
		}
		return ","
	case TSV:
		return "\t"
	}
	return ""
}

// choose decides which columns are read and what they mean: from the options, otherwise from the
// header, otherwise from the first lines. If the options give columns without names, these are the
// columns with the usual names in the header if it has all of them, otherwise the first columns
// after a column of row numbers.
func (t *text) choose(first [][]byte, o Options) error {
	l := &t.layout
	at, columns, err := o.columnsByName(l.names)
	switch {
	case err != nil:
		return err
	case columns != Auto:
		t.Columns, l.at, l.width = columns, at, len(l.names)
		t.noteIndex(first, o.Names == (Names{}) && l.names != nil && !slices.Contains(at[:], 0))
	default:
		if l.names != nil && t.noteIndex(first, len(l.names) > SrcDst.count()) {
			t.offset = 1
		}
		if t.guessed = o.Columns == Auto; t.guessed {
			t.guess(first, o.Related)
		} else {
			t.Columns = o.Columns
		}
		l.at = t.Columns.places()
		l.shift(t.offset)
		if t.guessed && l.names == nil && t.Columns != SrcDst && l.counts(first) {
			t.hint("columns", "src=2,dst=3", "the first column, which was read as the sources, counts the lines")
		}
	}
	if l.names != nil {
		for r, to := range t.Names.byRole() {
			if at := l.at[r]; at >= 0 && at < len(l.names) {
				*to = cmp.Or(l.names[at], strconv.Itoa(at+1))
			}
		}
		if o.Columns == Auto && o.Names == (Names{}) && !o.Related && !t.guessed && l.at[roleRelation] < 0 {
			t.noteUnreadRelation(first)
		}
		for _, r := range []role{roleSrc, roleDst} {
			t.headings = append(t.headings, []byte(l.names[min(l.at[r], len(l.names)-1)]))
		}
		if !o.Labelled {
			t.setPrefix(t.Names.Src, t.Names.Dst)
		}
	}
	return nil
}

// setPrefix sets the prefixes of the keys of columns, in the notation of Neo4j, and notes that they
// have some.
func (t *text) setPrefix(src, dst string) {
	for _, name := range []string{src, dst} {
		if p := prefix(name); p != "" {
			t.prefix = &[2]string{prefix(src), prefix(dst)}
			t.note("the header names spaces of keys: 7 in column %s is the node '%s7'", name, p)
			return
		}
	}
}

// shift moves the columns that are read to the right.
func (l *layout) shift(n int) {
	for r := range l.at {
		if l.at[r] >= 0 {
			l.at[r] += n
		}
	}
}

// noteIndex reports whether the first column, if it is free, holds row numbers, and notes that it
// is left out.
func (t *text) noteIndex(first [][]byte, free bool) bool {
	l := &t.layout
	if !free || !isIndex(l.names[0]) || l.names[0] != "" && !l.counts(first) {
		return false
	}
	if name := l.names[0]; name == "" {
		t.hint("columns", "src=1,dst=2", "the first column, which has no name, was left out: it probably has row numbers")
	} else {
		t.note("the first column, %s, was left out: it counts the rows", name)
	}
	return true
}

// counts reports whether the first column of at least two lines has integers that grow by 1.
func (l *layout) counts(lines [][]byte) bool {
	last := int64(-1)
	for i, line := range lines {
		n, ok := parseInt(l.first(line))
		if !ok || i > 0 && n != last+1 || i == 0 && n > 1 {
			return false
		}
		last = n
	}
	return len(lines) > 1
}

// ragged reports whether lines have different numbers of columns, and whether all of their columns
// are keys: integers, the first perhaps with a colon, or anything if there are many.
func (l *layout) ragged(lines [][]byte) (ragged, keys bool) {
	const many = 4
	numbers, integers, colons, most := map[int]bool{}, true, true, 0
	for _, line := range lines {
		columns, ok := l.all(line)
		if !ok {
			continue
		}
		name, colon := bytes.CutSuffix(columns[0], []byte(":"))
		columns[0], colons = name, colons && colon
		numbers[len(columns)], most = true, max(most, len(columns))
		integers = integers && !slices.ContainsFunc(columns, func(c []byte) bool { return !isInt(c) })
	}
	return len(numbers) > 1, integers && (colons || len(numbers) > 2 || len(numbers) > 1 && most >= many) || len(numbers) > 2 && most > many
}

// noteDecimals reports whether the weights of the first lines have decimal commas, and notes it.
func (t *text) noteDecimals(first [][]byte) bool {
	for _, line := range first {
		fields, _ := t.layout.split(line)
		if field := fields[roleWeight]; isDecimalComma(field) {
			t.note("weights have decimal commas: %s was read as %s", field, bytes.Replace(field, []byte(","), []byte("."), 1))
			return true
		}
	}
	return false
}

// columnsByName returns the columns by role and their meaning, from the names of all columns: the
// columns that the options name, otherwise the columns with the usual names. Without such columns
// it returns Auto.
func (o *Options) columnsByName(names []string) (at places, c Columns, err error) {
	if o.Names != (Names{}) {
		at, err = o.Names.places(names)
		return at, at.columns(), err
	}
	at = usualPlaces(names)
	for r := range at {
		if !o.reads(role(r)) {
			at[r] = -1
		}
	}
	c = at.columns()
	if at[roleSrc] < 0 || at[roleDst] < 0 || o.Columns != Auto && !o.Columns.same(c) {
		return at, Auto, nil
	}
	return at, c, nil
}
