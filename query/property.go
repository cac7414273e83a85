package query

import (
	"slices"
	"strings"
	"sync"
	"time"

	"kith/db"
	"kith/query/internal/parse"
)

// propertyActions returns the statements about properties of nodes.
func propertyActions() []action {
	return []action{
		{name: "UPDATE NODE", access: joins | edits, columns: named("node", "properties"), run: updating((*run).updateNode)},
		{
			name: "SHOW PROPERTIES", access: reads | joins, run: viewing((*run).showProperties),
			columns: columnsOf(propertyColumns),
		},
	}
}

// updateNode sets properties of a node.
func (r *run) updateNode(s *parse.Statement) {
	k := r.node(parse.TheNode.Of(s))
	values := r.assignments(s)
	if r.err != nil || r.failAt(parse.TheNode.Of(s), r.tx.SetProperties(k, values)) {
		return
	}
	n, err := r.tx.Node(k)
	r.fail(err)
	r.rows.add(n.Key, int64(len(n.Properties)))
}

// assignments returns the values of a SET clause; nil if there is none.
func (r *run) assignments(s *parse.Statement) map[string]any {
	list := parse.Assigned.All(s)
	if list == nil {
		return nil
	}
	values := make(map[string]any, len(list))
	for _, a := range list {
		name := a.Name.Value
		if _, again := values[name]; again {
			r.refuse(a, "property %v is set twice", a.Name)
		}
		values[name] = r.assigned(a)
	}
	return values
}

// assigned returns the value of an assignment.
func (r *run) assigned(a parse.Assignment) (value any) {
	if a.Value == nil {
		list := make([]string, len(a.List))
		for i, s := range a.List {
			list[i] = r.text(s)
		}
		value = list
	} else if word, isWord := a.Value.(parse.Name); !isWord {
		value = r.value(a.Value)
	} else if word.Value != "null" {
		value = word.Value == "true"
	}
	value, err := r.tx.Literal(a.Name.Value, value)
	r.failAt(a, err)
	return value
}

// propertyRow is a property, which a row of SHOW PROPERTIES is about.
type propertyRow struct {
	*run
	name, holds string
	described   func() *db.Property // reads all values
}

// propertyColumns are the columns of SHOW PROPERTIES.
var propertyColumns = []field[*propertyRow]{
	{column{name: "property"}, aText, func(p *propertyRow) any { return p.name }},
	{column{"type", "bool, integer, float, string, time or list"}, aText, func(p *propertyRow) any { return p.holds }},
	{column{"nodes", "that have a value"}, aNumeric, func(p *propertyRow) any { return p.described().Nodes }},
	{
		column{"labels", "of these nodes"}, aText,
		func(p *propertyRow) any {
			return strings.Join(slices.DeleteFunc(slices.Clone(p.described().Labels), func(l string) bool { return l == "" }), ", ")
		},
	},
	{
		column{"distinct", "number of different values, at most 65536"}, aNumeric,
		func(p *propertyRow) any { return int64(p.described().Distinct) },
	},
	{column{name: "smallest"}, aText, func(p *propertyRow) any { return p.cellOf(p.described().Smallest) }},
	{column{name: "largest"}, aText, func(p *propertyRow) any { return p.cellOf(p.described().Largest) }},
}

func (r *run) showProperties(s *parse.Statement) {
	t := newTable(r, propertyColumns, len(propertyColumns), nil, s)
	r.rows.Columns = columnNames(columnsOf(t.shown))
	names := r.tx.PropertyNames()
	all := sync.OnceValue(func() []db.Property {
		found, err := r.tx.Properties(r.ctx)
		r.fail(err)
		return append(found, make([]db.Property, len(names)-len(found))...) // none after an error
	})
	for i, name := range names {
		t.add(r.rows, &propertyRow{r, name, r.tx.PropertyType(name), func() *db.Property { return &all()[i] }})
	}
}

// cellOf returns the value of an answer that a value of a property is: a time as instant returns
// it, and a list as an assignment writes it.
func (r *run) cellOf(v any) any {
	switch v := v.(type) {
	case time.Time:
		return r.instant(v)
	case []string:
		texts := make([]string, len(v))
		for i, s := range v {
			texts[i] = parse.String{Value: s}.String()
		}
		return "(" + strings.Join(texts, ", ") + ")"
	}
	return v
}

// propertyFields returns the fields of the properties of a node, which node reads from a row.
func propertyFields[R any](r *run, node func(R) *db.Node) (all []field[R]) {
	for _, name := range r.tx.PropertyNames() {
		all = append(all, field[R]{column{name, "of the node"}, aText, func(about R) any { return r.cellOf(node(about).Properties[name]) }})
	}
	return all
}

// ofNodes are the columns other than properties that a condition on candidates may name.
var ofNodes = []string{"node", "label", "degree", "edges"}

