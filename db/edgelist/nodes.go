package edgelist

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Node is one line of a list of labels or of feature vectors.
type Node struct {
	Line     int64 // from 1
	Key      Token
	Label    string    // of a list of labels
	Features []float32 // of a list of vectors
}

// Nodes reads one list of nodes.
type Nodes struct {
	next func(*Node) error
	*Detected
}

// NewNodes returns a reader of a list of nodes: a key and optionally a label a line, in any of the
// text formats. In a .npy file, and with Options.Keyless, there are no keys, and each line is the
// label of a node, from node 0.
func NewNodes(r io.Reader, o Options) (*Nodes, error) {
	return newNodes(r, o, nodeValues{true, labelOf, labelOfRow, (*tableNodes).chooseLabel, (*tableNodes).label})
}

// NewFeatures returns a reader of a list of feature vectors: a key and numbers a line, in any of
// the text formats. In a .npy file, and with Options.Keyless, there are no keys, and each line is
// the vector of a node, from node 0.
func NewFeatures(r io.Reader, o Options) (*Nodes, error) {
	return newNodes(r, o, nodeValues{false, featuresOf, featuresOfRow, (*tableNodes).chooseFeatures, (*tableNodes).vector})
}

// nodeValues says how labels or features are read. text parses the columns of a line after the key,
// and row converts a row of an array; both return an error message, or "". choose chooses the
// columns of a table besides the column key of the keys, which is -1 if the table has no keys, and
// value reads them in the current row.
type nodeValues struct {
	labels bool // labels are read
	text   func(*Node, [][]byte) string
	row    func(*Node, []float32) string
	choose func(t *tableNodes, key int) error
	value  func(*tableNodes, *Node) error
}

// labelOf parses the columns of a line after the key. It returns an error message, or "".
func labelOf(n *Node, fields [][]byte) string {
	switch {
	case len(fields) > 1:
		return fmt.Sprintf("labels: found %d, expected 1", len(fields))
	case len(fields) == 1 && (len(fields[0]) == 0 || !utf8.Valid(fields[0])):
		return "label is empty or not valid UTF-8"
	case len(fields) == 1:
		n.Label = string(fields[0])
	}
	return ""
}

func labelOfRow(n *Node, row []float32) string {
	if len(row) != 1 {
		return fmt.Sprintf("labels: found %d, expected 1", len(row))
	}
	n.Label = strconv.FormatFloat(float64(row[0]), 'f', -1, 32)
	return ""
}

func featuresOf(n *Node, fields [][]byte) string {
	n.Features = make([]float32, len(fields))
	for i, f := range fields {
		v, err := strconv.ParseFloat(string(f), 32)
		if n.Features[i] = float32(v); err != nil || v-v != 0 {
			return fmt.Sprintf("feature %d (from 0) is not a finite number (32 bits)", i)
		}
	}
	if len(fields) == 0 {
		return "no features"
	}
	return ""
}

func featuresOfRow(n *Node, row []float32) string {
	n.Features = row
	return ""
}

// All yields the nodes in the order of the file. Its errors are like the errors of [Reader.Edges].
func (n *Nodes) All() iter.Seq2[Node, error] {
	return func(yield func(Node, error) bool) {
		for {
			var node Node
			err := n.next(&node)
			if err == io.EOF || !yield(node, err) || err != nil && !errors.As(err, new(*LineError)) {
				return
			}
		}
	}
}

// newNodes returns a reader of a list of nodes.
func newNodes(r io.Reader, o Options, values nodeValues) (*Nodes, error) {
	in, err := open(r, &o)
	if err != nil {
		return nil, err
	}
	switch o.Format {
	case NPY:
		m, err := newMatrix(in, o)
		if err != nil {
			return nil, err
		}
		return &Nodes{m.nodes(values.row), &Detected{Format: NPY}}, nil
	case Parquet:
		return newTableNodes(in, o, values)
	case MatrixMarket, NPZ, Torch, NTriples, JSONLines:
		return nil, fmt.Errorf("edgelist: %v is no format of labels or features", o.Format)
	}
	t := &nodeText{text: text{lines: newLines(in), keys: true}, keyless: o.Keyless, value: values.text}
	first, err := t.examine(o, func(lines [][]byte) bool { return t.findHeader(lines, o) })
	if err != nil {
		return nil, err
	}
	if t.layout.header {
		t.heading = string(first[0])
		first = first[1:]
		if values.labels {
			t.choose(o)
		}
	}
	if !t.keyless {
		t.seen.integers[0] = len(first) > 1 && !slices.ContainsFunc(first, func(line []byte) bool { return !isInt(t.layout.first(line)) })
	}
	t.layout.stray = 0
	t.Format, t.Header = t.layout.format(), t.layout.header
	return &Nodes{t.next, &t.Detected}, nil
}

// nodeText reads nodes from lines of columns.
type nodeText struct {
	text
	keyless bool
	rows    int64  // number of lines of nodes so far, blank ones aside
	heading string // the line with the names of the columns; may be ""
	// read are the places of the columns of the key and, after it, of those that value parses; nil
	// means all columns.
	read   []int
	labels int64 // number of nodes with further labels, which are left out
	value  func(*Node, [][]byte) string
}

