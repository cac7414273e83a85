package spill

import (
	"bytes"
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"kith/ppr"
)

// TestValues verifies that values in memory and in runs are sorted by final ids, and that the last
// one of a node wins.
func TestValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := File{Create: newPaper}
		if err := f.Open(); err != nil {
			t.Fatal(err)
		}
		final := []ppr.ID{7, 0x30001, 2, 0x1000102}
		var want []Value
		var inMemory, loaded Values
		var sorter ValueSorter
		var runs []ValueSection
		for range rapid.IntRange(0, 4).Draw(t, "runs") {
			var run Values
			for range rapid.IntRange(0, 9).Draw(t, "values") {
				v := Value{ppr.ID(rapid.IntRange(0, 3).Draw(t, "node")), rapid.SliceOfN(rapid.Byte(), 0, 700).Draw(t, "stored")}
				run.Add(v)
				inMemory.Add(v)
				v.ID = final[v.ID]
				want = slices.DeleteFunc(want, func(w Value) bool { return w.ID == v.ID })
				want = append(want, v)
			}
			section, err := f.WriteValues(&run)
			if err == nil {
				section, err = sorter.Rewrite(&f, section, &loaded, final)
			}
			if err != nil {
				t.Fatal(err)
			}
			runs = append(runs, section)
		}
		slices.SortFunc(want, func(a, b Value) int { return cmp.Compare(a.ID, b.ID) })
		var err error
		agree(t, f.MergeValues(runs, 1<<10, &err), want)
		next, sortErr := sorter.Sorted(&inMemory, final)
		agree(t, next, want)
		if err = cmp.Or(err, sortErr); err != nil {
			t.Fatal(err)
		}
	})
}

// agree fails t unless next returns the given values.
func agree(t *rapid.T, next func() (Value, bool), want []Value) {
	var got []Value
	for v, ok := next(); ok; v, ok = next() {
		got = append(got, v)
	}
	same := func(a, b Value) bool { return a.ID == b.ID && bytes.Equal(a.Stored, b.Stored) }
	if !slices.EqualFunc(got, want, same) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

// TestValuesOfOtherFiles verifies that sections which were not written as they are read are errors.
func TestValuesOfOtherFiles(t *testing.T) {
	t.Parallel()
	f := File{Create: newPaper}
	if err := f.Open(); err != nil {
		t.Fatal(err)
	}
	var run, loaded Values
	run.Add(Value{ID: 1, Stored: []byte("abc")})
	section, err := f.WriteValues(&run)
	if err != nil {
		t.Fatal(err)
	}
	var sorter ValueSorter
	if _, err := sorter.Rewrite(&f, section, &loaded, make([]ppr.ID, 1)); err == nil {
		t.Error("a node beyond the table is accepted")
	}
	for _, change := range []byte{0xff, 0x7f, 4} {
		if _, err := f.WriteAt([]byte{change}, section.at+4); err != nil {
			t.Fatal(err)
		}
		var readErr error
		if _, ok := f.MergeValues([]ValueSection{section}, 1<<10, &readErr)(); ok || readErr == nil {
			t.Errorf("length %d: no error in a merge", change)
		}
		if _, err := sorter.Rewrite(&f, section, &loaded, make([]ppr.ID, 2)); err == nil {
			t.Errorf("length %d: no error in a sort", change)
		}
	}
}
