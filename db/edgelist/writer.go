package edgelist

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// FormatOf returns the format, a text or Parquet, and the compression ("", ".gz" or ".zst") for the
// extension of an output file's name.
func FormatOf(name string) (f Format, packing string, err error) {
	f, packing = extensions(path.Base(name))
	if f == AnyFormat || packing == ".bz2" || f == Parquet && packing != "" {
		return AnyFormat, "", fmt.Errorf("edgelist: the name %q says no format: it must end in .parquet, or in .csv, .tsv, .txt, .jsonl or .nt and perhaps .gz or .zst", name)
	}
	return f, packing, nil
}

// Compress returns a writer that compresses to w. The caller must close it, which does not close w.
func Compress(w io.Writer, packing string) (io.WriteCloser, error) {
	switch packing {
	case ".gz":
		return gzip.NewWriter(w), nil
	case ".zst":
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	}
	return nopCloser{w}, nil
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// textWriter is a [RowWriter] of text.
type textWriter struct {
	to    *bufio.Writer
	sep   byte
	line  []byte
	empty int // number of empty columns that have not been written, which may be the last ones
	err   error
}

// NewWriter returns a writer of a list as text in the format SNAP, CSV, TSV, JSONLines for edges or
// nodes or NTriples for edges, with the given column names. It writes what [NewReader], [NewNodes]
// and
// [NewFeatures], given the format, read back unchanged, and rejects values that would be read
// differently.
func NewWriter(w io.Writer, f Format, columns ...string) (RowWriter, error) {
	switch f {
	case NTriples:
		return newStatementWriter(w, columns)
	case JSONLines:
		return newObjectWriter(w, columns)
	}
	sep, ok := map[Format]byte{SNAP: ' ', CSV: ',', TSV: '\t'}[f]
	if !ok {
		return nil, fmt.Errorf("edgelist: lists are not written as %v", f)
	}
	out := &textWriter{to: bufio.NewWriter(w), sep: sep}
	if f == SNAP {
		_, err := out.to.WriteString("# " + strings.Join(columns, " ") + "\n")
		return out, err
	}
	for _, name := range columns {
		if err := out.Text(name); err != nil {
			return nil, err
		}
	}
	return out, out.End()
}

func (w *textWriter) Key(k Token) error {
	if k.IsInt {
		w.Int(k.Int)
		return w.err
	}
	if _, isInt := parseInt([]byte(k.Str)); isInt {
		return fmt.Errorf("edgelist: the string %q would be read as an integer", k.Str)
	}
	return w.Text(k.Str)
}

// Text writes an empty column for the empty text, and nothing at the end of a line.
func (w *textWriter) Text(s string) error {
	if s == "" {
		w.empty++
		return nil
	}
	if w.separate(); w.err != nil {
		return w.err
	}
	if w.sep == ' ' {
		if strings.ContainsAny(s, " \t\r\n") || len(w.line) == 0 && isComment(s[0]) {
			return fmt.Errorf("edgelist: %q cannot stand between blanks; .csv and .tsv have quotes", s)
		}
		w.line = append(w.line, s...)
		return nil
	}
	if strings.Contains(s, "\n") {
		return fmt.Errorf("edgelist: %q holds the end of a line", s)
	}
	if !strings.ContainsAny(s, " \t\r,;|\"") && !isComment(s[0]) {
		w.line = append(w.line, s...)
		return nil
	}
	w.line = append(w.line, '"')
	w.line = append(w.line, bytes.ReplaceAll([]byte(s), []byte(`"`), []byte(`""`))...)
	w.line = append(w.line, '"')
	return nil
}

func (w *textWriter) Int(n int64) {
	w.separate()
	w.line = strconv.AppendInt(w.line, n, 10)
}

// Float writes the fewest digits that read back as the same number, as Double does.
func (w *textWriter) Float(x float32) {
	w.separate()
	w.line = strconv.AppendFloat(w.line, float64(x), 'g', -1, 32)
}

func (w *textWriter) Double(x float64) {
	w.separate()
	w.line = strconv.AppendFloat(w.line, x, 'g', -1, 64)
}

func (w *textWriter) Time(n int64) { w.Int(n) }

func (w *textWriter) Floats(list []float32) {
	for _, x := range list {
		w.Float(x)
	}
}

// Value writes a value of a property. It writes the empty text in quotes, and a list as one column.
func (w *textWriter) Value(v any) error {
	switch v := v.(type) {
	case nil: // all lines have all columns, so that the separator is plain
		w.separate()
		return w.err
	case string:
		if v == "" {
			w.separate()
			w.line = append(w.line, `""`...)
			return w.err
		}
		return w.Text(v)
	case []string:
		return w.Text(joinList(v))
	case time.Time:
		text, err := instantText(v)
		if err != nil {
			return err
		}
		return w.Text(text)
	case float64:
		w.Double(v)
	case int64:
		w.Int(v)
	default:
		return w.Text(fmt.Sprint(v))
	}
	return w.err
}

// instantText is the inverse of [ParseTime].
func instantText(t time.Time) (string, error) {
	if t.Year() < 0 || t.Year() > 9999 {
		return "", fmt.Errorf("edgelist: the year of the time %v does not have four digits", t)
	}
	return t.UTC().Format(time.RFC3339Nano), nil
}

// separate ends the last column.
func (w *textWriter) separate() {
	if w.empty > 0 && w.sep == ' ' && w.err == nil {
		w.err = errors.New("edgelist: an empty column cannot stand between blanks; .csv and .tsv can have one")
	}
	for ; w.empty > 0; w.empty-- {
		w.line = append(w.line, w.sep)
	}
	if len(w.line) > 0 {
		w.line = append(w.line, w.sep)
	}
}

func (w *textWriter) End() error {
	w.line = append(w.line, '\n')
	if len(w.line) > maxLine {
		return fmt.Errorf("edgelist: a line of %d bytes, which is not read: at most %d", len(w.line), maxLine)
	}
	if w.err != nil {
		return w.err
	}
	_, err := w.to.Write(w.line)
	w.line, w.empty = w.line[:0], 0
	return err
}

func (w *textWriter) Close() error { return w.to.Flush() }
