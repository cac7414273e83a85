package main

import (
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
)

// TestWordsAreKnown checks that every word offered for completion is accepted by the statement.
func TestWordsAreKnown(t *testing.T) {
	t.Chdir(t.TempDir()) // option plot writes a file
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	for _, s := range []string{"INSERT EDGES 1 -> 2, 2 -> 3", "CREATE MODEL m USING prb WITH (width = 8)"} {
		if _, err := query.Run(t.Context(), g, s); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ expected, before, behind string }{
		{"a policy", "CREATE MODEL ", ""},
		{"an explorer", "CHOOSE LINK FOR 1 AMONG ALL EXPLORE ", ""},
		{"an estimator", "EVALUATE m ON LOG USING ", ""},
		{"a format", "LOAD EDGES FROM 'none' FORMAT ", ""},
		{"a setting", "SET ", " = {}"},
		{"a column", "PREDICT LINKS FOR 1 RETURN ", ""},
		{"a column", "NODES WHERE ", " = 1"},
		{"an option", "PREDICT LINKS FOR 1 WITH (", " = {})"},
		{"an option", "EXPLAIN WHY 1 -> 3 WITH (", " = {})"},
		{"an option", "RANK NODES FOR 1 WITH (", " = {})"},
		{"an option", "EVALUATE STREAM EDGES WITH (", " = {})"},
		{"an option", "EVALUATE m ON LOG USING dr WITH (", " = {})"},
		{"an option", "CREATE MODEL n USING prb WITH (", " = {})"},
		{"an option", "TRAIN MODEL m WITH (", " = {})"},
		{"an option", "LOAD EDGES FROM 'none' WITH (", " = {})"},
		{"an option", "LOAD NODES FROM 'none' WITH (", " = {})"},
	} {
		all := words(c.expected, c.before)
		if len(all) == 0 {
			t.Errorf("%s: nothing is offered behind %s", c.expected, c.before)
		}
		for _, w := range all {
			text := strings.ReplaceAll(c.before+w+c.behind, "{}", "'no such value'")
			if c.expected == "a policy" {
				text = "CREATE MODEL " + w + " USING " + w
			}
			if w == "prb_n" {
				continue // the policy requires classes
			}
			_, err := query.Run(t.Context(), g, text)
			for _, unknown := range []string{"no option", "unknown", "no column", "no setting", "accepted: "} {
				if err != nil && strings.Contains(err.Error(), unknown) && !strings.Contains(err.Error(), "no such value") {
					t.Errorf("%s: %v", text, err)
				}
			}
		}
	}
}
