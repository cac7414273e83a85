package parse

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// scanner splits the text of a statement into tokens. The text is valid UTF-8 without NUL.
type scanner struct {
	rest string // text not yet read
	pos  Pos    // of rest
	last symbol // symbol at the end of the text; "" means end
}

// next returns the next token. At the end of the text it always returns the symbol end, or
// s.last.
func (s *scanner) next() (token, *Error) {
	if err := s.skipBlanks(); err != nil {
		return token{}, err
	}
	if s.rest == "" {
		return token{symbol: cmp.Or(s.last, end), pos: s.pos}, nil
	}
	switch c := s.rest[0]; {
	case startsNumber(s.rest):
		return s.number()
	case c == '\'':
		return s.quoted(text, "string")
	case c == '"':
		return s.name()
	case c == '$':
		return s.parameter()
	case c == '?':
		return s.take(param, 1), nil
	case strings.HasPrefix(s.rest, "<="), strings.HasPrefix(s.rest, ">="), strings.HasPrefix(s.rest, "<>"):
		return s.take(symbol(s.rest[:2]), 2), nil
	case strings.HasPrefix(s.rest, "!="):
		return s.take(symbol(NotEqual), 2), nil
	case strings.IndexByte(";,()=<>*", c) >= 0:
		return s.take(symbol(s.rest[:1]), 1), nil
	case strings.HasPrefix(s.rest, "->"), strings.HasPrefix(s.rest, "-["):
		return s.take(symbol(s.rest[:2]), 2), nil
	case strings.HasPrefix(s.rest, "]->"):
		return s.take(arrowHead, 3), nil
	}
	if n := wordLen(s.rest); n > 0 {
		t := s.take(word, n)
		t.str = t.text
		return t, nil
	}
	return token{}, s.unexpected()
}

// take consumes the next n bytes as a token.
func (s *scanner) take(k symbol, n int) token {
	t := token{symbol: k, pos: s.pos, text: s.rest[:n]}
	s.skip(n)
	return t
}

// skip consumes the next n bytes.
func (s *scanner) skip(n int) {
	s.pos = s.pos.After(s.rest[:n])
	s.rest = s.rest[n:]
}

// skipBlanks consumes white space and comments.
func (s *scanner) skipBlanks() *Error {
	for {
		s.skip(blankLen(s.rest))
		switch {
		case strings.HasPrefix(s.rest, "--"):
			s.skip(lineLen(s.rest))
		case strings.HasPrefix(s.rest, "/*"):
			n := strings.Index(s.rest[2:], "*/")
			if n < 0 {
				return &Error{Pos: s.pos, Msg: "comment is not closed, expected */"}
			}
			s.skip(n + 4)
		default:
			return nil
		}
	}
}

// blankLen returns the length of the white space that text begins with.
func blankLen(text string) int {
	for i, r := range text {
		if !isBlank(r) {
			return i
		}
	}
	return len(text)
}

// isBlank reports whether r is white space or a byte order mark, which some editors write at the
// beginning of a file.
func isBlank(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' }

// lineLen returns the length of the first line of text without its line feed.
func lineLen(text string) int {
	if n := strings.IndexByte(text, '\n'); n >= 0 {
		return n
	}
	return len(text)
}

// quoted reads a token enclosed in the quotes that it begins with. A doubled quote denotes one
// quote.
func (s *scanner) quoted(k symbol, what string) (token, *Error) {
	q := s.rest[:1]
	for n := 1; ; n += 2 {
		i := strings.Index(s.rest[n:], q)
		if i < 0 {
			return token{}, &Error{Pos: s.pos, Msg: what + " is not closed, expected " + q}
		}
		n += i
		if strings.HasPrefix(s.rest[n+1:], q) {
			continue
		}
		t := s.take(k, n+1)
		t.str = strings.ReplaceAll(t.text[1:n], q+q, q)
		return t, nil
	}
}

// name reads a name in double quotes.
func (s *scanner) name() (token, *Error) {
	t, err := s.quoted(quotedName, "name")
	if err == nil && t.str == "" {
		err = &Error{Pos: t.pos, Msg: `name is empty: ""`}
	}
	return t, err
}

// parameter reads $name.
func (s *scanner) parameter() (token, *Error) {
	n := wordLen(s.rest[1:])
	if n == 0 {
		return token{}, &Error{Pos: s.pos, Msg: "parameter has no name, expected ? or $name"}
	}
	t := s.take(param, n+1)
	t.str = t.text[1:]
	return t, nil
}

// startsNumber reports whether text begins with a digit, after at most a minus sign and a point.
func startsNumber(text string) bool {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "-"), ".")
	return text != "" && isDigit(text[0])
}

// numberLen returns the length of the number that text begins with. Letters are part of it, so that
// 42abc and 0x10 are one malformed number and not two tokens.
func numberLen(text string) int {
	for i := 1; i < len(text); i++ {
		c := text[i]
		sign := (c == '-' || c == '+') && (text[i-1] == 'e' || text[i-1] == 'E')
		if !sign && !isDigit(c) && c != '.' && c != '_' && !('a' <= c|0x20 && c|0x20 <= 'z') {
			return i
		}
	}
	return len(text)
}

// number reads an integer or a decimal number.
func (s *scanner) number() (token, *Error) {
	t := s.take(decimal, numberLen(s.rest))
	digits := strings.TrimPrefix(t.text, "-")
	if !strings.ContainsFunc(digits, func(r rune) bool { return r < '0' || r > '9' }) {
		return wholeNumber(t, digits)
	}
	var err error
	t.float, err = strconv.ParseFloat(t.text, 64)
	switch {
	case strings.Trim(digits, "0123456789.eE+-") != "":
		return t, &Error{Pos: t.pos, Msg: "bad number " + t.found()}
	case err != nil && err.(*strconv.NumError).Err == strconv.ErrRange:
		return t, &Error{Pos: t.pos, Msg: "number " + t.found() + " is too large"}
	case err != nil:
		return t, &Error{Pos: t.pos, Msg: "bad number " + t.found()}
	}
	return t, nil
}

// wholeNumber completes an integer token. An integer has one spelling: 007 is an error, because a
// reader of edge lists takes it for the string key '007' and not for 7.
func wholeNumber(t token, digits string) (token, *Error) {
	var err error
	t.symbol = integer
	if t.int, err = strconv.ParseInt(t.text, 10, 64); err != nil {
		return t, &Error{Pos: t.pos, Msg: "integer " + t.found() + " does not fit in 64 bits", DidYouMean: Suggest(String{Value: t.text})}
	}
	if digits[0] == '0' && t.text != "0" {
		canonical := strconv.FormatInt(t.int, 10)
		return t, &Error{Pos: t.pos, Msg: "integer " + t.found() + " is spelled " + canonical, DidYouMean: Suggest(String{Value: t.text})}
	}
	return t, nil
}

// unexpected returns the error for a character that begins no token.
func (s *scanner) unexpected() *Error {
	r, _ := utf8.DecodeRuneInString(s.rest)
	err := &Error{Pos: s.pos, Msg: "unexpected character " + strconv.QuoteRune(r)}
	switch {
	case r == '-':
		err.DidYouMean = "->"
	case strings.ContainsRune("‘’“”`´", r):
		err.DidYouMean = "'...'"
	}
	return err
}
