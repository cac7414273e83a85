package query

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kith/db/words"
	"kith/query/parse"
)

// The parser corrects keywords by the rule of words.Closest, which it cannot import.
func TestKeywordsAreCorrected(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		typed := []byte(rapid.SampledFrom(parse.Keywords()).Draw(t, "keyword"))
		for range rapid.IntRange(0, 3).Draw(t, "errors") {
			typed[rapid.IntRange(0, len(typed)-1).Draw(t, "at")] = byte(rapid.IntRange('A', 'Z').Draw(t, "letter"))
		}
		var e *Error
		if _, err := parse.Parse(string(typed)); !errors.As(err, &e) || e.Msg != "" || e.Offset > 0 {
			return // it is a keyword that begins a statement, or one of another language
		}
		if want := words.Closest(string(typed), e.Expected); e.DidYouMean != want {
			t.Errorf("%s: did you mean %q, want %q", typed, e.DidYouMean, want)
		}
	})
}

// Runners ask a statement only for keywords and signs of the grammar: others would never be found.
func TestClausesAreInTheGrammar(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, k := range parse.Kinds() {
		for _, term := range append(parse.TermsOf(k.Grammar), parse.Term{Grammar: k.Grammar}) {
			for _, word := range regexp.MustCompile(`[A-Z]+|->|=`).FindAllString(term.Grammar, -1) {
				known[word] = true
			}
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\.(?:Value|Values|Name|Names|Edges|Options|Has|At)\("([^"]+)"\)`).FindAllStringSubmatch(string(text), -1) {
			asked++
			if !known[m[1]] {
				t.Errorf("%s: %s: no grammar has %q", file, m[0], m[1])
			}
		}
	}
	if asked < 50 {
		t.Errorf("%d questions were found", asked)
	}
}
