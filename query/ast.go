package query

import (
	"strconv"
	"strings"
)

// Node is a part of a statement. String writes it so that it parses back to an equal node.
type Node interface {
	Position() Pos
	String() string
}

// Value is what can stand in a statement's places: [Int], [Float], [String], [Name] or [Param].
// The fields of type Value say which of them occur.
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

// Name is the name of a model, label, policy, format, option or option value. The zero Name is one
// that was not given. Names are case-sensitive, options excepted.
type Name struct {
	Pos
	Value string
}

// Param stands for a value given when the statement runs: $name, or the question mark of the given
// number.
type Param struct {
	Pos
	Name  string // empty for ?
	Index int    // of ?, counted from 0 through the statement; 0 for $name
}

func (Int) value()    {}
func (Float) value()  {}
func (String) value() {}
func (Name) value()   {}
func (Param) value()  {}

func (v Int) String() string { return strconv.FormatInt(v.Value, 10) }

func (v Float) String() string {
	s := strconv.FormatFloat(v.Value, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0" // or it would be an Int
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

// Edge is an edge as it is written.
type Edge struct {
	Pos
	Source, Target Value // Int, String or Param
	Weight         Value // Int, Float or Param; nil: not given
	At             Value // Int or Param, the edge's time; nil: not given
}

func (e Edge) String() string {
	return e.Source.String() + " -> " + e.Target.String() + clause(" WEIGHT ", e.Weight) + clause(" AT ", e.At)
}

// Option is one name = value of a WITH clause. Its name is in lower case, and no clause has it twice.
type Option struct {
	Pos
	Name  string
	Value Value // any
}

func (o Option) String() string {
	return Name{Value: o.Name}.String() + " = " + o.Value.String()
}

// join writes a list.
func join[N Node](list []N) string {
	parts := make([]string, len(list))
	for i, n := range list {
		parts[i] = n.String()
	}
	return strings.Join(parts, ", ")
}

// clause writes a clause that may be absent.
func clause(keyword string, n Node) string {
	if n == nil {
		return ""
	}
	return keyword + n.String()
}

// named writes a clause that holds a name and may be absent.
func named(keyword string, n Name) string {
	if n.Value == "" {
		return ""
	}
	return keyword + n.String()
}

// with writes a WITH clause, which may be absent.
func with(options []Option) string {
	if len(options) == 0 {
		return ""
	}
	return " WITH (" + join(options) + ")"
}
