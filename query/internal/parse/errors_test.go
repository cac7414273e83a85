package parse

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"kith/db/words"
)

func TestErrorText(t *testing.T) {
	t.Parallel()
	at := Pos{Line: 1, Col: 9}
	tests := []struct {
		err  *Error
		want string
	}{
		{&Error{Pos: at, Msg: "no node 7"}, "1:9: no node 7"},
		{&Error{Pos: at, Found: "x", Expected: []string{`")"`}}, `1:9: found x, expected ")"`},
		{&Error{Pos: at, Found: "x", Expected: []string{"A", "B"}}, "1:9: found x, expected A or B"},
		{&Error{Pos: at, Found: "x", Expected: []string{"A", "B", "C"}, DidYouMean: "A"}, "1:9: found x, expected A, B or C; did you mean A?"},
	}
	for _, tt := range tests {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

func TestCaret(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, at, want string }{
		{"start", "abc def", "abc", "abc def\n^"},
		{"middle", "abc def", "def", "abc def\n    ^"},
		{"end", "abc", "", "abc\n   ^"},
		{"second line", "abc\ndef ghi\njkl", "ghi", "def ghi\n    ^"},
		{"CRLF", "abc\r\ndef ghi\r\njkl", "ghi", "def ghi\n    ^"},
		{"runes", "äöü def", "def", "äöü def\n    ^"},
		{"tab and escape", "a\tb\x1b[2J def", "def", "a b [2J def\n        ^"},
		{"long before", strings.Repeat("x", 100) + "def", "def", "..." + strings.Repeat("x", 40) + "def\n" + strings.Repeat(" ", 43) + "^"},
		{"long after", "def" + strings.Repeat("x", 100), "def", "def" + strings.Repeat("x", 37) + "...\n^"},
	}
	for _, tt := range tests {
		at := strings.Index(tt.text, tt.at)
		if tt.at == "" {
			at = len(tt.text)
		}
		for _, base := range []Pos{start(), {Offset: 1000, Line: 7, Col: 3}} {
			f := Fragment{base, tt.text}
			err := fmt.Errorf("wrapped: %w", &Error{Pos: f.After(tt.text[:at])})
			if got := f.Caret(err); got != tt.want {
				t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, tt.want)
			}
		}
	}
	f := Fragment{Pos{Offset: 10, Line: 1, Col: 11}, "abc"}
	for _, err := range []error{nil, errors.New("other"), &Error{Pos: Pos{Offset: 9}}, &Error{Pos: Pos{Offset: 14}}} {
		if got := f.Caret(err); got != "" {
			t.Errorf("%v is not in the fragment: got %q", err, got)
		}
	}
}

func TestClosest(t *testing.T) {
	t.Parallel()
	tests := []struct{ found, want string }{
		{"PREDICT", "PREDICT"},
		{"predcit", "PREDICT"},
		{"PRDICT", "PREDICT"},
		{"NEIGHBOURS", "NEIGHBORS"},
		{"NEIGBOURS", "NEIGHBORS"},
		{"TPOP", "TOP"},
		{"WAMR", "WARM"},
		{"WIHT", "WITH"},
		{"AL", "ALL"},
		{"FROG", "FROM"},
		{"XY", ""},
		{"SELECT", ""},
		{"LIMIT", ""},
		{"ÄÖ", ""},
		{strings.Repeat("TOP", 1000), ""},
	}
	for _, tt := range tests {
		if got := words.Closest(strings.ToUpper(tt.found), Keywords()); got != tt.want {
			t.Errorf("%.20s: got %q, want %q", tt.found, got, tt.want)
		}
	}
}
