package parquet_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"kith/db/edgelist"
	"kith/db/edgelist/parquet"
)

// FuzzTable reads damaged files. Nothing panics, and no table has more rows than its file can hold.
func FuzzTable(f *testing.F) {
	names, err := filepath.Glob(filepath.Join("testdata", "*.parquet"))
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		o := edgelist.Options{Format: edgelist.Parquet, Tables: parquet.Format{}}
		if r, err := edgelist.NewReader(bytes.NewReader(data), o); err == nil {
			for range r.Edges() {
			}
		}
		if r, err := edgelist.NewFeatures(bytes.NewReader(data), o); err == nil {
			for range r.All() {
			}
		}
		readAll(data)
	})
}

// readAll reads all columns that can be read, and returns the number of rows.
func readAll(data []byte) (rows int, err error) {
	t, err := parquet.Format{}.Open(bytes.NewReader(data), int64(len(data)), 1<<20)
	if err != nil {
		return 0, err
	}
	var fields []int
	for i, f := range t.Fields() {
		if f.Type != edgelist.OtherType {
			fields = append(fields, i)
		}
	}
	for {
		n, _, err := t.Next(fields)
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		rows += n
	}
}
