package shell

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"kith/cmd/internal/cli"
	"kith/db"
	"kith/query"
)

// mode is a format of rows. The formats for people (table, markdown, line) show keys as statements
// spell them, and tables round numbers to 6 digits. The formats for programs are exact.
type mode string

const (
	tableMode     mode = "table"
	csvMode       mode = "csv"
	tsvMode       mode = "tsv"
	jsonMode      mode = "json"
	jsonLinesMode mode = "jsonlines"
	markdownMode  mode = "markdown"
	lineMode      mode = "line"
)

func modes() []mode {
	return []mode{tableMode, csvMode, tsvMode, jsonMode, jsonLinesMode, markdownMode, lineMode}
}

// parseMode returns the mode with a name or a file extension.
func parseMode(name string) (mode, error) {
	switch name {
	case "md":
		return markdownMode, nil
	case "jsonl", "ndjson":
		return jsonLinesMode, nil
	}
	if m := mode(name); slices.Contains(modes(), m) {
		return m, nil
	}
	return "", fmt.Errorf("unknown mode %q (accepted: %s)%s", name, strings.Join(modeNames(""), ", "), cli.DidYouMean(name, modeNames("")))
}

// write writes rows. An answer without rows is an empty table, and nothing as JSON lines.
func (m mode) write(w io.Writer, rows *query.Rows) error {
	switch m {
	case csvMode:
		return writeSeparated(w, ',', rows)
	case tsvMode:
		return writeSeparated(w, '\t', rows)
	case jsonMode:
		return writeJSON(w, rows, "[", ",\n", "]\n")
	case jsonLinesMode:
		return writeJSON(w, rows, "", "\n", "\n")
	case lineMode:
		return writeLines(w, rows)
	case markdownMode:
		return cli.WriteLine(w, newTable(rows).writer(0).RenderMarkdown())
	}
	return WriteTable(w, rows)
}

// writeJSON writes an object for each row, with its members in the order of the columns.
func writeJSON(w io.Writer, rows *query.Rows, open, between, end string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	b.WriteString(open)
	for i, row := range rows.Rows {
		if i > 0 {
			b.WriteString(between)
		}
		sign := byte('{')
		for j, v := range row {
			b.WriteByte(sign)
			sign = ','
			if err := encode(enc, &b, rows.Columns[j]); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := encode(enc, &b, plain(v)); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	}
	if open != "" || len(rows.Rows) > 0 {
		b.WriteString(end)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// encode appends v to b without the newline that an Encoder adds.
func encode(enc *json.Encoder, b *bytes.Buffer, v any) error {
	err := enc.Encode(v)
	b.Truncate(b.Len() - 1)
	return err
}

// plain converts a value of Rows for programs: a key to a number or a string.
func plain(v any) any {
	if k, isKey := v.(db.Key); isKey {
		return k.Value()
	}
	return v
}

// writeSeparated writes CSV as in RFC 4180, or the same with tabs.
func writeSeparated(w io.Writer, comma rune, rows *query.Rows) error {
	c := csv.NewWriter(w)
	c.Comma = comma
	if err := c.Write(rows.Columns); err != nil {
		return err
	}
	for _, row := range rows.Rows {
		record := make([]string, len(row))
		for i, v := range row {
			record[i] = exact(plain(v))
		}
		if err := writeRecord(c, w, record); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// writeRecord writes a row. A row of a single empty value is quoted, because readers skip empty
// lines.
func writeRecord(c *csv.Writer, w io.Writer, record []string) error {
	if len(record) != 1 || record[0] != "" {
		return c.Write(record)
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return err
	}
	return cli.WriteLine(w, `""`)
}

// exact formats a value without loss, a key as statements write it; nil is "".
func exact(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case db.Key:
		return v.Literal()
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

// writeLines writes a line for each value, with its name, and a blank line between rows.
func writeLines(w io.Writer, rows *query.Rows) error {
	width := 0
	for _, c := range rows.Columns {
		width = max(width, len(c))
	}
	var b bytes.Buffer
	for i, row := range rows.Rows {
		if i > 0 {
			b.WriteByte('\n')
		}
		for j, v := range row {
			fmt.Fprintf(&b, "%*s = %s\n", width, rows.Columns[j], printable(exact(v)))
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// short formats a value for people.
func short(v any) string {
	if f, isFloat := v.(float64); isFloat {
		return strconv.FormatFloat(f, 'g', 6, 64)
	}
	return printable(exact(v))
}

// printable escapes characters that control a terminal.
func printable(s string) string {
	controls := func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }
	if strings.IndexFunc(s, controls) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if controls(r) {
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
