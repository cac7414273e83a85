package main

import (
	"slices"
	"testing"

	"kith/db"
	"kith/query"
)

func TestComplete(t *testing.T) {
	v := vocabulary{models: []string{"friends", `"my model"`}, labels: []string{"item"}}
	lower := inCaseOf("x", query.Keywords())
	for _, c := range []struct {
		text, word string
		values     []string
	}{
		{"", "", query.Keywords()},
		{"PRE", "PRE", query.Keywords()},
		{"pre", "pre", lower},
		{"PREDICT links", "links", lower},
		{"PREDICT LINKS FOR 1 USING ", "", v.models},
		{"predict links for 1 using fr", "fr", v.models},
		{"CREATE MODEL m USING p", "p", db.Policies()},
		{"CREATE MODEL ", "", query.Keywords()},
		{"TRAIN MODEL fr", "fr", v.models},
		{"PREDICT LINKS FOR 1 AMONG LABEL ", "", v.labels},
		{"PREDICT LINKS FOR 1 AMONG NEIGHBORS(2) T", "T", query.Keywords()},
		{".mo", ".mo", dotNames()},
		{".mode js", "js", modeNames()},
		{".read nightly", "nightly", nil},
	} {
		word, values := complete(c.text, v)
		if word != c.word || !slices.Equal(values, c.values) {
			t.Errorf("%q: got %q, %q, want %q, %q", c.text, word, values, c.word, c.values)
		}
	}
	if lower[0] != "all" || query.Keywords()[0] != "ALL" {
		t.Errorf("keywords are %s and %s", lower[0], query.Keywords()[0])
	}
}
