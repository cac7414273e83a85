package web

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"kith/db"
	"kith/db/edgelist"
	"kith/db/words"
	"kith/query"
	"kith/query/internal/parse"
)

// errRequest is the error of a request that is not understood: a body that is no JSON, or that
// lacks a member, has an unknown one or one of another type, or such a parameter of the URL.
var errRequest = errors.New("bad request")

// misunderstood is the error of a request that is not understood, without the words of errRequest.
type misunderstood struct{ error }

// Is implements the interface of errors.Is.
func (misunderstood) Is(target error) bool { return target == errRequest || target == db.ErrInput }

// Unwrap returns the cause of the error.
func (e misunderstood) Unwrap() error { return e.error }

// decodeBody decodes a body, a JSON object whose members are the fields of a B. The tag json of a
// field has the name of its member, and omitempty if it may be absent; the tag means says what it
// is, for the description. A member that is null is absent.
func decodeBody[B any](text []byte) (b B, err error) {
	tree, err := parse.JSON("", text)
	if err != nil {
		return b, misunderstood{fmt.Errorf("request: %w", err)}
	}
	var form keyForm
	if members, isObject := tree.(parse.Object); isObject {
		err = form.set(members["keys"])
	}
	if err == nil {
		err = form.read("", tree, reflect.ValueOf(&b).Elem())
	}
	if err != nil {
		return b, misunderstood{fmt.Errorf("request: %w", err)}
	}
	return b, nil
}

// decoder is a part of a body that decodes itself. name says where it is, for errors.
type decoder interface {
	decode(form keyForm, name string, tree any) error
}

// read sets to, which is called name in errors, to the value of a JSON tree. Nodes are written in
// the form.
func (f keyForm) read(name string, tree any, to reflect.Value) (err error) {
	if d, decodes := to.Addr().Interface().(decoder); decodes {
		return d.decode(f, name, tree)
	}
	if k, isKey := to.Addr().Interface().(*db.Key); isKey {
		if *k, err = f.node(tree); err != nil {
			return fmt.Errorf("%s: %s", name, words.Plain(err))
		}
		return nil
	}
	switch to.Kind() {
	case reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return f.read(name, tree, to.Elem())
	case reflect.Struct:
		return f.readObject(name, tree, to)
	case reflect.Slice:
		return f.readList(name, tree, to)
	case reflect.Map:
		return f.readMap(name, tree, to)
	}
	return readScalar(name, tree, to)
}

// readScalar sets to to a string, a bool or a number.
func readScalar(name string, tree any, to reflect.Value) error {
	wrong := func(want string) error { return fmt.Errorf("%s must be %s, got %s", name, want, shown(tree)) }
	switch to.Kind() {
	case reflect.String:
		s, ok := tree.(string)
		if !ok {
			return wrong("a string")
		}
		to.SetString(s)
	case reflect.Bool:
		b, ok := tree.(bool)
		if !ok {
			return wrong("true or false")
		}
		to.SetBool(b)
	case reflect.Float32, reflect.Float64:
		x, ok := tree.(float64)
		if i, isInteger := tree.(int64); isInteger {
			x, ok = float64(i), true
		}
		if !ok || to.OverflowFloat(x) {
			return wrong("a number")
		}
		to.SetFloat(x)
	default:
		i, ok := wholeOf(tree)
		switch signed := to.Kind() == reflect.Int64; {
		case !ok && signed:
			return wrong("an integer")
		case !ok || i < 0 && !signed:
			return wrong("an integer of at least 0")
		}
		if to.CanUint() {
			to.SetUint(uint64(i))
		} else {
			to.SetInt(i)
		}
	}
	return nil
}

// wholeOf returns an integer. A JSON number such as 3.0 is one, too.
func wholeOf(tree any) (i int64, ok bool) {
	switch v := tree.(type) {
	case int64:
		return v, true
	case float64:
		const exact = 1 << 53
		return int64(v), v == math.Trunc(v) && math.Abs(v) <= exact
	}
	return 0, false
}

