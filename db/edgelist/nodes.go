package edgelist

import (
	"bufio"
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
	// Values are the values of Detected.Properties. They are valid until the next node.
	Values []Value
}

// Nodes reads one list of nodes.
type Nodes struct {
	next func(*Node) error
	*Detected
}

// NewNodes returns a reader of a list of nodes: a key and optionally a label a line, in any of the
// text formats. The further columns of a list with a header, and the further members of objects of
// JSON, are properties. In a .npy file, and with Options.Keyless, there are no keys, and each line
// is the label of a node, from node 0.
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
	choose func(t *tableNodes, key int, o *Options) error
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
	o.nodes = true
	in, err := open(r, &o)
	if err != nil {
		return nil, err
	}
	switch o.Format {
	case JSONLines:
		if !values.labels {
			return nil, fmt.Errorf("edgelist: %v is no format of features", o.Format)
		}
		return newObjectNodes(in, o)
	case NPY:
		m, err := newMatrix(in, o)
		if err != nil {
			return nil, err
		}
		return &Nodes{next: m.nodes(values.row), Detected: &Detected{Format: NPY}}, nil
	case Parquet:
		return newTableNodes(in, o, values)
	case MatrixMarket, NPZ, Torch, NTriples:
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
	}
	if err := t.choose(o, values.labels); err != nil {
		return nil, err
	}
	if !t.keyless {
		t.seen.integers[0] = len(first) > 1 && !slices.ContainsFunc(first, func(line []byte) bool { return !isInt(t.layout.first(line)) })
	}
	t.layout.stray = 0
	t.Format, t.Header = t.layout.format(), t.layout.header
	if err := t.detectTypes(&o); err != nil {
		return nil, err
	}
	for i := range t.values {
		t.Properties = append(t.Properties, t.values[i].Property)
	}
	return &Nodes{t.next, &t.Detected}, nil
}

// nodeText reads nodes from lines of columns.
type nodeText struct {
	text
	keyless bool
	rows    int64  // number of lines of nodes so far, blank ones aside
	heading string // the line with the names of the columns; may be ""
	// named says what the columns of a list with names of columns are; nil: the first is the key,
	// and value parses the others.
	named  *nodeColumns
	values []valueReader
	fields [][]byte
	found  []Value // the values of a line
	label  string  // of the latest node with one
	labels int64   // number of nodes with further labels, which are left out
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
	case len(names) > 1 && find(names[:1], nodeNames()...) == 0, idColumn(names) >= 0, o.Properties.among(names):
	case l.unlikeNodes(lines), len(names) > 1 && isNodeWord(names[0]), l.oneMore(lines, len(names)), l.typed(lines, names):
		doubt = true
	default:
		return false
	}
	l.header, l.names = true, names
	return doubt
}

// choose chooses the columns of a list of labels that has a header. Keys are prefixed by their
// space in the notation of Neo4j.
func (t *nodeText) choose(o Options, labels bool) error {
	names := t.layout.names
	given := len(o.Properties.Types)+len(o.Properties.NodeColumns)+len(o.Properties.Skip) > 0
	if !labels || !t.layout.header {
		if given {
			return &Refusal{Note{"options of columns are for a list of nodes with a header", []Setting{{"header", On.String()}}}}
		}
		return nil
	}
	if len(names) < 2 && !given {
		return nil
	}
	fixed := -2
	if t.keyless {
		fixed = -1
	}
	c, err := o.planNodes(names, fixed, false, nil)
	if err != nil {
		return err
	}
	t.named, t.Unused = &c, c.unused
	if c.key >= 0 && !o.Labelled {
		t.setPrefix(names[c.key], "")
	}
	for i := range c.properties {
		if err := o.knownType(&c.properties[i]); err != nil {
			return err
		}
		t.values = append(t.values, valueReader{Property: c.properties[i], separator: o.Properties.ListSeparator})
	}
	t.found = make([]Value, len(t.values))
	return nil
}

