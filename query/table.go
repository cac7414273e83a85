package query

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"kith/db"
	"kith/query/internal/parse"
)

// Rows is the answer to a statement. A value is an int64, a finite float64, a string, a bool, a
// db.Key, or nil if it is absent, such as a numerical error that is not known.
type Rows struct {
	Columns []string
	Rows    [][]any
	Notes   []string // remarks for people, a line each
}

// add adds a row. NaN and infinities become nil: an unknown number has one form, which all
// clients can read.
func (r *Rows) add(values ...any) {
	for i, v := range values {
		if f, isFloat := v.(float64); isFloat && (math.IsNaN(f) || math.IsInf(f, 0)) {
			values[i] = nil
		}
	}
	r.Rows = append(r.Rows, values)
}

func (r *Rows) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// MarshalJSON implements [json.Marshaler]. It returns an object with the members columns, rows and
// notes.
func (r Rows) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Columns []string `json:"columns"`
		Rows    [][]any  `json:"rows"`
		Notes   []string `json:"notes"`
	}{append([]string{}, r.Columns...), append([][]any{}, r.Rows...), append([]string{}, r.Notes...)})
}

// column is a column of an answer.
type column struct {
	name    string
	meaning string // "" where the name says it
}

// named returns columns whose names say what they mean.
func named(names ...string) []column {
	columns := make([]column, len(names))
	for i, name := range names {
		columns[i].name = name
	}
	return columns
}

// columnNames returns the names of columns.
func columnNames(columns []column) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return names
}

// String returns the name of a column and its meaning.
func (c column) String() string {
	if c.meaning == "" {
		return c.name
	}
	return c.name + " (" + c.meaning + ")"
}

// valueType is the type of the values of a column.
type valueType string

const (
	aNumeric valueType = "a number"
	aKey     valueType = "a node"
	aText    valueType = "a name or a 'string'"
	aFlag    valueType = "true or false"

	aSentence valueType = "a sentence" // which no condition compares
)

// field is a column that conditions and RETURN clauses may name. value returns its value in the row
// about an R.
type field[R any] struct {
	column
	holds valueType
	value func(R) any
}

// columnsOf returns the columns of fields.
func columnsOf[R any](fields []field[R]) []column {
	columns := make([]column, len(fields))
	for i, f := range fields {
		columns[i] = f.column
	}
	return columns
}

// table is an answer whose columns a condition and a RETURN clause may name. Its rows are about Rs.
type table[R any] struct {
	shown []field[R]
	keep  func(R) bool // reports whether a row is kept; nil keeps all rows
}

// newTable resolves the WHERE and RETURN clauses of a statement. Without RETURN the answer has the
// first shown of the fields, and with RETURN * all.
func newTable[R any](r *run, fields []field[R], shown int, where parse.Condition, s *parse.Statement) *table[R] {
	t, returned := &table[R]{shown: fields[:shown]}, parse.Return.All(s)
	if parse.Star.Given(s) {
		t.shown = fields
	} else if returned != nil {
		t.shown = nil
	}
	for _, n := range returned {
		f := fieldNamed(r, fields, n)
		if slices.ContainsFunc(t.shown, func(other field[R]) bool { return other.name == f.name }) {
			r.refuse(n, "column %v is returned twice", n)
		}
		t.shown = append(t.shown, f)
	}
	if where != nil {
		t.keep = compile(r, fields, where)
	}
	return t
}

// fieldNamed returns the field of a name.
func fieldNamed[R any](r *run, fields []field[R], n parse.Name) field[R] {
	for _, name := range []string{n.Value, strings.ToLower(n.Value)} {
		if i := slices.IndexFunc(fields, func(f field[R]) bool { return f.name == name }); i >= 0 {
			return fields[i]
		}
	}
	r.fail(unknown("column", n, columnNames(columnsOf(fields))))
	return fields[0]
}

// add adds the row about an R if the condition holds, and reports whether it did.
func (t *table[R]) add(rows *Rows, about R) bool {
	if !t.keeps(about) {
		return false
	}
	rows.add(t.row(about)...)
	return true
}

