// Package words has what messages to people need: plain texts of errors, numbers with their nouns,
// and the name that was probably meant.
package words

import (
	"fmt"
	"reflect"
	"regexp"
)

// Plain returns the text of an error without the names of packages, which mean nothing to the
// person who reads it, and without "bad input".
func Plain(err error) string {
	packages := regexp.MustCompile(`(^|: |\n)((db|index|model|edgelist|trial): (bad (input|option): )?)+`)
	return packages.ReplaceAllString(err.Error(), "$1")
}

// Count returns a number with its noun: "1 edge" or "2 edges".
func Count[N int | int64 | uint64](n N, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Value returns a value that cannot be used where it was given, and what it is, in the words of the
// language and of JSON: null, 3.5 (a number), 'ann' (a string). A value that neither has is shown
// with its type of Go.
func Value(v any) string {
	switch r := reflect.ValueOf(v); {
	case !r.IsValid():
		return "null"
	case r.Kind() == reflect.Map: // also one of a decoder
		return "an object"
	case r.Type().PkgPath() != "":
		// a type that a program has named is shown below
	case r.Kind() == reflect.String:
		text := []rune(r.String())
		if len(text) > longest {
			text = append(text[:longest:longest], []rune("...")...)
		}
		return fmt.Sprintf("'%s' (a string)", string(text))
	case r.Kind() == reflect.Bool:
		return fmt.Sprint(v)
	case r.CanInt(), r.CanUint():
		return fmt.Sprintf("%v (an integer)", v)
	case r.CanFloat():
		return fmt.Sprintf("%v (a number)", v)
	case r.Type() == reflect.TypeFor[[]any]():
		return "a list"
	}
	return fmt.Sprintf("%v (%T)", v, v)
}

// longest is the maximum length of a string in a message.
const longest = 60

// Closest returns the element of names that name is probably a misspelling of, or "". It accepts
// one error in three letters, and at most two errors.
func Closest(name string, names []string) string {
	for errors := range 3 {
		for _, n := range names {
			if 3*errors <= max(len(name), len(n)) && similar(name, n, errors) {
				return n
			}
		}
	}
	return ""
}

// similar reports whether at most n errors turn a into b. An error is an insertion, a deletion or a
// substitution of a letter, or a transposition of two; no letter has two errors (optimal string
// alignment).
func similar(a, b string, n int) bool {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	if a == "" || b == "" {
		return len(a)+len(b) <= n
	}
	if n == 0 {
		return false
	}
	return similar(a[1:], b[1:], n-1) || similar(a[1:], b, n-1) || similar(a, b[1:], n-1) ||
		len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] && similar(a[2:], b[2:], n-1)
}
