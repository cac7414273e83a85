package edgelist

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
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
	offset     int      // number of columns before those that are guessed
	minColumns int      // number of columns that a line must have
	ragged     bool     // the first lines have different numbers of columns
	lists      bool     // and seem to hold a node and all nodes that it links to
	decimals   bool     // weights have decimal commas
	headings   [][]byte // names of the columns of sources and targets, if there is a header
	src        string   // src and dst are the string keys of the previous edge, which are often repeated
	dst        string
	seen       seen
	keys       bool // the text is a list of nodes
}

// newText detects the layout of a text and the meaning of its columns.
func newText(in *bufio.Reader, o Options) (*text, error) {
	t := &text{lines: newLines(in)}
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
	t.minColumns = slices.Max(t.layout.at[:]) + 1
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

// examine detects the layout of a text, and returns its first lines with data or a header. findHeader detects a header, and
// returns whether it is in doubt.
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
	t.kinds = t.kinds || len(s.marked) > 0 && bytes.HasPrefix(s.marked[0], []byte("% bip ")) // KONECT's mark of a bipartite graph
	return first, nil
}

// noteHeader notes that the first line may or may not be a header. The format SNAP, if it is given, has a header only if
// the options say so.
func (t *text) noteHeader(first [][]byte, doubt bool, o Options) {
	l := &t.layout
	const shown = 60
	if o.Header != Detect || len(first) == 0 {
		return
	}
	line := first[0][:min(len(first[0]), shown)]
	switch {
	case l.header && o.Format == SNAP && !o.Names.among(l.names):
		l.header, l.names = false, nil
		t.hint("header", "on", "the first line, %q, was read as data", line)
	case l.header && doubt:
		t.hint("header", "off", "the first line, %q, was taken for the names of the columns", line)
	case !l.header && l.unlike(first):
		t.hint("header", "on", "the first line, %q, was read as data, although all others have an integer where it has none", line)
	}
}

// unlike reports whether one of the first two columns has an integer in all lines but the first, of which it is told
// from three lines on.
func (l *layout) unlike(lines [][]byte) bool {
	const few = 3
	if len(lines) < few {
		return false
	}
	for column := range 2 {
		odd := slices.IndexFunc(lines, func(line []byte) bool {
			columns, _ := l.all(line)
			return column >= len(columns) || !isInt(columns[column])
		})
		if odd == 0 && !slices.ContainsFunc(lines[1:], func(line []byte) bool {
			columns, _ := l.all(line)
			return column >= len(columns) || !isInt(columns[column])
		}) {
			return true
		}
	}
	return false
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

// choose decides which columns are read and what they mean: from the options, otherwise from the header, otherwise from
// the first lines. If the options give columns without names, these are the columns with the usual names in the header
// if it has all of them, otherwise the first columns after a column of row numbers.
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
		l.at = SrcDstWeightTime.places()
		if l.names != nil && t.noteIndex(first, len(l.names) > SrcDst.count()) {
			t.offset = 1
		}
		l.shift(t.offset)
		if t.guessed = o.Columns == Auto; t.guessed {
			t.Columns = guess(first, l)
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
		for role, to := range t.Names.byRole() {
			if at := l.at[role]; at >= 0 && at < len(l.names) {
				*to = cmp.Or(l.names[at], strconv.Itoa(at+1))
			}
		}
		for _, at := range l.at[:roleWeight] {
			t.headings = append(t.headings, []byte(l.names[min(at, len(l.names)-1)]))
		}
	}
	return nil
}

// shift moves the columns that are read to the right.
func (l *layout) shift(n int) {
	for role := range l.at {
		if l.at[role] >= 0 {
			l.at[role] += n
		}
	}
}

// noteIndex reports whether the first column, if it is free, holds row numbers, and notes that it is left out.
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

// ragged reports whether lines have different numbers of columns, and whether all of their columns are keys: integers, the
// first perhaps with a colon, or anything if there are many.
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

