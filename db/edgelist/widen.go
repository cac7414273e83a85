package edgelist

import "slices"

// widen gives a header that has fewer names than the lines have columns the name "" for the last
// columns.
func (t *text) widen(first [][]byte) {
	l := &t.layout
	width, uniform := l.usual(first)
	missing, named := width-len(l.names), len(l.names)
	if !uniform || missing <= 0 {
		return
	}
	l.names = append(l.names, make([]string, missing)...)
	t.note("the header has %d names, the lines have %d columns: those after the first %d have no name and were left out", named, width, named)
}

// named returns the names of the columns that have one.
func named(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "" })
}
