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
		{db.Except(db.All(), db.Keys("cid")), "'dan' 7"},
		{[]string{}, ""},
		{"bob", "1:31: bob (string) is not a set: want a slice of nodes, or db.Candidates"},
		{nil, "1:31: <nil> (<nil>) is not a set: want a slice of nodes, or db.Candidates"},
		{[]string{"bob", "eve"}, "1:31: no node 'eve'"},
		{[]float64{1.5}, "1:31: 1.5 (float64) is no key, want an integer or a string"},
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

// targets returns the targets of a prediction, sorted by key.
func targets(rows *query.Rows) string {
	var keys []string
	for _, row := range rows.Rows {
		keys = append(keys, fmt.Sprint(row[1]))
	}
	slices.Sort(keys)
	return strings.Join(keys, " ")
}
