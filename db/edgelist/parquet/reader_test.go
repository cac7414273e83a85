package parquet_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	library "github.com/parquet-go/parquet-go"

	"kith/db/edgelist"
	"kith/db/edgelist/parquet"
)

// options reads Parquet files.
func options() edgelist.Options {
	return edgelist.Options{Tables: parquet.Format{}}
}

// edges returns the edges of a file and its malformed rows, a line each.
func edges(data []byte, o edgelist.Options) (lines []string, r *edgelist.Reader, err error) {
	if r, err = edgelist.NewReader(bytes.NewReader(data), o); err != nil {
		return nil, nil, err
	}
	for e, err := range r.Edges() {
		switch {
		case errors.As(err, new(*edgelist.LineError)):
			lines = append(lines, err.Error())
		case err != nil:
			return lines, r, err
		default:
			lines = append(lines, fmt.Sprint(e.Src, e.Dst, e.Weight, e.Time))
		}
	}
	return lines, r, nil
}

// file reads a file of testdata. The files were written by DuckDB 1.5, arrow-go 18.8, Polars for
// Node.js 0.26 and the Rust implementation of Arrow 59.3, with what their names say; delta means
// DELTA_BYTE_ARRAY and DELTA_BINARY_PACKED.
func file(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".parquet"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Edges in files of other programs are read, whatever their pages, encodings and compression are.
func TestReadOthers(t *testing.T) {
	t.Parallel()
	var want []string
	for n := range 60 {
		e := edgelist.Edge{Src: edgelist.Token{Int: int64(n), IsInt: true}, Dst: edgelist.Token{Str: fmt.Sprint("n", n%5)}, Weight: float32(n+1) / 7}
		if n%3 > 0 {
			e.Time = 1_700_000_000 + int64(n)
		}
		want = append(want, fmt.Sprint(e.Src, e.Dst, e.Weight, e.Time))
	}
	for _, name := range []string{
		"duckdb-snappy", "duckdb-gzip", "duckdb-zstd", "duckdb-uncompressed", "duckdb-v2", "duckdb-lz4", "duckdb-brotli",
		"arrow", "arrow-v2", "arrow-int96", "polars", "polars-lz4", "rust-brotli", "rust-delta",
	} {
		got, r, err := edges(file(t, name), options())
		if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, strings.Join(got, "\n"), strings.Join(want, "\n"))
			continue
		}
		if r.Format != edgelist.Parquet || r.Columns != edgelist.SrcDstWeightTime || r.Names.Dst != "dst" || r.Times == edgelist.AnyTime {
			t.Errorf("%s: detected %+v", name, r.Detected)
		}
	}
}

// Feature vectors in lists are read.
func TestReadFeatures(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"duckdb-features", "arrow-features"} {
		r, err := edgelist.NewFeatures(bytes.NewReader(file(t, name)), options())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		n := 0
		for node, err := range r.All() {
			want := fmt.Sprint([]float32{float32(n), 2.5, 1 / float32(n+1)})
			if err != nil || node.Key != (edgelist.Token{Int: int64(n), IsInt: true}) || fmt.Sprint(node.Features) != want {
				t.Fatalf("%s: node %d: %+v, %v, want %s", name, n, node, err, want)
			}
			n++
		}
		if n != 40 {
			t.Errorf("%s: %d nodes, want 40", name, n)
		}
	}
}

// Columns of other types are read if they are named, and refused with their type if they are no
// keys, weights or times.
func TestReadTypes(t *testing.T) {
	t.Parallel()
	data := file(t, "duckdb-types")
	got, r, err := edges(data, options())
	if want := "{0 18446744073709551600 false} {0  true} 0.5 1577836800"; err != nil || got[0] != want {
		t.Fatalf("%v, %v, want %s first", got, err, want)
	}
	if got := strings.Join(r.Unused, ","); got != "flag,s,d,u" {
		t.Errorf("unused columns %s", got)
	}
	for _, c := range []struct{ names, want string }{
		{"src=to,dst=w", `column "w" is DOUBLE: keys are integers or strings`},
		{"src=to,dst=flag", `column "flag" is BOOLEAN`},
		{"src=to,dst=from,weight=s", `column "s" is nested: weights are numbers`},
		{"src=to,dst=from,weight=d", `column "d" is DECIMAL`},
		{"src=to,dst=from,time=u", `column "u" is UUID: times are`},
		{"src=to,dst=u", `column "u" is UUID`},
		{"src=to,dst=nobody", `no such column: "nobody"; the header has from, to, w, date, flag, s, d, u`},
	} {
		o := options()
		if err := o.Names.UnmarshalText([]byte(c.names)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := edges(data, o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.names, err, c.want)
		}
	}
}

