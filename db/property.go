package db

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"kith/db/edgelist"
	"kith/db/words"
	"kith/index"
)

// Properties.
//
// A node has values of properties by name: a bool, an integer, a float, a string, a time, or a list
// of strings. All values of a property have the same type, that of its first value. A property of
// integers becomes one of floats with the first float, and one that no node has takes any type.
// Edges have a weight and a time, and no properties.
//
// In Go a value is a bool, an int64, a float64, a string, a time.Time in UTC or a []string. Any
// integer, and a float32, is accepted too. An integer becomes a float where the property is one. If
// the property is a time, a string is one too, as for [edgelist.ParseTime], and an integer is a
// number of seconds since 1970. A time is in the years 0 to 9999, and is kept to the microsecond. A
// string has at most 32 KB, a list at most 1000 strings of 32 KB together; a string that a list
// repeats is kept once.
//
// The built-in model and models of policy default read the values as words, as they read feature
// vectors: see package index. A model that was made when no property had words gets them in its
// next training from edges. The words of a node are read from the store when a question needs them,
// so they follow each SetProperties at once, and take no memory besides the blocks that the cache
// of the graph holds.

// Property describes a property of nodes.
type Property struct {
	Name  string `json:"name"`
	Type  string `json:"type"`  // bool, integer, float, string, time or list
	Nodes int64  `json:"nodes"` // number of nodes that have a value
	// Labels are the labels of these nodes, sorted; "" stands for none.
	Labels []string `json:"labels"`
	// Distinct is the number of different values, of lists the number of different strings; 65536
	// stands for that many or more.
	Distinct int `json:"distinct"`
	Smallest any `json:"smallest"` // nil if no node has a value
	Largest  any `json:"largest"`  // nil if no node has a value
}

// maxDistinct is the largest number of different values that are counted.
const maxDistinct = 1 << 16

// SetProperties sets values of properties of a node. A nil value removes the property. It returns
// ErrNotFound for a missing node, and ErrInput for a value that cannot be stored, a value of
// another type than the property has, or an invalid name; nothing is set then.
func (tx *Tx) SetProperties(key any, values map[string]any) error {
	b, id, err := tx.writableNode(key)
	if err != nil {
		return err
	}
	return nodeError(tx.key(id), tx.Savepoint(func() error { return tx.setProperties(b, id, values) }))
}

func (tx *Tx) setProperties(b *index.Batch, id index.ID, values map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v, err := tx.valueFor(name, values[name])
		if err != nil {
			return err
		}
		if err := b.SetProperty(id, name, v); err != nil {
			return inputError(err)
		}
	}
	return nil
}

// CheckProperty returns ErrInput for a value that [Tx.SetProperties] refuses.
func (tx *Tx) CheckProperty(name string, v any) error {
	if tx.ended {
		return ErrClosed
	}
	value, err := tx.valueFor(name, v)
	if err == nil {
		err = tx.meta().CheckProperty(name, value)
	}
	if err != nil {
		return inputError(err)
	}
	return nil
}

// reserved reports whether a name, whatever its case, means something else in a condition or an
// answer.
func reserved(name string) bool {
	return slices.Contains([]string{
		"and", "or", "not", "in", "is", "null", "true", "false", "where",
		"node", "label", "edges", "degree", "features", "source", "target", "rank", "score", "exploit", "explore", "ppr", "error", "exact", "because",
	}, strings.ToLower(name))
}

// valueFor returns the value for a property that a Go value means.
func (tx *Tx) valueFor(name string, v any) (index.Value, error) {
	if reserved(name) {
		return index.Value{}, inputf("a property cannot have the name %q, which means something else in a condition", name)
	}
	value, ok := index.ValueOf(v)
	if !ok {
		return value, inputf("property %q: %s is no value, want a bool, a number, a string, a time or a list of strings", name, words.Value(v))
	}
	number, known := tx.meta().PropertyNumber(name)
	if !known || tx.meta().Properties[number].Nodes == 0 {
		return value, nil
	}
	value, err := valueAs(value, tx.meta().Properties[number].Kind)
	if err != nil {
		return value, inputf("property %q: %w", name, err)
	}
	return value, nil
}

// valueAs returns the value of a kind that a value means: an integer is a float too, and a string
// or a number of seconds is a time. It returns other values as they are, and an error for a string
// or a number that is no time.
func valueAs(v index.Value, kind index.Kind) (index.Value, error) {
	switch is := v.Kind(); {
	case kind == index.FloatKind && is == index.IntegerKind:
		return valueOf(float64(v.Int())), nil
	case kind == index.TimeKind && is == index.StringKind:
		t, err := edgelist.ParseTime(v.Text())
		return valueOf(t), err
	case kind == index.TimeKind && is == index.IntegerKind:
		return valueOf(time.Unix(v.Int(), 0)), edgelist.CheckTime(v.Int())
	}
	return v, nil
}

