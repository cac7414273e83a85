package query_test

import (
	"strings"
	"testing"

	"kith/query"
)

// The largest number of the language is used as it is, or refused with its position.
func TestLargestNumbers(t *testing.T) {
	t.Parallel()
	g := communities(t)
	run := func(text string, args ...any) *query.Rows {
		t.Helper()
		rows, err := query.Run(t.Context(), g, strings.ReplaceAll(text, "MOST", "9223372036854775807"), args...)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return rows
	}
	run("CREATE MODEL m USING adamic_adar")
	for range 5 {
		run("REWARD ? = 1", run("CHOOSE LINK FOR 1 AMONG ALL TTL MOST").Rows[0][0])
	}
	for _, c := range []struct {
		text string
		rows int
	}{
		{"NODES TOP MOST", 100},
		{"NEIGHBORS OF 1 DEPTH MOST TOP MOST", 99},
		{"RANK NODES FOR 1 TOP MOST", 100},
		{"PREDICT LINKS FOR 1 AMONG NEIGHBORS(MOST) TOP 5", 5},
		{"PREDICT LINKS FOR 1 AMONG PPR(MOST) TOP 5", 5},
		{"PREDICT LINKS FOR 1 AMONG SAMPLE(MOST) TOP 5", 5},
		{"SHOW DECISIONS TOP MOST", 5},
		{"SHOW DECISIONS TOP 4611686018427387904", 5},
		{"SHOW DECISIONS TOP 2", 2},
		{"SHOW FUNNEL TOP MOST", 1},
		{"EVALUATE m ON LOG USING ips WITH (max_reward = 3e38)", 1},
	} {
		if rows := run(c.text); len(rows.Rows) != c.rows {
			t.Errorf("%s: %d rows, want %d", c.text, len(rows.Rows), c.rows)
		}
	}
}
