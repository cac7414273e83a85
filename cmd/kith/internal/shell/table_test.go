package shell

import (
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"
	"pgregory.net/rapid"

	"kith/query"
)

func TestTableFits(t *testing.T) {
	t.Parallel()
	rows := &query.Rows{Columns: []string{"node", "label", "score"}, Rows: [][]any{
		{int64(1), "a label that is rather long", 0.123456}, {int64(22), "短い名前は幅が広い", 1.0},
	}}
	for _, c := range []struct {
		width int
		want  string
	}{
		{0, `
┌──────┬─────────────────────────────┬──────────┐
│ node │ label                       │    score │
├──────┼─────────────────────────────┼──────────┤
│    1 │ a label that is rather long │ 0.123456 │
│   22 │ 短い名前は幅が広い          │        1 │
└──────┴─────────────────────────────┴──────────┘
`}, {48, `
┌────┬───────────────────────────┬────────┐
│node│label                      │   score│
├────┼───────────────────────────┼────────┤
│   1│a label that is rather long│0.123456│
│  22│短い名前は幅が広い         │       1│
└────┴───────────────────────────┴────────┘
`}, {27, `
┌────┬───────────┬────────┐
│node│label      │   score│
├────┼───────────┼────────┤
│   1│a label th…│0.123456│
│  22│短い名前は…│       1│
└────┴───────────┴────────┘
`}, {22, `
┌────┬──────┬────────┐
│node│label │   score│
├────┼──────┼────────┤
│   1│a lab…│0.123456│
│  22│短い… │       1│
└────┴──────┴────────┘
`}, {20, `
┌────┬──────┬──────┐
│node│label │ score│
├────┼──────┼──────┤
│   1│a lab…│0.123…│
│  22│短い… │     1│
└────┴──────┴──────┘
`},
	} {
		table := newTable(rows)
		if c.width > 0 {
			table.fit(c.width)
		}
		if got := "\n" + table.writer(c.width).Render() + "\n"; got != c.want {
			t.Errorf("%d columns:%swant%s", c.width, got, c.want)
		}
	}
}

// TestTableIsNeverWider checks that a table is never wider than the terminal.
func TestTableIsNeverWider(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,12}`), 1, 12).Draw(t, "columns")
		rows := &query.Rows{Columns: columns}
		for range 3 {
			var row []any
			for range columns {
				row = append(row, rapid.StringMatching(`[a-z短é ]{0,40}`).Draw(t, "cell"))
			}
			rows.Rows = append(rows.Rows, row)
		}
		width := rapid.IntRange(20, 120).Draw(t, "width")
		table := newTable(rows)
		table.fit(width)
		for line := range strings.Lines(table.writer(width).Render()) {
			if w := text.StringWidth(strings.TrimSuffix(line, "\n")); w > width {
				t.Fatalf("%d of %d columns: %s", w, width, line)
			}
		}
	})
}
