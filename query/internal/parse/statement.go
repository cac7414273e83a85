package parse

import (
	"reflect"
	"slices"
	"strings"
)

// Statement is a parsed statement: its form, and the operands after each keyword and sign of the
// form's grammar, which a [Clause] returns.
type Statement struct {
	Pos
	Form    string // name of its [Form]
	clauses []clause
}

// clause is a part of a statement: one keyword or sign, or all keywords that the statement begins
// with, and the nodes after it.
type clause struct {
	words string
	nodes []Node
}

// begin begins the next clause of the statement.
func (s *Statement) begin(words string) { s.clauses = append(s.clauses, clause{words: words}) }

// add adds a node to the last clause.
func (s *Statement) add(n Node) {
	c := &s.clauses[len(s.clauses)-1]
	c.nodes = append(c.nodes, n)
}

// find returns the index of the clause whose words end with a keyword or sign, or -1.
func (s *Statement) find(keyword string) int {
	return slices.IndexFunc(s.clauses, func(c clause) bool { return c.words == keyword || strings.HasSuffix(c.words, " "+keyword) })
}

// all returns the nodes of a type that follow a keyword or sign.
func all[N Node](s *Statement, keyword string) (nodes []N) {
	if i := s.find(keyword); i >= 0 {
		for _, n := range s.clauses[i].nodes {
			if n, ok := n.(N); ok {
				nodes = append(nodes, n)
			}
		}
	}
	return nodes
}

// Explained returns the statement that an EXPLAIN or PROFILE is about, or nil.
func (s *Statement) Explained() *Statement { return Clause[*Statement](s.Form).Of(s) }

// String returns the statement in its canonical form, which parses back to an equal statement.
func (s *Statement) String() string {
	text := ""
	for i, c := range s.clauses {
		if c.words != "]->" {
			text += " "
		}
		text = strings.TrimSpace(text + c.words)
		if c.nodes == nil {
			continue
		}
		nodes := join(c.nodes)
		_, isName := c.nodes[0].(Name)
		switch {
		case c.words == "SAMPLE":
			text += "(" + nodes + ")"
			continue
		case c.words == "FEATURES", c.words == "WITH":
			nodes = "(" + nodes + ")"
		case strings.Contains(" "+c.words, " LINK") && (strings.EqualFold(nodes, "FOR") || strings.EqualFold(nodes, "INVERSE")):
			nodes = quote(nodes, `"`)
		case i == 0 && isName && otherForm(text+" "+strings.ToUpper(nodes)):
			nodes = quote(nodes, `"`)
		}
		if c.words != "-[" {
			text += " "
		}
		text += nodes
	}
	return text
}

// otherForm reports whether the grammar of a form begins with some words and goes on.
func otherForm(words string) bool {
	return slices.ContainsFunc(forms, func(k Form) bool { return strings.HasPrefix(k.Grammar, words+" ") })
}

// Params returns the parameters of a statement.
func Params(s *Statement) (all []Param) {
	for _, c := range s.clauses {
		for _, n := range c.nodes {
			if inner, ok := n.(*Statement); ok {
				all = append(all, Params(inner)...)
			} else {
				all = append(all, params(reflect.ValueOf(n))...)
			}
		}
	}
	return all
}

// params returns the parameters in a tree or in a part of one.
func params(v reflect.Value) (all []Param) {
	switch v.Kind() {
	case reflect.Interface:
		switch n := v.Interface().(type) {
		case nil, Int, Float, String, Name: // most of a long list; Elem would copy each
		case Param:
			all = append(all, n)
		default:
			all = params(v.Elem())
		}
	case reflect.Pointer:
		if !v.IsNil() {
			all = params(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			all = append(all, params(v.Index(i))...)
		}
	case reflect.Struct:
		if p, ok := v.Interface().(Param); ok {
			return []Param{p}
		}
		for i := range v.NumField() {
			all = append(all, params(v.Field(i))...)
		}
	}
	return all
}
