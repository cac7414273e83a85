package edgelist

import "strings"

// Quoted returns the spelling of a string key in a column of strings. Such a column may have
// integer keys too, in their canonical decimal spelling. A string key that would be read as one is
// in single quotes, as in statements: 7 is the integer, '7' the string. A string that is spelled
// like one in quotes gets further quotes.
func Quoted(s string) string {
	if spelled(s) {
		return "'" + s + "'"
	}
	return s
}

// unquoted returns the key that is spelled s in a column of strings; see [Quoted].
func unquoted(s string) Token {
	if n, ok := parseInt([]byte(s)); ok {
		return Token{Int: n, IsInt: true}
	}
	if spelled(s) {
		s = s[1 : len(s)-1]
	}
	return Token{Str: s}
}

// spelled reports whether s is an integer, in any number of quotes.
func spelled(s string) bool {
	for len(s) > 2 && strings.HasPrefix(s, "'") && strings.HasSuffix(s, "'") {
		s = s[1 : len(s)-1]
	}
	_, ok := parseInt([]byte(s))
	return ok
}