// columnsByName returns the columns by role and their meaning, from the names of all columns: those that the options name,
// otherwise those with the usual names. Without such columns it returns Auto.
func (o *Options) columnsByName(names []string) (at [4]int, c Columns, err error) {
	if o.Names != (Names{}) {
		at, err = o.Names.places(names)
		return at, ColumnsOf(o.Names.Weight != "", o.Names.Time != ""), err
	}
	at = usualPlaces(names)
	if o.Columns == SrcDst || o.Columns == SrcDstTime {
		at[roleWeight] = -1
	}
	if o.Columns == SrcDst || o.Columns == SrcDstWeight {
		at[roleTime] = -1
	}
	c = ColumnsOf(at[roleWeight] >= 0, at[roleTime] >= 0)
	if at[roleSrc] < 0 || at[roleDst] < 0 || o.Columns != Auto && o.Columns != c {
		return at, Auto, nil
	}
	return at, c, nil
}

// record returns the next line that is not blank, no comment and not the header. Lines that a quoted column joins are
// one.
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

// leaveOut reports whether a line that begins with # or % is a comment, and counts it.
func (t *text) leaveOut(line []byte) bool {
	l := &t.layout
	if !l.isComment(line, t.begun) {
		t.seen.marked++
		return false
	}
	t.Comments++
	if t.seen.comments == Detect && l.comments == On && !isRemark(line) {
		if fields, _ := l.all(line); len(fields) >= 2 && len(fields) == l.common && (t.begun || !namesOnly(l.columns(line))) {
			t.seen.likeData++
		}
	}
	return true
}

// maxJoined is the maximal number of lines of a record.
const maxJoined = 1000

// complete returns a line with those that follow it, up to the one that closes its last quote.
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

// unclosed returns the error for a quote that encloses no column. It ends the list, because nothing says which of the
// lines below belong to the column.
func (t *text) unclosed() error {
	return &Refusal{Note{fmt.Sprintf("line %d: a quote is not closed, neither on the line nor, before a separator, on one of the next %d", t.first, maxJoined), []Setting{{"quotes", "off"}}}}
}

func (t *text) next(e *Edge) error {
	for {
		line, err := t.record()
		e.Line = t.first
		if err != nil {
			if err == io.EOF {
				t.seen.report(t)
			}
			return err
		}
		fields, n := t.layout.split(line)
		if t.headings != nil && bytes.Equal(fields[0], t.headings[0]) && bytes.Equal(fields[1], t.headings[1]) {
			t.seen.headers++
			continue
		}
		return t.parse(line, fields, n, e)
	}
}

