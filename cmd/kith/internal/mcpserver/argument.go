package mcpserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"kith/db"
	"kith/query"
)

// arguments are the checked arguments of a call: each is a db.Key, an int64, a float64, a string, a
// bool, or a slice of such values or of arguments. An argument that is absent and has no default is
// missing.
type arguments map[string]any

// node returns a node that is required.
func (a arguments) node(name string) db.Key { return a[name].(db.Key) }

// integer returns an integer, or 0.
func (a arguments) integer(name string) int {
	i, _ := a[name].(int64)
	return int(i)
}

// number returns a number, or 0.
func (a arguments) number(name string) float64 {
	f, _ := a[name].(float64)
	return f
}

// text returns a string, or "".
func (a arguments) text(name string) string {
	s, _ := a[name].(string)
	return s
}

// flag returns a bool, or false.
func (a arguments) flag(name string) bool {
	b, _ := a[name].(bool)
	return b
}

// list returns a list, or nil.
func (a arguments) list(name string) []any {
	l, _ := a[name].([]any)
	return l
}

// objects returns a list of objects, or nil.
func (a arguments) objects(name string) (all []arguments) {
	for _, v := range a.list(name) {
		all = append(all, v.(arguments))
	}
	return all
}

// decode decodes and checks the arguments of a call. Integers keep all their digits; the SDK's own
// decoding turns them into floating-point numbers, which merges keys above 2^53.
func decode(raw json.RawMessage, fields []field) (arguments, error) {
	if len(raw) == 0 {
		return check(nil, fields)
	}
	v, err := query.JSON("", raw)
	if err != nil {
		return nil, err
	}
	given, isObject := v.(query.Object)
	if !isObject && v != nil {
		return nil, fmt.Errorf("the arguments must be a JSON object, got %.100s", raw)
	}
	return check(given, fields)
}

func check(given query.Object, fields []field) (arguments, error) {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !contains(fields, name) {
			return nil, unknown(name, fields)
		}
	}
	a := arguments{}
	for _, f := range fields {
		v := given[f.name]
		if v == nil {
			if f.required {
				return nil, fmt.Errorf("argument %s is missing: %s", f.name, f.meaning)
			}
			if f.byDefault != nil {
				a[f.name] = f.byDefault
			}
			continue
		}
		checked, err := f.check(v)
		if err != nil {
			return nil, err
		}
		a[f.name] = checked
	}
	return a, nil
}

func contains(fields []field, name string) bool {
	for _, f := range fields {
		if f.name == name {
			return true
		}
	}
	return false
}

// check returns the value of an argument.
func (f *field) check(v any) (any, error) {
	if f.is.isList() {
		return f.checkList(v)
	}
	if s, isString := v.(string); isString && f.is == aNode {
		return nodeOf(f.name, s)
	}
	checked, ok := f.is.value(v)
	if low, high := f.limits(); ok && (low != 0 || high != 0) {
		x := toFloat(checked)
		ok = low <= x && x <= high
	}
	if !ok {
		return nil, f.refuse(v)
	}
	if f.is == aNode {
		return db.KeyOf(checked)
	}
	return checked, nil
}

// nodeOf returns the node that a string names, as [db.Key.MarshalText] writes it.
func nodeOf(name, text string) (k db.Key, err error) {
	if err := k.UnmarshalText([]byte(text)); err != nil {
		return k, fmt.Errorf("%s: %w", name, err)
	}
	return k, nil
}

func toFloat(v any) float64 {
	if i, isInt := v.(int64); isInt {
		return float64(i)
	}
	x, _ := v.(float64)
	return x
}

// refuse returns the error for a value that an argument cannot have.
func (f *field) refuse(v any) error {
	text, err := json.Marshal(v)
	if err != nil || len(text) > 100 {
		text = fmt.Appendf(nil, "%.100s...", text)
	}
	return fmt.Errorf("%s must be %s, got %s", f.name, f.accepts(), text)
}

// checkList returns the value of an argument that is a list.
func (f *field) checkList(v any) (any, error) {
	list, isList := v.([]any)
	low, high := f.limits()
	if !isList || len(list) < int(low) || len(list) > int(high) {
		return nil, f.refuse(v)
	}
	checked := make([]any, len(list))
	for i, v := range list {
		var err error
		if checked[i], err = f.checkElement(v); err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", f.name, i, err)
		}
	}
	return checked, nil
}

// checkElement returns the value of an element of a list.
func (f *field) checkElement(v any) (any, error) {
	element := field{name: "the element"}
	switch f.is {
	case objectList:
		object, isObject := v.(query.Object)
		if !isObject {
			return nil, fmt.Errorf("must be an object with the members %s", strings.Join(names(f.members), ", "))
		}
		return check(object, f.members)
	case nodeList:
		element.is = aNode
	case numberList:
		element.is = aNumber
	case textList:
		element.is = aText
	case valueList:
		element.is = aValue
		if _, isList := v.([]any); isList {
			element.is = valueList
		}
	}
	return element.check(v)
}

// maxWhole is the largest number up to which a float64 tells all integers apart.
const maxWhole = 1 << 53

// value converts a decoded JSON value, and reports whether it is of the kind.
func (k kind) value(v any) (converted any, ok bool) {
	switch v := v.(type) {
	case query.Object:
		return v, k == aRecord
	case bool:
		return v, k == aFlag
	case string:
		return v, k == aText || k == aValue
	case int64:
		if k == aNumber {
			return float64(v), true
		}
		return v, k == anInt || k == aNode || k == aValue
	case float64:
		if whole := v == math.Trunc(v) && math.Abs(v) <= maxWhole; whole && (k == anInt || k == aNode) {
			return int64(v), true // 3.0 is an integer of JSON Schema
		}
		return v, k == aNumber || k == aValue
	}
	return nil, false
}
