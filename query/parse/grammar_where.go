package parse

import (
	"fmt"
	"strings"
)

const aColumn = "a column"

// maxDepth is the maximum nesting depth of conditions.
const maxDepth = 100

// where parses an optional WHERE clause.
func (p *parser) where() Condition {
	if !p.keyword("WHERE") {
		return nil
	}
	return p.condition(0)
}

// condition parses a condition at a nesting depth.
func (p *parser) condition(depth int) Condition {
	return p.logic("OR", func() Condition {
		return p.logic("AND", func() Condition { return p.term(depth) })
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

// term parses a comparison, a negation, or a condition in parentheses.
func (p *parser) term(depth int) Condition {
	pos := p.tok.pos
	if depth > maxDepth {
		p.stop(&Error{Pos: pos, Msg: fmt.Sprintf("conditions nest deeper than %d", maxDepth)})
	}
	switch {
	case p.keyword("NOT"):
		return &Not{pos, p.term(depth + 1)}
	case p.is(lparen):
		c := p.condition(depth + 1)
		p.need(p.is(rparen))
		return c
	}
	return p.comparison(pos)
}

func (p *parser) comparison(pos Pos) Condition {
	c := &Comparison{Pos: pos, Column: p.name(aColumn)}
	c.Column.Value = strings.ToLower(c.Column.Value)
	for _, op := range []Comparator{Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual} {
		if p.is(kind(op)) {
			c.Operator, c.Values = op, []Value{p.any()}
			return c
		}
	}
	p.need(p.keyword("IN"))
	c.Operator, c.Values = In, listed(p, p.any)
	return c
}

// any parses a value of any kind.
func (p *parser) any() Value { return p.value(aValue, integer, decimal, text, word, quotedName) }

// columns parses an optional RETURN clause.
func (p *parser) columns() []Name {
	if !p.keyword("RETURN") {
		return nil
	}
	return list(p, func() Name {
		n := p.name(aColumn)
		n.Value = strings.ToLower(n.Value)
		return n
	})
}

func (p *parser) nodes(pos Pos) Statement {
	return &Nodes{Pos: pos, Label: p.optionalName("LABEL", aLabel), Where: p.where(), Top: p.optionalCount("TOP")}
}
