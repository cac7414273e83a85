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
