package query

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kith/db"
	"kith/db/words"
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
	is := map[string]columnKind{"source": aKey, "target": aKey, "node": aKey, "class": aKey, "certain": aFlag, "label": aText}
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

// table resolves the WHERE and RETURN clauses of a statement. Without RETURN the answer has the columns of its kind.
func (r *run) table(where parse.Condition, returned []parse.Name) (*table, error) {
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
		i, err := t.place(n)
		if err == nil && slices.Contains(t.shown, i) {
			err = &Error{Pos: n.Pos, Msg: "column " + n.String() + " is returned twice", Err: db.ErrInput}
		}
		if err != nil {
			return nil, err
		}
		t.shown = append(t.shown, i)
	}
	if where == nil {
		return t, nil
	}
	var err error
	t.keep, err = r.compile(t, where)
	return t, err
}

// place returns the index of a column and records that a clause uses it.
func (t *table) place(n parse.Name) (int, error) {
	var names []string
	for i, c := range t.columns {
		if c.name == n.Value {
			t.named = append(t.named, c.name)
			return i, nil
		}
		names = append(names, c.name)
	}
	return 0, &Error{
		Pos: n.Pos, Msg: "no column " + n.String() + " (there are: " + strings.Join(names, ", ") + ")",
		DidYouMean: words.Closest(n.Value, names), Err: db.ErrInput,
	}
}

// uses reports whether a clause names one of the columns.
func (t *table) uses(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(t.named, n) })
}

// rows returns an empty answer with the returned columns.
func (t *table) rows() *Rows {
	rows := &Rows{}
	for _, i := range t.shown {
		rows.Columns = append(rows.Columns, t.columns[i].name)
	}
	return rows
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
func (r *run) compile(t *table, c parse.Condition) (func(row []any) bool, error) {
	switch c := c.(type) {
	case *parse.Not:
		f, err := r.compile(t, c.Condition)
		return func(row []any) bool { return !f(row) }, err
	case *parse.Logic:
		return r.compileLogic(t, c)
	case *parse.Comparison:
		return r.compileComparison(t, c)
	}
	panic(fmt.Sprintf("query: no meaning of %T", c))
}

func (r *run) compileLogic(t *table, c *parse.Logic) (func(row []any) bool, error) {
	terms := make([]func(row []any) bool, len(c.Terms))
	for i, term := range c.Terms {
		f, err := r.compile(t, term)
		if err != nil {
			return nil, err
		}
		terms[i] = f
	}
	return func(row []any) bool {
		for _, f := range terms {
			if f(row) == c.Any {
				return c.Any
			}
		}
		return !c.Any
	}, nil
}

func (r *run) compileComparison(t *table, c *parse.Comparison) (func(row []any) bool, error) {
	i, err := t.place(c.Column)
	if err != nil {
		return nil, err
	}
	is := t.columns[i].is
	list := c.Values
	if c.Operator == parse.In {
		list = r.spread(list)
	}
	var value any // the last value, which is the only one unless the operator is IN
	values := make(map[any]bool, len(list))
	for _, v := range list {
		if value, err = r.comparable(is, c.Column, v); err != nil {
			return nil, err
		}
		values[value] = true
	}
	ordered := map[parse.Comparator]func(a, b float64) bool{
		parse.Less:           func(a, b float64) bool { return a < b },
		parse.LessOrEqual:    func(a, b float64) bool { return a <= b },
		parse.Greater:        func(a, b float64) bool { return a > b },
		parse.GreaterOrEqual: func(a, b float64) bool { return a >= b },
	}[c.Operator]
	switch {
	case ordered == nil:
		return func(row []any) bool { return values[cell(is, row[i])] != (c.Operator == parse.NotEqual) }, nil
	case is != aNumeric:
		return nil, &Error{
			Pos: c.Pos, Msg: fmt.Sprintf("column %v holds no numbers: it can be compared by =, <> and IN, not by %s", c.Column, c.Operator),
			Err: db.ErrInput,
		}
	}
	limit := value.(float64)
	return func(row []any) bool { return ordered(cell(is, row[i]).(float64), limit) }, nil
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

// comparable converts a value of a statement to the form in which values of the column are compared.
func (r *run) comparable(is columnKind, column parse.Name, v parse.Value) (any, error) {
	x, err := r.value(v)
	if err != nil {
		return nil, err
	}
	ok := false
	switch is {
	case aNumeric:
		return r.number(v)
	case aKey:
		if _, bare := v.(parse.Name); !bare {
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
		return x, nil
	}
	e := &Error{Pos: v.Position(), Msg: fmt.Sprintf("column %v wants %s", column, is), Err: db.ErrInput}
	if n, bare := v.(parse.Name); bare && is == aKey {
		e.DidYouMean = parse.Suggest(parse.String{Value: n.Value})
	}
	return nil, e
}
