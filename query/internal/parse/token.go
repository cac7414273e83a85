package parse

import (
	"strings"
	"unicode"
)

// Pos is a position in a script.
type Pos struct {
	Offset int `json:"offset,omitempty"` // byte offset, from 0
	Line   int `json:"line,omitempty"`   // line, from 1
	Col    int `json:"column,omitempty"` // column in runes, from 1
}

// Position returns p. Every Node has this method because it embeds a Pos.
func (p Pos) Position() Pos { return p }

// start returns the position of the first rune of a script.
func start() Pos { return Pos{Line: 1, Col: 1} }

// After returns the position after text that begins at p, or at the beginning of a script if p is
// zero.
func (p Pos) After(text string) Pos {
	if p == (Pos{}) {
		p = start()
	}
	p.Offset += len(text)
	for _, r := range text {
		p.Col++
		if r == '\n' {
			p.Line++
			p.Col = 1
		}
	}
	return p
}

// symbol is the lexical class of a token. A symbol with one spelling has it as its value.
type symbol string

const (
	end        symbol = "end of statement" // end of the text
	word       symbol = "word"             // a keyword or a name
	quotedName symbol = "quoted name"
	integer    symbol = "integer"
	decimal    symbol = "decimal"
	text       symbol = "text"
	param      symbol = "parameter"
	semicolon  symbol = ";"
	comma      symbol = ","
	lparen     symbol = "("
	rparen     symbol = ")"
	equals     symbol = "="
	star       symbol = "*"
	arrow      symbol = "->"
	arrowTail  symbol = "-["
	arrowHead  symbol = "]->"
)

// token is a lexical element: its text as written and, for some symbols, its value.
type token struct {
	symbol symbol
	pos    Pos
	text   string
	str    string  // word, quotedName, text: unquoted; param: its name, empty for "?"
	int    int64   // integer
	float  float64 // decimal
}

// maxShown is the maximum number of runes of a token or a source line in an error message.
const maxShown = 40

// found describes the token in an error message.
func (t token) found() string {
	switch t.symbol {
	case end, semicolon:
		return string(end)
	case comma, lparen, rparen, equals, star, arrow, arrowTail, arrowHead, symbol(NotEqual), symbol(Less), symbol(LessOrEqual), symbol(Greater), symbol(GreaterOrEqual):
		return `"` + t.text + `"`
	}
	if runes := []rune(t.text); len(runes) > maxShown {
		return string(runes[:maxShown]) + "..."
	}
	return t.text
}

// is reports whether the token is the given word, in any case.
func (t *token) is(w string) bool {
	return t.symbol == word && strings.EqualFold(t.text, w)
}

// wordLen returns the length in bytes of the word that text begins with, or 0. A word is a letter
// or "_", followed by letters, marks, digits and "_".
func wordLen(text string) int {
	for i, r := range text {
		inside := i > 0 && unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd)
		if r != '_' && !unicode.IsLetter(r) && !inside {
			return i
		}
	}
	return len(text)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
