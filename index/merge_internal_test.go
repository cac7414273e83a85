package index

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestMerger verifies that the merge of sorted lists is their concatenation, sorted stably.
func TestMerger(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type item struct{ value, list int }
		less := func(a, b *item) bool { return a.value < b.value }
		var lists []func() (item, bool)
		var want, got []item
		for list, values := range rapid.SliceOfN(rapid.SliceOf(rapid.IntRange(0, 9)), 0, 9).Draw(t, "lists") {
			slices.Sort(values)
			for _, v := range values {
				want = append(want, item{v, list})
			}
			lists = append(lists, func() (i item, ok bool) {
				if len(values) == 0 {
					return i, false
				}
				i, values = item{values[0], list}, values[1:]
				return i, true
			})
		}
		slices.SortStableFunc(want, func(a, b item) int { return cmp.Compare(a.value, b.value) })
		m := newMerger(lists, less)
		for i, list, ok := m.next(); ok; i, list, ok = m.next() {
			if list != i.list {
				t.Fatalf("%v is from list %d", i, list)
			}
			got = append(got, i)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}
