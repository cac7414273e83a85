package parse_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kith/query/internal/parse"
)

// TestLexemesAreAllOfIt checks that the lexemes of a text, concatenated, are the text.
func TestLexemesAreAllOfIt(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{"CHECK", "a1", "12", "1.e", "'", "''", `"`, "--", "/*", "*/", "\n", " ", "é", "世", "$x", "$", "?", ";", "\xff"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), "")
		var all []string
		for l := range parse.Lexemes(text) {
			if l.Text == "" {
				t.Fatalf("an empty lexeme in %q", text)
			}
			all = append(all, l.Text)
		}
		if got := strings.Join(all, ""); got != text {
			t.Fatalf("%q: %s", text, fmt.Sprintf("%q", all))
		}
	})
}
