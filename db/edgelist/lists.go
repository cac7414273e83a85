package edgelist

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
)

// errListColumns is the error for columns of a list that has a source and all of its targets on
// each line.
var errListColumns = fmt.Errorf("%w: a line of a list in the format lists holds a source and its targets, without weights and times", ErrColumns)

// listEdges reads lines that hold a node and all nodes that it links to, such as the adjacency
// lists of NetworkX, and the users and their items of LightGCN.
type listEdges struct {
	text
	source Token
	rest   []byte // columns of the current line that have not been read
	alone  int64  // number of lines with a source only
	colon  bool   // a colon ends the source
}

// listSeparators separate the columns, unless the options give a separator.
const listSeparators = " \t\r,;|"

func newLists(in *bufio.Reader, o Options) (*listEdges, error) {
	if o.Columns != Auto && o.Columns != SrcDst || o.Names != (Names{}) {
		return nil, errListColumns
	}
	t := &listEdges{text: text{lines: newLines(in)}}
	o.Format = SNAP
	first, err := t.examine(o, func(lines [][]byte) bool {
		t.layout.header = o.Header == On && len(lines) > 0
		return false
	})
	if err != nil {
		return nil, err
	}
	t.Notes = nil
	t.Format, t.Columns, t.Header, t.kinds = Lists, SrcDst, t.layout.header, true
	t.colon = len(first) > 0
	for _, line := range first {
		source, _ := cutList(line)
		t.colon = t.colon && bytes.HasSuffix(source, []byte(":"))
	}
	t.seen.integers = [2]bool{}
	return t, nil
}

// cutList returns the first column of a line of a list, and the rest.
func cutList(line []byte) (field, rest []byte) {
	line = bytes.TrimLeft(line, listSeparators)
	if end := bytes.IndexAny(line, listSeparators); end >= 0 {
		return line[:end], bytes.TrimLeft(line[end:], listSeparators)
	}
	return line, nil
}

func (t *listEdges) next(e *Edge) error {
	for len(t.rest) == 0 {
		line, err := t.record()
		e.Line = t.first
		if err == io.EOF {
			t.report()
		}
		if err != nil {
			return err
		}
		source, rest := cutList(line)
		if t.colon {
			source = bytes.TrimSuffix(source, []byte(":"))
		}
		if len(source) == 0 || !t.token(source, &t.source, &t.src) {
			return t.bad(line, "key is empty, not valid UTF-8 or contains a NUL byte")
		}
		if t.rest = rest; len(rest) == 0 {
			t.alone++
		}
	}
	e.Line, e.Src = t.first, t.source
	var target []byte
	target, t.rest = cutList(t.rest)
	if !t.token(target, &e.Dst, &t.dst) {
		return t.bad(target, "key is not valid UTF-8 or contains a NUL byte")
	}
	return nil
}

// report adds the notes.
func (t *listEdges) report() {
	t.seen.report(&t.text)
	if t.alone > 0 {
		t.note("%s a node that links to none, which was left out", lines1(t.alone)+" "+map[bool]string{true: "has", false: "have"}[t.alone == 1])
		t.alone = 0
	}
}

// formatCount returns a number of things without an exponent.
func formatCount(n float64) string { return strconv.FormatFloat(n, 'f', 0, 64) }