// separatorOf returns the separator that the name of a file implies, if a line contains it. Lists
// of nodes may have only a few lines with more than a key.
func separatorOf(lines [][]byte, name string) []byte {
	for _, sep := range []string{",", "\t"} {
		if nameImplies(name, sep) && slices.ContainsFunc(lines, func(line []byte) bool { return bytes.Contains(line, []byte(sep)) }) {
			return []byte(sep)
		}
	}
	return nil
}

// findHeader detects whether the first line names the columns. It returns whether that is in doubt.
func (t *nodeText) findHeader(lines [][]byte, o Options) (doubt bool) {
	l := &t.layout
	if o.Header == Off || len(lines) == 0 {
		return false
	}
	names := l.columns(lines[0])
	switch {
	case o.Header == On:
	case t.keyless, len(names) == 0, slices.ContainsFunc(names, func(name string) bool { return isNumber([]byte(name)) }):
		return false
	case len(names) > 1 && find(names[:1], nodeNames()...) == 0, idColumn(names) >= 0:
	case l.unlikeNodes(lines), len(names) > 1 && isNodeWord(names[0]), l.oneMore(lines, len(names)):
		doubt = true
	default:
		return false
	}
	l.header, l.names = true, names
	return doubt
}

// choose chooses the columns that the header names in the notation of Neo4j: the keys, which are
// prefixed by their space, and the labels. Further columns are not read.
func (t *nodeText) choose(o Options) {
	names := t.layout.names
	key := idColumn(names)
	if key < 0 || t.keyless {
		return
	}
	t.read = []int{key}
	if at := find(names, ":label", "~label"); at >= 0 {
		t.read = append(t.read, at)
	}
	if !o.Labelled {
		t.prefix[0] = prefix(names[key])
		t.notePrefix(names[key])
	}
	for i, name := range names {
		if !slices.Contains(t.read, i) {
			t.Unused = append(t.Unused, name)
		}
	}
}

// columns returns the columns of a line that are read. Of several labels only the first is.
func (t *nodeText) columns(fields [][]byte) (read [][]byte, ok bool) {
	if t.read == nil {
		return fields, true
	}
	for _, at := range t.read {
		if at >= len(fields) {
			return nil, false
		}
		read = append(read, fields[at])
	}
	if len(read) == 2 {
		first, _, more := bytes.Cut(read[1], []byte(";"))
		if more {
			t.labels++
		}
		if read[1] = first; len(first) == 0 {
			read = read[:1]
		}
	}
	return read, true
}

// report adds the notes.
func (t *nodeText) report() {
	t.seen.report(&t.text)
	if t.labels > 0 {
		t.note("%s with several labels: a node has one, which is the first", lines1(t.labels))
		t.labels = 0
	}
}

// unlikeNodes reports whether a line of words is followed by at least two lines whose keys are
// integers, or whose columns after the key are numbers.
func (l *layout) unlikeNodes(lines [][]byte) bool {
	const few = 3
	if len(lines) < few {
		return false
	}
	keys, values := true, true
	for _, line := range lines[1:] {
		fields, ok := l.all(line)
		keys = keys && ok && isInt(fields[0])
		values = values && len(fields) > 1 && !slices.ContainsFunc(fields[1:], func(f []byte) bool { return !isNumber(f) })
	}
	return keys || values
}

// isNodeWord reports whether a name is usual for a column of nodes.
func isNodeWord(name string) bool {
	name = stem(name)
	return slices.ContainsFunc(pairings(), func(p pairing) bool {
		return len(name) > 1 && (slices.Contains(p.src, name) || slices.Contains(p.dst, name))
	})
}

// nodeNames returns the usual names of a column of keys.
func nodeNames() []string { return []string{"node", "id", "key", "node_id", "nodeid"} }

func (t *nodeText) next(n *Node) error {
	for {
		line, err := t.record()
		n.Line = t.first
		t.rows++ // a malformed line counts too
		if err == io.EOF {
			t.report()
		}
		if err != nil {
			return err
		}
		if t.heading != "" && string(line) == t.heading {
			t.rows--
			t.seen.headers++
			continue
		}
		return t.parse(line, n)
	}
}

func (t *nodeText) parse(line []byte, n *Node) error {
	fields, ok := t.layout.all(line)
	if !ok {
		return t.badQuotes(line)
	}
	if fields, ok = t.columns(fields); !ok {
		return t.bad(line, "columns: the header has %d", len(t.layout.names))
	}
	if t.keyless {
		n.Key = Token{Int: t.rows + t.blanks - 1, IsInt: true}
	} else {
		if len(fields[0]) == 0 || !t.token(fields[0], &n.Key, &t.src) {
			return t.bad(line, "key is empty, not valid UTF-8 or contains a NUL byte or the end of a line")
		}
		fields = fields[1:]
	}
	if msg := t.value(n, fields); msg != "" {
		return t.bad(line, "%s", msg)
	}
	return nil
}
