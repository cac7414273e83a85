package main

import (
	"io"
	"os"

	tables "github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"

	"kith/cmd/internal/cli"
	"kith/query"
)

// table is rows as people read them.
type table struct {
	columns []string
	numbers []bool // the columns of numbers, or integer keys
	cells   [][]string
	header  text.Colors // of the names of the columns
	tight   bool        // without blanks beside the bars
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

// numeric reports whether a column holds numbers only, or integer keys.
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

// writeTable draws rows, on a terminal no wider than that.
func writeTable(w io.Writer, rows *query.Rows) error {
	t := newTable(rows)
	width := 0
	if cli.IsTerminal(w) {
		width, _, _ = term.GetSize(int(w.(*os.File).Fd())) // 0: nobody knows
	}
	if width > 0 {
		t.fit(width)
	}
	if colourful(w) {
		t.header = text.Colors{text.Bold}
	}
	return writeLine(w, t.writer(width).Render())
}

// writer returns what draws the table. Numbers stand to the right. What is still too wide, as there
// are so many columns, is cut at its right.
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

// fit makes the table as wide as that. The blanks beside the bars go first, then what is at the end of
// the cells: of those of the widest columns of text, then of numbers, down to a width that tells little.
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
	room := width - len(widths) - 1 // a bar a column, and a bar
	t.tight = sum+2*len(widths) > room
	if !t.tight {
		return
	}
	shrink(widths, t.numbers, false, room, least)
	shrink(widths, t.numbers, true, room, least)
	t.columns = snip(t.columns, widths)
	for i, cells := range t.cells {
		t.cells[i] = snip(cells, widths)
	}
}

// shrink takes from the widest of the columns of text, or of numbers, until there is room for all or
// they have the least width.
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

// snip cuts what is wider than it may be.
func snip(cells []string, widths []int) []string {
	short := make([]string, len(cells))
	for i, c := range cells {
		short[i] = text.Snip(c, widths[i], "…")
	}
	return short
}
