package query

import (
	"cmp"
	"fmt"
	"slices"

	"kith/db"
	"kith/query/parse"
)

// column is a column of an answer.
type column struct {
	name string
	is   columnKind
}

// columnKind is the kind of the values of a column.
type columnKind string

const (
	aNumeric columnKind = "a number"
	aKey     columnKind = "a node"
	aText    columnKind = "a name or a 'string'"
	aFlag    columnKind = "true or false"
)

// columnsOf returns the columns of a list. The kind of a column follows from its name.
func columnsOf(list string) (columns []column) {
	is := map[string]columnKind{"source": aKey, "target": aKey, "node": aKey, "certain": aFlag, "label": aText}
	for _, name := range columnNames(list) {
		columns = append(columns, column{name, cmp.Or(is[name], aNumeric)})
	}
	return columns
}

// table describes an answer whose columns a condition and a RETURN clause may name.
type table struct {
	columns []column
	named   []string             // names of the columns that clauses use
	shown   []int                // indexes of the columns returned
	keep    func(row []any) bool // reports whether a row is kept; nil keeps all rows
}

// table resolves the WHERE and RETURN clauses of a statement. Without RETURN the answer has the
// columns of its kind.
func (r *run) table(where parse.Condition, returned []parse.Name) *table {
	t := &table{columns: columnsOf(r.kind.columns)}
	for i := range t.columns {
		t.shown = append(t.shown, i)
	}
	if r.kind.more != "" {
		t.columns = append(t.columns, columnsOf(r.kind.more)...)
	}
	if returned != nil {
		t.shown = nil
	}
	for _, n := range returned {
		i := r.column(t, n)
		if slices.Contains(t.shown, i) {
			r.refuse(n, "column %v is returned twice", n)
		}
		t.shown = append(t.shown, i)
	}
	if where != nil {
		t.keep = r.compile(t, where)
	}
	return t
}

// column returns the index of a column and records that a clause uses it.
func (r *run) column(t *table, n parse.Name) int {
	var names []string
	for i, c := range t.columns {
		if c.name == n.Value {
			t.named = append(t.named, c.name)
			return i
		}
		names = append(names, c.name)
	}
	r.fail(unknown("column", n, names))
	return 0
}

// uses reports whether a clause names one of the columns.
func (t *table) uses(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(t.named, n) })
}

// shownNames returns the names of the returned columns.
func (t *table) shownNames() (names []string) {
	for _, i := range t.shown {
		names = append(names, t.columns[i].name)
	}
	return names
}

// add adds the returned columns of a row if the condition holds, and reports whether it did.
func (t *table) add(rows *Rows, row ...any) bool {
	if t.keep != nil && !t.keep(row) {
		return false
	}
	shown := make([]any, len(t.shown))
	for i, place := range t.shown {
		shown[i] = row[place]
	}
	rows.add(shown...)
	return true
}

// compile compiles a condition to a function of rows.
func (r *run) compile(t *table, c parse.Condition) func(row []any) bool {
	switch c := c.(type) {
	case *parse.Not:
		f := r.compile(t, c.Condition)
		return func(row []any) bool { return !f(row) }
	case *parse.Logic:
		terms := make([]func(row []any) bool, len(c.Terms))
		for i, term := range c.Terms {
			terms[i] = r.compile(t, term)
		}
		return func(row []any) bool {
			for _, f := range terms {
				if f(row) == c.Any {
					return c.Any
				}
			}
			return !c.Any
		}
	case *parse.Comparison:
		return r.compileComparison(t, c)
	}
	panic(fmt.Sprintf("query: no meaning of %T", c))
}

func (r *run) compileComparison(t *table, c *parse.Comparison) func(row []any) bool {
	i := r.column(t, c.Column)
	is := t.columns[i].is
	list := c.Values
	if c.Operator == parse.In {
		list = r.spread(list)
	}
	var value any // the last value, which is the only one unless the operator is IN
	values := make(map[any]bool, len(list))
	for _, v := range list {
		value = r.comparable(is, c.Column, v)
		values[value] = true
	}
	ordered := map[parse.Comparator]func(a, b float64) bool{
		parse.Less:           func(a, b float64) bool { return a < b },
		parse.LessOrEqual:    func(a, b float64) bool { return a <= b },
		parse.Greater:        func(a, b float64) bool { return a > b },
		parse.GreaterOrEqual: func(a, b float64) bool { return a >= b },
	}[c.Operator]
	if ordered == nil {
		return func(row []any) bool { return values[cell(is, row[i])] != (c.Operator == parse.NotEqual) }
	}
	if is != aNumeric {
		r.refuse(c, "column %v holds no numbers: it can be compared by =, <> and IN, not by %s", c.Column, c.Operator)
	}
	limit, _ := value.(float64)
	return func(row []any) bool { return ordered(cell(is, row[i]).(float64), limit) }
}

// cell converts a value of a row to the form that comparable returns.
func cell(is columnKind, v any) any {
	switch n := v.(type) {
	case int64:
		return float64(n)
	case nil:
		if is == aText {
			return "" // no label
		}
	}
	return v
}

// comparable converts a value of a statement to the form in which values of the column are
// compared.
func (r *run) comparable(is columnKind, column parse.Name, v parse.Value) any {
	x := r.value(v)
	n, isName := v.(parse.Name)
	ok := false
	switch is {
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
	e := &Error{Pos: v.Position(), Msg: fmt.Sprintf("column %v wants %s", column, is), Err: db.ErrInput}
	if isName && is == aKey {
		e.DidYouMean = parse.Suggest(parse.String{Value: n.Value})
	}
	r.fail(e)
	return nil
}
