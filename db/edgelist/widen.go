package edgelist

import (
	"slices"
	"strconv"
)

// widen gives a header that has fewer names than the lines have columns a name for each column: "" for the columns without
// one. These are the last columns, unless there is one of them and the first column counts the lines, as R writes it. asked
// are the columns that the user gave.
func (t *text) widen(first [][]byte, asked Names) {
	l := &t.layout
	width, uniform := commonColumns(first, l.sep)
	missing := width - len(l.names)
	if !uniform || missing <= 0 {
		return
	}
	named := len(l.names)
	if byPlace := asked != (Names{}) && !asked.among(l.names); missing == 1 && !byPlace && counts(first, l) {
		l.names = append([]string{""}, l.names...)
		t.hint("columns", "src=1,dst=2", "the lines have a column more than the header: the first one counts the lines and was left out")
		return
	}
	l.names = append(l.names, make([]string, missing)...)
	t.note("the header has %d names, the lines have %d columns: those after the first %d have no name and were left out", named, width, named)
}

// counts reports whether the first column has the numbers from 0 or 1 in order, perhaps in quotes. One line is too few to
// tell.
func counts(lines [][]byte, l *layout) bool {
	from := int64(-1)
	for i, line := range lines {
		field, _, _, _ := l.cut(line)
		n, err := strconv.ParseInt(string(field), 10, 64)
		if i == 0 {
			from = n
		}
		if err != nil || n != from+int64(i) || from > 1 || from < 0 {
			return false
		}
	}
	return len(lines) > 1
}

// named returns the names of the columns that have one.
func named(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "" })
}
