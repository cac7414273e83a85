package edgelist

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// objects reads edges from lines of JSON: each line is an object, and its members are the columns.
type objects struct {
	text
	members [roleCount]string // names of the members that are read; "" means none
}

// objectFormat returns the format of a file whose lines of JSON are read.
func (o *Options) objectFormat() Format {
	if o.export != nil {
		return Gorse
	}
	return JSONLines
}

// errMembers is the error for objects without the members of an edge.
var errMembers = fmt.Errorf("%w for edges", ErrColumns)

func newObjects(in *bufio.Reader, o Options) (*objects, error) {
	head, err := in.Peek(guessBytes)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("edgelist: %w", err)
	}
	s := &objects{text: text{lines: newLines(in), signed: o.Negative != ""}}
	s.Format, s.layout.at = o.objectFormat(), noPlaces()
	var names []string
	var first []map[string]json.RawMessage
	for _, line := range sampleOf(head, '\n', err == io.EOF).all {
		some, values, ok := members(line)
		if ok {
			first = append(first, values)
		}
		for _, name := range some {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	at, columns, err := o.columnsByName(names)
	if err != nil {
		return nil, err
	}
	if columns == Auto && len(first) > 0 {
		return nil, fmt.Errorf("%w: no members are called source and target; give their names with columns = 'src=NAME,dst=NAME'; there are %s",
			errMembers, strings.Join(names, ", "))
	}
	s.Columns = columns
	for r, to := range s.Names.byRole() {
		if at[r] >= 0 && len(first) > 0 {
			s.members[r], *to, s.layout.at[r] = names[at[r]], names[at[r]], r
		}
	}
	for _, name := range names {
		if !slices.Contains(s.members[:], name) {
			s.Unused = append(s.Unused, name)
		}
	}
	s.guessTimes(first, o)
	return s, nil
}

// guessTimes sets the format of the times.
func (s *objects) guessTimes(first []map[string]json.RawMessage, o Options) {
	name := s.members[roleTime]
	if s.Times = o.Times; name == "" {
		s.Times = AnyTime
	} else if o.Times == AnyTime {
		var forms timeForms
		for _, values := range first {
			if field, ok := fieldOf(values[name]); ok {
				forms.add(field)
			}
		}
		s.Times = forms.best(name)
	}
}

// isObjects reports whether head begins with a line of JSON that is an edge: an object with usual
// names for the ends of an edge, or with the names that the options give. In a list of nodes any
// object is a node.
func (o *Options) isObjects(head []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte("\n"))
	if len(line) == 0 || line[0] != '{' {
		return false
	}
	names, values, ok := members(line)
	if o.nodes {
		return ok && len(names) > 0
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		_, scalar := fieldOf(values[name])
		return !scalar
	})
	return ok && (namesOnly(names) || o.Names.among(names))
}

// members returns the names of the members of an object in their order, and their values.
func members(line []byte) (names []string, values map[string]json.RawMessage, ok bool) {
	d := json.NewDecoder(bytes.NewReader(line))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, nil, false
	}
	values = map[string]json.RawMessage{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, nil, false
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil, nil, false
		}
		names = append(names, name.(string)) // the decoder accepts no other names
		values[name.(string)] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, nil, false
	}
	_, err := d.Token()
	return names, values, err == io.EOF
}

// object returns the next line that is not blank, and the members of its object.
func (l *lines) object() (line []byte, names []string, values map[string]json.RawMessage, err error) {
	for len(line) == 0 {
		if line, err = l.next(); err != nil {
			return nil, nil, nil, err
		}
		line = trimBlanks(line)
	}
	names, values, ok := members(line)
	if !ok {
		return nil, nil, nil, l.bad(line, "not an object of JSON on a line")
	}
	return line, names, values, nil
}

// fieldOf returns a value as the field of a text: "" for null or a missing value. It returns false
// for an object or an array.
func fieldOf(value json.RawMessage) (field []byte, ok bool) {
	switch {
	case len(value) == 0, string(value) == "null":
		return nil, true
	case value[0] == '{', value[0] == '[':
		return nil, false
	case value[0] == '"':
		var text string
		err := json.Unmarshal(value, &text)
		return []byte(text), err == nil
	}
	return value, true
}

