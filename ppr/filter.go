package ppr

import "math/bits"

// filter tells in one load that a node is not in a list, as most endpoints of a change log are not. Over a list that
// is long for the graph it is the bitmap of the nodes, else a Bloom filter (Bloom, CACM 1970; all bits of a key in one
// word, as Putze, Sanders and Singler, WEA 2007). No false negatives.
type filter struct {
	word  []uint64
	plain bool // a bitmap
}

// filterBits is the number of bits for a key, at least.
const filterBits = 16

// newFilter makes a filter for up to keys of the nodes below n.
func newFilter(keys, n int) filter {
	words := 1 << bits.Len(uint(keys*filterBits/64))
	if words*64 >= n {
		return filter{make([]uint64, (n+63)/64), true}
	}
	return filter{make([]uint64, words), false}
}

// slot is the word of u and the bits it sets there.
func (f filter) slot(u ID) (int, uint64) {
	if f.plain {
		return int(u >> 6), 1 << (u & 63)
	}
	x := (uint64(u) + 1) * 0x9e3779b97f4a7c15
	mask := uint64(1)<<(x>>8&63) | 1<<(x>>14&63) | 1<<(x>>20&63)
	return int(x >> 32 & uint64(len(f.word)-1)), mask
}

func (f filter) add(u ID) {
	i, mask := f.slot(u)
	f.word[i] |= mask
}

// has reports whether u may be in the filter.
func (f filter) has(u ID) bool {
	i, mask := f.slot(u)
	return i < len(f.word) && f.word[i]&mask == mask
}
