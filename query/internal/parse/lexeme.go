package parse

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// Lexeme is a piece of a text that is being typed and may have errors: a token, a comment, or
// blanks.
type Lexeme struct {
	Class Class
	Text  string
}

// Class says what a Lexeme is to a reader.
type Class byte

// The classes. A quoted text or a comment may be unfinished.
const (
	ClassSign    Class = iota // punctuation, blanks, or a character that begins no token
	ClassWord                 // a keyword or a name
	ClassNumber               // a number, including letters that follow it
	ClassText                 // in single quotes
	ClassName                 // a name in double quotes
	ClassParam                // ? or $name
	ClassComment              // a comment
)

// Lexemes splits text into lexemes. Concatenated, they are the text.
func Lexemes(text string) iter.Seq[Lexeme] {
	return func(yield func(Lexeme) bool) {
		for text != "" {
			l := firstLexeme(text)
			if !yield(l) {
				return
			}
			text = text[len(l.Text):]
		}
	}
}

// firstLexeme returns the lexeme that text begins with.
func firstLexeme(s string) Lexeme {
	quotes := map[byte]Class{'\'': ClassText, '"': ClassName}
	switch blank := blankLen(s); {
	case blank > 0:
		return Lexeme{ClassSign, s[:blank]}
	case strings.HasPrefix(s, "--"):
		return Lexeme{ClassComment, s[:min(lineLen(s)+1, len(s))]}
	case strings.HasPrefix(s, "/*"):
		if n := strings.Index(s[2:], "*/"); n >= 0 {
			s = s[:n+4]
		}
		return Lexeme{ClassComment, s}
	case quotes[s[0]] != ClassSign:
		in := scanner{rest: s, pos: start()}
		if t, err := in.quoted(text, ""); err == nil {
			s = t.text
		}
		return Lexeme{quotes[s[0]], s}
	case s[0] == '?':
		return Lexeme{ClassParam, s[:1]}
	case s[0] == '$':
		return Lexeme{ClassParam, s[:1+wordLen(s[1:])]}
	case isDigit(s[0]):
		return Lexeme{ClassNumber, s[:numberLen(s)]}
	case wordLen(s) > 0:
		return Lexeme{ClassWord, s[:wordLen(s)]}
	}
	_, n := utf8.DecodeRuneInString(s)
	return Lexeme{ClassSign, s[:n]}
}
