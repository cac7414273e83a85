package edgelist

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// tableNodes reads labels or feature vectors of nodes from a table.
type tableNodes struct {
	*rows
	node   int   // place of the column of keys; -1 means that row n, from 0, is node n
	others []int // places of the column of labels or lists, or of the columns of numbers
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
		key = max(0, find(t.names(), nodeNames()...))
		t.node = t.column(key)
		err = t.check(t.node, keyTypes, Integer, Unsigned, String)
	}
	if err == nil {
		err = values.choose(t, key)
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
	return &Nodes{next: next, Detected: &Detected{Format: Parquet, Unused: t.unused()}}, nil
}

// chooseLabel chooses the column of labels: the column with a usual name, or the only column
// besides the keys. A table of keys has no such column.
func (t *tableNodes) chooseLabel(key int) error {
	at := find(t.names(), "label", "class", "category", "kind", "type")
	if others := t.besides(key, func(Field) bool { return true }); at < 0 && len(others) == 1 {
		at = others[0]
	} else if at < 0 && len(others) > 1 {
		return fmt.Errorf("%w for labels: none is called label; there are %s", ErrColumns, strings.Join(t.names(), ", "))
	}
	if at < 0 {
		return nil
	}
	t.others = []int{t.column(at)}
	return t.check(t.others[0], "labels are integers or strings", Integer, Unsigned, String)
}

// chooseFeatures chooses the column of lists of numbers, with a usual name if there are several, or
// otherwise all columns of numbers.
func (t *tableNodes) chooseFeatures(key int) error {
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

// label reads the label of a node. A null is no label.
func (t *tableNodes) label(n *Node) error {
	if len(t.others) == 0 || t.null(t.others[0]) {
		return nil
	}
	place := t.others[0]
	switch v := &t.values[place]; t.field(place).Type {
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
		if v := &t.values[place]; t.field(place).Type == Floats {
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
