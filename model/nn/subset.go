package nn

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// Subset draws k of the numbers below n, ascending, with Floyd's algorithm (Bentley and Floyd, CACM
// 30, 1987).
func Subset(rng *rand.Rand, n, k int) []int {
	chosen := make(map[int]bool, k)
	for j := n - k; j < n; j++ {
		t := rng.IntN(j + 1)
		if chosen[t] {
			t = j
		}
		chosen[t] = true
	}
	return slices.Sorted(maps.Keys(chosen))
}

// Numbers returns the numbers from 0 to n-1, ascending.
func Numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