// parse parses the n columns of a line into an edge.
func (t *text) parse(line []byte, fields fields, n int, e *Edge) error {
	switch {
	case n < 0:
		return t.badQuotes(line)
	case t.layout.width > 0 && n != t.layout.width:
		return t.bad(line, "columns: found %d, the header has %d", n, t.layout.width)
	case n > t.minColumns && t.guessed && (n > t.minColumns+1 || len(t.layout.last(line)) > 0): // a separator may end the line
		return t.tooMany(line, n)
	case n < t.minColumns:
		return t.tooFew(line, n)
	case len(fields[0]) == 0 || len(fields[1]) == 0:
		return t.bad(line, "key is empty")
	case !t.token(fields[0], &e.Src, &t.src) || !t.token(fields[1], &e.Dst, &t.dst):
		return t.bad(line, "key is not valid UTF-8 or contains a NUL byte or the end of a line")
	}
	if n > t.seen.widest {
		t.seen.widest = n
	}
	ok := true
	if t.layout.at[roleWeight] >= 0 {
		if e.Weight, ok = parseWeight(fields[roleWeight]); !ok && t.decimals && isDecimalComma(fields[roleWeight]) {
			e.Weight, ok = parseWeight(bytes.Replace(fields[roleWeight], []byte(","), []byte("."), 1))
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

// tooMany returns the error for a line with more columns than were guessed.
func (t *text) tooMany(line []byte, n int) error {
	err := t.bad(line, "columns: found %d, expected %d", n, t.minColumns)
	switch columns, _ := t.layout.all(line); {
	case t.lists:
		return t.maybeLists(err)
	case n == 4 && len(t.layout.sep) == 0 && timeFormatOf(columns[2]) == Date && new(civil).clock(columns[3]) != AnyTime:
		err.Msg = "a date and a time of day are two columns; write them with a T between, or separate the columns by commas or tabs"
		return err
	case t.layout.names != nil:
		err.Msg += "; the header has " + strings.Join(named(t.layout.names), ", ")
		return err.help("columns", "src=NAME,dst=NAME")
	case n == SrcDstWeightTime.count():
		return err.help("columns", SrcDstWeightTime.String())
	case t.ragged: // columns by number would lose the others
		return err
	}
	return err.help("columns", "src=1,dst=2")
}

// tooFew returns the error for a line with fewer columns than are read.
func (t *text) tooFew(line []byte, n int) error {
	err := t.bad(line, "columns: found %d, expected %d", n, t.minColumns)
	if t.lists && t.guessed {
		return t.maybeLists(err)
	}
	return err
}

// maybeLists adds to an error that the lines may hold a node and its neighbors.
func (t *text) maybeLists(err *LineError) error {
	err.Msg += "; if a line holds a node and all nodes that it links to, the list has another format"
	return err.help("format", Lists.String())
}

// badQuotes returns the error for a line with quotes that do not enclose columns.
func (t *text) badQuotes(line []byte) error {
	err := t.bad(line, "a quote is not closed, or not followed by a separator")
	if bytes.Contains(line, []byte(`\"`)) {
		return err.help("quotes", BackslashedQuotes.String())
	}
	return err.help("quotes", NoQuotes.String())
}

// badWeight returns the error for an invalid weight.
func (t *text) badWeight(line, field []byte) error {
	err := t.bad(line, "weight is not a finite number above 0 (32 bits)")
	switch n, isInt := parseInt(field); {
	case isNumber(field) && field[0] == '-':
		return t.negative(err)
	case isInt && n == 0 && t.guessed && t.offset == 0:
		return err.help("columns", SrcDstTime.String())
	}
	if _, numeric := parseFloor(field); numeric && compactOf(field) == AnyTime || timeFormatOf(field) == AnyTime || t.Columns != SrcDstWeight {
		return err
	}
	err.Msg = "weight is a time"
	names := t.Names
	if names.Time, names.Weight = names.Weight, ""; t.layout.width > 0 {
		return err.help("columns", names.String())
	}
	return err.help("columns", SrcDstTime.String())
}

// negative adds to the error for a negative weight what can be done with the list.
func (t *text) negative(err *LineError) error {
	err.Msg += ": a list with signs can be read without its weights, or its positive and its negative edges as two graphs"
	if t.Format == MatrixMarket {
		return err.help("columns", SrcDst.String())
	}
	names := t.Names
	if names.Weight = ""; names != (Names{}) {
		return err.help("columns", names.String())
	}
	names = Names{Src: strconv.Itoa(t.layout.at[roleSrc] + 1), Dst: strconv.Itoa(t.layout.at[roleDst] + 1)}
	if at := t.layout.at[roleTime]; at >= 0 {
		names.Time = strconv.Itoa(at + 1)
	}
	return err.help("columns", names.String())
}

// badTime returns the error for a time that is invalid or in another format.
func (t *text) badTime(line, field []byte) error {
	msg, form := t.Times.wrongTime(field)
	err := t.bad(line, "%s", msg)
	if form != AnyTime {
		return err.help("times", form.String())
	}
	return err
}

// token parses a key. last is the previous string in this column, which is reused if it is the same.
func (t *text) token(field []byte, to *Token, last *string) bool {
	if to.Int, to.IsInt = parseInt(field); to.IsInt {
		return true
	}
	if !utf8.Valid(field) || bytes.IndexByte(field, 0) >= 0 || t.n != t.first && bytes.IndexByte(field, '\n') >= 0 {
		return false
	}
	if string(field) != *last {
		*last = string(field)
		t.seen.key(t.first, field, last == &t.dst, t.src)
	}
	to.Str = *last
	return true
}
