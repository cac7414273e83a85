package edgelist

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// objects reads edges from lines of JSON: each line is an object, and its members are the columns.
type objects struct {
	text
	members [roleCount]string // names of the members that are read; "" means none
}

// errMembers is the error for objects without the members of an edge.
var errMembers = fmt.Errorf("%w for edges", ErrColumns)

func newObjects(in *bufio.Reader, o Options) (*objects, error) {
	head, err := in.Peek(guessBytes)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("edgelist: %w", err)
	}
	s := &objects{text: text{lines: newLines(in), signed: o.Negative != ""}}
	s.Format, s.layout.at = JSONLines, noPlaces()
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
	return s.parse(line, fields, 0, e)
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

// Text writes no member for the empty text of an edge. A node without a label has the label null, so
// that no property is taken for its label.
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