// Times of floating point are rounded down; NaN and 0 are no times. Integers are years if the name
// says so.
func TestReadNumbersAsTimes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		field edgelist.Field
		times []float64
		want  string
	}{
		{edgelist.Field{Name: "time", Type: edgelist.Double}, []float64{1.7e9 + 0.75, nan(), 0, -0.5}, "s 1700000000 0 0 -1"},
		{edgelist.Field{Name: "time", Type: edgelist.Double}, []float64{1.7e12, 1.7e12, 1e300}, `ms 1700000000 1700000000 edgelist: line 3: column "time" is neither a number nor a date in a form that is read, such as 2006-01-02: "1e+300"`},
		{edgelist.Field{Name: "year", Type: edgelist.Integer}, []float64{2001, 2002}, "year 978307200 1009843200"},
		{edgelist.Field{Name: "date", Type: edgelist.Integer}, []float64{20010101, 20020101}, "date 978307200 1009843200"},
		{edgelist.Field{Name: "t", Type: edgelist.Integer}, []float64{5, 6, 1.7e12}, `s 5 6 edgelist: line 3: column "t" is after the year 9999 in seconds since 1970: "1700000000000"; try times = 'ms'`},
	} {
		var b bytes.Buffer
		w, err := parquet.Format{}.Create(&b, []edgelist.Field{{Name: "source", Type: edgelist.Integer}, {Name: "target", Type: edgelist.Integer}, c.field})
		for _, at := range c.times {
			w.Int(1)
			w.Int(2)
			if c.field.Type == edgelist.Double {
				w.Double(at)
			} else {
				w.Int(int64(at))
			}
			err = errors.Join(err, w.End())
		}
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		r, err := edgelist.NewReader(bytes.NewReader(b.Bytes()), options())
		if err != nil {
			t.Fatal(err)
		}
		got := r.Times.String()
		for e, err := range r.Edges() {
			if err != nil {
				got += fmt.Sprint(" ", err)
			} else {
				got += fmt.Sprint(" ", e.Time)
			}
		}
		if got != c.want {
			t.Errorf("%v %v:\ngot  %s\nwant %s", c.field, c.times, got, c.want)
		}
	}
}

