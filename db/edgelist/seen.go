package edgelist

import (
	"bytes"
	"fmt"
	"math"
)

// seen is what the reader of a text saw that is worth a note.
type seen struct {
	comments Switch  // the option
	marked   int64   // number of lines that begin with # or % and were read as data
	likeData int64   // number of comments that look like data
	joined   int64   // number of records of several lines
	headers  int64   // number of lines that repeat the header
	widest   int     // largest number of columns in a line
	width    int     // number of columns of the first line
	integers [2]bool // the first lines have integers as sources, as targets
	// odd is the number of changes to a key that is no integer, by column, if the first lines have
	// integers.
	odd     [2]int64
	oddLine int64 // line of the first such key, and the key
	oddKey  string
	// header is the number of the first line, below line 1, that has names of columns as keys.
	header  int64
	samples [len(oddKeys)]string // the first key of each kind in oddKeys
	// first is the first edge, if its keys are integers; edges counts the edges, and largest is the
	// largest integer of all other keys.
	first   Edge
	edges   int64
	largest int64
}

// oddKeys are kinds of keys that may not be what they look like. Indexes of seen.samples.
var oddKeys = [...]struct {
	is   func(key []byte) bool
	note string
}{
	{isWhole, "keys such as %q look like integers with a fraction of 0; they are strings, so they differ from integers: write the column as integers"},
	{isPadded, "keys such as %q look like integers with zeros in front; they are strings, so they differ from integers"},
	{isLarge, "keys such as %q are integers of more than 64 bits; they are strings"},
	{hasHiddenBlank, "keys such as %q begin or end with a blank or a mark that cannot be seen, and differ from the same keys without it"},
	{isIntegers, "keys such as %q look like several integers: if a line holds a node and all nodes that it links to, give the format lists"},
	{isWithColon, "keys such as %q end with a colon: if a line holds a node and all nodes that it links to, give the format lists"},
}

// isWhole reports whether a key is an integer with a fraction of 0, such as 1.0.
func isWhole(key []byte) bool {
	whole, fraction, ok := bytes.Cut(key, []byte("."))
	return ok && isInt(whole) && len(bytes.Trim(fraction, "0")) == 0
}

// isPadded reports whether a key is an integer with zeros in front, such as 007.
func isPadded(key []byte) bool {
	digits := bytes.TrimPrefix(key, []byte("-"))
	return len(digits) > 1 && digits[0] == '0' && isInt(bytes.TrimLeft(digits, "0"))
}

// isLarge reports whether a key is an integer that does not fit 64 bits.
func isLarge(key []byte) bool {
	digits := bytes.TrimPrefix(key, []byte("-"))
	return len(digits) > 18 && digits[0] != '0' && len(bytes.Trim(digits, "0123456789")) == 0
}

// hasHiddenBlank reports whether a key begins or ends with a no-break space, a space without width
// or a byte order mark.
func hasHiddenBlank(key []byte) bool {
	for _, blank := range []string{"\u00a0", "\u200b", mark} {
		if bytes.HasPrefix(key, []byte(blank)) || bytes.HasSuffix(key, []byte(blank)) {
			return true
		}
	}
	return false
}

// isWithColon reports whether a key is an integer and a colon.
func isWithColon(key []byte) bool {
	name, ok := bytes.CutSuffix(key, []byte(":"))
	return ok && isInt(name)
}

// isIntegers reports whether a key is two or more integers with commas, semicolons or blanks
// between.
func isIntegers(key []byte) bool {
	parts := bytes.FieldsFunc(key, func(c rune) bool { return c == ',' || c == ';' || c == ' ' })
	for _, part := range parts {
		if !isInt(part) {
			return false
		}
	}
	return len(parts) > 1
}

// isTargetWord reports whether a key is a usual name of a column of targets.
func isTargetWord(key []byte) bool {
	switch string(key) {
	case "target", "Target", "TARGET", "dst", "to", "To", "destination", "target_id", "ToNodeId", "followee", "friend_id", "item_id", "movieId", ":END_ID":
		return true
	}
	return false
}

// columns remembers what the first lines have.
func (s *seen) columns(t *text, first [][]byte) {
	s.integers = [2]bool{len(first) > 1, len(first) > 1}
	for i, line := range first {
		fields, n := t.layout.split(line)
		if i == 0 {
			s.width = n
		}
		for column, r := range []role{roleSrc, roleDst} {
			s.integers[column] = s.integers[column] && isInt(fields[r])
		}
	}
}

// key looks at a string key that differs from the previous one in its column. src is the latest
// string source.
func (s *seen) key(line int64, key []byte, target bool, src string) {
	column := 0
	if target {
		column = 1
	}
	if s.integers[column] {
		if s.odd[column]++; s.oddLine == 0 {
			s.oddLine, s.oddKey = line, string(key)
		}
	}
	if target && isTargetWord(key) && s.header == 0 && line > 1 && namesOnly([]string{src, string(key)}) {
		s.header = line
	}
	if first, last := key[0], key[len(key)-1]; first|last < 0x80 && (first < '0' && first != '-' || first > '9') {
		return
	}
	for i, kind := range oddKeys {
		if s.samples[i] == "" && kind.is(key) {
			s.samples[i] = string(key)
		}
	}
}

