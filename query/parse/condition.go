package parse

import "strings"

// Condition selects rows: [*Comparison], [*Not] or [*Logic].
type Condition interface {
	Node
	condition()
}

// Comparison compares a column with a value or, with [In], with several.
type Comparison struct {
	Pos
	Column   Name // in lower case
	Operator Comparator
	Values   []Value // of any kind; exactly one, unless the operator is In
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
	value := join(c.Values)
	if c.Operator == In {
		value = "(" + value + ")"
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

// where formats an optional WHERE clause.
func where(c Condition) string {
	if c == nil {
		return ""
	}
	return " WHERE " + c.String()
}
