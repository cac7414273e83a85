package parse_test

import (
	"strings"
	"testing"

	"kith/query/internal/parse"
)

func TestExpected(t *testing.T) {
	t.Parallel()
	const node = "a node (an integer, a 'string' or a parameter)"
	for text, want := range map[string]string{
		"PREDICT ":                               "LINKS",
		"PREDICT LINKS FOR ":                     `ALL|LABEL|NEAR|"("|` + node,
		"PREDICT LINKS FOR 1":                    `",`,
		"RANK NODES FOR (1 ":                     `WEIGHT|",`,
		"RANK NODES FOR (1 WEIGHT ":              "a number",
		"RANK NODES FOR (1 WEIGHT 2, ":           node,
		"PREDICT LINKS FOR 1 AMONG NEIGHBORS":    `"("`,
		"PREDICT LINKS FOR 1 AMONG NEIGHBORS(2)": "VIA|WITHIN|UNION|EXCEPT|INTERSECT|ASSUMING|USING|WHERE|TOP|RETURN|WITH|end of statement",
		"INSERT EDGES 1 -":                       "",
		"INSERT EDGES 1 ":                        `"->"|"-["`,
		"INSERT EDGES 1 -[":                      "a relation",
		"INSERT EDGES 1 -[follows":               `"]->"`,
		"PREDICT LINKS INVERSE ":                 "a relation",
		"NEIGHBORS OF 1 VIA ":                    "a relation",
		"predict links for 'a b' using":          "a model",
		"PREDICT LINKS FOR 1 WHERE score":        `"="`,
		"CREATE MODEL m USING ":                  "a policy",
		"SHOW STATS":                             "end of statement",
		"SHOW STATS;":                            "end of statement",
		"SHOW STATS; SHOW":                       "",
		"PREDICT NOTHING ":                       "",
		"NEIGHBORS OF 'ali":                      "",
		"CHECK /* ":                              "",
		"CHECK \x00":                             "",
		"":                                       "PREDICT|WHY|DRAW|EXPLAIN",
	} {
		got := strings.Join(parse.Expected(text), "|")
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestExpectedContinues checks that the parser accepts every word that Expected returns.
func TestExpectedContinues(t *testing.T) {
	t.Parallel()
	texts := []string{""}
	for range 4 {
		var longer []string
		for _, text := range texts {
			for _, e := range parse.Expected(text) {
				if e != strings.ToUpper(e) || strings.HasPrefix(e, `"`) {
					continue
				}
				next := text + e + " "
				if parse.Expected(next) == nil {
					t.Errorf("nothing may follow %q", next)
				}
				longer = append(longer, next)
			}
		}
		texts = longer
	}
}
