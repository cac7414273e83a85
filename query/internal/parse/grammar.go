package parse

import (
	"slices"
	"strings"
)

// element is a part of a grammar: a literal, which is a keyword or a sign, a term, or a group of
// alternatives.
type element struct {
	text     string      // literal, or name of the term; "" means a group
	list     bool        // the element may repeat, separated by commas
	optional bool        // of a group: in [ ] and not in { }
	choices  [][]element // of a group
}

// isTerm reports whether the element is a term.
func (e *element) isTerm() bool { return e.text != "" && 'a' <= e.text[0] && e.text[0] <= 'z' }

// grammarReader reads the elements of a grammar; see [Form].
type grammarReader struct{ rest string }

// token returns the next token, or "" at the end.
func (g *grammarReader) token() string {
	g.rest = strings.TrimLeft(g.rest, " \n")
	n := wordLen(g.rest)
	for _, sign := range []string{"->", "-[", "]->", "..."} {
		if strings.HasPrefix(g.rest, sign) {
			n = len(sign)
		}
	}
	if n == 0 {
		n = min(1, len(g.rest))
	}
	token := g.rest[:n]
	g.rest = g.rest[n:]
	return token
}

// alternatives reads the sequences up to a closing bracket or the end.
func (g *grammarReader) alternatives() (all [][]element) {
	all = [][]element{nil}
	for {
		last := &all[len(all)-1]
		switch t := g.token(); t {
		case "", "]", "}":
			return all
		case "|":
			all = append(all, nil)
		case "[", "{":
			*last = append(*last, element{optional: t == "[", choices: g.alternatives()})
		case "...": // after a comma
			*last = (*last)[:len(*last)-1]
			(*last)[len(*last)-1].list = true
		default:
			*last = append(*last, element{text: t})
		}
	}
}

// statement parses a statement in any of the forms. It changes the list.
func (p *parser) statement(forms []Form) *Statement {
	pos := p.tok.pos
	for at := 0; ; { // the first at bytes of the grammars are parsed
		next := func(k Form) string { return firstWord(k.Grammar[min(at, len(k.Grammar)):]) }
		w := ""
		if i := slices.IndexFunc(forms, func(k Form) bool { return next(k) != "" && p.tok.is(next(k)) }); i >= 0 {
			w = next(forms[i])
			p.advance()
		} else {
			p.missWords(forms, next)
		}
		forms = slices.DeleteFunc(forms, func(k Form) bool { return next(k) != w })
		switch {
		case w != "":
			at += len(w) + 1
		case len(forms) > 0:
			return p.clauses(pos, forms, at)
		default:
			if at == 0 {
				p.refuseBeginning()
			}
			p.need(false)
			return nil
		}
	}
}

// missWords records the next words of the forms as alternatives that do not match the token.
func (p *parser) missWords(forms []Form, next func(Form) string) {
	for i, k := range forms {
		same := func(o Form) bool { return next(o) == next(k) }
		if next(k) != "" && !slices.ContainsFunc(forms[:i], same) {
			p.miss(next(k))
		}
	}
}

// clauses parses the clauses of a statement whose first words are parsed. If several forms begin
// with these words, the statement is of the form whose grammar matches more of the text.
func (p *parser) clauses(pos Pos, forms []Form, at int) (s *Statement) {
	var best parser
	for i, k := range forms {
		try, stmt := *p, &Statement{Pos: pos, Form: k.Name}
		try.expected, try.begun, try.given = slices.Clone(p.expected), stmt, nil
		stmt.begin(k.Grammar[:at-1])
		g := grammarReader{k.Grammar[min(at, len(k.Grammar)):]}
		try.sequence(stmt, g.alternatives()[0])
		switch {
		case i == 0, best.err != nil && (try.err == nil || try.err.Offset > best.err.Offset):
			best, s = try, stmt
		case best.err != nil && try.err.Offset == best.err.Offset:
			others := slices.DeleteFunc(try.err.Expected, func(e string) bool { return slices.Contains(best.err.Expected, e) })
			best.err.Expected = append(best.err.Expected, others...)
		}
	}
	*p = best
	return s
}

// sequence parses the elements of a grammar, one after the other, into a statement.
func (p *parser) sequence(s *Statement, elements []element) {
	for _, e := range elements {
		p.element(s, &e)
		for e.list && p.is(comma) {
			p.element(s, &e)
		}
	}
}

func (p *parser) element(s *Statement, e *element) {
	switch {
	case e.text == "":
		p.group(s, e)
	case e.isTerm():
		p.term(s, e.text)
	default:
		p.need(p.literal(s, e.text))
	}
}

