package edgelist

import (
	"testing"
)

// A key in a column of strings reads back unchanged, also if it looks like a number.
func TestQuoted(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"ann": "ann", "7": "'7'", "-7": "'-7'", "'7'": "''7''", "07": "07", "'": "'", "''": "''", "'ann'": "'ann'", "'07'": "'07'",
	} {
		if got := Quoted(s); got != want {
			t.Errorf("Quoted(%q) = %q, want %q", s, got, want)
		}
		if got := unquoted(want); got != (Token{Str: s}) {
			t.Errorf("Unquoted(%q) = %+v, want the string %q", want, got, s)
		}
	}
	if got := unquoted("7"); got != (Token{Int: 7, IsInt: true}) {
		t.Errorf("Unquoted(7) = %+v, want the integer", got)
	}
}
