package edgelist

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
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

// isMetis reports whether head is the start of a graph in the format of METIS (Karypis, "METIS: A
// software package for partitioning unstructured graphs", version 5.1.0, section 4.1.1): a line
// with the numbers of nodes and edges, and for each node a line with its neighbours, from 1. A file
// that could be an edge list, because all its lines have two or three columns, is not reported.
// Otherwise each node must be a neighbour of its neighbours, as far as head has their lines.
func isMetis(head []byte) bool {
	header, rows, whole := metisRows(head)
	if len(header) < 2 || len(header) > 4 || len(rows) < 2 || int64(len(rows)) > header[0] || whole && int64(len(rows)) < header[0] {
		return false
	}
	skip, step, ok := metisFormat(header[2:])
	if !ok {
		return false
	}
	ends, uneven := int64(0), false
	lists := make([][]int64, len(rows))
	for i, row := range rows {
		uneven = uneven || len(row) != len(rows[0])
		if len(row) < skip {
			return false
		}
		for j := skip; j < len(row); j += step {
			if row[j] < 1 || row[j] > header[0] || row[j] == int64(i+1) {
				return false
			}
			lists[i] = append(lists[i], row[j])
		}
		ends += int64(len(lists[i]))
	}
	return (uneven || len(rows[0]) > 3) && ends > 2 && (!whole || ends == 2*header[1]) && symmetric(lists)
}

// metisRows returns the numbers of the first line, and the numbers of all other complete lines that
// are no comments. Without such lines, or with other columns than numbers, it returns nothing.
// whole says that head is the whole file.
func metisRows(head []byte) (header []int64, rows [][]int64, whole bool) {
	whole = len(head) < foreignBytes
	for len(head) > 0 {
		line, rest, ended := bytes.Cut(head, []byte("\n"))
		if !ended && !whole {
			break
		}
		if head = rest; len(line) > 0 && line[0] == '%' {
			continue
		}
		row := []int64{}
		for _, field := range bytes.Fields(line) {
			n, err := strconv.ParseInt(string(field), 10, 64)
			if err != nil || n < 0 {
				return nil, nil, whole
			}
			row = append(row, n)
		}
		if header == nil {
			header = row
		} else {
			rows = append(rows, row)
		}
	}
	return header, rows, whole
}

// metisFormat returns the number of weights at the start of a row, and the numbers for each
// neighbour. given are the third and the fourth number of the header: the digits for sizes of
// nodes, weights of nodes and weights of edges, and the number of weights of a node.
func metisFormat(given []int64) (skip, step int, ok bool) {
	step = 1
	if len(given) == 0 {
		return 0, step, true
	}
	sizes, nodes, edges := given[0]/100, given[0]/10%10, given[0]%10
	if sizes > 1 || nodes > 1 || edges > 1 {
		return 0, 0, false
	}
	if nodes == 1 {
		skip = 1
		if len(given) > 1 && given[1] < maxColumns {
			skip = int(given[1])
		}
	}
	return skip + int(sizes), step + int(edges), true
}

// symmetric reports whether each node is a neighbour of its neighbours, where lists has the
// neighbours of the nodes from 1.
func symmetric(lists [][]int64) bool {
	for i, list := range lists {
		for _, n := range list {
			if n <= int64(len(lists)) && !slices.Contains(lists[n-1], int64(i+1)) {
				return false
			}
		}
	}
	return true
}
