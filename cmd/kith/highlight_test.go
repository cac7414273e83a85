package main

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestHighlight(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                        "",
		"show 'a''b' -- x\n, \"c": cyan + "show" + uncoloured + " " + yellow + "'a''b'" + uncoloured + " " + grey + "-- x\n" + uncoloured + ", " + green + `"c` + uncoloured,
		"TOP 1.5e3 x1 /* 2":       cyan + "TOP" + uncoloured + " " + magenta + "1.5e3" + uncoloured + " x1 " + grey + "/* 2" + uncoloured,
		"$a ?":                    green + "$a" + uncoloured + " " + green + "?" + uncoloured,
		".mode  csv":              cyan + ".mode" + uncoloured + "  csv",
		".help":                   cyan + ".help" + uncoloured,
	} {
		if got := highlight(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestLexemesAreAllOfIt checks that the lexemes of a text, concatenated, are the text.
func TestLexemesAreAllOfIt(t *testing.T) {
	piece := rapid.SampledFrom([]string{"CHECK", "a1", "12", "1.e", "'", "''", `"`, "--", "/*", "*/", "\n", " ", "é", "世", "$x", "$", "?", ";", "\xff"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), "")
		var all []string
		for l := range lexemes(text) {
			if l.text == "" {
				t.Fatalf("an empty lexeme in %q", text)
			}
			all = append(all, l.text)
		}
		if got := strings.Join(all, ""); got != text {
			t.Fatalf("%q: %s", text, fmt.Sprintf("%q", all))
		}
	})
}