// edge looks at an edge.
func (s *seen) edge(e *Edge) {
	if s.edges++; s.edges == 1 {
		s.first = *e
		return
	}
	if !e.Src.IsInt || !e.Dst.IsInt {
		s.first = Edge{}
	}
	s.largest = max(s.largest, e.Src.Int, e.Dst.Int)
}

// isSize reports whether the first edge looks like the numbers of nodes and of edges.
func (s *seen) isSize() bool {
	src, dst := s.first.Src, s.first.Dst
	return src.IsInt && dst.IsInt && s.edges > 2 && dst.Int == s.edges-1 && s.largest <= src.Int
}

// report adds the notes to a text.
func (s *seen) report(t *text) {
	if s.marked > 0 && s.comments == Detect {
		t.hint("comments", On.String(), "%s with # or %% as the first character %s read as data", lines1(s.marked), were(s.marked))
	}
	if s.likeData > 0 {
		t.hint("comments", Off.String(), "%s with # or %% as the first character %s left out as comments, although they have the columns of an edge", lines1(s.likeData), were(s.likeData))
	}
	if s.joined > 0 {
		t.note("%s read as one with those that follow, because quotes enclose the ends of lines", lines1(s.joined)+" "+were(s.joined))
	}
	if s.headers > 0 {
		t.note("%s left out: the header again", lines1(s.headers)+" "+were(s.headers))
	}
	if t.marks > 0 {
		t.note("%s left out at the beginning of %s: the file was probably joined from several", "a byte order mark was", lines1(t.marks))
	}
	if t.layout.stray > 0 {
		t.hint("quotes", DoubledQuotes.String(), "in %d columns a quote that does not enclose the column was read as a character", t.layout.stray)
	}
	if n := s.odd[0] + s.odd[1]; n > 0 {
		t.note("the first lines have integers as keys, and %d later ones are strings, first %q in line %d", n, s.oddKey, s.oddLine)
	}
	if !t.guessed && t.layout.width == 0 && s.widest > s.width {
		t.hint("format", Lists.String(), "lines have up to %d columns, the first line has %d, and the columns after those named were left out", s.widest, s.width)
	}
	if s.header > 0 {
		t.note("line %d was read as data, although it looks like the names of the columns", s.header)
	}
	if !t.Header && s.isSize() {
		t.hint("header", On.String(), "the first line was read as an edge, although its numbers may be the numbers of nodes and edges")
	}
	for i, kind := range oddKeys {
		if s.samples[i] != "" {
			t.note(kind.note, s.samples[i])
		}
	}
	*s = seen{comments: s.comments, width: s.width, widest: s.width}
	t.marks, t.layout.stray = 0, 0
}

func lines1(n int64) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}

func were(n int64) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// overlap counts the integers that are both sources and targets. It keeps a sample of them: those
// whose hash is below a limit, which falls as the sample grows.
type overlap struct {
	ends  map[int64]uint8 // bit 0: source, bit 1: target
	limit uint64          // of the hashes of the keys in ends
}

// maxOverlap is the maximal number of keys in the sample.
const maxOverlap = 1 << 16

func newOverlap() *overlap { return &overlap{ends: map[int64]uint8{}, limit: math.MaxUint64} }

// spread mixes the bits of a key (the finalizer of SplitMix64).
func spread(key int64) uint64 {
	x := uint64(key) + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (o *overlap) add(key Token, end uint8) {
	if !key.IsInt || spread(key.Int) > o.limit {
		return
	}
	o.ends[key.Int] |= end
	for len(o.ends) > maxOverlap {
		o.limit /= 2
		for k := range o.ends {
			if spread(k) > o.limit {
				delete(o.ends, k)
			}
		}
	}
}

func (o *overlap) edge(e *Edge) {
	o.add(e.Src, 1)
	o.add(e.Dst, 2)
}

// shared returns the number of integers that are both sources and targets, and whether it is exact.
func (o *overlap) shared() (n float64, exact bool) {
	for _, ends := range o.ends {
		if ends == 1|2 {
			n++
		}
	}
	if o.limit == math.MaxUint64 {
		return n, true
	}
	return math.Round(n * (math.MaxUint64 / float64(o.limit))), false
}

// report adds a note about integers that are both.
func (o *overlap) report(d *Detected) {
	n, exact := o.shared()
	if n == 0 {
		return
	}
	about, src, dst := "", "source", "target"
	if !exact {
		about = "about "
	}
	if d.Names != (Names{}) {
		src, dst = kindOf(d.Names.Src), kindOf(d.Names.Dst)
	}
	numbers := "of the numbers are both sources and targets, and each of them became one node"
	if n == 1 {
		numbers = "of the numbers is both a source and a target, and became one node"
	}
	d.Notes = append(d.Notes, Note{Msg: about + formatCount(n) + " " + numbers, Try: []Setting{{"source_label", src}, {"target_label", dst}}})
}
