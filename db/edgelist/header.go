package edgelist

import (
	"slices"
	"strings"
	"unicode"
)

// pairing is names of two columns that hold the ends of an edge.
type pairing struct {
	src, dst []string
	kinds    bool // the ends are nodes of two kinds, which may have the same numbers
	sure     bool // no two linked nodes have these names
}

// pairings returns the pairs of usual names, the most usual first. The names are stems; see [stem].
func pairings() []pairing {
	return []pairing{
		{
			src:  []string{"source", "src", "from", "fromnode", "sourcenode", "node1"},
			dst:  []string{"target", "dst", "dest", "destination", "to", "tonode", "targetnode", "node2"},
			sure: true,
		},
		{
			src: []string{"u", "i", "start", "startnode", "head", "subject", "origin", "id1", "nodea"},
			dst: []string{"v", "j", "end", "endnode", "tail", "object", "id2", "nodeb"},
		},
		{
			src: []string{"follower", "user", "rater", "citing", "sender", "caller", "trustor", "truster", "buyer", "parent"},
			dst: []string{"followee", "following", "followed", "friend", "ratee", "cited", "receiver", "recipient", "callee", "trustee", "seller", "child"},
		},
		{
			src: []string{
				"user", "member", "customer", "client", "reviewer", "reader", "listener", "visitor", "person", "session", "author", "actor",
				"drug", "student", "employee", "buyer", "usr",
			},
			dst: []string{
				"item", "movie", "film", "product", "artist", "track", "song", "book", "isbn", "asin", "business", "venue", "location", "page", "article",
				"paper", "post", "video", "game", "repo", "tag", "disease", "course", "category", "anime", "sku", "place", "restaurant", "group", "company",
			},
			kinds: true,
		},
	}
}

// stem returns the part of a column's name that tells its meaning, in lower case: "user" for
// user_id, userId, "User ID" and user_id:START_ID(User).
func stem(name string) string {
	name, _, _ = strings.Cut(strings.TrimSpace(name), "(")
	if i := strings.LastIndexByte(name, ':'); i >= 0 && i+1 < len(name) {
		name = name[i+1:]
	}
	name = strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			return unicode.ToLower(c)
		}
		return -1
	}, name)
	for _, end := range []string{"ids", "id", "name", "idx", "index"} {
		if short := strings.TrimSuffix(name, end); short != "" && short != name {
			return short
		}
	}
	return name
}

// pairOf returns the columns of the ends of an edge, found by their usual names, and the pairing.
// The ends of a pairing of two kinds are in the order of the file.
func pairOf(names []string) (src, dst int, of pairing, ok bool) {
	if isTriple(names) {
		return 0, 2, pairing{sure: true}, true
	}
	stems := make([]string, len(names))
	for i, name := range names {
		stems[i] = stem(name)
	}
	first := func(words []string) int {
		return slices.IndexFunc(stems, func(s string) bool { return slices.Contains(words, s) })
	}
	for _, of := range pairings() {
		src, dst := first(of.src), first(of.dst)
		if src < 0 || dst < 0 {
			continue
		}
		if of.kinds && dst < src {
			src, dst = dst, src
		}
		return src, dst, of, true
	}
	return -1, -1, pairing{}, false
}

// isTriple reports whether names are letters for the parts of a triple.
func isTriple(names []string) bool {
	if len(names) < 3 {
		return false
	}
	switch strings.ToLower(strings.Join(names[:3], " ")) {
	case "h r t", "s p o":
		return true
	}
	return false
}

// numbered12 reports whether two names differ only in a final 1 and 2, or a and b.
func numbered12(src, dst string) bool {
	src, dst = stem(src), stem(dst)
	return len(src) > 1 && len(src) == len(dst) && src[:len(src)-1] == dst[:len(dst)-1] &&
		(src[len(src)-1] == '1' && dst[len(dst)-1] == '2' || src[len(src)-1] == 'a' && dst[len(dst)-1] == 'b')
}

// twoKinds reports whether the names of the columns of sources and targets are words for nodes of
// two kinds.
func twoKinds(src, dst string) bool {
	if s, d := space(src), space(dst); s != "" && d != "" {
		return s != d
	}
	if _, _, of, ok := pairOf([]string{src, dst}); ok {
		return of.kinds
	}
	if _, _, of, ok := pairOf([]string{dst, src}); ok {
		return of.kinds
	}
	return stem(src) != stem(dst) && !numbered12(src, dst) && !isNumber([]byte(src)) && !isNumber([]byte(dst))
}

// space returns the space of the keys of a column in the notation of Neo4j: "User" for
// :START_ID(User).
func space(name string) string {
	_, name, _ = strings.Cut(name, "(")
	return strings.TrimSuffix(name, ")")
}

