package score

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"kith/cmd/internal/cli"
	"kith/db"
)

// format is a format of files of links.
type format struct {
	name string // extension of its files, without the dot
	// newWriter returns a writer of rows of a database. With header it begins the file; otherwise
	// it continues one.
	newWriter func(w io.Writer, tx *db.Tx, header bool) (Writer, error)
}

// formats returns the formats, in the order of messages.
func formats() []format {
	return []format{
		{"csv", func(w io.Writer, _ *db.Tx, header bool) (Writer, error) { return newCSV(w, header), nil }},
		{"jsonl", func(w io.Writer, _ *db.Tx, _ bool) (Writer, error) { return newLines(w), nil }},
		{"parquet", func(w io.Writer, tx *db.Tx, _ bool) (Writer, error) { return newTable(w, tx) }},
	}
}

// FormatOf returns the format for the extension of a file name.
func FormatOf(name string) (string, error) {
	f := strings.TrimPrefix(filepath.Ext(name), ".")
	if _, err := formatOf(f); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

// formatOf returns the format with a name.
func formatOf(name string) (format, error) {
	var names []string
	for _, f := range formats() {
		if f.name == name {
			return f, nil
		}
		names = append(names, f.name)
	}
	return format{}, fmt.Errorf("unknown format %q: want one of %s%s", name, strings.Join(names, ", "), cli.DidYouMean(name, names))
}

// NewWriter returns a writer of rows of a database in a format. With header, which only CSV has, it
// writes the names of the columns first: the files of all shards can be joined if only the file of
// shard 0 has it.
func NewWriter(ctx context.Context, g *db.DB, w io.Writer, format string, header bool) (to Writer, err error) {
	f, err := formatOf(format)
	if err != nil {
		return nil, err
	}
	err = g.View(ctx, func(tx *db.Tx) error {
		to, err = f.newWriter(w, tx, header)
		return err
	})
	return to, err
}

// textWriter writes lines of text.
type textWriter struct {
	to  *bufio.Writer
	add func(Row) error // writes the line of a row to to
}

// Write implements [Writer].
func (t *textWriter) Write(rows []Row) error {
	for _, r := range rows {
		if err := t.add(r); err != nil {
			return err
		}
	}
	return nil
}

// Close implements [Writer].
func (t *textWriter) Close() error { return t.to.Flush() }

// newCSV returns a writer of CSV (RFC 4180), in which the keys 7 and '7' are the same.
func newCSV(w io.Writer, header bool) *textWriter {
	to := bufio.NewWriter(w)
	if header {
		// A bufio.Writer returns its first error again.
		_, _ = to.WriteString("source,target,rank,score\n")
	}
	var line []byte // reused
	return &textWriter{to, func(r Row) error {
		line = append(appendField(line[:0], r.Source), ',')
		line = append(appendField(line, r.Target), ',')
		line = append(strconv.AppendInt(line, int64(r.Rank), 10), ',')
		line = append(strconv.AppendFloat(line, r.Score, 'g', -1, 64), '\n')
		_, err := to.Write(line)
		return err
	}}
}

// appendField appends a key, in quotes if it needs them.
func appendField(b []byte, k db.Key) []byte {
	if n, isInt := k.Int(); isInt {
		return strconv.AppendInt(b, n, 10)
	}
	s, _ := k.Str()
	if !strings.ContainsAny(s, ",\"\r\n") && s == strings.TrimSpace(s) {
		return append(b, s...)
	}
	return append(append(append(b, '"'), strings.ReplaceAll(s, `"`, `""`)...), '"')
}

// newLines returns a writer of lines of JSON, the same lines as for a PREDICT LINKS that returns
// these columns.
func newLines(w io.Writer) *textWriter {
	to := bufio.NewWriter(w)
	lines := json.NewEncoder(to)
	lines.SetEscapeHTML(false)
	return &textWriter{to, func(r Row) error { return lines.Encode(r) }}
}