// Literal returns the value that v, as a text or JSON writes it, means for a property: a string in
// the form of a time, such as 2026-11-01 or 2026-11-01T12:30:00Z, is one if the property is new. It
// returns ErrInput for such a string that is no time, such as 2026-02-30, and for a value that
// [Tx.SetProperties] refuses.
func (tx *Tx) Literal(name string, v any) (any, error) {
	if text, isText := v.(string); isText && edgelist.IsTime(text) && tx.PropertyType(name) == "" {
		t, err := edgelist.ParseTime(text)
		if err != nil {
			return nil, inputf("property %q: %w", name, err)
		}
		v = t
	}
	return v, tx.CheckProperty(name, v)
}

// properties returns the values of a node; nil if it has none.
func properties(v *index.Snapshot, id index.ID) (all map[string]any) {
	for number, value := range v.Values(id) {
		if all == nil {
			all = map[string]any{}
		}
		all[v.Meta.Properties[number].Name] = value.Any()
	}
	return all
}

// PropertyType returns the type of the values of a property, as Property.Type, or "" if there is no
// such property.
func (tx *Tx) PropertyType(name string) string {
	if number, known := tx.meta().PropertyNumber(name); known && tx.meta().Properties[number].Nodes > 0 {
		return tx.meta().Properties[number].Kind.String()
	}
	return ""
}

// PropertyNames returns the names of the properties that some node has, in the order of their first
// values.
func (tx *Tx) PropertyNames() (names []string) {
	for _, p := range tx.meta().Properties {
		if p.Nodes > 0 {
			names = append(names, p.Name)
		}
	}
	return names
}

// Properties describes the properties that some node has, in the order of their first values. It
// reads all values.
func (tx *Tx) Properties(ctx context.Context) (all []Property, err error) {
	if tx.ended {
		return nil, ErrClosed
	}
	v := tx.view()
	for i, p := range v.Meta.Properties {
		if p.Nodes == 0 {
			continue
		}
		described, err := describe(ctx, v, uint16(i))
		if err != nil {
			return nil, err
		}
		all = append(all, described)
	}
	return all, nil
}

// describe describes a property that some node has.
func describe(ctx context.Context, v *index.Snapshot, number uint16) (Property, error) {
	p := v.Meta.Properties[number]
	labels, distinct := map[uint16]bool{}, map[any]bool{}
	var least, most index.Value
	n := 0
	for id, value := range v.Having(number) {
		if n++; n%checkEvery == 0 && ctx.Err() != nil {
			return Property{}, ctx.Err()
		}
		labels[v.Label(id)] = true
		for _, part := range value.Parts() {
			if len(distinct) < maxDistinct {
				distinct[part] = true
			}
		}
		if n == 1 {
			least, most = value, value
		}
		if value.Compare(least) < 0 {
			least = value
		}
		if value.Compare(most) > 0 {
			most = value
		}
	}
	all := Property{
		Name: p.Name, Type: p.Kind.String(), Nodes: p.Nodes, Distinct: len(distinct), Smallest: least.Any(), Largest: most.Any(),
	}
	for l := range labels {
		all.Labels = append(all.Labels, v.Meta.Labels[l].Name)
	}
	slices.Sort(all.Labels)
	return all, nil
}

// Cond is a condition on a node: a comparison, or a combination of conditions by the methods And,
// Or and Not. Any node that lacks a property fails a comparison with it, and so satisfies the
// negation: <> is the negation of =. The zero Cond holds for every node.
//
//	db.Cond{"price", "<", 20}.And(db.Cond{"hidden", "=", true}.Not())
type Cond struct {
	// Of is the name of a property, or node, label, degree or edges: the key of the node, its
	// label, the sum of the weights of its (outgoing) edges, and their number.
	Of string
	// Op is =, <>, <, <=, > or >=, or IN for a list of values, of which one must be equal. A list
	// of strings is equal to each of its strings. Bools and lists have no order.
	Op string
	// Value is what to compare with: a value of the type of the property. For a number, any number;
	// nil in = and <> stands for no value.
	Value any

	logic string // AND, OR, NOT: a combination of parts
	parts []Cond
}

// And returns the condition that both hold.
func (c Cond) And(d Cond) Cond {
	if c.Of == "" && c.logic == "" {
		return d
	}
	return Cond{logic: "AND", parts: []Cond{c, d}}
}

// Or returns the condition that one of both holds.
func (c Cond) Or(d Cond) Cond { return Cond{logic: "OR", parts: []Cond{c, d}} }

// Not returns the condition that c does not hold.
func (c Cond) Not() Cond { return Cond{logic: "NOT", parts: []Cond{c}} }

