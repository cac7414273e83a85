package query_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
)

// SHOW RULES lists what a training has learned, or what the built-in model counts, and WHY says
// which rules lead to a link, with the nodes that bind them.
func TestShowRules(t *testing.T) {
	t.Parallel()
	g := dbtest.Camps(t)
	run := func(text string) *query.Rows {
		t.Helper()
		rows, err := query.Run(t.Context(), g, text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return rows
	}
	run("CREATE MODEL m")
	if rows := run("SHOW RULES FOR likes USING m"); len(rows.Rows) != 0 || len(rows.Notes) != 1 || !strings.Contains(rows.Notes[0], "no rules are known") {
		t.Errorf("before a training: %v, %q", rows.Rows, rows.Notes)
	}
	if rows := run("SHOW RULES FOR likes"); len(rows.Rows) == 0 || len(rows.Notes) != 0 {
		t.Errorf("the rules of the built-in model: %v, %q", rows.Rows, rows.Notes)
	}
	run("TRAIN MODEL default")
	const rule = "likes(X, Y) <- follows(X, Z), likes(Z, Y)"
	rows := run("SHOW RULES FOR likes USING default")
	at := slices.IndexFunc(rows.Rows, func(r []any) bool { return r[0] == rule })
	if at < 0 {
		t.Fatalf("no rule %s in %v", rule, rows.Rows)
	}
	if r := rows.Rows[at]; r[1].(float64) <= r[2].(float64) {
		t.Errorf("the rule has confidence %v, by chance %v", r[1], r[2])
	}
	if first := run("SHOW RULES FOR likes TOP 1"); len(first.Rows) != 1 || first.Rows[0][0] != rows.Rows[0][0] {
		t.Errorf("TOP 1 is %v, want %v", first.Rows, rows.Rows[0])
	}
	if back := run("SHOW RULES FOR INVERSE likes"); !slices.ContainsFunc(back.Rows, func(r []any) bool { return strings.HasPrefix(r[0].(string), "likes(X, Y) <- likes(Z, Y), ") }) {
		t.Errorf("the rules of the inverse are %v", back.Rows)
	}
	first := run("PREDICT LINKS likes FOR 5 TOP 1").Rows[0]
	best := first[1].(db.Key)
	if text := first[4].(string); !strings.HasPrefix(text, "likes(X, Y) <- ") || !strings.Contains(text, ": 5 -[") {
		t.Errorf("the reason names no rule with its nodes: %s", text)
	}
	why := run(fmt.Sprintf("WHY 5 -[likes]-> %s WITH (detail = on)", best.Literal()))
	because := 0
	for _, r := range why.Rows {
		if text := r[1].(string); r[0] == "because" && strings.HasPrefix(text, "5 -[") && strings.HasSuffix(text, best.Literal()) {
			because++
		}
	}
	if because == 0 {
		t.Errorf("WHY binds no rule: %v", why.Rows)
	}
	if _, err := query.Run(t.Context(), g, "SHOW RULES FOR like"); err == nil || !strings.Contains(err.Error(), "likes") {
		t.Errorf("rules of a missing relation: %v", err)
	}
}