// idColumn returns the index of the column of keys in the notation of Neo4j, such as
// personId:ID(Person), or -1.
func idColumn(names []string) int {
	return slices.IndexFunc(names, func(name string) bool {
		name, _, _ = strings.Cut(strings.ToUpper(name), "(")
		return strings.HasSuffix(name, ":ID") || name == "~ID"
	})
}

// prefix returns what begins the keys of a column with a space in the notation of Neo4j: keys of
// different spaces differ.
func prefix(name string) string {
	if s := space(name); s != "" && strings.Contains(name, ":") {
		return s + ":"
	}
	return ""
}

// kindOf returns a label for the nodes of a column with a name.
func kindOf(name string) string {
	if s := space(name); s != "" {
		return strings.ToLower(s)
	}
	return stem(name)
}

// isIndex reports whether a name is usual for a column of row numbers.
func isIndex(name string) bool {
	name = strings.ToLower(strings.TrimSpace(name))
	return slices.Contains([]string{"", "id", "index", "row", "rownum", "row_number", "unnamed: 0"}, name)
}

// findHeader detects whether the first line names the columns, and returns whether that is in
// doubt. asked are the names that the user gave.
func (l *layout) findHeader(lines [][]byte, h Switch, asked Names) (doubt bool) {
	if h == Off || len(lines) == 0 {
		return false
	}
	names := l.columns(lines[0])
	byPlace := asked != (Names{}) && !asked.among(names)
	if !byPlace && l.oneMore(lines, len(names)) && l.counts(lines[1:]) {
		// R names the columns without the column of row names.
		names = append([]string{""}, names...)
	}
	_, _, of, known := pairOf(names)
	switch {
	case h == On, asked.among(names):
	case slices.ContainsFunc(names, func(name string) bool { return isNumber([]byte(name)) }):
		return false
	case known && of.sure, known && slices.ContainsFunc(names, func(name string) bool { return strings.Contains(strings.ToUpper(name), ":START_ID") }):
	case l.heads(lines, names):
		doubt = !known
	case known && !l.recurs(lines):
		doubt = true
	default:
		return false
	}
	l.header, l.names = true, names
	return doubt
}

// oneMore reports whether all lines but the first have a column more than n, and begin with a
// number or a quote.
func (l *layout) oneMore(lines [][]byte, n int) bool {
	return len(lines) > 1 && n >= 2 && !slices.ContainsFunc(lines[1:], func(line []byte) bool {
		columns, ok := l.all(line)
		return !ok || len(columns) != n+1 || !isNumber(columns[0]) && line[0] != '"'
	})
}

// recurs reports whether a key of the first line is a key of a line that differs from the first.
func (l *layout) recurs(lines [][]byte) bool {
	head := l.columns(lines[0])
	return slices.ContainsFunc(lines[1:], func(line []byte) bool {
		columns := l.columns(line)
		return !slices.Equal(columns, head) && len(columns) > 1 && (slices.Contains(head[:2], columns[0]) || slices.Contains(head[:2], columns[1]))
	})
}

// heads reports whether the first line, which has the given names, is a header: all other lines
// have numbers in the first two columns and it does not, or all other lines have a number or a time
// in a later column and it does not.
func (l *layout) heads(lines [][]byte, head []string) bool {
	if len(lines) < 2 || len(head) < 2 {
		return false
	}
	rest := lines[1:]
	// all reports whether every value of a column, but not its name, is of a kind.
	all := func(column int, is func([]byte) bool) bool {
		return head[column] != "" && !is([]byte(head[column])) && !slices.ContainsFunc(rest, func(line []byte) bool {
			columns := l.columns(line)
			return column >= len(columns) || !is([]byte(columns[column]))
		})
	}
	unnamed := head[0] == "" && !slices.ContainsFunc(rest, func(line []byte) bool { return !isNumber(l.first(line)) })
	if unnamed || all(0, isNumber) && all(1, isNumber) {
		return true
	}
	for column := 2; column < len(head); column++ {
		if all(column, l.isValue) {
			return true
		}
	}
	return false
}

// isValue reports whether a field is a number or a time.
func (l *layout) isValue(field []byte) bool {
	return isNumber(field) || timeFormatOf(field) != AnyTime || l.comma() && isDecimalComma(field)
}

// noteHeader notes that the first line may or may not be a header. The format SNAP, if it is given,
// has a header only if the options say so.
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

// unlike reports whether one of the first two columns has an integer in all lines but the first. It
// needs three lines.
func (l *layout) unlike(lines [][]byte) bool {
	const few = 3
	if len(lines) < few {
		return false
	}
	for column := range 2 {
		odd := func(line []byte) bool {
			columns, _ := l.all(line)
			return column >= len(columns) || !isInt(columns[column])
		}
		if odd(lines[0]) && !slices.ContainsFunc(lines[1:], odd) {
			return true
		}
	}
	return false
}

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
