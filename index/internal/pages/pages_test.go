package pages_test

import (
	"maps"
	"testing"

	"pgregory.net/rapid"

	"kith/index/internal/pages"
)

// A copy of an array keeps its items, whatever is set later by other owners.
func TestArray(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var now pages.Array[int]
		want, by := map[pages.ID]int{}, new(pages.Owner)
		var copies []pages.Array[int]
		var wants []map[pages.ID]int
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			if rapid.IntRange(0, 4).Draw(t, "copy") == 0 {
				copies, wants, by = append(copies, now), append(wants, maps.Clone(want)), new(pages.Owner)
			}
			i := rapid.SampledFrom([]pages.ID{0, 1, 15, 16, 255, 4096, 65535, 65536, 1 << 20, 1<<20 + 17}).Draw(t, "item")
			want[i] = rapid.IntRange(0, 9).Draw(t, "value")
			now.Set(by, i, want[i])
		}
		for n, a := range append(copies, now) {
			of := append(wants, want)[n]
			left := len(of)
			for i, v := range a.All() {
				if v != of[i] || a.At(i) != v || !a.Has(i) {
					t.Fatalf("copy %d: item %d is %d and %d, want %d", n, i, v, a.At(i), of[i])
				}
				if _, set := of[i]; set {
					left--
				}
			}
			if left > 0 {
				t.Fatalf("copy %d lacks %d items", n, left)
			}
		}
	})
}
