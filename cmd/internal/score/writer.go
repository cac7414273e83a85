package score

import (
	"bufio"
	"context"
	"encoding/csv"
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
	// newWriter returns a writer of rows of a database. With header it begins the file; otherwise it continues one.
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

// NewWriter returns a writer of rows of a database in a format. With header, which only CSV has, it writes the names of the
// columns first: the files of all shards can be joined if only that of shard 0 has it.
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
	to   *bufio.Writer
	line []byte                       // reused
	add  func(b []byte, r Row) []byte // appends the line of a row
}

// Write implements [Writer].
func (t *textWriter) Write(rows []Row) error {
	for _, r := range rows {
		t.line = append(t.add(t.line[:0], r), '\n')
		if _, err := t.to.Write(t.line); err != nil {
			return err
		}
	}
	return nil
}

// Close implements [Writer].
func (t *textWriter) Close() error { return t.to.Flush() }

// newCSV returns a writer of CSV (RFC 4180), without a difference between integers and strings.
func newCSV(w io.Writer, header bool) *textWriter {
	t := &textWriter{to: bufio.NewWriter(w), add: func(b []byte, r Row) []byte {
		b = append(appendField(b, r.Source), ',')
		b = append(appendField(b, r.Target), ',')
		b = append(strconv.AppendInt(b, int64(r.Rank), 10), ',')
		return strconv.AppendFloat(b, r.Score, 'g', -1, 64)
	}}
	if header {
		_, _ = t.to.WriteString("source,target,rank,score\n") // an error is that of the next Write too
	}
	return t
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
	var quoted strings.Builder
	to := csv.NewWriter(&quoted)
	_ = to.Write([]string{s}) // writes to memory
	to.Flush()
	return append(b, strings.TrimSuffix(quoted.String(), "\n")...)
}

// newLines returns a writer of lines of JSON. Integers and strings stay apart.
func newLines(w io.Writer) *textWriter {
	return &textWriter{to: bufio.NewWriter(w), add: func(b []byte, r Row) []byte {
		b = appendKey(append(b, `{"source":`...), r.Source)
		b = appendKey(append(b, `,"target":`...), r.Target)
		b = strconv.AppendInt(append(b, `,"rank":`...), int64(r.Rank), 10)
		b = strconv.AppendFloat(append(b, `,"score":`...), r.Score, 'g', -1, 64)
		return append(b, '}')
	}}
}

// appendKey appends a key as JSON.
func appendKey(b []byte, k db.Key) []byte {
	if n, isInt := k.Int(); isInt {
		return strconv.AppendInt(b, n, 10)
	}
	text, err := json.Marshal(k)
	if err != nil {
		return append(b, "null"...) // never: a key is a string or an integer
	}
	return append(b, text...)
}