func (s *objects) next(e *Edge) error {
	line, _, values, err := s.object()
	if e.Line = s.first; err == io.EOF {
		s.seen.report(&s.text)
	}
	if err != nil {
		return err
	}
	var fields fields
	for r, name := range s.members {
		if name == "" {
			continue
		}
		var ok bool
		if fields[r], ok = fieldOf(values[name]); !ok {
			return s.bad(line, "member %s is neither a text nor a number", name)
		}
		if role(r) == roleWeight && len(fields[r]) == 0 {
			fields[r] = []byte("1")
		}
	}
	return s.parse(line, &fields, 0, e)
}

// objectNodes reads nodes from lines of JSON: each line is an object, and its members are the
// columns.
type objectNodes struct {
	nodeText
	key, label string // names of the members; "" means none
}

func newObjectNodes(in *bufio.Reader, o Options) (*Nodes, error) {
	t := &objectNodes{nodeText: nodeText{text: text{lines: newLines(in), keys: true}, keyless: o.Keyless}}
	t.Format = o.objectFormat()
	all, err := t.survey(&o)
	if err == nil && len(all.names) > 0 {
		err = t.plan(all, &o)
	}
	if err != nil {
		return nil, err
	}
	t.noteExport(&o.export) // which the survey has read
	return &Nodes{t.next, &t.Detected}, nil
}

// survey is what is known of the members of the objects of a list.
type survey struct {
	names  []string
	at     map[string]int
	values []detector
	unfit  []bool // whether the member has a value that no property can have
}

// maxMembers is the maximal number of names of members in a list.
const maxMembers = 1 << 16

// survey reads the whole list to find its members, and the types of their values.
func (t *objectNodes) survey(o *Options) (s *survey, err error) {
	in, again, err := tee(o.Spool, t.in)
	if err != nil {
		return nil, err
	}
	s = &survey{at: map[string]int{}}
	probe := newLines(bufio.NewReaderSize(in, maxLine))
	for {
		_, names, values, err := probe.object()
		if err == io.EOF {
			break
		}
		if errors.As(err, new(*LineError)) {
			continue // it is reported later
		}
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			s.add(name, values[name], o.Properties.ListSeparator)
		}
		if len(s.names) > maxMembers {
			return nil, &Refusal{Note{Msg: fmt.Sprintf("line %d: the objects up to here have more than %d names of members, which cannot all be properties", probe.first, maxMembers)}}
		}
	}
	t.in = bufio.NewReaderSize(again(), maxLine)
	return s, nil
}

// add takes the value of a member.
func (s *survey) add(name string, value json.RawMessage, separator string) {
	i, known := s.at[name]
	if !known {
		i = len(s.names)
		s.at[name], s.names = i, append(s.names, name)
		s.values, s.unfit = append(s.values, detector{}), append(s.unfit, false)
	}
	if _, isList := arrayOf(value); isList {
		s.values[i].widen(ListType)
		return
	}
	field, ok := fieldOf(value)
	if !ok {
		s.unfit[i] = true
	}
	if len(field) > 0 {
		s.values[i].widen(kindOfField(value, field))
		s.values[i].separated(field, separator)
	}
}

// kindOfField returns the narrowest type of a value that is no array, and not null. Strings are
// strings or times, and an integer that does not fit into 64 bits is a string, as in a text.
func kindOfField(value json.RawMessage, field []byte) PropertyType {
	kind := kindOfValue(field)
	switch {
	case value[0] == '"' && kind != TimeType:
		return StringType
	case string(field) == "-0":
		return FloatType
	}
	return kind
}

// arrayOf returns the strings of an array. It returns false for another value.
func arrayOf(value json.RawMessage) ([]string, bool) {
	if len(value) == 0 || value[0] != '[' {
		return nil, false
	}
	var texts []*string
	if json.Unmarshal(value, &texts) != nil || slices.Contains(texts, nil) {
		return nil, false
	}
	list := make([]string, len(texts))
	for i, text := range texts {
		list[i] = *text
	}
	return list, true
}