// readList sets a slice.
func (f keyForm) readList(name string, tree any, to reflect.Value) error {
	list, isList := tree.([]any)
	if !isList {
		return fmt.Errorf("%s must be a list, got %s", name, shown(tree))
	}
	to.Set(reflect.MakeSlice(to.Type(), len(list), len(list)))
	for i, v := range list {
		if err := f.read(fmt.Sprintf("%s[%d]", name, i), v, to.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

// readMap sets a map, whose keys are strings.
func (f keyForm) readMap(name string, tree any, to reflect.Value) error {
	members, isObject := tree.(parse.Object)
	if !isObject {
		return fmt.Errorf("%s must be an object, got %s", name, shown(tree))
	}
	to.Set(reflect.MakeMapWithSize(to.Type(), len(members)))
	for _, member := range slices.Sorted(maps.Keys(members)) {
		v := reflect.New(to.Type().Elem()).Elem()
		if err := f.read(name+"."+member, members[member], v); err != nil {
			return err
		}
		to.SetMapIndex(reflect.ValueOf(member), v)
	}
	return nil
}

// readObject sets the fields of a struct.
func (f keyForm) readObject(name string, tree any, to reflect.Value) error {
	fields, required := fieldsOf(to.Type())
	members, isObject := tree.(parse.Object)
	if !isObject {
		what, with := name, ""
		if name == "" {
			what = "it"
		}
		switch len(required) {
		case 0:
		case 1:
			with = " with the member " + required[0]
		default:
			with = " with the members " + parse.Join(required, "and")
		}
		return fmt.Errorf("%s must be an object%s, got %s", what, with, shown(tree))
	}
	for _, member := range slices.Sorted(maps.Keys(members)) {
		index, known := fields[member]
		switch {
		case !known:
			return within(name, unknownMember(member, slices.Sorted(maps.Keys(fields))))
		case members[member] == nil:
			continue
		}
		if err := f.read(strings.TrimPrefix(name+"."+member, "."), members[member], to.FieldByIndex(index)); err != nil {
			return err
		}
	}
	for _, member := range required {
		if members[member] == nil {
			return within(name, fmt.Errorf("the member %s is missing", member))
		}
	}
	return nil
}

// within adds the name of a part of a body to an error about it.
func within(name string, err error) error {
	if name == "" {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// fieldsOf returns the index of each field of a struct by the name of its member, and the names of
// the members that are required.
func fieldsOf(t reflect.Type) (index map[string][]int, required []string) {
	index = map[string][]int{}
	for _, field := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" {
			continue // an embedded struct
		}
		index[name] = field.Index
		if options == "" {
			required = append(required, name)
		}
	}
	return index, required
}

// unknownMember returns the error for a member that an object does not have.
func unknownMember(name string, accepted []string) error {
	meant := ""
	if c := words.Closest(strings.ToLower(name), accepted); c != "" {
		meant = "; did you mean " + c + "?"
	}
	return fmt.Errorf("unknown member %q (accepted: %s)%s", name, strings.Join(accepted, ", "), meant)
}

// shown returns a value for a message.
func shown(v any) string {
	switch v.(type) {
	case parse.Object, []any:
		return parse.JSONKind(v)
	}
	return words.Value(v)
}

// instant is a time of a body.
type instant struct{ time.Time }

func (t *instant) decode(_ keyForm, name string, tree any) (err error) {
	text, isString := tree.(string)
	if !isString {
		return fmt.Errorf("%s must be a string such as 2026-11-01T10:00:00Z, got %s", name, shown(tree))
	}
	if t.Time, err = edgelist.ParseTime(text); err != nil {
		return fmt.Errorf("%s: %s", name, words.Plain(err))
	}
	return nil
}

// duration is a duration of a body.
type duration time.Duration

func (d *duration) decode(_ keyForm, name string, tree any) error {
	text, isString := tree.(string)
	parsed, err := query.ParseDuration(text)
	if !isString || err != nil || parsed <= 0 {
		return fmt.Errorf("%s must be a duration above 0 such as 90s, 24h or 7d, got %s", name, shown(tree))
	}
	*d = duration(parsed)
	return nil
}