// A malformed row is a LineError with its number and the column.
func TestReadMalformed(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w, err := parquet.Format{}.Create(&b, []edgelist.Field{
		{Name: "from", Type: edgelist.String}, {Name: "to", Type: edgelist.String}, {Name: "w", Type: edgelist.Double},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		from, to string
		w        float64
	}{{"a", "b", 1}, {"", "b", 1}, {"a", "", 1}, {"a", "\xff", 1}, {"a", "b", -1}, {"a", "b", nan()}, {"a", "b", 1e300}, {"'7'", "7", 2}} {
		if err := errors.Join(w.Text(row.from), w.Text(row.to)); err != nil {
			t.Fatal(err)
		}
		w.Double(row.w)
		if err := w.End(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, _, err := edges(b.Bytes(), options())
	want := []string{
		"{0 a false} {0 b false} 1 0",
		`edgelist: line 2: column "from" is null: ""`,
		`edgelist: line 3: column "to" is null: ""`,
		`edgelist: line 4: column "to" is empty, not valid UTF-8 or contains a NUL byte: "\xff"`,
		`edgelist: line 5: column "w" is not a finite number above 0 (32 bits): "-1"; try negative = 'distrust'`,
		`edgelist: line 6: column "w" is not a finite number above 0 (32 bits): "NaN"`,
		`edgelist: line 7: column "w" is not a finite number above 0 (32 bits): "1e+300"`,
		"{0 7 false} {7  true} 2 0",
	}
	if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%v\n%s\nwant\n%s", err, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func nan() float64 {
	zero := 0.0
	return zero / zero
}

// A file that was cut short or altered is an error that says where, never a shorter list. A file
// that is not Parquet is refused.
func TestReadDamaged(t *testing.T) {
	t.Parallel()
	data := file(t, "arrow")
	whole, _, err := edges(data, options())
	if err != nil {
		t.Fatal(err)
	}
	o := options()
	o.Format = edgelist.Parquet
	step := 3
	if testing.Short() {
		step = 17
	}
	for n := 0; n < len(data); n += step {
		if _, _, err := edges(data[:n], o); err == nil {
			t.Errorf("the first %d of %d bytes are read without an error", n, len(data))
		}
		altered := bytes.Clone(data)
		altered[n] ^= 1 << (n % 8)
		if got, _, err := edges(altered, o); err == nil && len(got) != len(whole) {
			t.Errorf("with byte %d altered %d rows are read, want %d or an error", n, len(got), len(whole))
		}
	}
	for _, c := range []struct{ text, want string }{
		{"1 2\n3 4\n", "not a complete Parquet file"},
		{"PAR1", "not a complete Parquet file: it has 4 bytes"},
		{"PAR1" + strings.Repeat("x", 20) + "\xff\xff\xff\x7fPAR1", "a footer of 2147483647 bytes in a file of 32"},
		{"PAR1" + strings.Repeat("\xf9", 20) + "\x10\x00\x00\x00PAR1", "its footer is damaged"},
		{"PAR1" + strings.Repeat("x", 20) + "\x10\x00\x00\x00PARE", "the file is encrypted"},
	} {
		if _, _, err := edges([]byte(c.text), o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
	altered := bytes.Clone(data)
	copy(altered[4:], bytes.Repeat([]byte{0xff}, 30))
	if _, _, err := edges(altered, options()); err == nil || !strings.Contains(err.Error(), `row group 1 of 2, column "src": the page is damaged`) {
		t.Errorf("with a damaged page: %v", err)
	}
}

// wide returns a file of columns of numbers or of texts of 1 KB, all in one row group and with
// pages of the given size.
func wide(t *testing.T, columns, rows, pageBytes int, texts bool) []byte {
	t.Helper()
	group := library.Group{}
	for i := range columns {
		group[fmt.Sprintf("c%03d", i)] = library.Leaf(library.FloatType)
		if texts {
			group[fmt.Sprintf("c%03d", i)] = library.String()
		}
	}
	var b bytes.Buffer
	w := library.NewGenericWriter[any](&b, library.NewSchema("wide", group), library.PageBufferSize(pageBytes))
	values := make([]library.Value, rows)
	for i := range columns {
		for n := range values {
			values[n] = library.FloatValue(float32(n*i)).Level(0, 0, i)
			if texts {
				values[n] = library.ByteArrayValue(fmt.Appendf(nil, "%01000d", n)).Level(0, 0, i)
			}
		}
		for some := range slices.Chunk(values, 100) { // the library ends pages between calls only
			if _, err := w.ColumnWriters()[i].WriteRowValues(some); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// However wide and long the row groups of a file are, reading it takes the memory that it may, or
// is an error.
func TestReadBounded(t *testing.T) { // not parallel, because it measures the heap
	const mb = 1 << 20
	for _, c := range []struct {
		name                     string
		columns, rows, pageBytes int
		texts                    bool
		memory                   int64
		want                     string
	}{
		{"wide", 200, 15_000, 64 * mb, false, 64 * mb, ""},
		{"too wide", 200, 15_000, 64 * mb, false, 32 * mb, "the pages of the columns take more than 16777216 bytes of memory"},
		{"wide, small pages", 200, 15_000, 16 << 10, false, 32 * mb, ""},
		{"long", 2, 40_000, mb, true, 32 * mb, ""},
		{"large pages", 2, 40_000, 64 * mb, true, 32 * mb, " bytes: at most 8388608 may be in memory"},
	} {
		if testing.Short() && c.columns > 2 {
			continue
		}
		data := wide(t, c.columns, c.rows, c.pageBytes, c.texts)
		before := min(heap(), heap()) // the first collection leaves what is pooled
		reader, err := parquet.Format{}.Open(bytes.NewReader(data), int64(len(data)), c.memory)
		if err != nil {
			t.Fatal(c.name, err)
		}
		fields := make([]int, c.columns)
		for i := range fields {
			fields[i] = i
		}
		rows, most := 0, int64(0)
		for n := 0; err == nil; n, _, err = reader.Next(fields) {
			rows += n
			most = max(most, heap()-before)
		}
		if c.want == "" && (err != io.EOF || rows != c.rows) || c.want != "" && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %d rows, %v; want %s", c.name, rows, err, c.want)
		}
		if most > c.memory {
			t.Errorf("%s: %d bytes of memory, want at most %d", c.name, most, c.memory)
		}
		t.Logf("%s: %d bytes of %d", c.name, most, c.memory)
		runtime.KeepAlive(reader)
	}
}

// heap returns the bytes of the objects that are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Memory bounds a page, not the file.
func TestReadMemory(t *testing.T) {
	t.Parallel()
	const rows = 300_000
	data := table(t, rows)
	if n, err := readAll(data); n != rows || err != nil {
		t.Errorf("%d rows, %v, want %d", n, err, rows)
	}
	var reader edgelist.Table
	reader, err := parquet.Format{}.Open(bytes.NewReader(data), int64(len(data)), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for {
		n, _, err := reader.Next([]int{1, 3})
		if err == io.EOF {
			break
		}
		if err != nil || n > 1<<12 {
			t.Fatalf("%d rows, %v", n, err)
		}
	}
}

// A file is read in place, from where it stands. A stream and a compressed file are copied first.
func TestReadInPlace(t *testing.T) {
	t.Parallel()
	data := file(t, "arrow")
	want, _, err := edges(data, options())
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(data); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	later := bytes.NewReader(append([]byte("head"), data...))
	if _, err := later.Seek(4, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	pipe, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = to.Write(data) // an error is that of the reader too
		_ = to.Close()
	}()
	for _, c := range []struct {
		name   string
		r      io.Reader
		copies int
	}{{"file", bytes.NewReader(data), 0}, {"later", later, 0}, {"stream", io.MultiReader(bytes.NewReader(data)), 1}, {"gzip", &packed, 1}, {"pipe", pipe, 1}} {
		copies := 0
		o := options()
		o.Spool = func() (edgelist.Spool, error) {
			copies++
			return os.CreateTemp(t.TempDir(), "")
		}
		r, err := edgelist.NewReader(c.r, o)
		if err != nil {
			t.Fatal(c.name, err)
		}
		var got []string
		for e, err := range r.Edges() {
			if err != nil {
				t.Fatal(c.name, err)
			}
			got = append(got, fmt.Sprint(e.Src, e.Dst, e.Weight, e.Time))
		}
		if !slices.Equal(got, want) || copies != c.copies {
			t.Errorf("%s: %d copies, want %d; %d rows, want %d", c.name, copies, c.copies, len(got), len(want))
		}
	}
}

// A column of strings or of integers has the relations of edges; null is none. Edges with a
// negative weight may have a relation of their own.
func TestReadRelations(t *testing.T) {
	t.Parallel()
	make := func(relation edgelist.Field, write func(w edgelist.RowWriter, row int)) []byte {
		var b bytes.Buffer
		w, err := parquet.Format{}.Create(&b, []edgelist.Field{
			{Name: "head", Type: edgelist.Integer}, relation, {Name: "tail", Type: edgelist.Integer}, {Name: "weight", Type: edgelist.Single},
		})
		if err != nil {
			t.Fatal(err)
		}
		for row := range 3 {
			w.Int(int64(row))
			write(w, row)
			w.Int(9)
			w.Float(float32(1 - row))
			if err := w.End(); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	names := make(edgelist.Field{Name: "relation", Type: edgelist.String}, func(w edgelist.RowWriter, row int) { _ = w.Text([]string{"likes", "", "a b"}[row]) })
	numbers := make(edgelist.Field{Name: "edge_type", Type: edgelist.Integer}, func(w edgelist.RowWriter, row int) { w.Int(int64(7 - row)) })
	reals := make(edgelist.Field{Name: "rel", Type: edgelist.Double}, func(w edgelist.RowWriter, row int) { w.Double(1) })
	for _, c := range []struct {
		data     []byte
		negative string
		want     string
	}{
		{names, "distrust", `0 likes 1; edgelist: line 2: column "weight" is not a finite number above 0 (32 bits): "0"; 2 distrust 1`},
		{numbers, "", `0 7 1; edgelist: line 2: column "weight" is not a finite number above 0 (32 bits): "0"; edgelist: line 3: column "weight" is not a finite number above 0 (32 bits): "-1"; try negative = 'distrust'`},
		{reals, "", `column "rel" is DOUBLE: relations are strings or integers`},
	} {
		o := options()
		o.Negative = c.negative
		var list []string
		r, err := edgelist.NewReader(bytes.NewReader(c.data), o)
		if err != nil {
			list = []string{err.Error()}
		} else {
			for e, err := range r.Edges() {
				if err != nil {
					list = append(list, err.Error())
				} else {
					list = append(list, fmt.Sprint(e.Src.Int, " ", e.Relation, " ", e.Weight))
				}
			}
		}
		if got := strings.Join(list, "; "); !strings.HasSuffix(got, c.want) {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
