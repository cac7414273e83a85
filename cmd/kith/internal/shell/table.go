package shell

import (
	"io"
	"os"

	tables "github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"

	"kith/cmd/internal/cli"
	"kith/query"
)

// table is rows formatted for people.
type table struct {
	columns []string
	numbers []bool // whether a column holds numbers or integer keys
	cells   [][]string
	header  text.Colors // colours of the column names
	tight   bool        // without blanks next to the bars
}

func newTable(rows *query.Rows) *table {
	t := &table{columns: rows.Columns}
	for i := range rows.Columns {
		t.numbers = append(t.numbers, numeric(rows.Rows, i))
	}
	for _, row := range rows.Rows {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = short(v)
		}
		t.cells = append(t.cells, cells)
	}
	return t
}

// numeric reports whether a column holds only numbers or integer keys.
func numeric(rows [][]any, column int) bool {
	for _, row := range rows {
		switch plain(row[column]).(type) {
		case int64, float64, nil:
		default:
			return false
		}
	}
	return true
}

// WriteTable writes rows as a table, no wider than the terminal.
func WriteTable(w io.Writer, rows *query.Rows) error {
	t := newTable(rows)
	width := 0
	if cli.IsTerminal(w) {
		width, _, _ = term.GetSize(int(w.(*os.File).Fd())) // 0 means unknown
	}
	if width > 0 {
		t.fit(width)
	}
	if colourful(w) {
		t.header = text.Colors{text.Bold}
	}
	return cli.WriteLine(w, t.writer(width).Render())
}

// writer returns the writer that renders the table. Numbers are aligned to the right. A table with
// too many columns for the width is cut at the right.
func (t *table) writer(width int) tables.Writer {
	w := tables.NewWriter()
	style := tables.StyleLight
	style.Format.Header = text.FormatDefault
	style.Size.WidthMax = width
	if t.tight {
		style.Box.PaddingLeft, style.Box.PaddingRight = "", ""
	}
	w.SetStyle(style)
	columns := make([]tables.ColumnConfig, len(t.columns))
	for i, right := range t.numbers {
		columns[i] = tables.ColumnConfig{Number: i + 1, ColorsHeader: t.header}
		if right {
			columns[i].Align, columns[i].AlignHeader = text.AlignRight, text.AlignRight
		}
	}
	w.SetColumnConfigs(columns)
	w.AppendHeader(tableRow(t.columns))
	for _, cells := range t.cells {
		w.AppendRow(tableRow(cells))
	}
	return w
}

func tableRow(cells []string) tables.Row {
	row := make(tables.Row, len(cells))
	for i, c := range cells {
		row[i] = c
	}
	return row
}

// fit shrinks the table to a width. It first removes the blanks next to the bars, then cuts the
// ends of cells, down to a minimum width: first in the widest columns of text, then in columns of
// numbers.
func (t *table) fit(width int) {
	const least = 6
	widths, sum := make([]int, len(t.columns)), 0
	for i, c := range t.columns {
		widths[i] = text.StringWidth(c)
		for _, cells := range t.cells {
			widths[i] = max(widths[i], text.StringWidth(cells[i]))
		}
		sum += widths[i]
	}
	room := width - len(widths) - 1 // one bar for each column, and one more
	t.tight = sum+2*len(widths) > room
	if !t.tight {
		return
	}
	shrink(widths, t.numbers, false, room, least)
	shrink(widths, t.numbers, true, room, least)
	t.columns = truncateCells(t.columns, widths)
	for i, cells := range t.cells {
		t.cells[i] = truncateCells(cells, widths)
	}
}

// shrink reduces the widest columns of text, or of numbers, until all columns fit or these have the
// minimum width.
func shrink(widths []int, numbers []bool, ofNumbers bool, room, least int) {
	for {
		sum, widest := 0, -1
		for i, w := range widths {
			sum += w
			if numbers[i] == ofNumbers && w > least && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if sum <= room || widest < 0 {
			return
		}
		widths[widest]--
	}
}

// truncateCells cuts cells to widths.
func truncateCells(cells []string, widths []int) []string {
	short := make([]string, len(cells))
	for i, c := range cells {
		short[i] = text.Snip(c, widths[i], "…")
	}
	return short
}
