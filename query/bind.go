package query

import (
	"database/sql"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"kith/db"
	"kith/db/words"
	"kith/query/parse"
)

// bind assigns the arguments to the parameters of a statement. It returns an error if there are too many or too few.
func (r *run) bind(stmt parse.Statement, args []any) error {
	r.named = map[string]any{}
	for _, a := range args {
		if n, ok := a.(sql.NamedArg); ok {
			r.named[n.Name] = n.Value
			continue
		}
		r.args = append(r.args, a)
	}
	used := 0
	for _, p := range parse.Params(stmt) {
		if p.Name == "" {
			used = max(used, p.Index+1)
		}
		if _, err := r.argument(p); err != nil {
			return err
		}
	}
	if used < len(r.args) {
		return &Error{Pos: stmt.Position(), Msg: fmt.Sprintf("%d arguments are given for %d parameters ?", len(r.args), used)}
	}
	return nil
}

// argument returns the argument of a parameter.
func (r *run) argument(p parse.Param) (any, error) {
	if p.Name != "" {
		v, ok := r.named[p.Name]
		if !ok {
			return nil, &Error{Pos: p.Pos, Msg: fmt.Sprintf("parameter $%s has no argument", p.Name)}
		}
		return v, nil
	}
	if p.Index >= len(r.args) {
		return nil, &Error{Pos: p.Pos, Msg: fmt.Sprintf("parameter ? number %d has no argument: %d are given", p.Index+1, len(r.args))}
	}
	return r.args[p.Index], nil
}

// value returns the Go value of v: an int64, a float64, a string, or an argument of any type.
func (r *run) value(v parse.Value) (any, error) {
	switch v := v.(type) {
	case parse.Int:
		return v.Value, nil
	case parse.Float:
		return v.Value, nil
	case parse.String:
		return v.Value, nil
	case parse.Name:
		return v.Value, nil
	case parse.Param:
		return r.argument(v)
	case element:
		return v.of, nil
	}
	return nil, nil
}

// number returns a finite number.
func (r *run) number(v parse.Value) (float64, error) {
	x, err := r.value(v)
	if err != nil {
		return 0, err
	}
	var f float64
	switch rv := reflect.ValueOf(x); {
	case !rv.IsValid():
		f = math.NaN()
	case rv.CanInt():
		f = float64(rv.Int())
	case rv.CanUint():
		f = float64(rv.Uint())
	case rv.CanFloat():
		f = rv.Float()
	default:
		f = math.NaN()
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, &Error{Pos: v.Position(), Msg: fmt.Sprintf("%v (%T) is not a finite number", x, x)}
	}
	return f, nil
}

// rewarded returns a number that is a valid reward.
func (r *run) rewarded(v parse.Value) (float64, error) {
	x, err := r.number(v)
	if err == nil {
		err = r.positioned(v.Position(), db.CheckReward(x))
	}
	return x, err
}

// integer returns an integer of at least low, or def if v is nil.
func (r *run) integer(v parse.Value, low, def int64) (int64, error) {
	if v == nil {
		return def, nil
	}
	x, err := r.value(v)
	if err != nil {
		return 0, err
	}
	var i int64
	switch rv := reflect.ValueOf(x); {
	case rv.IsValid() && rv.CanInt():
		i = rv.Int()
	case rv.IsValid() && rv.CanUint() && rv.Uint() <= math.MaxInt64:
		i = int64(rv.Uint())
	default:
		return 0, &Error{Pos: v.Position(), Msg: fmt.Sprintf("%v (%T) is not an integer", x, x)}
	}
	if i < low {
		return 0, &Error{Pos: v.Position(), Msg: fmt.Sprintf("%d is not an integer of at least %d", i, low)}
	}
	return i, nil
}