// String returns the condition in the syntax of the query language.
func (c Cond) String() string {
	within := func(p Cond) string {
		if p.logic == "AND" || p.logic == "OR" {
			return "(" + p.String() + ")"
		}
		return p.String()
	}
	switch {
	case c.logic == "NOT":
		return "NOT " + within(c.parts[0])
	case c.logic != "":
		return within(c.parts[0]) + " " + c.logic + " " + within(c.parts[1])
	case c.Of == "":
		return "TRUE"
	case c.Value == nil && c.Op == "=":
		return c.Of + " IS NULL"
	case c.Value == nil:
		return c.Of + " IS NOT NULL"
	case c.Op == "IN":
		var all []string
		for v := range elements(c.Value) {
			all = append(all, literal(v))
		}
		return c.Of + " IN (" + strings.Join(all, ", ") + ")"
	}
	return c.Of + " " + c.Op + " " + literal(c.Value)
}

// literal returns a value in the syntax of the query language.
func literal(v any) string {
	switch v := v.(type) {
	case Key:
		return v.Literal()
	case string:
		return Str(v).Literal()
	case time.Time:
		return Str(v.UTC().Format(time.RFC3339Nano)).Literal()
	}
	return fmt.Sprint(v)
}

// elements yields the elements of a slice, or the value itself.
func elements(v any) func(yield func(any) bool) {
	return func(yield func(any) bool) {
		list := reflect.ValueOf(v)
		if list.Kind() != reflect.Slice {
			yield(v)
			return
		}
		for i := range list.Len() {
			if !yield(list.Index(i).Interface()) {
				return
			}
		}
	}
}

// Select returns a function that reports whether the node with a key satisfies a condition. A
// missing node does not. It returns ErrNotFound for a property that no node has, and ErrInput for a
// comparison that the type of the property does not have. The function is valid until the
// transaction writes or ends.
func (tx *Tx) Select(c Cond) (func(Key) bool, error) {
	if tx.ended {
		return nil, ErrClosed
	}
	match, err := selector(tx.view(), c)
	if err != nil {
		return nil, err
	}
	return func(k Key) bool {
		id, ok := tx.find(k)
		return ok && match(id)
	}, nil
}

// selector compiles a condition to a function, which is fast for ascending ids, and must not be
// called by several goroutines at once.
func selector(v *index.Snapshot, c Cond) (func(index.ID) bool, error) {
	var parts []func(index.ID) bool
	for _, p := range c.parts {
		f, err := selector(v, p)
		if err != nil {
			return nil, err
		}
		parts = append(parts, f)
	}
	switch c.logic {
	case "AND":
		return func(id index.ID) bool { return parts[0](id) && parts[1](id) }, nil
	case "OR":
		return func(id index.ID) bool { return parts[0](id) || parts[1](id) }, nil
	case "NOT":
		return func(id index.ID) bool { return !parts[0](id) }, nil
	}
	if c.Op == "<>" && c.Of != "" {
		c.Op = "="
		equal, err := comparison(v, c)
		return func(id index.ID) bool { return !equal(id) }, err
	}
	return comparison(v, c)
}

// comparison compiles a comparison by another operator than <>.
func comparison(v *index.Snapshot, c Cond) (func(index.ID) bool, error) {
	if c.Of == "" && c.Op == "" && c.Value == nil {
		return func(index.ID) bool { return true }, nil
	}
	operators := []string{"=", "<>", "<", "<=", ">", ">=", "IN"}
	if !slices.Contains(operators, c.Op) {
		return nil, missing(kindInput, c.Op, operators, ErrInput, "%s: operator %q, want %s", c.Of, c.Op, strings.Join(operators, ", "))
	}
	switch c.Of {
	case "":
		return nil, inputf("a condition %s %s compares nothing: want the name of a property, or node, label, degree or edges", c.Op, words.Value(c.Value))
	case "node":
		return ofKey(v, c)
	case "label":
		return ofLabel(v, c)
	case "degree":
		t, err := testOf(c, index.FloatKind)
		return func(id index.ID) bool { return t.Matches(valueOf(v.Graph.Degree(id))) }, err
	case "edges":
		t, err := testOf(c, index.IntegerKind)
		return func(id index.ID) bool { return t.Matches(valueOf(v.Graph.OutLen(id))) }, err
	}
	number, known := v.Meta.PropertyNumber(c.Of)
	if !known {
		return nil, noProperty(v, c.Of)
	}
	kind := v.Meta.Properties[number].Kind
	if c.Value == nil && c.Op == "=" {
		has := v.Tester(number, index.Test{})
		return func(id index.ID) bool { return !has(id) }, nil
	}
	t, err := testOf(c, kind)
	if err != nil {
		return nil, err
	}
	return v.Tester(number, t), nil
}

// noProperty returns the error for a property that no node has.
func noProperty(v *index.Snapshot, name string) error {
	var names []string
	for _, p := range v.Meta.Properties {
		names = append(names, p.Name)
	}
	return missing(kindProperty, name, names, ErrNotFound, "no property %q", name)
}