// plan decides what the members mean.
func (t *objectNodes) plan(all *survey, o *Options) error {
	key, err := o.objectKey(all.names)
	if err != nil {
		return err
	}
	c, err := o.planNodes(all.names, key, false, all.mayLabel)
	if err != nil {
		return err
	}
	t.Unused = c.unused
	if c.key >= 0 {
		t.key = all.names[c.key]
		if !o.Labelled {
			t.setPrefix(t.key, "")
		}
	}
	if c.label >= 0 {
		t.label = all.names[c.label]
	}
	for _, p := range c.properties {
		d := &all.values[p.at]
		if all.unfit[p.at] && d.kind == AnyType && p.Type == AnyType {
			t.Unused = append(t.Unused, p.Column)
			continue
		}
		if err := o.knownType(&p); err != nil {
			return err
		}
		r := valueReader{Property: p, separator: o.Properties.ListSeparator}
		if r.settle(d); !r.said && o.Properties.ListSeparator == "" {
			r.separator = "" // lists are arrays, and a text among them is a list of one string
		}
		t.values, t.Properties = append(t.values, r), append(t.Properties, r.Property)
	}
	t.found = make([]Value, len(t.values))
	return nil
}

// objectKey returns the member of the keys, as planNodes takes it.
func (o *Options) objectKey(names []string) (int, error) {
	if o.Keyless {
		return -1, nil
	}
	for _, means := range o.Properties.NodeColumns {
		if means == "node" {
			return -2, nil
		}
	}
	for _, at := range []int{idColumn(names), find(names, nodeNames()...), slices.IndexFunc(names, isNodeWord)} {
		if at >= 0 {
			return at, nil
		}
	}
	return 0, &Refusal{Note{"no member is called node or id; there are " + strings.Join(names, ", "), []Setting{{"columns", "node=" + names[0]}}}}
}

// mayLabel reports whether a member has a usual name, and values that may be labels.
func (s *survey) mayLabel(i int) bool {
	name, _ := splitType(s.names[i])
	switch kind := s.values[i].kind; kind {
	case BoolType, FloatType, ListType:
		return false
	case AnyType:
		if s.unfit[i] {
			return false
		}
	}
	return slices.Contains(labelNames(), strings.ToLower(name))
}

func (t *objectNodes) next(n *Node) error {
	line, _, values, err := t.object()
	if n.Line = t.first; err == io.EOF {
		t.report()
	}
	if err != nil {
		return err
	}
	if !utf8.Valid(line) {
		return t.bad(line, "not valid UTF-8")
	}
	return t.parse(line, values, n)
}

// parse reads the members of a line.
func (t *objectNodes) parse(line []byte, values map[string]json.RawMessage, n *Node) error {
	n.Key = Token{Int: t.first - 1, IsInt: true}
	key, ok := fieldOf(values[t.key])
	switch {
	case t.keyless:
	case !ok:
		return t.bad(line, "member %s is neither a text nor a number", t.key)
	case len(key) == 0 || !t.token(key, &n.Key, &t.src):
		return t.bad(line, "member %s, the key, is missing, empty or contains a NUL byte", t.key)
	}
	label, ok := fieldOf(values[t.label])
	if !ok {
		return t.bad(line, "member %s is neither a text nor a number", t.label)
	}
	n.Label, n.Values = string(label), t.found
	for i := range t.values {
		r := &t.values[i]
		if t.found[i], ok = r.member(values[r.Column]); !ok {
			shown := []byte(values[r.Column])
			if text, ok := fieldOf(values[r.Column]); ok {
				shown = text
			}
			return r.help(t.bad(line, "%s", r.fault(shown)))
		}
	}
	return nil
}

