package spill

import (
	"bytes"
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"kith/ppr"
)

// TestSortedValues verifies that values in memory and in runs are sorted, and that the last one of a
// property of a node wins.
func TestSortedValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := File{Create: newPaper}
		if err := f.Open(); err != nil {
			t.Fatal(err)
		}
		final := []ppr.ID{7, 0x30001, 2, 0x102}
		var want []Value
		var inMemory Values
		sorted := SortedValues{Buffers: 1 << 10}
		for range rapid.IntRange(0, 4).Draw(t, "runs") {
			var run Values
			for range rapid.IntRange(0, 9).Draw(t, "values") {
				v := Value{
					ID: ppr.ID(rapid.IntRange(0, 3).Draw(t, "node")), Property: uint16(rapid.SampledFrom([]int{0, 1, 0x201}).Draw(t, "property")),
					Stored: rapid.SliceOfN(rapid.Byte(), 0, 700).Draw(t, "stored"),
				}
				run.Add(v)
				inMemory.Add(v)
				v.ID = final[v.ID]
				want = slices.DeleteFunc(want, func(w Value) bool { return w.ID == v.ID && w.Property == v.Property })
				want = append(want, v)
			}
			section, err := f.WriteValues(&run, nil)
			if err == nil {
				err = sorted.Rewrite(&f, section, final)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		slices.SortFunc(want, func(a, b Value) int { return cmp.Or(cmp.Compare(a.Property, b.Property), cmp.Compare(a.ID, b.ID)) })
		sorted.Forget()
		agree(t, &sorted, &f, want)
		if err := inMemory.Rename(final); err != nil {
			t.Fatal(err)
		}
		var whole SortedValues
		whole.Take(inMemory)
		agree(t, &whole, nil, want)
	})
}

// agree fails t unless a list has the given values.
func agree(t *rapid.T, l *SortedValues, f *File, want []Value) {
	var err error
	var got []Value
	next := l.Reader(f, &err)
	for v, ok := next(); ok; v, ok = next() {
		got = append(got, v)
	}
	same := func(a, b Value) bool {
		return a.ID == b.ID && a.Property == b.Property && bytes.Equal(a.Stored, b.Stored)
	}
	if err != nil || !slices.EqualFunc(got, want, same) {
		t.Fatalf("got %v, %v, want %v", got, err, want)
	}
}

// TestValuesOfOtherFiles verifies that sections which were not written as they are read are errors.
func TestValuesOfOtherFiles(t *testing.T) {
	t.Parallel()
	f := File{Create: newPaper}
	if err := f.Open(); err != nil {
		t.Fatal(err)
	}
	var run Values
	run.Add(Value{ID: 1, Stored: []byte("abc")})
	section, err := f.WriteValues(&run, nil)
	if err != nil {
		t.Fatal(err)
	}
	var sorted SortedValues
	if err := sorted.Rewrite(&f, section, make([]ppr.ID, 1)); err == nil {
		t.Error("a node beyond the table is accepted")
	}
	for _, change := range []byte{0xff, 0x7f, 4} {
		if _, err := f.WriteAt([]byte{change}, section.at+6); err != nil {
			t.Fatal(err)
		}
		var readErr error
		if _, ok := f.ReadValues(section, WholeBuffer, &readErr)(); ok || readErr == nil {
			t.Errorf("length %d: no error", change)
		}
	}
}
