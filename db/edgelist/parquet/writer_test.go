package parquet_test

import (
	"bytes"
	"fmt"
	"testing"

	library "github.com/parquet-go/parquet-go"

	"kith/db/edgelist"
	"kith/db/edgelist/parquet"
)

// table returns a file with a column of each type and some rows.
func table(t *testing.T, rows int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := parquet.Format{}.Create(&b, []edgelist.Field{
		{Name: "source", Type: edgelist.String}, {Name: "n", Type: edgelist.Integer}, {Name: "w", Type: edgelist.Single},
		{Name: "score", Type: edgelist.Double}, {Name: "at", Type: edgelist.Timestamp}, {Name: "a", Type: edgelist.Floats},
	})
	if err != nil {
		t.Fatal(err)
	}
	for n := range rows {
		key := edgelist.Token{Str: fmt.Sprint("k", n%7)}
		if n%3 == 0 {
			key = edgelist.Token{IsInt: true, Int: int64(n)}
		}
		if err := w.Key(key); err != nil {
			t.Fatal(err)
		}
		w.Int(int64(n - 5))
		w.Float(float32(n) / 2)
		w.Double(float64(n) / 3)
		w.Time(int64(n % 2 * 1_700_000_000))
		w.Floats([]float32{float32(n), 1}[:n%3])
		if err := w.End(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A file has the columns in the given order and all rows, in several row groups.
func TestWriter(t *testing.T) {
	t.Parallel()
	const rows = 300_000
	data := table(t, rows)
	f, err := library.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	want := `message kith {
	optional binary source (STRING);
	required int64 n (INT(64,true));
	required float w;
	required double score;
	optional int64 at (TIMESTAMP(isAdjustedToUTC=true,unit=MILLIS));
	required group a (LIST) {
		repeated group list {
			required float element;
		}
	}
}`
	if got := f.Schema().String(); got != want {
		t.Errorf("schema\n%s\nwant\n%s", got, want)
	}
	if len(f.RowGroups()) != 2 || f.NumRows() != rows {
		t.Errorf("%d row groups with %d rows, want 2 with %d", len(f.RowGroups()), f.NumRows(), rows)
	}
}