// detectTypes reads the whole list to detect the types of the values that are not known.
func (t *nodeText) detectTypes(o *Options) error {
	unknown := func(r valueReader) bool { return r.Type == AnyType || r.Type == ListType && r.separator == "" }
	if !slices.ContainsFunc(t.values, unknown) {
		return nil
	}
	in, again, err := tee(o.Spool, t.in)
	if err != nil {
		return err
	}
	detectors := make([]detector, len(t.values))
	probe := *t
	probe.lines.in = bufio.NewReaderSize(in, maxLine)
	for {
		line, err := probe.record()
		if err == io.EOF {
			break
		}
		if errors.As(err, new(*LineError)) {
			continue // it is reported later
		}
		if err != nil {
			return err
		}
		fields, ok := probe.layout.appendAll(probe.fields[:0], line)
		if probe.fields = fields; !ok || string(line) == t.heading {
			continue
		}
		for i := range t.values {
			if r := &t.values[i]; unknown(*r) && r.at < len(fields) && len(fields[r.at]) > 0 {
				detectors[i].add(fields[r.at], r.separator)
			}
		}
	}
	t.lines.in = bufio.NewReaderSize(again(), maxLine)
	for i := range t.values {
		t.values[i].settle(&detectors[i])
	}
	return nil
}

// read reads the label and the values of a line.
func (t *nodeText) read(n *Node, line []byte, fields [][]byte) error {
	c := t.named
	if len(fields) > len(t.layout.names) && (len(fields) > len(t.layout.names)+1 || len(fields[len(fields)-1]) > 0) {
		return t.bad(line, "columns: found %d, the header has %d", len(fields), len(t.layout.names))
	}
	if c.label >= 0 && c.label < len(fields) {
		label := fields[c.label]
		if first, _, more := bytes.Cut(label, []byte(";")); more && idColumn(t.layout.names) >= 0 {
			t.labels++
			label = first
		}
		if len(label) > 0 && string(label) != t.label {
			if msg := t.value(n, [][]byte{label}); msg != "" {
				return t.bad(line, "%s", msg)
			}
			t.label = n.Label
		}
		if len(label) > 0 {
			n.Label = t.label
		}
	}
	n.Values = t.found
	for i := range t.values {
		r := &t.values[i]
		t.found[i] = Value{}
		switch {
		case r.at >= len(fields):
		case len(fields[r.at]) > 0:
			var ok bool
			if t.found[i], ok = r.read(fields[r.at]); !ok {
				return r.help(t.bad(line, "%s", r.fault(fields[r.at])))
			}
		case r.Type == StringType && r.said && quotedEmpty(fields[r.at]):
			t.found[i] = textOf("")
		}
	}
	return nil
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

// typed reports whether a line of at least three names is followed by at least two lines that have
// values other than strings in a column after the first.
func (l *layout) typed(lines [][]byte, names []string) bool {
	const few = 3
	if len(lines) < few || len(names) < few {
		return false
	}
	types := make([]detector, len(names))
	for _, line := range lines[1:] {
		fields, _ := l.all(line)
		for i := range min(len(fields), len(names)) {
			if len(fields[i]) > 0 {
				types[i].add(fields[i], "")
			}
		}
	}
	for i, name := range names {
		if kind := types[i].kind; kind != AnyType && kind != StringType && kindOfValue([]byte(name)) == StringType && i > 0 {
			return true
		}
	}
	return false
}

// isNodeWord reports whether a name is usual for a column of nodes.
func isNodeWord(name string) bool {
	name = stem(name)
	return slices.ContainsFunc(pairings(), func(p pairing) bool {
		return len(name) > 1 && (slices.Contains(p.src, name) || slices.Contains(p.dst, name))
	})
}

// nodeNames returns the usual names of a column of keys.
func nodeNames() []string { return []string{"node", "id", "key", "node_id", "nodeid", "_id"} }

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
	fields, ok := t.layout.appendAll(t.fields[:0], line)
	if t.fields = fields; !ok {
		return t.badQuotes(line)
	}
	key := 0
	if t.named != nil {
		key = t.named.key
	}
	switch {
	case t.keyless:
		n.Key = Token{Int: t.rows + t.blanks - 1, IsInt: true}
	case key >= len(fields):
		return t.bad(line, "columns: found %d, the header has %d", len(fields), len(t.layout.names))
	case len(fields[key]) == 0 || !t.token(fields[key], &n.Key, &t.src):
		return t.bad(line, "key is empty, not valid UTF-8 or contains a NUL byte or the end of a line")
	}
	if t.named != nil {
		return t.read(n, line, fields)
	}
	if !t.keyless {
		fields = fields[1:]
	}
	if msg := t.value(n, fields); msg != "" {
		return t.bad(line, "%s", msg)
	}
	return nil
}