// filter is a condition in two parts, which both must hold.
type filter struct {
	nodes  *db.Cond        // the part about nodes alone, which decides what is a candidate; nil: none
	answer parse.Condition // the part about columns of the answer; nil: none
}

// of returns the candidates that satisfy the part about nodes.
func (f filter) of(among db.Candidates) db.Candidates {
	if f.nodes == nil {
		return among
	}
	return among.Where(*f.nodes)
}

// split splits a condition, which may be nil, into its part about nodes and its part about columns
// of the answer. Both must be joined by AND.
func (r *run) split(c parse.Condition, columns []string) (f filter) {
	if c == nil {
		return f
	}
	var others []parse.Condition
	for _, term := range conjuncts(c) {
		about, answer := r.about(term, columns)
		switch {
		case about && answer:
			r.refuse(term, "a condition on the nodes and a condition on the answer are joined by AND, not within %s", term)
		case answer:
			others = append(others, term)
		default:
			cond := r.cond(term, columns)
			if f.nodes != nil {
				cond = f.nodes.And(cond)
			}
			f.nodes = &cond
		}
	}
	switch len(others) {
	case 0:
	case 1:
		f.answer = others[0]
	default:
		f.answer = &parse.Logic{Pos: c.Position(), Terms: others}
	}
	return f
}

// conjuncts returns the conditions that all must hold for c to hold.
func conjuncts(c parse.Condition) []parse.Condition {
	if l, ok := c.(*parse.Logic); ok && !l.Any {
		return l.Terms
	}
	return []parse.Condition{c}
}

// about reports whether a condition is about nodes, and whether it is about columns of the answer.
func (r *run) about(c parse.Condition, columns []string) (nodes, answer bool) {
	switch c := c.(type) {
	case *parse.Not:
		return r.about(c.Condition, columns)
	case *parse.Logic:
		for _, term := range c.Terms {
			n, a := r.about(term, columns)
			nodes, answer = nodes || n, answer || a
		}
	case *parse.Comparison:
		name := strings.ToLower(c.Column.Value)
		answer = !slices.Contains(ofNodes, name) && slices.Contains(columns, name)
		return !answer, answer
	}
	return nodes, answer
}

// where returns the candidates of a statement whose WHERE clause is about nodes alone.
func (r *run) where(s *parse.Statement, among db.Candidates) db.Candidates {
	return r.split(parse.Where.Of(s), nil).of(among)
}

// cond returns the condition of the database for a condition on nodes, in a statement whose answer
// has some columns.
func (r *run) cond(c parse.Condition, columns []string) db.Cond {
	switch c := c.(type) {
	case *parse.Not:
		return r.cond(c.Condition, columns).Not()
	case *parse.Logic:
		all := r.cond(c.Terms[0], columns)
		for _, term := range c.Terms[1:] {
			if c.Any {
				all = all.Or(r.cond(term, columns))
			} else {
				all = all.And(r.cond(term, columns))
			}
		}
		return all
	case *parse.Comparison:
		return r.compared(c, columns)
	}
	return db.Cond{}
}

// compared returns the condition for a comparison. It fails for a property that no node has, and
// for a value that the property is not compared with.
func (r *run) compared(c *parse.Comparison, columns []string) db.Cond {
	name := c.Column.Value
	is := r.tx.PropertyType(name)
	known := is != ""
	if lower := strings.ToLower(name); !known && slices.Contains(ofNodes, lower) {
		name, known = lower, true
		is = map[string]string{"node": "", "label": "string"}[lower]
	}
	if !known {
		r.fail(unknown("column or property", c.Column, accepted(columns, ofNodes, r.tx.PropertyNames())))
		return db.Cond{}
	}
	cond := db.Cond{Of: name, Op: string(c.Operator)}
	switch c.Operator {
	case parse.Is:
		cond.Op = "="
	case parse.IsNot:
		cond.Op = "<>"
	case parse.True:
		if cond.Op, cond.Value = "=", true; is != "bool" {
			r.refuse(c, "%v is not true or false: compare it with a value, as in %v = ...", c.Column, c.Column)
		}
	case parse.In:
		list := []any{}
		for _, v := range r.spread(c.Values) {
			list = append(list, r.operand(is, v))
		}
		cond.Value = list
	default:
		cond.Value = r.operand(is, c.Values[0])
	}
	if r.err == nil {
		_, err := r.tx.Select(cond)
		r.failAt(c, err)
	}
	return cond
}

// accepted returns the names of lists, each once.
func accepted(lists ...[]string) (all []string) {
	for _, name := range slices.Concat(lists...) {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// operand returns a value that is compared with values of a type.
func (r *run) operand(is string, v parse.Value) any {
	x := r.value(v)
	switch n, isName := v.(parse.Name); {
	case is == "time":
		return r.time(v)
	case is == "bool" && isName && slices.Contains([]string{"true", "false", "on", "off"}, strings.ToLower(n.Value)):
		return slices.Contains([]string{"true", "on"}, strings.ToLower(n.Value))
	}
	return x
}
