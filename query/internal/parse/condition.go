package parse

import (
	"fmt"
	"strings"
)

// Condition selects rows: [*Comparison], [*Not] or [*Logic].
type Condition interface {
	Node
	condition()
}

// Comparison compares a column with a value or, with [In], with several.
type Comparison struct {
	Pos
	Column   Name
	Operator Comparator
	Values   []Value // of any kind; exactly one, unless the operator is In, Is, IsNot or True
}

// Comparator is a comparison operator, as the statement spells it.
type Comparator string

// The comparators.
const (
	Equal          Comparator = "="
	NotEqual       Comparator = "<>"
	Less           Comparator = "<"
	LessOrEqual    Comparator = "<="
	Greater        Comparator = ">"
	GreaterOrEqual Comparator = ">="
	In             Comparator = "IN"
	Is             Comparator = "IS NULL"     // without a value
	IsNot          Comparator = "IS NOT NULL" // without a value
	True           Comparator = ""            // a column alone, which holds if it is true
)

// Not negates a condition.
type Not struct {
	Pos
	Condition Condition
}

// Logic combines conditions: all (AND) or any (OR) of them must hold.
type Logic struct {
	Pos
	Any   bool        // true for OR, false for AND
	Terms []Condition // at least two
}

func (*Comparison) condition() {}
func (*Not) condition()        {}
func (*Logic) condition()      {}

func (c *Comparison) String() string {
	column := c.Column.String()
	if strings.EqualFold(column, "NOT") {
		column = quote(column, `"`)
	}
	values := make([]string, len(c.Values))
	for i, v := range c.Values {
		if values[i] = v.String(); strings.EqualFold(values[i], "NULL") { // a name, which would be read as the word
			values[i] = quote(values[i], `"`)
		}
	}
	value := strings.Join(values, ", ")
	switch c.Operator {
	case In:
		value = "(" + value + ")"
	case Is, IsNot:
		return column + " " + string(c.Operator)
	case True:
		return column
	}
	return column + " " + string(c.Operator) + " " + value
}

func (c *Not) String() string { return "NOT " + within(c.Condition) }

func (c *Logic) String() string {
	terms := make([]string, len(c.Terms))
	for i, t := range c.Terms {
		terms[i] = within(t)
		if l, ok := t.(*Logic); ok && c.Any && !l.Any {
			terms[i] = t.String() // AND binds closer than OR
		}
	}
	if c.Any {
		return strings.Join(terms, " OR ")
	}
	return strings.Join(terms, " AND ")
}

// within formats a condition as an operand, in parentheses if it is a Logic.
func within(c Condition) string {
	if _, ok := c.(*Logic); ok {
		return "(" + c.String() + ")"
	}
	return c.String()
}

// maxDepth is the maximum nesting depth of conditions.
const maxDepth = 100

// ParseCondition parses a condition as in a WHERE clause, such as score > 0.5 AND label = item. The
// error is a [*Error].
func ParseCondition(text string) (Condition, error) {
	return parse(Fragment{Text: text}, func(p *parser) Condition {
		c := p.condition(0)
		p.end()
		return c
	})
}

// condition parses a condition at a nesting depth.
func (p *parser) condition(depth int) Condition {
	return p.logic("OR", func() Condition {
		return p.logic("AND", func() Condition { return p.predicate(depth) })
	})
}

// logic parses terms joined by a keyword. A single term is returned as it is.
func (p *parser) logic(keyword string, term func() Condition) Condition {
	pos := p.tok.pos
	c := &Logic{Pos: pos, Any: keyword == "OR", Terms: []Condition{term()}}
	for p.keyword(keyword) {
		c.Terms = append(c.Terms, term())
	}
	if len(c.Terms) == 1 {
		return c.Terms[0]
	}
	return c
}

// predicate parses a comparison, a negation, or a condition in parentheses.
func (p *parser) predicate(depth int) Condition {
	pos := p.tok.pos
	if depth > maxDepth {
		p.stop(&Error{Pos: pos, Msg: fmt.Sprintf("conditions nest deeper than %d", maxDepth)})
	}
	switch {
	case p.keyword("NOT"):
		return &Not{pos, p.predicate(depth + 1)}
	case p.is(lparen):
		c := p.condition(depth + 1)
		p.need(p.is(rparen))
		return c
	}
	return p.comparison(pos)
}

func (p *parser) comparison(pos Pos) Condition {
	if s := p.tok.symbol; s == text || s == integer || s == decimal || s == param {
		v := p.any()
		p.need(p.keyword("IN"))
		return &Comparison{Pos: pos, Column: p.column(), Operator: In, Values: []Value{v}}
	}
	c := &Comparison{Pos: pos, Column: p.column()}
	for _, op := range []Comparator{Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual} {
		if p.is(symbol(op)) {
			c.Operator, c.Values = op, []Value{p.compared()}
			return c
		}
	}
	switch {
	case p.keyword("IN"):
		c.Operator, c.Values = In, listed(p, p.compared)
	case p.keyword("IS"):
		if c.Operator = Is; p.keyword("NOT") {
			c.Operator = IsNot
		}
		p.need(p.keyword("NULL"))
	}
	return c
}

// compared parses a value to compare with.
func (p *parser) compared() Value {
	if p.tok.is("NULL") {
		p.stop(&Error{Pos: p.tok.pos, Msg: "NULL cannot be compared; write IS NULL or IS NOT NULL"})
	}
	return p.any()
}

// any parses a value of any kind.
func (p *parser) any() Value { return p.value(AValue, integer, decimal, text, word, quotedName) }

// column parses the name of a column.
func (p *parser) column() Name { return p.name(AColumn) }
