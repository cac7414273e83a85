package edgelist

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// Rows read one by one equal those of readMatrix, whether they are stored by rows or by columns,
// also if a matrix has more rows than a block.
func TestMatrixRows(t *testing.T) {
	t.Parallel()
	const rows, cols = 3001, 100
	var data []int16
	for i := range rows * cols {
		data = append(data, int16(i))
	}
	for _, fortran := range []bool{false, true} {
		file := npyFile("<i2", fortran, fmt.Sprintf("(%d, %d)", rows, cols), elements(data...))
		_, _, want, err := readMatrix(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		for _, spool := range []func() (Spool, error){nil, tempFile(t)} {
			l, err := NewFeatures(bytes.NewReader(file), Options{Spool: spool})
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for node, err := range l.All() {
				if err != nil || node.Key != (Token{Int: int64(n), IsInt: true}) || !slices.Equal(node.Features, want[n*cols:(n+1)*cols]) {
					t.Fatalf("by column %v: row %d: %+v, %v", fortran, n, node.Key, err)
				}
				n++
			}
			if n != rows {
				t.Errorf("by column %v: %d rows of %d", fortran, n, rows)
			}
		}
	}
}

func TestMatrixRowsErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"short", npyFile("<f4", false, "(3, 2)", elements[float32](1, 2, 3)), "edgelist: 1 of 3 rows: unexpected EOF"},
		{"short by column", npyFile("<f4", true, "(3, 2)", elements[float32](1, 2, 3)), "edgelist: array of 12 bytes, expected 24: unexpected EOF"},
		{"long", npyFile("<f4", false, "(1, 2)", elements[float32](1, 2, 3)), "edgelist: the array has more rows than its header says: 1"},
		{"long by column", npyFile("<f4", true, "(1, 2)", elements[float32](1, 2, 3)), "edgelist: the array has more rows than its header says: 1"},
		{"wide", npyFile("<f4", false, "(3, 1048577)", nil), "rows of 1048577 numbers, at most 1048576"},
		{"promise", npyFile("<f4", false, "(1099511627776, 2)", nil), "0 of 1099511627776 rows: unexpected EOF"},
	} {
		l, err := NewFeatures(bytes.NewReader(c.file), Options{})
		if err == nil {
			for _, err = range l.All() {
			}
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	l, err := NewFeatures(bytes.NewReader(npyFile("<f8", false, "(3, 1)", elements(1, 1e300, 2))), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var bad *LineError
	read := 0
	for n, err := range l.All() {
		if err == nil {
			read++
		} else if !errors.As(err, &bad) || n.Line != 0 && n.Line != 2 {
			t.Errorf("%+v, %v", n, err)
		}
	}
	if read != 2 || bad == nil || bad.Line != 2 {
		t.Errorf("%d rows, %v; want 2, and line 2 malformed", read, bad)
	}
}

// Line n of a list without keys belongs to node n, even if previous lines are malformed.
func TestKeylessLines(t *testing.T) {
	t.Parallel()
	text := "# c\na\n\n\"b\"x\nc d\n" + strings.Repeat("x", maxLine+1) + "\ne\n"
	l, err := NewNodes(io.MultiReader(strings.NewReader(text)), Options{Format: CSV, Keyless: true})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for n, err := range l.All() {
		if err == nil {
			got = append(got, fmt.Sprint(n.Key.Int, n.Label))
		}
	}
	if want := []string{"0a", "3c d", "5e"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
