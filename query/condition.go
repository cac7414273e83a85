package query

import "strings"

// Condition says which rows are wanted: [*Comparison], [*Not] or [*Logic].
type Condition interface {
	Node
	condition()
}

// Comparison holds a column against a value or, with [In], against several.
type Comparison struct {
	Pos
	Column   Name // in lower case
	Operator Comparator
	Values   []Value // any; one, unless the operator is In
}

// Comparator is what is asked of a column, as the statement spells it.
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

// Not turns a condition around.
type Not struct {
	Pos
	Condition Condition
}

// Logic is several conditions of which all (AND) or any (OR) must hold.
type Logic struct {
	Pos
	Any   bool        // OR
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

// within writes a condition as a part of one that binds closer.
func within(c Condition) string {
	if _, ok := c.(*Logic); ok {
		return "(" + c.String() + ")"
	}
	return c.String()
}

// where writes a WHERE clause, which may be absent.
func where(c Condition) string {
	if c == nil {
		return ""
	}
	return " WHERE " + c.String()
}
