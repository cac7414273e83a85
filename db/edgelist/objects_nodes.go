package edgelist

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// objectNodes reads nodes from lines of JSON: each line is an object, and its members are the columns.
type objectNodes struct {
	nodeText
	key, label string // names of the members; "" means none
}

func newObjectNodes(in *bufio.Reader, o Options) (*Nodes, error) {
	t := &objectNodes{nodeText: nodeText{text: text{lines: newLines(in), keys: true}, keyless: o.Keyless}}
	t.Format = JSONLines
	all, err := t.survey(&o)
	if err == nil && len(all.names) > 0 {
		err = t.plan(all, &o)
	}
	if err != nil {
		return nil, err
	}
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
	if _, isList := listOf(value); isList {
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

// listOf returns the strings of an array. It returns false for another value.
func listOf(value json.RawMessage) ([]string, bool) {
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
	t.found = make([]any, len(t.values))
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
			return t.bad(line, "%s", r.fault(values[r.Column]))
		}
	}
	return nil
}

// member returns the value in a member, nil for null and for an empty text that is no string. It
// returns false if the value has another type.
func (r *valueReader) member(value json.RawMessage) (any, bool) {
	if list, ok := listOf(value); ok && r.Type == ListType {
		return list, true
	}
	field, ok := fieldOf(value)
	switch {
	case !ok:
		return nil, false
	case len(field) > 0 && r.Type == ListType && r.separator == "":
		return []string{string(field)}, true
	case len(field) > 0:
		return r.read(field)
	case r.Type == StringType && len(value) > 0 && value[0] == '"':
		return "", true
	}
	return nil, true
}

// MemberName returns the name of the member that holds a property in lines of JSON. It has the type,
// as in code:string, if the name or the values of a property of strings could be read in another way.
func MemberName(name string, t PropertyType, texts iter.Seq[string]) string {
	typed := strings.ContainsAny(name, ":~")
	if !typed && t == StringType {
		typed = true
		for text := range texts {
			if _, isTime := parseInstant([]byte(text)); text != "" && !isTime {
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
