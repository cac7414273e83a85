package query_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
)

// A parameter may replace a set: its argument is a db.Candidates or a slice of nodes.
func TestSetArgument(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	if _, err := query.Run(t.Context(), g, "INSERT EDGES 'ann' -> 'bob', 'bob' -> 'cid', 'cid' -> 'dan', 'dan' -> 7"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		set  any
		want string // targets, or error
	}{
		{[]string{"bob", "dan"}, "'bob' 'dan'"},
		{[]int{7}, "7"},
		{[]any{"cid", db.Int(7)}, "'cid' 7"},
		{db.Neighbors(3), "'cid' 'dan'"},
		{db.All().Except(db.Keys("cid")), "'dan' 7"},
		{[]string{}, ""},
		{"bob", "1:31: 'bob' (a string) is not a set: want a slice of nodes, or db.Candidates"},
		{nil, "1:31: null is not a set: want a slice of nodes, or db.Candidates"},
		{[]string{"bob", "eve"}, "'bob'"},
		{[]float64{1.5}, "1:31: 1.5 (a number) is no key, want an integer or a string"},
	} {
		rows, err := query.Run(context.Background(), g, "PREDICT LINKS FOR 'ann' AMONG ? EXCEPT $less", c.set, sql.Named("less", []int{}))
		got := fmt.Sprint(err)
		if err == nil {
			got = targets(rows)
		}
		if got != c.want {
			t.Errorf("%v: got %s, want %s", c.set, got, c.want)
		}
	}
}

// An argument may be a set of sources, and within parentheses a slice of nodes that share a weight.
// Elsewhere each element of a slice is a source of its own.
func TestSourceArgument(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	if _, err := query.Run(t.Context(), g, "INSERT EDGES 'ann' -> 'bob', 'bob' -> 'cid', 'cid' -> 'dan', 'dan' -> 7"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		args []any
		want string // sources, or error
	}{
		{"RANK NODES FOR ? TOP 1", []any{[]any{"ann", 7}}, "'ann' 7"},
		{"RANK NODES FOR (?) TOP 1", []any{[]any{"ann", 7}}, "('ann' WEIGHT 0.5, 7 WEIGHT 0.5)"},
		{"RANK NODES FOR (7, ? WEIGHT ?), 'bob' TOP 1", []any{[]string{"cid", "ann"}, 2}, "('ann' WEIGHT 0.4, 'cid' WEIGHT 0.4, 7 WEIGHT 0.2) 'bob'"},
		{"PREDICT LINKS FOR $s AMONG ('dan')", []any{sql.Named("s", db.Seeds{{Node: db.Str("ann"), Weight: 3}, {Node: db.Str("bob")}})}, "('ann' WEIGHT 0.75, 'bob' WEIGHT 0.25)"},
		{"PREDICT LINKS FOR $s AMONG ('dan')", []any{sql.Named("s", db.Seeds{{Node: db.Str("ann"), Weight: 3}})}, "'ann'"},
		{"RANK NODES FOR (7, ?)", []any{[]any{"ann", 7}}, "1:20: source 7 is given twice in a set"},
		{"RANK NODES FOR (?)", []any{[]string{}}, "1:16: a set of sources without nodes: want at least 1"},
		{"RANK NODES FOR (?)", []any{make([]int, 10_001)}, "1:17: no node 0"},
		{"RANK NODES FOR (7, ? WEIGHT ?)", []any{"ann", -1}, "1:29: weight -1 is not a number from 2^-40 to 2^40"},
		{"RANK NODES FOR ?", []any{db.Seeds{{Node: db.Int(7), Weight: -1}}}, "1:16: source 7: weight -1 is not a number from 2^-40 to 2^40"},
		{"RANK NODES FOR ?", []any{db.Seeds{{Node: db.Int(7)}, {Node: db.Str("eve")}}}, "1:16: no node 'eve'"},
		{"RANK NODES FOR ('ann', ?)", []any{[]string{"bob", "eve"}}, "1:24: no node 'eve'"},
	} {
		rows, err := query.Run(context.Background(), g, c.text, c.args...)
		got := fmt.Sprint(err)
		if err == nil {
			var sources []string
			for _, row := range rows.Rows {
				text := fmt.Sprint(row[0])
				if k, isKey := row[0].(db.Key); isKey {
					text = k.Literal()
				}
				sources = append(sources, text)
			}
			got = strings.Join(sources, " ")
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.text, got, c.want)
		}
	}
}

// targets returns the targets of a prediction, sorted by key.
func targets(rows *query.Rows) string {
	var keys []string
	for _, row := range rows.Rows {
		keys = append(keys, row[1].(db.Key).Literal())
	}
	slices.Sort(keys)
	return strings.Join(keys, " ")
}
