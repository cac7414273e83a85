package parse

import (
	"strconv"
	"strings"
)

// Node is a part of a statement. String writes it so that it parses back to an equal node.
type Node interface {
	Position() Pos
	String() string
}

// Value is a value written in a statement: [Int], [Float], [String], [Name] or [Param].
// Fields of type Value document the types that they accept.
type Value interface {
	Node
	value()
}

// Int is an integer. As a node's key it differs from the string key of the same digits.
type Int struct {
	Pos
	Value int64
}

// Float is a number written with a point or an exponent; it is finite.
type Float struct {
	Pos
	Value float64
}

// String is a 'quoted string', valid UTF-8 without NUL.
type String struct {
	Pos
	Value string
}

// Name is the name of a model, label, policy, format, option or option value. The zero Name means
// that no name was given. Names are case-sensitive, except the names of options.
type Name struct {
	Pos
	Value string
}

// Param is a placeholder for an argument of the statement: $name, or the question mark with the
// given index.
type Param struct {
	Pos
	Name  string // empty for ?
	Index int    // of ?, counted from 0 through the statement; 0 for $name
}

// Pairs is a list of names with numbers, as the value of an option.
type Pairs struct {
	Pos
	Pairs []Option // the names are as written
}

func (v Pairs) String() string { return "(" + join(v.Pairs) + ")" }

func (Int) value()    {}
func (Float) value()  {}
func (String) value() {}
func (Name) value()   {}
func (Param) value()  {}
func (Pairs) value()  {}

func (v Int) String() string { return strconv.FormatInt(v.Value, 10) }

func (v Float) String() string {
	s := strconv.FormatFloat(v.Value, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0" // otherwise it would parse as an Int
	}
	return s
}

func (v String) String() string { return quote(v.Value, "'") }

func (v Name) String() string {
	if wordLen(v.Value) == len(v.Value) {
		return v.Value
	}
	return quote(v.Value, `"`)
}

func (v Param) String() string {
	if v.Name == "" {
		return "?"
	}
	return "$" + v.Name
}

func quote(s, q string) string { return q + strings.ReplaceAll(s, q, q+q) + q }

// Edge is an edge as a statement spells it.
type Edge struct {
	Pos
	Source, Target Value // Int, String or Param
	Relation       Name  // the zero Name if absent
	Weight         Value // Int, Float or Param; nil if absent
	At             Value // Int or Param, the edge's time; nil if absent
}

func (e Edge) String() string {
	arrow := " -> "
	if e.Relation.Value != "" {
		arrow = " -[" + e.Relation.String() + "]-> "
	}
	return e.Source.String() + arrow + e.Target.String() + optional(" WEIGHT ", e.Weight) + optional(" AT ", e.At)
}

// Option is one name = value of a WITH clause. The name is in lower case and occurs once in its
// clause.
type Option struct {
	Pos
	Name  string
	Value Value // any
}

func (o Option) String() string {
	return Name{Value: o.Name}.String() + " = " + o.Value.String()
}

// Assignment is one name = literal of a SET clause: the value that a node gets of a property.
type Assignment struct {
	Pos
	Name  Name
	Value Value   // nil if the value is a list
	List  []Value // String
}

func (a Assignment) String() string {
	if a.Value == nil {
		return a.Name.String() + " = (" + join(a.List) + ")"
	}
	return a.Name.String() + " = " + a.Value.String()
}

// assignment parses an assignment.
func (p *parser) assignment() Assignment {
	pos := p.tok.pos
	a := Assignment{Pos: pos, Name: p.name(AProperty)}
	p.need(p.is(equals))
	if p.tok.symbol == lparen {
		a.List = listed(p, func() Value { return p.value(aString, text) })
		return a
	}
	p.miss(`"("`)
	for _, word := range []string{"TRUE", "FALSE", "NULL"} {
		if at := p.tok.pos; p.keyword(word) {
			a.Value = Name{at, strings.ToLower(word)}
			return a
		}
	}
	if t := p.tok; t.symbol == word || t.symbol == quotedName {
		p.miss(aLiteral)
		p.wrong(Suggest(String{Value: t.str}))
		return a
	}
	a.Value = p.value(aLiteral, integer, decimal, text)
	return a
}

// join formats a list, separated by commas.
func join[N Node](list []N) string {
	parts := make([]string, len(list))
	for i, n := range list {
		parts[i] = n.String()
	}
	return strings.Join(parts, ", ")
}

// optional formats an optional clause; it returns "" if n is nil.
func optional(keyword string, n Node) string {
	if n == nil {
		return ""
	}
	return keyword + n.String()
}

// ends parses source -> target, or source -[relation]-> target.
func (p *parser) ends() Edge {
	e := Edge{Pos: p.tok.pos}
	e.Source = p.node()
	if !p.is(arrow) {
		p.need(p.is(arrowTail))
		e.Relation = p.name(ARelation)
		p.need(p.is(arrowHead))
	}
	e.Target = p.node()
	return e
}

// edge parses an edge with its optional weight and time.
func (p *parser) edge() Edge {
	e := p.ends()
	if p.keyword("WEIGHT") {
		e.Weight = p.number()
	}
	if p.keyword("AT") {
		e.At = p.value(aTime, integer, decimal, text)
	}
	return e
}
