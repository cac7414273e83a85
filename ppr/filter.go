package ppr

import "math/bits"

// filter is a Bloom filter (Bloom, CACM 1970; one machine word a key, as in Putze, Sanders and Singler, WEA 2007) over
// a state's nodes: most endpoints of a change log are not in a state, and one load says so. No false negatives.
type filter []uint64

// filterBits is the number of bits for a key.
const filterBits = 16

// newFilter makes a filter for about n keys.
func newFilter(n int) filter {
	return make(filter, 1<<bits.Len(uint(n*filterBits/64)))
}

// slot is the word of u and the three bits it sets there.
func (f filter) slot(u ID) (int, uint64) {
	x := (uint64(u) + 1) * 0x9e3779b97f4a7c15
	mask := uint64(1)<<(x>>8&63) | 1<<(x>>14&63) | 1<<(x>>20&63)
	return int(x >> 32 & uint64(len(f)-1)), mask
}

func (f filter) add(u ID) {
	i, mask := f.slot(u)
	f[i] |= mask
}

// has reports whether u may be in the filter.
func (f filter) has(u ID) bool {
	if len(f) == 0 {
		return false
	}
	i, mask := f.slot(u)
	return f[i]&mask == mask
}
