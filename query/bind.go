package query

import (
	"database/sql"
	"fmt"
	"math"
	"reflect"
	"time"

	"kith/db"
	"kith/db/edgelist"
	"kith/db/words"
	"kith/query/internal/parse"
)

// bind assigns the arguments to the parameters of a statement. It returns an error if there are too
// many or too few.
func (r *run) bind(stmt *parse.Statement, args []any) error {
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
func (r *run) value(v parse.Value) any {
	switch v := v.(type) {
	case parse.Int:
		return v.Value
	case parse.Float:
		return v.Value
	case parse.String:
		return v.Value
	case parse.Name:
		return v.Value
	case parse.Param:
		x, err := r.argument(v)
		r.fail(err)
		return x
	case element:
		return v.of
	}
	return nil
}

// refuse records the error that a part of the statement is wrong.
func (r *run) refuse(at place, format string, args ...any) {
	r.fail(&Error{Pos: at.Position(), Msg: fmt.Sprintf(format, args...), Err: db.ErrInput})
}

// number returns a finite number.
func (r *run) number(v parse.Value) float64 {
	x, f := r.value(v), math.NaN()
	switch rv := reflect.ValueOf(x); {
	case rv.CanInt():
		f = float64(rv.Int())
	case rv.CanUint():
		f = float64(rv.Uint())
	case rv.CanFloat():
		f = rv.Float()
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		r.refuse(v, "%s is not a finite number", words.Value(x))
		return 0
	}
	return f
}

// validReward returns a number that is a valid reward.
func (r *run) validReward(v parse.Value) float64 {
	x := r.number(v)
	if math.Abs(x) > math.MaxFloat32 {
		r.refuse(v, "reward %v (accepted: from -3.4e38 to 3.4e38)", x)
	}
	return x
}

// integer returns an integer of at least low, or def if v is nil.
func (r *run) integer(v parse.Value, low, def int64) int64 {
	return r.integerBetween(v, low, math.MaxInt64, def)
}

// integerBetween returns an integer from low to most, or def if v is nil.
func (r *run) integerBetween(v parse.Value, low, most, def int64) (i int64) {
	if v == nil {
		return def
	}
	x := r.value(v)
	switch rv := reflect.ValueOf(x); {
	case rv.CanInt():
		i = rv.Int()
	case rv.CanUint() && rv.Uint() <= math.MaxInt64:
		i = int64(rv.Uint())
	default:
		r.refuse(v, "%s is not an integer", words.Value(x))
	}
	if i < low {
		r.refuse(v, "%d is not an integer of at least %d", i, low)
	}
	if i > most {
		r.refuse(v, "%d is not an integer of at most %d", i, most)
	}
	return i
}

// time returns the time that v gives: a number of seconds since 1970, a string in a form of
// [edgelist.ParseTime], or a time.Time. It returns the zero time if v is nil.
func (r *run) time(v parse.Value) (t time.Time) {
	if v == nil {
		return t
	}
	var err error
	switch x := r.value(v).(type) {
	case time.Time:
		t = x
	case string:
		t, err = edgelist.ParseTime(x)
	default:
		if f := reflect.ValueOf(x); f.CanFloat() {
			whole, part := math.Modf(r.number(v))
			if t = time.Unix(int64(whole), int64(part*1e9)); math.Abs(whole) > 1e18 {
				r.refuse(v, "time %v in seconds since 1970 is not in the years 0 to 9999", x)
			}
		} else {
			t = time.Unix(r.integer(v, math.MinInt64, 0), 0)
		}
	}
	if err == nil && r.err == nil {
		err = edgelist.CheckTime(t.Unix())
	}
	if err != nil {
		r.refuse(v, "%s", words.Plain(err))
	}
	return t
}

// text returns a string.
func (r *run) text(v parse.Value) string {
	x := r.value(v)
	s, ok := x.(string)
	if !ok {
		r.refuse(v, "%s is not a string", words.Value(x))
	}
	return s
}

// key returns the key of a node.
func (r *run) key(v parse.Value) db.Key {
	k, err := db.KeyOf(r.value(v))
	r.failAt(v, err)
	return k
}

// node returns the key of a node that must exist. It is looked up here because the database would
// do so only when the turn of the node comes, which may be after long work, or never because there
// are enough rows.
func (r *run) node(v parse.Value) db.Key {
	k := r.key(v)
	if r.tx != nil && !r.tx.Has(k) {
		_, err := r.tx.Node(k)
		r.failAt(v, err)
	}
	return k
}

// nodes returns the keys of the nodes of a list, which must exist.
func (r *run) nodes(list []parse.Value) []any { return r.each(list, r.node) }

// each returns the keys that read, a method of r, reads from a list.
func (r *run) each(list []parse.Value, read func(parse.Value) db.Key) []any {
	list = r.spread(list)
	keys := make([]any, len(list))
	for i, v := range list {
		keys[i] = read(v)
	}
	return keys
}

// model returns the name of a model, whose existence the database checks.
func (r *run) model(n parse.Name) string {
	r.refer("model", n)
	return n.Value
}

// label returns the name of a label, whose existence the database checks.
func (r *run) label(n parse.Name) string {
	r.refer("label", n)
	return n.Value
}

// target returns the key of the node that the arrow of a statement points to.
func (r *run) target(s *parse.Statement) db.Key {
	if parse.ArrowHead.Given(s) {
		return r.node(parse.ArrowHead.Of(s))
	}
	return r.node(parse.Target.Of(s))
}

// askedRelation returns the relation whose links a statement asks for, "" for all, and whether it
// asks for their sources.
func (r *run) askedRelation(s *parse.Statement) (relation string, inverse bool) {
	for _, c := range []parse.Clause[parse.Name]{parse.Inverse, parse.Links, parse.Link, parse.Arrow} {
		if n := c.Of(s); n.Value != "" {
			return r.relation(n), c == parse.Inverse
		}
	}
	return "", false
}

// relation returns the name of a relation, whose existence the database checks.
func (r *run) relation(n parse.Name) string {
	r.refer("relation", n)
	return n.Value
}

// relations returns the names of relations.
func (r *run) relations(list []parse.Name) (names []string) {
	for _, n := range list {
		names = append(names, r.relation(n))
	}
	return names
}

// version returns the number of a version, whose existence the database checks, or 0 if v is nil.
func (r *run) version(v parse.Value) int {
	if v != nil {
		r.refer("version", v)
	}
	return int(r.integer(v, 1, 0))
}

// reference is a name in the statement of a thing that the database looks up.
type reference struct {
	kind  string
	value parse.Value
}

// refer remembers a name, so that the database's error about it gets its position.
func (r *run) refer(kind string, v parse.Value) {
	r.references = append(r.references, reference{kind, v})
}

// positionOf returns the position of the name that an error of the database is about.
func (r *run) positionOf(e *db.Error) (at parse.Pos, found bool) {
	for _, ref := range r.references {
		if ref.kind == e.Kind && referenceName(r.value(ref.value)) == e.Name {
			return ref.value.Position(), true
		}
	}
	return at, false
}

// referenceName returns a name as [db.Error] has it.
func referenceName(v any) string {
	if k, isKey := v.(db.Key); isKey {
		return k.Literal()
	}
	return fmt.Sprint(v)
}

// element is an element of a slice given as an argument. It occurs only in statements being run.
type element struct {
	parse.Param
	of any
}

// spread returns a list in which each parameter whose argument is a slice is replaced by the
// elements of the slice. A []byte does not count as a slice.
func (r *run) spread(list []parse.Value) []parse.Value {
	all := make([]parse.Value, 0, len(list))
	for _, v := range list {
		p, isParam := v.(parse.Param)
		x := r.value(v)
		elements := reflect.ValueOf(x)
		if _, bytes := x.([]byte); !isParam || bytes || elements.Kind() != reflect.Slice {
			all = append(all, v)
			continue
		}
		for i := range elements.Len() {
			all = append(all, element{p, elements.Index(i).Interface()})
		}
	}
	return all
}
