package query

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kith/query/parse"
)

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