// member returns the value in a member, none for null and for an empty text that is no string. It
// returns false if the value has another type.
func (r *valueReader) member(value json.RawMessage) (v Value, ok bool) {
	if list, ok := arrayOf(value); ok && r.Type == ListType {
		return listOf(list), true
	}
	field, ok := fieldOf(value)
	switch {
	case !ok:
		return v, false
	case len(field) > 0 && r.Type == ListType && r.separator == "":
		return listOf([]string{string(field)}), true
	case len(field) > 0:
		return r.read(field)
	case r.Type == StringType && len(value) > 0 && value[0] == '"':
		return textOf(""), true
	}
	return v, true
}

// MemberName returns the name of the member that holds a property in lines of JSON. It has the
// type, as in code:string, if the name or the values of a property of strings could be read in
// another way.
func MemberName(name string, t PropertyType, texts iter.Seq[string]) string {
	typed := strings.ContainsAny(name, ":~")
	if !typed && t == StringType {
		typed = true
		for text := range texts {
			if text != "" && !IsTime(text) {
				typed = false
				break
			}
		}
	}
	if typed {
		return name + ":" + t.String()
	}
	return name
}

// objectWriter is a [RowWriter] of edges, or of nodes with labels and properties, as lines of JSON.
type objectWriter struct {
	textWriter
	members [][]byte // names of the columns as JSON
	at      int      // next column
	nodes   bool
}

// newObjectWriter returns a writer of edges or nodes with the given columns.
func newObjectWriter(w io.Writer, columns []string) (RowWriter, error) {
	nodes := len(columns) > 1 && columns[0] == "node" && columns[1] == "label"
	if !nodes && !namesOnly(columns) {
		return nil, fmt.Errorf("edgelist: lines of JSON hold edges, or nodes with labels and properties; here are columns %s", strings.Join(columns, ", "))
	}
	out := &objectWriter{textWriter: textWriter{to: bufio.NewWriter(w)}, nodes: nodes}
	for _, name := range columns {
		text, err := json.Marshal(name)
		if err != nil {
			return nil, fmt.Errorf("edgelist: %w", err)
		}
		out.members = append(out.members, text)
	}
	return out, nil
}

// member begins the next member.
func (w *objectWriter) member() {
	c := byte(',')
	if len(w.line) == 0 {
		c = '{'
	}
	w.line = append(append(append(w.line, c), w.members[w.at]...), ':')
	w.at++
}

func (w *objectWriter) Key(k Token) error {
	if k.IsInt {
		w.Int(k.Int)
		return nil
	}
	if isInt([]byte(k.Str)) {
		return fmt.Errorf("edgelist: the string %q would be read as an integer", k.Str)
	}
	return w.Text(k.Str)
}

// Text writes no member for the empty text of an edge. A node without a label has the label null,
// so that no property is taken for its label.
func (w *objectWriter) Text(s string) error {
	switch {
	case s != "":
		return w.Value(s)
	case w.nodes:
		w.member()
		w.line = append(w.line, "null"...)
	default:
		w.at++
	}
	return nil
}

func (w *objectWriter) Int(n int64) {
	w.member()
	w.line = strconv.AppendInt(w.line, n, 10)
}

func (w *objectWriter) Float(x float32) {
	w.member()
	w.line = strconv.AppendFloat(w.line, float64(x), 'g', -1, 32)
}

// Double writes a number that is not read as an integer.
func (w *objectWriter) Double(x float64) {
	w.member()
	start := len(w.line)
	w.line = strconv.AppendFloat(w.line, x, 'g', -1, 64)
	if !bytes.ContainsAny(w.line[start:], ".e") {
		w.line = append(w.line, ".0"...)
	}
}

// Value writes no member for nil.
func (w *objectWriter) Value(v any) error {
	switch x := v.(type) {
	case nil:
		w.at++
		return nil
	case float64:
		w.Double(x)
		return nil
	case time.Time:
		text, err := instantText(x)
		if err != nil {
			return err
		}
		v = text
	}
	text, err := json.Marshal(v)
	w.member()
	w.line = append(w.line, text...)
	return err
}

// Time writes no member for 0.
func (w *objectWriter) Time(n int64) {
	if n == 0 {
		w.at++
		return
	}
	w.Int(n)
}

func (w *objectWriter) End() error {
	w.line, w.at = append(w.line, '}'), 0
	return w.textWriter.End()
}
