package main

import (
	"iter"
	"strings"
	"unicode"
)

// lexeme is a piece of a statement as it is typed: the last one may want its end.
type lexeme struct {
	class class
	text  string
}

// class is what a lexeme is.
type class byte

const (
	aSign class = iota // or a blank
	aWord
	aNumber
	aText   // in single quotes
	aName   // in double quotes
	aParam  // ? or $name
	aRemark // a comment
)

// lexemes cuts text, which need not be right, into all that it is made of.
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

// until is the length of a comment with its end; that of all of s if there is none.
func until(s, end string) int {
	if i := strings.Index(s[2:], end); i >= 0 {
		return 2 + i + len(end)
	}
	return len(s)
}

// quoted is the length of what stands in quotes, in which a doubled quote stands for one; that of all
// of s if there is no end.
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

// digits is the length of the number that s begins with, and of what is written on to it.
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
