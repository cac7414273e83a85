package edgelist

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// tableNodes reads labels or feature vectors of nodes from a table.
type tableNodes struct {
	*rows
	node   int   // place of the column of keys; -1 means that row n, from 0, is node n
	others []int // places of the column of labels or lists, or of the columns of numbers
	// values are the columns that are properties, read from places, and found their values in a
	// row.
	values []valueReader
	places []int
	found  []Value
}

// newTableNodes opens a table of nodes. values.choose chooses the columns besides the column of the
// keys, and values.value reads them.
func newTableNodes(in io.Reader, o Options, values nodeValues) (*Nodes, error) {
	r, err := openTable(in, o)
	if err != nil {
		return nil, err
	}
	t := &tableNodes{rows: r, node: -1}
	key := -1
	if !o.Keyless && len(t.fields) > 0 {
		key = o.tableKey(t.names())
		t.node = t.column(key)
		err = t.check(t.node, keyTypes, Integer, Unsigned, String)
	}
	if err == nil {
		err = values.choose(t, key, &o)
	}
	if err == nil {
		err = t.peek()
	}
	if err != nil {
		return nil, err
	}
	next := func(n *Node) error {
		if err := t.rows.next(); err != nil {
			return err
		}
		n.Line, n.Key = t.row, Token{Int: t.row - 1, IsInt: true}
		if t.node >= 0 {
			var err error
			if n.Key, err = t.key(t.node); err != nil {
				return err
			}
		}
		return values.value(t, n)
	}
	nodes := &Nodes{next: next, Detected: &Detected{Format: Parquet, Unused: t.unused()}}
	for i := range t.values {
		nodes.Properties = append(nodes.Properties, t.values[i].Property)
	}
	return nodes, nil
}

// tableKey returns the column of keys: the one that the options name, one with a usual name, or the
// first.
func (o *Options) tableKey(names []string) int {
	for column, means := range o.Properties.NodeColumns {
		if at, ok := columnOf(names, column); ok && means == "node" {
			return at
		}
	}
	return max(0, find(names, nodeNames()...))
}

// chooseLabel chooses the column of labels: the column with a usual name, or the only column
// besides the keys. A table of keys has no such column. The other columns are properties, unless
// their type is none of a property.
func (t *tableNodes) chooseLabel(key int, o *Options) error {
	c, err := o.planNodes(t.names(), key, true, nil)
	if err != nil {
		return err
	}
	if c.label >= 0 {
		switch t.fields[c.label].Type {
		case Integer, Unsigned, String:
			t.others = []int{t.column(c.label)}
		default:
			name := t.fields[c.label].Name
			c.properties = append(c.properties, Property{Name: name, Column: name, at: c.label})
		}
	}
	for _, p := range c.properties {
		is := propertyOf(t.fields[p.at].Type)
		if is == AnyType {
			continue // it is reported as not used
		}
		said := p.Type
		if p.Type = is; said != AnyType && is == StringType || said == FloatType && is == IntegerType {
			p.Type = said
		} else if said != AnyType && said != is {
			return &Refusal{Note{Msg: fmt.Sprintf("types: column %q has values of type %v, not %v", p.Column, is, said)}}
		}
		if err := o.knownType(&p); err != nil {
			return err
		}
		r := valueReader{Property: p, separator: cmp.Or(o.Properties.ListSeparator, listSeparator)}
		t.values, t.places = append(t.values, r), append(t.places, t.column(p.at))
	}
	t.found = make([]Value, len(t.values))
	return nil
}

// propertyOf returns the type of the property that a column becomes; AnyType means none.
func propertyOf(t Type) PropertyType {
	return map[Type]PropertyType{
		Integer: IntegerType, Unsigned: IntegerType, Single: FloatType, Double: FloatType, String: StringType,
		Timestamp: TimeType, Bool: BoolType, Strings: ListType,
	}[t]
}

// properties reads the values of the properties of a node.
func (t *tableNodes) properties(n *Node) error {
	n.Values = t.found
	for i := range t.values {
		r, place := &t.values[i], t.places[i]
		if t.found[i] = (Value{}); t.null(place) {
			continue
		}
		var ok bool
		if t.found[i], ok = t.property(r, place); !ok {
			return t.bad(place, "has a value that is not of type "+r.Type.String())
		}
	}
	return nil
}

