package query

import (
	"slices"
	"strings"
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
			columns: []column{
				{name: "property"}, {"type", "bool, integer, float, string, time or list"}, {"nodes", "that have a value"},
				{"labels", "of these nodes"}, {"distinct", "number of different values, at most 65536"}, {name: "smallest"}, {name: "largest"},
			},
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
		r.failAt(a, r.tx.CheckProperty(name, values[name]))
	}
	return values
}

// assigned returns the value of an assignment.
func (r *run) assigned(a parse.Assignment) any {
	switch v := a.Value.(type) {
	case nil:
		list := make([]string, len(a.List))
		for i, s := range a.List {
			list[i] = r.text(s)
		}
		return list
	case parse.Name:
		if v.Value == "null" {
			return nil
		}
		return v.Value == "true"
	case parse.String:
		is := r.tx.PropertyType(a.Name.Value)
		if is == "time" || is == "" && isDate(v.Value) {
			return r.moment(v)
		}
	}
	return r.value(a.Value)
}

// isDate reports whether a text begins with a date, which makes a new property a time.
func isDate(text string) bool {
	date, clock := text, ""
	if i := strings.IndexAny(text, "T "); i >= 0 {
		date, clock = text[:i], text[i+1:]
	}
	_, err := time.Parse(time.DateOnly, date)
	return err == nil && (clock == "" || len(clock) >= 5 && clock[2] == ':')
}

// moment returns the time that a value gives, with its fraction of a second.
func (r *run) moment(v parse.Value) time.Time {
	if text, isText := r.value(v).(string); isText {
		if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
			return t
		}
	}
	return r.time(v)
}

func (r *run) showProperties(*parse.Statement) {
	all, err := r.tx.Properties(r.ctx)
	r.fail(err)
	for _, p := range all {
		var labels []string
		for _, l := range p.Labels {
			if l != "" {
				labels = append(labels, l)
			}
		}
		r.rows.add(p.Name, p.Type, p.Nodes, strings.Join(labels, ", "), int64(p.Distinct), cellOf(p.Smallest), cellOf(p.Largest))
	}
}

// cellOf returns the value of an answer that a value of a property is: a time in RFC 3339, and a list
// as an assignment writes it.
func cellOf(v any) any {
	switch v := v.(type) {
	case time.Time:
		return v.Format(time.RFC3339Nano)
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
		all = append(all, field[R]{column{name, "of the node"}, aText, func(about R) any { return cellOf(node(about).Properties[name]) }})
	}
	return all
}

// ofNodes are the columns other than properties that a condition on candidates may name.
var ofNodes = []string{"node", "label", "degree", "edges"}

// split splits a condition into the part that is about nodes alone, which decides what is a
// candidate, and the rest, which is about columns of the answer. Either may be nil. Both must be joined
// by AND.
func (r *run) split(c parse.Condition, columns []string) (nodes *db.Cond, rest parse.Condition) {
	if c == nil {
		return nil, nil
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
			if nodes != nil {
				cond = nodes.And(cond)
			}
			nodes = &cond
		}
	}
	switch len(others) {
	case 0:
		return nodes, nil
	case 1:
		return nodes, others[0]
	}
	return nodes, &parse.Logic{Pos: c.Position(), Terms: others}
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
	if nodes, _ := r.split(parse.Where.Of(s), nil); nodes != nil {
		return among.Where(*nodes)
	}
	return among
}

// cond returns the condition of the database for a condition on nodes, in a statement whose answer has
// some columns.
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

// compared returns the condition for a comparison. It fails for a property that no node has, and for
// a value that the property is not compared with.
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
		return r.moment(v)
	case is == "bool" && isName && slices.Contains([]string{"true", "false", "on", "off"}, strings.ToLower(n.Value)):
		return slices.Contains([]string{"true", "on"}, strings.ToLower(n.Value))
	}
	return x
}
