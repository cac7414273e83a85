package parse

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"kith/db/words"
)

// maxStatement is the maximum length of a statement in bytes.
const maxStatement = 1 << 20

// Parse parses one statement, with or without its semicolon. The error is a [*Error], the first one
// in the text.
func Parse(text string) (*Statement, error) {
	return Fragment{Text: text}.Parse()
}

// Parse parses the fragment's statement. The error is a [*Error], the first one in the text. Its
// position is counted from the beginning of the script.
func (f Fragment) Parse() (*Statement, error) { return parse(f, (*parser).script) }

// parse parses a text that holds one thing.
func parse[T any](f Fragment, production func(*parser) T) (tree T, err error) {
	var none T
	if err := f.check(); err != nil {
		return none, err
	}
	p := parser{scan: scanner{rest: f.Text, pos: f.After("")}}
	p.advance()
	if tree = production(&p); p.err != nil {
		return none, p.err
	}
	return tree, nil
}

// script parses the whole text, which is one statement.
func (p *parser) script() *Statement {
	s := p.statement(Forms())
	if p.tok.symbol == semicolon {
		p.advance()
	}
	p.end()
	return s
}

// end stops the parser unless it is at the end of the text.
func (p *parser) end() { p.need(p.tok.symbol == end || p.miss(string(end))) }

// check returns an error for text that no statement may contain.
func (f Fragment) check() error {
	if len(f.Text) > maxStatement {
		return &Error{Pos: f.After(""), Msg: "statement is longer than 1 MiB"}
	}
	for i, r := range f.Text {
		switch {
		case r == 0:
			return &Error{Pos: f.After(f.Text[:i]), Msg: "statement contains a NUL byte"}
		case r == utf8.RuneError && !strings.HasPrefix(f.Text[i:], string(utf8.RuneError)):
			return &Error{Pos: f.After(f.Text[:i]), Msg: fmt.Sprintf("statement is not valid UTF-8: byte 0x%02x", f.Text[i])}
		}
	}
	return nil
}

// parser is a recursive descent parser with one token of lookahead. The productions are next to the
// trees. Only conditions nest, to a bounded depth.
//
// After the first error tok stays at the end of the statement, so every loop ends. The results of
// the methods are then discarded.
type parser struct {
	scan     scanner
	tok      token
	expected []string        // alternatives tried at tok without a match
	params   int             // number of question marks so far
	begun    *Statement      // the statement as far as it is parsed
	given    map[string]bool // names of the options so far
	setting  string          // the option whose value is parsed; "" means none
	err      *Error
}

// advance moves to the next token.
func (p *parser) advance() {
	tok, err := p.scan.next()
	if err != nil {
		p.stop(err)
		return
	}
	p.tok = tok
	p.expected = p.expected[:0]
}

// stop records the first error.
func (p *parser) stop(err *Error) {
	if p.err == nil {
		p.err = err
		p.tok = token{symbol: end}
	}
}

// is consumes the token if it is of symbol k, which has one spelling.
func (p *parser) is(k symbol) bool {
	if p.tok.symbol != k {
		return p.miss(`"` + string(k) + `"`)
	}
	p.advance()
	return true
}

// keyword consumes the token if it is the given word, in any case.
func (p *parser) keyword(w string) bool {
	if !p.tok.is(w) {
		return p.miss(w)
	}
	p.advance()
	return true
}

// miss records an alternative that does not match the token, and returns false.
func (p *parser) miss(what string) bool {
	p.expected = append(p.expected, what)
	return false
}

// need stops the parser unless ok. It is called after all alternatives were tried at the token.
func (p *parser) need(ok bool) {
	if ok {
		return
	}
	hint := ""
	if p.tok.symbol == word {
		hint = words.Closest(strings.ToUpper(p.tok.text), p.expected)
		if p.tok.is("LIMIT") && slices.Contains(p.expected, "TOP") {
			hint = "TOP" // as SQL and Cypher call it
		}
	}
	p.wrong(hint)
}

// wrong stops the parser at a token that matches none of the alternatives.
func (p *parser) wrong(didYouMean string) {
	p.stop(&Error{Pos: p.tok.pos, Found: p.tok.found(), Expected: slices.Clone(p.expected), DidYouMean: didYouMean})
}

// What [Expected] and error messages call the names and values of the grammar.
const (
	AModel      = "a model"
	ALabel      = "a label"
	ARelation   = "a relation"
	APolicy     = "a policy"
	AFormat     = "a format"
	AColumn     = "a column"
	AnExplorer  = "an explorer"
	AnEstimator = "an estimator"
	AnOption    = "an option"
	ASetting    = "a setting"
	ANode       = "a node (an integer, a 'string' or a parameter)"
	AFile       = "a 'file name'"
	AValue      = "a value"

	AProperty = "a property"
	aLiteral  = "a value"
	aString   = "a 'string'"
	aNewModel = "a name for the model"
	aDuration = "a duration (seconds, or a string like '24h' or '7d')"
	aNumber   = "a number"
	aCount    = "a positive integer"
	aTime     = "a time (seconds since 1970, or a string like '2006-01-02')"
	aSet      = "a set"
	aVector   = "a parameter"
)

// value consumes a token of any of the symbols, or a parameter.
func (p *parser) value(what string, symbols ...symbol) Value {
	t := p.tok
	count := what != aCount || t.symbol != integer || t.int > 0
	if t.symbol != param && !slices.Contains(symbols, t.symbol) || !count {
		p.miss(what)
		hint := ""
		if what == ANode && (t.symbol == word || t.symbol == quotedName) {
			hint = Suggest(String{Value: t.str})
		}
		p.wrong(hint)
		return nil
	}
	p.advance()
	switch t.symbol {
	case integer:
		return Int{t.pos, t.int}
	case decimal:
		return Float{t.pos, t.float}
	case text:
		return String{t.pos, t.str}
	case param:
		return p.param(t)
	}
	return Name{t.pos, t.str}
}

func (p *parser) param(t token) Value {
	v := Param{Pos: t.pos, Name: t.str}
	if v.Name == "" {
		v.Index = p.params
		p.params++
	}
	return v
}

func (p *parser) node() Value   { return p.value(ANode, integer, text) }
func (p *parser) number() Value { return p.value(aNumber, integer, decimal) }
func (p *parser) count() Value  { return p.value(aCount, integer) }

// name consumes a name; error messages call it what. A keyword is accepted as a name.
func (p *parser) name(what string) Name {
	t := p.tok
	if t.symbol != word && t.symbol != quotedName {
		p.miss(what)
		hint := ""
		if t.symbol == text {
			hint = Suggest(Name{Value: t.str})
		}
		p.wrong(hint)
		return Name{}
	}
	p.advance()
	return Name{t.pos, t.str}
}

// listed parses one or more items in parentheses, separated by commas.
func listed[T any](p *parser, item func() T) []T {
	p.need(p.is(lparen))
	within, _, _ := strings.Cut(p.scan.rest, string(rparen))
	items := make([]T, 0, 1+strings.Count(within, string(comma))) // more if a text in the list has commas
	for more := true; more; more = p.is(comma) {
		items = append(items, item())
	}
	p.need(p.is(rparen))
	return items
}