// within returns an integer from low to most, or def if v is nil.
func (r *run) within(v parse.Value, low, most, def int64) (int64, error) {
	n, err := r.integer(v, low, def)
	if err == nil && n > most {
		err = &Error{Pos: v.Position(), Msg: fmt.Sprintf("%d is not an integer of at most %d", n, most)}
	}
	return n, err
}

// seconds returns the time that v gives in seconds since 1970 or as a time.Time argument. It returns the zero time if
// v is nil.
func (r *run) seconds(v parse.Value) (time.Time, error) {
	if v == nil {
		return time.Time{}, nil
	}
	if x, err := r.value(v); err == nil {
		if t, ok := x.(time.Time); ok {
			return t, nil
		}
	}
	n, err := r.integer(v, math.MinInt64, 0)
	return time.Unix(n, 0), err
}

// text returns a string.
func (r *run) text(v parse.Value) (string, error) {
	x, err := r.value(v)
	if err != nil {
		return "", err
	}
	s, ok := x.(string)
	if !ok {
		return "", &Error{Pos: v.Position(), Msg: fmt.Sprintf("%v (%T) is not a string", x, x)}
	}
	return s, nil
}

// key returns the key of a node.
func (r *run) key(v parse.Value) (db.Key, error) {
	x, err := r.value(v)
	if err != nil {
		return db.Key{}, err
	}
	k, err := db.KeyOf(x)
	if err != nil {
		return k, r.positioned(v.Position(), err)
	}
	return k, nil
}

// node returns the key of a node that must exist.
func (r *run) node(tx *db.Tx, v parse.Value) (db.Key, error) {
	k, err := r.key(v)
	if err == nil && !tx.Has(k) {
		err = &Error{Pos: v.Position(), Msg: fmt.Sprintf("no node %v", k), Err: db.ErrNotFound}
	}
	return k, err
}

func (r *run) nodes(tx *db.Tx, list []parse.Value) ([]any, error) {
	list = r.spread(list)
	keys := make([]any, len(list))
	for i, v := range list {
		k, err := r.node(tx, v)
		if err != nil {
			return nil, err
		}
		keys[i] = k
	}
	return keys, nil
}

func (r *run) label(tx *db.Tx, n parse.Name) error {
	names := tx.Labels()
	if slices.Contains(names, n.Value) {
		return nil
	}
	return &Error{Pos: n.Pos, Msg: "no label " + n.String(), DidYouMean: words.Closest(n.Value, names), Err: db.ErrNotFound}
}

// model returns the name of a model that the database resolves. It keeps the place for the database's error.
func (r *run) model(n parse.Name) string {
	r.keep(db.KindModel, n.Pos)
	return n.Value
}

// version returns the number of a version that the database resolves, or 0 if v is nil.
func (r *run) version(v parse.Value) (int, error) {
	if v != nil {
		r.keep(db.KindVersion, v.Position())
	}
	n, err := r.integer(v, 1, 0)
	return int(n), err
}

// keep keeps the place of a name of some kind, for the database's error about it.
func (r *run) keep(kind db.Kind, at parse.Pos) {
	if r.places == nil {
		r.places = map[db.Kind]parse.Pos{}
	}
	r.places[kind] = at
}

// element is an element of a slice given as an argument. It occurs only in statements being run.
type element struct {
	parse.Param
	of any
}

// spread returns list with each parameter whose argument is a slice replaced by the elements of the slice. A []byte
// does not count as a slice.
func (r *run) spread(list []parse.Value) []parse.Value {
	spread := make([]parse.Value, 0, len(list))
	for _, v := range list {
		p, isParam := v.(parse.Param)
		x, err := r.value(v)
		elements := reflect.ValueOf(x)
		if _, bytes := x.([]byte); !isParam || err != nil || bytes || elements.Kind() != reflect.Slice {
			spread = append(spread, v)
			continue
		}
		for i := range elements.Len() {
			spread = append(spread, element{p, elements.Index(i).Interface()})
		}
	}
	return spread
}
