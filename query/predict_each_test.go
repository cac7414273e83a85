package query_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
	"kith/query/parse"
)

// The best links of all nodes are those that a sort of the links of each node has first, and of equal scores the first ones,
// however often the others are dropped on the way.
func TestBestOfAll(t *testing.T) {
	t.Parallel()
	g, ctx := dbtest.Open(t, &db.Options{InMemory: true}), context.Background()
	if err := g.Update(ctx, func(tx *db.Tx) error {
		for i := range 400 {
			for _, j := range []int{(i + 1) % 400, (i*i + 3) % 400} {
				if err := tx.PutEdge(db.Edge{Src: db.Int(int64(i)), Dst: db.Int(int64(j)), Weight: 1}); err != nil {
					return err
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	ask := func(clauses string) [][]any {
		rows, err := query.Run(ctx, g, "PREDICT LINKS FOR ALL AMONG NEIGHBORS(2) USING adamic_adar "+clauses)
		if err != nil {
			t.Fatal(err)
		}
		return rows.Rows
	}
	each := ask("TOP 7 EACH")
	profile, err := query.Run(ctx, g, "PROFILE PREDICT LINKS FOR ALL AMONG NEIGHBORS(2) USING adamic_adar TOP 7 EACH")
	if err != nil || len(profile.Rows) != 2 || profile.Rows[0][3] == nil || profile.Rows[1][1] != "the best 7 of each: 2800 rows" {
		t.Errorf("profile: %+v, %v", profile, err)
	}
	slices.SortStableFunc(each, func(a, b []any) int {
		switch x, y := a[3].(float64), b[3].(float64); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	if got, want := fmt.Sprint(ask("TOP 7")), fmt.Sprint(each[:7]); got != want {
		t.Errorf("best of all %s\nwant %s", got, want)
	}
}

// A server counts a statement about all nodes as one that may take minutes.
func TestBatchLasts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"PREDICT LINKS FOR ALL": true, "PREDICT LINKS FOR LABEL a TOP 3 EACH": true, "PROFILE PREDICT LINKS FOR ALL": true,
		"PREDICT LINKS FOR 1 AMONG ALL": false, "EXPLAIN PREDICT LINKS FOR ALL": false, "PREDICT LINKS FOR 1 AMONG LABEL a": false,
	} {
		stmt, err := parse.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if query.Lasts(stmt) != want || query.Writes(stmt) {
			t.Errorf("%s: lasts %v, writes %v", text, query.Lasts(stmt), query.Writes(stmt))
		}
	}
}

// A condition for links is checked without a database.
func TestLinkFilter(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{"score > 0.5 AND label = item": true, "scroe > 1": false, "score >": false, "score > 1 TOP 3": false} {
		if _, err := query.LinkFilter(text); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}