// ofKey compiles a comparison with a key. A key of no node equals none.
func ofKey(v *index.Snapshot, c Cond) (func(index.ID) bool, error) {
	if c.Op != "=" && c.Op != "IN" {
		return nil, inputf("node %s: a node has no order; use =, <> or IN", c.Op)
	}
	wanted := map[index.ID]bool{}
	for x := range elements(c.Value) {
		k, err := KeyOf(x)
		if err != nil {
			return nil, err
		}
		if id, ok := v.ID(k); ok {
			wanted[id] = true
		}
	}
	return func(id index.ID) bool { return wanted[id] }, nil
}

// ofLabel compiles a comparison with a label.
func ofLabel(v *index.Snapshot, c Cond) (func(index.ID) bool, error) {
	if c.Op != "=" && c.Op != "IN" {
		return nil, inputf("label %s: a label has no order; use =, <> or IN", c.Op)
	}
	wanted := make([]bool, len(v.Meta.Labels))
	if c.Value == nil {
		wanted[0] = true
		return func(id index.ID) bool { return wanted[v.Label(id)] }, nil
	}
	for x := range elements(c.Value) {
		name, isText := x.(string)
		if !isText {
			return nil, inputf("label: %s is no label, want a string", words.Value(x))
		}
		if number, known := v.Meta.LabelNumber(name); known {
			wanted[number] = true
		}
	}
	return func(id index.ID) bool { return wanted[v.Label(id)] }, nil
}

// valueOf returns the value of a Go value that has one.
func valueOf(x any) index.Value {
	v, _ := index.ValueOf(x)
	return v
}

// testOf returns the test of a comparison with values of a kind.
func testOf(c Cond, kind index.Kind) (t index.Test, err error) {
	if c.Op == "IN" {
		t.In = []index.Value{}
		for x := range elements(c.Value) {
			v, exact, err := comparedAs(c, kind, x)
			if err != nil {
				return t, err
			}
			if exact {
				t.In = append(t.In, v)
			}
		}
		return t, nil
	}
	v, exact, err := comparedAs(c, kind, c.Value)
	switch {
	case err != nil:
		return t, err
	case c.Op == "=" && exact:
		t.In = []index.Value{v}
	case c.Op == "=":
		t.In = []index.Value{}
	case kind == index.BoolKind || kind == index.ListKind:
		return t, inputf("%s %s: a property of type %v has no order; use =, <> or IN", c.Of, c.Op, kind)
	case v.Kind() == index.NoValue && (valueOf(c.Value).Float() > 0) == (c.Op[0] == '>'):
		t.In = []index.Value{} // no integer is beyond the number
	case v.Kind() == index.NoValue: // all are
	case c.Op[0] == '<':
		t.High = index.Bound{Value: v, Open: exact && c.Op == "<"}
	default:
		t.Low = index.Bound{Value: v, Open: exact && c.Op == ">"}
	}
	return t, nil
}

// comparedAs returns the value of a kind that a Go value is compared as. If no integer equals a
// number, it returns the next one, up for > and >= and down for < and <=, and false; no value if
// that is beyond all integers.
func comparedAs(c Cond, kind index.Kind, x any) (v index.Value, exact bool, err error) {
	v, ok := index.ValueOf(x)
	want := kind
	if kind == index.ListKind {
		want = index.StringKind // an element
	}
	switch {
	case !ok || v.Kind() == index.NoValue || v.Kind() == index.FloatKind && math.IsNaN(v.Float()):
	case v.Kind() == want:
		return v, true, nil
	case want == index.FloatKind && v.Kind() == index.IntegerKind,
		want == index.TimeKind && (v.Kind() == index.StringKind || v.Kind() == index.IntegerKind):
		if v, err = valueAs(v, want); err != nil {
			err = inputf("property %q: %w", c.Of, err)
		}
		return v, true, err
	case want == index.IntegerKind && v.Kind() == index.FloatKind:
		v, exact = integerAt(v.Float(), cmp.Or(c.Op, "=")[0] == '>')
		return v, exact, nil
	}
	of := fmt.Sprintf("property %q is of type %v", c.Of, kind)
	if reserved(c.Of) {
		of = c.Of + " is a number"
	}
	return v, false, inputf("%s, and cannot be compared with %s", of, words.Value(x))
}

// integerAt returns the integer that equals a number, or the next one, and whether it is equal. It
// returns no value for a number beyond all integers.
func integerAt(f float64, up bool) (v index.Value, exact bool) {
	rounded := math.Floor(f)
	if up {
		rounded = math.Ceil(f)
	}
	if rounded >= 1<<63 || rounded < -1<<63 {
		return v, false
	}
	return valueOf(int64(rounded)), rounded == f
}
