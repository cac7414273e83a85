package query_test

import (
	"fmt"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
)

// A reward of 1 with AND INSERT adds the edge of the decision, unless the decision has its reward
// already or a node of it is gone.
func TestRewardInserts(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	run := func(text string) *query.Rows {
		t.Helper()
		rows, err := query.Run(t.Context(), g, text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return rows
	}
	run("INSERT EDGES 1 -> 2, 2 -> 3, 2 -> 4, 4 -> 5, 3 -> 6")
	choose := func() db.Decision {
		t.Helper()
		d, err := g.Choose(t.Context(), db.ChooseOptions{For: 1, Among: db.Keys(3, 4, 5, 6)})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, c := range []struct {
		reward  int
		earlier bool
		want    string // changed, edges added
	}{{0, false, "[true false]"}, {1, true, "[false false]"}, {1, false, "[true true]"}} {
		d := choose()
		if c.earlier {
			run(fmt.Sprintf("REWARD %d = %d", d.ID, c.reward))
		}
		rows := run(fmt.Sprintf("REWARD %d = %d AND INSERT", d.ID, c.reward))
		row := rows.Rows[0]
		if got := fmt.Sprint(row[len(row)-2:]); got != c.want {
			t.Errorf("%+v: %v", c, row)
		}
		_, err := query.Run(t.Context(), g, fmt.Sprintf("DELETE EDGES 1 -> %v", d.Places[0].Target.Literal()))
		if added := err == nil; added != (c.want == "[true true]") {
			t.Errorf("%+v: the edge exists: %t", c, added)
		}
	}
	d := choose()
	run("DELETE NODE " + d.Places[0].Target.Literal())
	_, err := query.Run(t.Context(), g, fmt.Sprintf("REWARD %d = 1 AND INSERT", d.ID))
	if err == nil || !strings.Contains(err.Error(), "no node "+d.Places[0].Target.Literal()+", of decision") {
		t.Errorf("a deleted node: %v", err)
	}
}