// property returns a value of a property. It returns false if it is not of the type.
func (t *tableNodes) property(r *valueReader, place int) (Value, bool) {
	v, f := &t.rows.values[place], t.field(place)
	switch f.Type {
	case String:
		if r.Type == StringType {
			return textOf(v.Strings[t.at]), true
		}
		return r.read([]byte(v.Strings[t.at]))
	case Strings:
		from := 0
		if t.at > 0 {
			from = v.Ends[t.at-1]
		}
		return listOf(append([]string{}, v.Strings[from:v.Ends[t.at]]...)), true
	case Bool:
		return boolOf(v.Ints[t.at] != 0), true
	case Timestamp:
		return timeOf(instant(v.Ints[t.at], f.Unit)), true
	case Integer, Unsigned:
		if r.Type != FloatType {
			return numberOf(IntegerType, v.Ints[t.at]), f.Type == Integer || v.Ints[t.at] >= 0
		}
	}
	x := t.number(place)
	return floatOf(x), x-x == 0
}

// instant returns the time of a number of units since 1970.
func instant(n int64, unit TimeFormat) time.Time {
	switch unit {
	case Milliseconds:
		return time.UnixMilli(n)
	case Microseconds:
		return time.UnixMicro(n)
	case Nanoseconds:
		return time.Unix(0, n)
	}
	return time.Unix(n, 0)
}

// chooseFeatures chooses the column of lists of numbers, with a usual name if there are several, or
// otherwise all columns of numbers.
func (t *tableNodes) chooseFeatures(key int, _ *Options) error {
	lists := t.besides(key, func(f Field) bool { return f.Type == Floats })
	if at := find(t.names(), "features", "feature", "feat", "vector", "embedding"); slices.Contains(lists, at) {
		lists = []int{at}
	}
	switch {
	case len(lists) > 1:
		return fmt.Errorf("%w for features: no list is called features among %s", ErrColumns, strings.Join(t.names(), ", "))
	case len(lists) == 0:
		lists = t.besides(key, func(f Field) bool { return f.Type >= Integer && f.Type <= Double })
	}
	if len(lists) == 0 {
		return fmt.Errorf("%w for features: none has numbers, or lists of numbers; there are %s", ErrColumns, t.kinds())
	}
	for _, at := range lists {
		t.others = append(t.others, t.column(at))
	}
	return nil
}

// besides returns the columns for which is returns true, without the column of the keys.
func (t *tableNodes) besides(key int, is func(Field) bool) (all []int) {
	for i, f := range t.fields {
		if i != key && is(f) {
			all = append(all, i)
		}
	}
	return all
}

// kinds returns the columns with their types.
func (t *tableNodes) kinds() string {
	var all []string
	for _, f := range t.fields {
		all = append(all, f.Name+" ("+f.Kind+")")
	}
	return strings.Join(all, ", ")
}

// label reads the label and the properties of a node. A null is no label.
func (t *tableNodes) label(n *Node) error {
	if err := t.properties(n); err != nil {
		return err
	}
	if len(t.others) == 0 || t.null(t.others[0]) {
		return nil
	}
	place := t.others[0]
	switch v := &t.rows.values[place]; t.field(place).Type {
	case Integer:
		n.Label = strconv.FormatInt(v.Ints[t.at], 10)
	case Unsigned:
		n.Label = strconv.FormatUint(uint64(v.Ints[t.at]), 10)
	default:
		n.Label = v.Strings[t.at]
	}
	if n.Label == "" || !utf8.ValidString(n.Label) {
		return t.bad(place, "is empty or not valid UTF-8")
	}
	return nil
}

// vector reads the features of a node.
func (t *tableNodes) vector(n *Node) error {
	for _, place := range t.others {
		numbers := []float64{}
		if v := &t.rows.values[place]; t.field(place).Type == Floats {
			from := 0
			if t.at > 0 {
				from = v.Ends[t.at-1]
			}
			numbers = v.Numbers[from:v.Ends[t.at]]
			if len(numbers) == 0 {
				return t.bad(place, "is null or empty")
			}
		} else {
			if t.null(place) {
				return t.bad(place, "is null")
			}
			numbers = append(numbers, t.number(place))
		}
		for i, x := range numbers {
			f, ok := finite(x)
			if !ok {
				return t.bad(place, fmt.Sprintf("has a null, or a number that is not finite in 32 bits, at %d (from 0)", i))
			}
			n.Features = append(n.Features, f)
		}
	}
	return nil
}
