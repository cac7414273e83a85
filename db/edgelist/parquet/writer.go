package parquet

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"kith/db/edgelist"
)

const (
	// rowsPerGroup and bytesPerGroup bound a row group, which is in memory until it is complete.
	rowsPerGroup  = 1 << 18
	bytesPerGroup = 32 << 20
	rowsPerBatch  = 1 << 8 // number of rows that are collected before they are encoded
	// dictionaryBytes bounds the dictionary of a column of strings in a row group; further strings
	// are written plainly.
	dictionaryBytes = 1 << 20
	pageBytes       = 256 << 10
)

// writer is an [edgelist.RowWriter]. End returns an error if a method was called for a column of a
// different type, or if a row has the wrong number of values.
type writer struct {
	fields []edgelist.Field
	values [][]parquet.Value // collected values of each column
	texts  []byte            // bytes of the collected strings
	to     *parquet.GenericWriter[any]
	at     int // next column of the row
	rows   int // number of rows in the row group
	bytes  int // approximate size of the row group before it is encoded
	err    error
}

// newWriter returns a writer of a file with the given columns.
func newWriter(w io.Writer, fields []edgelist.Field) (*writer, error) {
	schema, err := schemaOf(fields)
	if err != nil {
		return nil, err
	}
	return &writer{
		fields: fields,
		values: make([][]parquet.Value, len(fields)),
		to: parquet.NewGenericWriter[any](w, schema,
			parquet.Compression(&zstd.Codec{}), parquet.PageBufferSize(pageBytes), parquet.DictionaryMaxBytes(dictionaryBytes),
			parquet.CreatedBy("kith", "", "")),
	}, nil
}

// next returns the index of the next column, which must have type t, or -1.
func (w *writer) next(t edgelist.Type) int {
	i := w.at
	w.at++
	if i >= len(w.fields) || w.fields[i].Type != t {
		if w.err == nil {
			w.err = fmt.Errorf("parquet: value %d of a row does not match the columns", i+1)
		}
		return -1
	}
	return i
}

// add adds a value to a column. The value has its levels.
func (w *writer) add(column int, v parquet.Value, size int) {
	w.values[column] = append(w.values[column], v)
	w.bytes += size
}

// Int writes an integer.
func (w *writer) Int(n int64) {
	if i := w.next(edgelist.Integer); i >= 0 {
		w.add(i, parquet.Int64Value(n).Level(0, 0, i), 8)
	}
}

// Float writes a number.
func (w *writer) Float(x float32) {
	if i := w.next(edgelist.Single); i >= 0 {
		w.add(i, parquet.FloatValue(x).Level(0, 0, i), 4)
	}
}

// Double writes a number.
func (w *writer) Double(x float64) {
	if i := w.next(edgelist.Double); i >= 0 {
		w.add(i, parquet.DoubleValue(x).Level(0, 0, i), 8)
	}
}

// Text writes a text. The empty text is written as null.
func (w *writer) Text(s string) error {
	if i := w.next(edgelist.String); i >= 0 {
		v := parquet.Value{}.Level(0, 0, i)
		if s != "" {
			v = w.text(s).Level(0, 1, i)
		}
		w.add(i, v, len(s)+8)
	}
	return nil
}

// Time writes a time in seconds since 1970. 0 is written as null.
func (w *writer) Time(n int64) {
	const second = 1000 // milliseconds
	if i := w.next(edgelist.Timestamp); i >= 0 {
		switch {
		case n == 0:
			w.add(i, parquet.Value{}.Level(0, 0, i), 8)
		case n > math.MaxInt64/second || n < math.MinInt64/second:
			w.err = fmt.Errorf("parquet: column %q: the time %d s has no milliseconds in 64 bits", w.fields[i].Name, n)
		default:
			w.add(i, parquet.Int64Value(n*second).Level(0, 1, i), 8)
		}
	}
}

