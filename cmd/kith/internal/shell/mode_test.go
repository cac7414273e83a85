package shell

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kith/db"
	"kith/query"
)

func written(t testing.TB, m mode, rows *query.Rows) string {
	t.Helper()
	var b bytes.Buffer
	if err := m.write(&b, rows); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestModes checks the modes with values that no statement returns yet; the values that statements
// return are in testdata.
func TestModes(t *testing.T) {
	t.Parallel()
	odd := &query.Rows{Columns: []string{"a", "b"}, Rows: [][]any{
		{nil, 1.5},
		{int64(math.MaxInt64), db.Str("\x1b[2J")},
	}}
	for _, c := range []struct {
		mode mode
		rows *query.Rows
		want string
	}{
		{jsonLinesMode, odd, `{"a":null,"b":1.5}` + "\n" + `{"a":9223372036854775807,"b":"\u001b[2J"}` + "\n"},
		{csvMode, odd, "a,b\n,1.5\n9223372036854775807,\x1b[2J\n"},
		{lineMode, odd, "a = \nb = 1.5\n\na = 9223372036854775807\nb = '\\x1b[2J'\n"},
		{markdownMode, odd, "| a | b |\n| ---:| --- |\n|  | 1.5 |\n| 9223372036854775807 | '\\x1b[2J' |\n"},
		{jsonLinesMode, &query.Rows{Columns: []string{"a"}}, ""},
		{jsonMode, &query.Rows{Columns: []string{"a"}}, "[]\n"},
		{csvMode, &query.Rows{Columns: []string{"a"}}, "a\n"},
		{lineMode, &query.Rows{Columns: []string{"a"}}, ""},
		{tableMode, &query.Rows{Columns: []string{"a"}}, "┌───┐\n│ a │\n├───┤\n└───┘\n"},
	} {
		if got := written(t, c.mode, c.rows); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.mode, got, c.want)
		}
	}
}

func TestParseMode(t *testing.T) {
	t.Parallel()
	for _, m := range modes() {
		if got, err := parseMode(string(m)); got != m || err != nil {
			t.Errorf("%s: %s, %v", m, got, err)
		}
	}
	if _, err := parseMode(""); err == nil {
		t.Error("no error for no mode")
	}
}

// TestNothingIsLost checks that JSON lines and CSV preserve the values of rows.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-z,;"'\n\t é€]{1,8}`)
		row := []any{
			rapid.Float64().Draw(t, "float"), rapid.Int64().Draw(t, "int"), text.Draw(t, "text"),
			rapid.Bool().Draw(t, "bool"), db.Str(text.Draw(t, "key")), db.Int(rapid.Int64().Draw(t, "number")), nil,
		}
		rows := &query.Rows{Columns: []string{"f", "i", "s", "b", "k", "n", "z"}, Rows: [][]any{row}}

		var b bytes.Buffer
		if err := jsonLinesMode.write(&b, rows); err != nil {
			t.Fatal(err)
		}
		var got struct {
			F    float64
			I, N int64
			S, K string
			B    bool
			Z    any
		}
		if err := json.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatalf("%s: %v", b.Bytes(), err)
		}
		key, _ := row[4].(db.Key).Str()
		number, _ := row[5].(db.Key).Int()
		if got.F != row[0] || got.I != row[1] || got.S != row[2] || got.B != row[3] || got.K != key || got.N != number || got.Z != nil {
			t.Fatalf("got %+v of %v", got, row)
		}

		b.Reset()
		if err := csvMode.write(&b, rows); err != nil {
			t.Fatal(err)
		}
		records, err := csv.NewReader(&b).ReadAll()
		if err != nil || len(records) != 2 || records[1][2] != row[2] || records[1][4] != key {
			t.Fatalf("got %q, error %v of %v", records, err, row)
		}
	})
}

// TestOneJSON checks that the JSON of an answer of package db has the members that the shell prints
// for the same query.
func TestOneJSON(t *testing.T) {
	t.Parallel()
	g, err := db.Open("", &db.Options{InMemory: true, Memory: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	ask := func(statement string) *query.Rows {
		rows, err := query.Run(t.Context(), g, statement)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	ask("INSERT EDGES 'ann' -> 9007199254740993, 'ann' -> 'cid', 9007199254740993 -> 'dan', 'cid' -> 'dan', 'cid' -> 7, 7 -> 8")
	ask("CREATE MODEL m USING default")
	ask("TRAIN MODEL m")
	var answers map[string]any
	err = g.View(t.Context(), func(tx *db.Tx) error {
		r, err := tx.Predict(t.Context(), db.PredictOptions{For: "ann", Among: db.Neighbors(3), NoCache: true})
		if err != nil {
			return err
		}
		p, err := tx.PageRank(t.Context(), db.PageRankOptions{From: "ann", NoCache: true})
		if err != nil {
			return err
		}
		steps, err := tx.Explain(t.Context(), db.PredictOptions{For: "ann"})
		answers = map[string]any{
			"PREDICT LINKS FOR 'ann' AMONG NEIGHBORS(3) RETURN source, target, rank, score WITH (cache = off)": r.Links,
			"RANK NODES FOR 'ann' WITH (cache = off)":                                                          p.Nodes,
			"SHOW MODELS":                     tx.Models(),
			"EXPLAIN PREDICT LINKS FOR 'ann'": steps,
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for statement, answer := range answers {
		b, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		shell, own := objects(t, written(t, jsonMode, ask(statement))), objects(t, string(b))
		if len(shell) == 0 || len(shell) != len(own) {
			t.Fatalf("%s: %d rows are %d in package db", statement, len(shell), len(own))
		}
		for i, row := range shell {
			for name, value := range row {
				if name == "source" { // all links or nodes share the source
					continue
				}
				if got, ok := own[i][name]; !ok || value != nil && got != value {
					t.Errorf("%s: the shell has %s %v, package db %v", statement, name, value, got)
				}
			}
		}
	}
}

// objects parses a list of objects and keeps its numbers as text.
func objects(t *testing.T, text string) (all []map[string]any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&all); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"":                 "",
		"plain é €":        "plain é €",
		"a\nb\tc":          `a\nb\tc`,
		"\x1b]0;title\x07": `\x1b]0;title\a`,
		"\u009b2J":         `\u009b2J`,
	} {
		if got := printable(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	if strings.ContainsRune(short(db.Str("\r")), '\r') {
		t.Error("a key steers the terminal")
	}
}
