package edgelist_test

import (
	"testing"

	"kith/db/edgelist"
)

// A key in a column of strings reads back unchanged, also if it looks like a number.
func TestQuoted(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"ann": "ann", "7": "'7'", "-7": "'-7'", "'7'": "''7''", "07": "07", "'": "'", "''": "''", "'ann'": "'ann'", "'07'": "'07'",
	} {
		if got := edgelist.Quoted(s); got != want {
			t.Errorf("Quoted(%q) = %q, want %q", s, got, want)
		}
		if got := edgelist.Unquoted(want); got != (edgelist.Token{Str: s}) {
			t.Errorf("Unquoted(%q) = %+v, want the string %q", want, got, s)
		}
	}
	if got := edgelist.Unquoted("7"); got != (edgelist.Token{Int: 7, IsInt: true}) {
		t.Errorf("Unquoted(7) = %+v, want the integer", got)
	}
}