// Floats writes a list of numbers.
func (w *writer) Floats(list []float32) {
	i := w.next(edgelist.Floats)
	if i < 0 {
		return
	}
	if len(list) == 0 {
		w.add(i, parquet.Value{}.Level(0, 0, i), 0)
	}
	for at, x := range list {
		w.add(i, parquet.FloatValue(x).Level(min(at, 1), 1, i), 4)
	}
}

// Value writes a value of a property; nil is written as null. The column is optional.
func (w *writer) Value(v any) error {
	i := w.at
	if i >= len(w.fields) {
		return fmt.Errorf("parquet: value %d of a row does not match the columns", i+1)
	}
	var value parquet.Value
	size := 8
	is := w.fields[i].Type
	switch v := v.(type) {
	case nil:
		w.at++
		w.add(i, value.Level(0, 0, i), 1)
		return nil
	case bool:
		value, is = parquet.BooleanValue(v), edgelist.Bool
	case int64:
		value, is = parquet.Int64Value(v), edgelist.Integer
	case float64:
		value, is = parquet.DoubleValue(v), edgelist.Double
	case time.Time:
		value, is = parquet.Int64Value(v.UnixMicro()), edgelist.Timestamp
	case string:
		value, is, size = w.text(v), edgelist.String, len(v)+8
	case []string:
		if w.next(edgelist.Strings) < 0 {
			return w.err
		}
		if len(v) == 0 {
			w.add(i, value.Level(0, 1, i), 1)
		}
		for at, s := range v {
			w.add(i, w.text(s).Level(min(at, 1), 2, i), len(s)+8)
		}
		return nil
	}
	if w.next(is) >= 0 {
		w.add(i, value.Level(0, 1, i), size)
	}
	return w.err
}

// text returns the value of a text. If the collected bytes move, earlier values keep the old array.
func (w *writer) text(s string) parquet.Value {
	from := len(w.texts)
	w.texts = append(w.texts, s...)
	return parquet.ByteArrayValue(w.texts[from:len(w.texts):len(w.texts)])
}

// Key writes the key of a node. Into a column of strings it writes an integer in decimal, and a
// string that would be read as an integer in single quotes; see [edgelist.Quoted].
func (w *writer) Key(k edgelist.Token) error {
	if w.at < len(w.fields) && w.fields[w.at].Type == edgelist.String {
		if k.IsInt {
			return w.Text(strconv.FormatInt(k.Int, 10))
		}
		return w.Text(edgelist.Quoted(k.Str))
	}
	if !k.IsInt {
		return fmt.Errorf("parquet: the key %q is not an integer", k.Str)
	}
	w.Int(k.Int)
	return nil
}

// End ends the row.
func (w *writer) End() error {
	if w.at != len(w.fields) && w.err == nil {
		w.err = fmt.Errorf("parquet: a row of %d values, expected %d", w.at, len(w.fields))
	}
	w.at = 0
	w.rows++
	if w.rows%rowsPerBatch == 0 || w.bytes >= bytesPerGroup {
		w.encode()
	}
	if w.rows == rowsPerGroup || w.bytes >= bytesPerGroup {
		w.endGroup()
	}
	return w.err
}

// encode encodes the collected values.
func (w *writer) encode() {
	for i, values := range w.values {
		if w.err == nil && len(values) > 0 {
			_, w.err = w.to.ColumnWriters()[i].WriteRowValues(values)
		}
		w.values[i] = values[:0]
	}
	w.texts = w.texts[:0]
}

// endGroup writes the row group.
func (w *writer) endGroup() {
	w.encode()
	w.rows, w.bytes = 0, 0
	if w.err == nil {
		w.err = w.to.Flush()
	}
}

// Close writes the last row group and the end of the file. It does not close the writer below.
func (w *writer) Close() error {
	w.endGroup()
	if w.err == nil {
		w.err = w.to.Close()
	}
	return w.err
}
