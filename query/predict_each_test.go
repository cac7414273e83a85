package query_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
	"kith/query/internal/parse"
)

// The best links of all nodes are those that a sort of the links of each node has first, and of
// equal scores the first ones, however often the others are dropped on the way. A pair of an
// undirected graph is there once, with its better score.
func TestBestOfAll(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		direction db.Direction
		using     string
	}{{db.Undirected, "USING adamic_adar"}, {db.Directed, "USING adamic_adar"}, {db.Undirected, ""}} {
		testBestOfAll(t, c.direction, c.using)
	}
}

func testBestOfAll(t *testing.T, direction db.Direction, using string) {
	g, ctx := dbtest.Open(t, &db.Options{InMemory: true, Direction: direction}), context.Background()
	if err := g.Update(ctx, func(tx *db.Tx) error {
		for i := range 250 {
			for _, j := range []int{(i + 1) % 250, (i*i + 3) % 250} {
				if err := tx.PutEdge(db.Int(int64(i)), db.Int(int64(j))); err != nil {
					return err
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	ask := func(clauses string) [][]any {
		rows, err := query.Run(ctx, g, "PREDICT LINKS FOR ALL AMONG NEIGHBORS(2) "+using+" "+clauses)
		if err != nil {
			t.Fatal(err)
		}
		return rows.Rows
	}
	each := ask("TOP 40 EACH")
	profile, err := query.Run(ctx, g, "PROFILE PREDICT LINKS FOR ALL AMONG NEIGHBORS(2) "+using+" TOP 40 EACH")
	if err != nil || len(profile.Rows) != 2 || profile.Rows[0][3] == nil || profile.Rows[1][1] != fmt.Sprintf("the best 40 of each: %d rows", len(each)) {
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
	seen, turned := map[[2]any]bool{}, 0
	each = slices.DeleteFunc(each, func(row []any) bool {
		seen[[2]any{row[0], row[1]}] = true
		twice := direction == db.Undirected && seen[[2]any{row[1], row[0]}]
		if twice {
			turned++
		}
		return twice
	})
	if direction == db.Undirected && turned < 100 {
		t.Errorf("%q: only %d pairs from both ends", using, turned)
	}
	for _, top := range []int{7, 40} {
		if got, want := fmt.Sprint(ask(fmt.Sprintf("TOP %d", top))), fmt.Sprint(each[:top]); got != want {
			t.Errorf("%q: best of all %s\nwant %s", using, got, want)
		}
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

// A condition for links is divided into the part about candidates and the part about the answer.
func TestLinkFilter(t *testing.T) {
	t.Parallel()
	g, err := db.Open("", &db.Options{InMemory: true, Memory: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for text, ok := range map[string]bool{"score > 0.5 AND label = item": true, "scroe > 1": false, "score >": false, "score > 1 TOP 3": false} {
		err := g.View(context.Background(), func(tx *db.Tx) error {
			f, err := query.NewLinkFilter(context.Background(), tx, text)
			if ok && (f.Nodes == nil || f.Nodes.String() != "label = 'item'" || f.Keep == nil) {
				t.Errorf("%s: %+v", text, f)
			}
			return err
		})
		if (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}
