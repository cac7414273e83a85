package web

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"kith/db"
	"kith/db/words"
	"kith/query/internal/parse"
)

// request is the body that a client posts: a statement and its arguments, a list for ? or an object
// for $name.
type request struct {
	Statement  string     `json:"statement"`
	Parameters parameters `json:"parameters,omitempty"`
	Keys       keyForm    `json:"keys,omitempty"`
	Progress   bool       `json:"progress,omitempty" means:"whether lines of progress come first"`
}

// parameters are the arguments of a statement as [parse.JSON] returns them.
type parameters struct{ tree any }

func (p *parameters) decode(_ keyForm, _ string, tree any) error {
	p.tree = tree
	return nil
}

// keyForm is how nodes are written in an answer, and in the parameters that are marked as nodes.
type keyForm string

const (
	keysJSON keyForm = "json" // an integer or a string
	keysText keyForm = "text" // a string, as [db.Key.MarshalText] writes it
)

func (f *keyForm) decode(_ keyForm, _ string, tree any) error { return f.set(tree) }

// set sets a form to the value of a member.
func (f *keyForm) set(v any) error {
	if v == nil {
		return nil
	}
	if s, _ := v.(string); s == string(keysJSON) || s == string(keysText) {
		*f = keyForm(s)
		return nil
	}
	return fmt.Errorf("keys must be %q or %q, got %s", keysJSON, keysText, shown(v))
}

// arguments returns the arguments of Run.
func (q *request) arguments() (args []any, err error) {
	switch p := q.Parameters.tree.(type) {
	case nil:
		return nil, nil
	case []any:
		return q.Keys.list("parameters", p)
	case parse.Object:
		for _, name := range slices.Sorted(maps.Keys(p)) {
			v, err := q.Keys.argument("parameters."+name, p[name])
			if err != nil {
				return nil, err
			}
			args = append(args, sql.Named(name, v))
		}
		return args, nil
	}
	return nil, fmt.Errorf("parameters must be a list for ? or an object for $name, got %s", parse.JSONKind(q.Parameters.tree))
}

// list returns the arguments of a list, which is called name.
func (f keyForm) list(name string, list []any) (args []any, err error) {
	args = make([]any, len(list))
	for i, v := range list {
		if args[i], err = f.argument(fmt.Sprintf("%s[%d]", name, i), v); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// argument returns an argument, which is called name.
func (f keyForm) argument(name string, v any) (any, error) {
	switch v := v.(type) {
	case []any:
		return f.list(name, v)
	case parse.Object:
		key, isNode := v["key"]
		if !isNode || len(v) > 1 {
			return nil, fmt.Errorf(`%s must be a number, a string, true, false, null, a list of these, or a node as {"key": ...}, got another object`, name)
		}
		k, err := f.node(key)
		if err != nil {
			return nil, fmt.Errorf("%s: %s", name, words.Plain(err))
		}
		return k, nil
	}
	return v, nil
}

// node returns the node that the member key of an object names.
func (f keyForm) node(v any) (k db.Key, err error) {
	spelled, isString := v.(string)
	switch {
	case f != keysText:
		return db.KeyOf(v)
	case !isString:
		return k, fmt.Errorf("a node must be a string where keys is %q, got %s", keysText, words.Value(v))
	}
	return k, k.UnmarshalText([]byte(spelled))
}

// value returns a node as a value of JSON.
func (f keyForm) value(k db.Key) (any, error) {
	if f != keysText {
		return k.Value(), nil
	}
	text, err := k.MarshalText()
	return string(text), err
}

// spell returns a value that marshals as v does, with nodes in the given form.
func (f keyForm) spell(v any) (any, error) {
	if f != keysText {
		return v, nil
	}
	doc, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	tree, err := parse.JSON("", doc)
	if err != nil {
		return nil, err
	}
	return f.spellAs(reflect.TypeOf(v), tree)
}

// spellAs returns the JSON of a value of type t with nodes in the given form.
func (f keyForm) spellAs(t reflect.Type, tree any) (any, error) {
	switch {
	case t == reflect.TypeFor[jsonValue]():
		return jsonValue{tree}, nil
	case t.Kind() == reflect.Interface:
		return tree, nil
	}
	switch v := tree.(type) {
	case []any:
		for i := range v {
			var err error
			if v[i], err = f.spellAs(t.Elem(), v[i]); err != nil {
				return nil, err
			}
		}
		return v, nil
	case parse.Object:
		switch t.Kind() {
		case reflect.Pointer:
			t = t.Elem()
		case reflect.Map:
			for name := range v {
				var err error
				if v[name], err = f.spellAs(t.Elem(), v[name]); err != nil {
					return nil, err
				}
			}
			return v, nil
		}
		for _, field := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if _, given := v[name]; !given {
				continue
			}
			var err error
			if v[name], err = f.spellAs(field.Type, v[name]); err != nil {
				return nil, err
			}
		}
		return v, nil
	}
	if t != reflect.TypeFor[db.Key]() {
		return tree, nil
	}
	k, err := db.KeyOf(tree)
	if err != nil {
		return nil, err
	}
	return f.value(k)
}
