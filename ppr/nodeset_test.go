package ppr

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestNodeSet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 20000).Draw(rt, "n")
		var s nodeSet
		s.grow(n)
		for range 2 { // the second round runs after clear
			want := map[ID]bool{}
			for _, u := range rapid.SliceOf(rapid.IntRange(0, n-1)).Draw(rt, "nodes") {
				s.add(ID(u))
				want[ID(u)] = true
			}
			if got := slices.Collect(s.all()); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
				rt.Fatalf("walked %v, want %v", got, want)
			}
			for range s.all() {
				break // iteration may stop early
			}
			s.clear()
		}
	})
}

func TestFilter(t *testing.T) {
	t.Parallel()
	const n = 1 << 20
	for _, keys := range []int{0, 1, 7, 1000, n} {
		f := newFilter(keys, n)
		for i := range keys {
			f.add(ID(i * 7919 % n))
		}
		for i := range keys {
			if u := ID(i * 7919 % n); !f.has(u) {
				t.Fatalf("%d keys: %d is missing", keys, u)
			}
		}
		if keys > n/64 {
			continue
		}
		wrong := 0
		for u := range ID(n) {
			if f.has(u) {
				wrong++
			}
		}
		if wrong -= keys; wrong > n/30 {
			t.Errorf("%d keys: %d of %d others pass", keys, wrong, n)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		list := slices.Compact(slices.Sorted(slices.Values(rapid.SliceOf(rapid.Uint32Range(0, 50)).Draw(rt, "list"))))
		for u := range ID(52) {
			want, ok := slices.BinarySearch(list, u)
			if !ok {
				want = -1
			}
			if got := find(list, u); got != want {
				rt.Fatalf("find(%v, %d) = %d, want %d", list, u, got, want)
			}
		}
	})
}
