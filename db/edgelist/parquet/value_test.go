package parquet_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"kith/db/edgelist"
	"kith/db/edgelist/parquet"
)

// valueOf returns the value of a property that is written as v.
func valueOf(v any) (value edgelist.Value) {
	switch v := v.(type) {
	case []string:
		value.Type, value.List = edgelist.ListType, v
	case bool:
		if value.Type = edgelist.BoolType; v {
			value.Num = 1
		}
	case int64:
		value.Type, value.Num = edgelist.IntegerType, v
	}
	return value
}

// Values of properties come back from a file of several pages, also no values and empty lists.
func TestValuesComeBack(t *testing.T) {
	t.Parallel()
	const rows = 20000
	tags := func(i int) (list any) {
		if i%5 == 0 {
			return nil
		}
		all := []string{}
		for j := range i % 7 {
			all = append(all, fmt.Sprintf("tag%d-%s", i*j, strings.Repeat("x", 20)))
		}
		return all
	}
	hidden := func(i int) any {
		if i%3 == 0 {
			return nil
		}
		return i%2 == 0
	}
	stock := func(i int) any {
		if i%11 == 0 {
			return nil
		}
		return int64(i)
	}
	var b bytes.Buffer
	w, err := parquet.Format{}.Create(&b, []edgelist.Field{
		{Name: "node", Type: edgelist.Integer}, {Name: "tags", Type: edgelist.Strings}, {Name: "hidden", Type: edgelist.Bool},
		{Name: "stock", Type: edgelist.Integer, Optional: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		w.Int(int64(i))
		for _, v := range []any{tags(i), hidden(i), stock(i)} {
			if err := w.Value(v); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.End(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	list, err := edgelist.NewNodes(bytes.NewReader(b.Bytes()), edgelist.Options{Tables: parquet.Format{}})
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for n, err := range list.All() {
		if want := []edgelist.Value{valueOf(tags(i)), valueOf(hidden(i)), valueOf(stock(i))}; err != nil || n.Key.Int != int64(i) || !reflect.DeepEqual(n.Values, want) {
			t.Fatalf("row %d: %#v, %v, want %#v", i, n.Values, err, want)
		}
		i++
	}
	if i != rows {
		t.Errorf("%d rows, want %d", i, rows)
	}
}
