package parse

// cursor is the symbol that ends a text to complete. No production accepts it.
const cursor symbol = "cursor"

// Expected returns what may follow text, the beginning of a statement, in the order of the grammar:
// a keyword in capitals, a punctuation mark in double quotes, or the constant for a name or a
// value, such as [AModel]. It returns nil if text already has an error, or ends within a string or
// a comment.
func Expected(text string) []string {
	p := begin(text)
	if p.err == nil || p.err.Offset < len(text) {
		return nil
	}
	return p.err.Expected
}

// Begun parses text, the beginning of a statement. It returns the statement as far as it is parsed,
// or nil before its form is known, and the name of the option or setting whose value comes next, or
// "".
func Begun(text string) (s *Statement, option string) {
	p := begin(text)
	return p.begun, p.setting
}

// begin parses the beginning of a statement.
func begin(text string) *parser {
	p := &parser{scan: scanner{rest: text, pos: start(), last: cursor}}
	p.advance()
	p.script()
	return p
}
