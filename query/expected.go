package query

// cursor is the kind of token that a text to be completed ends with. No production takes it.
const cursor kind = "cursor"

// Expected returns what may stand behind text, the beginning of a statement, in the order of the
// grammar: a keyword in capitals, a sign in double quotes, or what an error message would call it, such
// as "a model". It returns nil where text is wrong already, or ends within a string or a comment.
func Expected(text string) []string {
	p := parser{scan: scanner{rest: text, pos: start(), last: cursor}}
	p.advance()
	p.script()
	if p.err == nil || p.err.Offset < len(text) {
		return nil
	}
	return p.err.Expected
}
