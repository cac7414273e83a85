package main

import (
	"iter"
	"strings"
	"unicode"
)

// lexeme is a lexical element of a typed statement. The last one may be unfinished.
type lexeme struct {
	class class
	text  string
}

// class is the kind of a lexeme.
type class byte

const (
	aSign class = iota // punctuation or a blank
	aWord
	aNumber
	aText   // in single quotes
	aName   // in double quotes
	aParam  // ? or $name
	aRemark // a comment
)

// lexemes splits text, which may have errors, into lexemes.
func lexemes(s string) iter.Seq[lexeme] {
	return func(yield func(lexeme) bool) {
		for len(s) > 0 {
			c, n := first(s)
			if !yield(lexeme{c, s[:n]}) {
				return
			}
			s = s[n:]
		}
	}
}

// first returns the class and the length of the lexeme that s begins with.
func first(s string) (class, int) {
	switch {
	case strings.HasPrefix(s, "--"):
		return aRemark, until(s, "\n")
	case strings.HasPrefix(s, "/*"):
		return aRemark, until(s, "*/")
	case s[0] == '\'':
		return aText, quoted(s)
	case s[0] == '"':
		return aName, quoted(s)
	case s[0] == '?':
		return aParam, 1
	case s[0] == '$':
		return aParam, 1 + wordLen(s[1:])
	case digits(s) > 0:
		return aNumber, digits(s)
	case wordLen(s) > 0:
		return aWord, wordLen(s)
	}
	for i := range s {
		if i > 0 {
			return aSign, i
		}
	}
	return aSign, len(s)
}

// until returns the length of a comment including its end, or len(s) if the end is missing.
func until(s, end string) int {
	if i := strings.Index(s[2:], end); i >= 0 {
		return 2 + i + len(end)
	}
	return len(s)
}

// quoted returns the length of quoted text, in which a doubled quote denotes one quote, or len(s) if the end is
// missing.
func quoted(s string) int {
	for n := 1; ; n++ {
		i := strings.IndexByte(s[n:], s[0])
		if i < 0 {
			return len(s)
		}
		if n += i + 1; n == len(s) || s[n] != s[0] {
			return n
		}
	}
}

// digits returns the length of the number that s begins with, including letters directly after it.
func digits(s string) int {
	if s[0] < '0' || s[0] > '9' {
		return 0
	}
	n := strings.IndexFunc(s, func(r rune) bool { return r != '.' && !inWord(r) })
	if n < 0 {
		return len(s)
	}
	return n
}

func wordLen(s string) int {
	for i, r := range s {
		if !inWord(r) || i == 0 && unicode.IsDigit(r) {
			return i
		}
	}
	return len(s)
}

func inWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd)
}
