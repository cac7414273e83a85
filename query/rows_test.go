package query_test

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"kith/db"
	"kith/query"
)

// The memory of an answer for many sources is bounded by the number of rows that it may have.
func TestMaxRowsOfManySources(t *testing.T) {
	// not parallel: it measures the memory of the process
	s := &query.Session{DB: communities(t), Settings: query.Settings{MaxRows: 150}}
	many := strings.Repeat("1, ", 2000) + "1"
	for _, text := range []string{
		"PREDICT LINKS FOR " + many + " AMONG ALL TOP 90", "RANK NODES FOR " + many + " TOP 90",
		"PREDICT LINKS FOR " + many + " AMONG ALL WHERE rank > 3 TOP 90",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		rows, err := s.Run(t.Context(), text)
		runtime.ReadMemStats(&after)
		if err != nil || len(rows.Rows) != 150 || len(rows.Notes) == 0 || !strings.Contains(rows.Notes[len(rows.Notes)-1], "max_rows") {
			t.Fatalf("%.30s: %d rows, %v", text, len(rows.Rows), err)
		}
		if made := after.TotalAlloc - before.TotalAlloc; made > 10<<20 {
			t.Errorf("%.30s: %d MB were allocated for 150 rows", text, made>>20)
		}
		if _, err := s.Run(t.Context(), strings.Replace(text, "1 ", "4711 ", 1)); err == nil {
			t.Errorf("%.30s: a node that is not there", text)
		}
	}
}

func TestRowsInJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rows query.Rows
		want string
	}{
		{query.Rows{}, `{"columns":[],"rows":[],"notes":[]}`},
		{query.Rows{
			Columns: []string{"a", "b"}, Rows: [][]any{{nil, db.Int(7)}, {1.5, db.Str("7")}}, Notes: []string{"n"},
		}, `{"columns":["a","b"],"rows":[[null,7],[1.5,"7"]],"notes":["n"]}`},
	} {
		if b, err := json.Marshal(c.rows); err != nil || string(b) != c.want {
			t.Errorf("got %s (%v), want %s", b, err, c.want)
		}
	}
}