// group parses one of the alternatives of a group. A term is parsed if no other alternative begins
// with the next word.
func (p *parser) group(s *Statement, e *element) {
	for _, c := range e.choices {
		if !c[0].isTerm() && p.literal(s, c[0].text) {
			p.sequence(s, c[1:])
			return
		}
	}
	if i := slices.IndexFunc(e.choices, func(c []element) bool { return c[0].isTerm() }); i >= 0 {
		p.sequence(s, e.choices[i])
	} else if !e.optional {
		p.need(false)
	}
}

// literal consumes a keyword or a sign, which begins a clause of the statement unless it is a
// parenthesis.
func (p *parser) literal(s *Statement, text string) bool {
	if 'A' <= text[0] && text[0] <= 'Z' {
		if !p.keyword(text) {
			return false
		}
	} else if !p.is(symbol(text)) {
		return false
	}
	if text != "(" && text != ")" {
		s.begin(text)
	}
	return true
}

// nameTerms are what the terms that are names of things other than models name.
var nameTerms = map[string]string{"relation": ARelation, "policy": APolicy, "explorer": AnExplorer, "estimator": AnEstimator, "format": AFormat}

// term parses a term and adds it to the last clause of a statement.
func (p *parser) term(s *Statement, name string) {
	clause := s.clauses[len(s.clauses)-1].words
	switch name {
	case "name", "model":
		what := AModel
		if clause == "LABEL" {
			what = ALabel
		} else if s.Form == "CREATE MODEL" {
			what = aNewModel
		}
		s.add(p.name(what))
		if name == "model" && p.literal(s, "VERSION") {
			s.add(p.count())
		}
	case "relation", "policy", "explorer", "estimator", "format":
		s.add(p.name(nameTerms[name]))
	case "column":
		s.add(p.column())
	case "source":
		s.add(p.source())
	case "seed":
		s.add(p.seed())
	case "node":
		s.add(p.node())
	case "n":
		s.add(p.count())
	case "number":
		s.add(p.number())
	case "time":
		s.add(p.value(aTime, integer, decimal, text))
	case "duration":
		s.add(p.value(aDuration, integer, text))
	case "file":
		s.add(p.value(AFile, text))
	case "edge":
		s.add(p.edge())
	case "link":
		s.add(p.ends())
	case "sets":
		s.add(p.sets())
	case "assignment":
		s.add(p.assignment())
	case "condition":
		s.add(p.condition(0))
	case "option":
		p.option(s, clause)
	case "statement":
		s.add(p.statement(slices.DeleteFunc(Forms(), func(k Form) bool { return k.Name == "EXPLAIN" || k.Name == "PROFILE" })))
	case "topic":
		p.topic(s)
	}
}

// option parses an option of a WITH clause, or a setting.
func (p *parser) option(s *Statement, clause string) {
	what := AnOption
	if clause == "SET" {
		what = ASetting
	}
	name := p.name(what)
	p.need(p.is(equals))
	o := Option{Pos: name.Pos, Name: strings.ToLower(name.Value)}
	if p.given[o.Name] && p.err == nil {
		p.stop(&Error{Pos: o.Pos, Msg: "option " + Name{Value: o.Name}.String() + " is given twice"})
	}
	if p.given == nil {
		p.given = map[string]bool{}
	}
	p.given[o.Name] = true
	p.setting = o.Name
	if p.tok.symbol == lparen {
		o.Value = Pairs{p.tok.pos, listed(p, p.pair)}
	} else {
		o.Value = p.any()
	}
	if p.err == nil {
		p.setting = ""
	}
	s.add(o)
}

// pair parses name = number.
func (p *parser) pair() Option {
	name := p.name(ARelation)
	p.need(p.is(equals))
	return Option{Pos: name.Pos, Name: name.Value, Value: p.number()}
}

// topic parses the words of a topic after HELP.
func (p *parser) topic(s *Statement) {
	for topic := ""; ; topic = s.Topic() {
		next := nextWords(topic)
		if i := slices.IndexFunc(next, p.keyword); i >= 0 {
			s.begin(next[i])
			continue
		}
		return
	}
}

// Topic returns the words after HELP.
func (s *Statement) Topic() string { return strings.TrimSpace(strings.TrimPrefix(s.String(), "HELP")) }

// nextWords returns the words that may follow the words begun in a topic.
func nextWords(begun string) (words []string) {
	for _, k := range forms {
		if !k.About(begun) {
			continue
		}
		rest := strings.Fields(k.Name[len(begun):])
		if len(rest) > 0 && !slices.Contains(words, rest[0]) {
			words = append(words, rest[0])
		}
	}
	return words
}
