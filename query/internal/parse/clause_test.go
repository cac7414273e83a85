package parse

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// Clauses are keywords and signs of the grammar: the operands of others would never be found.
func TestClausesAreInTheGrammar(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("clause.go")
	if err != nil {
		t.Fatal(err)
	}
	known := append(Keywords(), "->", "-[", "]->", "=", "*")
	declared := regexp.MustCompile(`(?m)^\t(\w+) +Clause\[\w+\] += "([^"]+)"`).FindAllStringSubmatch(string(text), -1)
	for _, m := range declared {
		if !slices.Contains(known, m[2]) {
			t.Errorf("%s: no grammar has %q", m[1], m[2])
		}
	}
	if len(declared) < 40 {
		t.Errorf("%d clauses were found", len(declared))
	}
}

// A clause returns the operands of its type.
func TestClause(t *testing.T) {
	t.Parallel()
	s, err := Parse("PREDICT LINKS FOR 'ann', (1, 2) AMONG ALL TOP 3 RETURN target, score")
	if err != nil {
		t.Fatal(err)
	}
	if got := For.All(s); len(got) != 2 || got[1].String() != "(1, 2)" {
		t.Errorf("FOR %v", got)
	}
	if got := ForNode.All(s); len(got) != 1 || ForNode.Of(s) != got[0] || ForNode.In(s) != got[0].Position() {
		t.Errorf("the nodes after FOR are %v", got)
	}
	if got := Return.All(s); len(got) != 2 || Return.Of(s).Value != "target" {
		t.Errorf("RETURN %v", got)
	}
	if Among.Of(s) == nil || Where.Of(s) != nil || Depth.Of(s) != nil || Using.Of(s) != (Name{}) {
		t.Errorf("AMONG %v, WHERE %v, DEPTH %v, USING %v", Among.Of(s), Where.Of(s), Depth.Of(s), Using.Of(s))
	}
	if !Top.Given(s) || Each.Given(s) || Version.In(s) != s.Pos {
		t.Errorf("TOP %t, EACH %t, VERSION at %v", Top.Given(s), Each.Given(s), Version.In(s))
	}
}