// keeps reports whether the condition holds.
func (t *table[R]) keeps(about R) bool { return t.keep == nil || t.keep(about) }

// row returns the values of the row about an R.
func (t *table[R]) row(about R) []any {
	row := make([]any, len(t.shown))
	for i, f := range t.shown {
		row[i] = f.value(about)
	}
	return row
}

// compile compiles a condition to a function of what a row is about.
func compile[R any](r *run, fields []field[R], c parse.Condition) func(R) bool {
	switch c := c.(type) {
	case *parse.Not:
		f := compile(r, fields, c.Condition)
		return func(about R) bool { return !f(about) }
	case *parse.Logic:
		terms := make([]func(R) bool, len(c.Terms))
		for i, term := range c.Terms {
			terms[i] = compile(r, fields, term)
		}
		return func(about R) bool {
			for _, f := range terms {
				if f(about) == c.Any {
					return c.Any
				}
			}
			return !c.Any
		}
	case *parse.Comparison:
		return compileComparison(r, fieldNamed(r, fields, c.Column), c)
	}
	panic(fmt.Sprintf("query: no meaning of %T", c))
}

// orders are the comparators of numbers.
var orders = map[parse.Comparator]func(a, b float64) bool{
	parse.Less:           func(a, b float64) bool { return a < b },
	parse.LessOrEqual:    func(a, b float64) bool { return a <= b },
	parse.Greater:        func(a, b float64) bool { return a > b },
	parse.GreaterOrEqual: func(a, b float64) bool { return a >= b },
}

func compileComparison[R any](r *run, f field[R], c *parse.Comparison) func(R) bool {
	if f.holds == aSentence {
		r.refuse(c, "column %v is for people: RETURN accepts it, and WHERE does not", c.Column)
	}
	if c.Operator == parse.Is || c.Operator == parse.IsNot {
		return func(about R) bool { return (f.value(about) == nil) == (c.Operator == parse.Is) }
	}
	list := c.Values
	switch c.Operator {
	case parse.True:
		if f.holds != aFlag {
			r.refuse(c, "column %v is not true or false: compare it with a value, as in %v = ...", c.Column, c.Column)
		}
		return func(about R) bool { return f.value(about) == true }
	case parse.In:
		list = r.spread(list)
	}
	var value any // the last value, which is the only one unless the operator is IN
	values := make(map[any]bool, len(list))
	for _, v := range list {
		value = r.comparable(f.holds, c.Column, v)
		values[value] = true
	}
	ordered := orders[c.Operator]
	if ordered == nil {
		return func(about R) bool { return values[cell(f.holds, f.value(about))] != (c.Operator == parse.NotEqual) }
	}
	if f.holds != aNumeric {
		r.refuse(c, "column %v holds no numbers: it can be compared by =, <> and IN, not by %s", c.Column, c.Operator)
	}
	limit, _ := value.(float64)
	return func(about R) bool {
		x, isNumber := cell(f.holds, f.value(about)).(float64)
		return isNumber && ordered(x, limit)
	}
}

// cell converts a value of a row to the form that comparable returns.
func cell(holds valueType, v any) any {
	switch n := v.(type) {
	case int64:
		return float64(n)
	case nil:
		if holds == aText {
			return "" // no label
		}
	}
	return v
}

// comparable converts a value of a statement to the form in which values of the column are
// compared.
func (r *run) comparable(holds valueType, column parse.Name, v parse.Value) any {
	x := r.value(v)
	n, isName := v.(parse.Name)
	ok := false
	switch holds {
	case aNumeric:
		return r.number(v)
	case aKey:
		if !isName {
			return r.key(v)
		}
	case aText:
		_, ok = x.(string)
	case aFlag:
		if x == "true" || x == "false" {
			x = x == "true"
		}
		_, ok = x.(bool)
	}
	if ok {
		return x
	}
	e := &Error{Pos: v.Position(), Msg: fmt.Sprintf("column %v wants %s", column, holds), Err: db.ErrInput}
	if isName && holds == aKey {
		e.DidYouMean = parse.Suggest(parse.String{Value: n.Value})
	}
	r.fail(e)
	return nil
}
