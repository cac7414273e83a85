package ppr

import "math/bits"

// filter tells in one load that a node is not in a state, as most endpoints of a change log are not: a Bloom filter
// (Bloom, CACM 1970) with the bits of a key in one word (as Putze, Sanders and Singler, WEA 2007). No false negatives.
// Its length is a power of two; it is never larger than a bitmap of the graph, rounded up.
type filter []uint64

// filterBits is the number of bits for a key, at least, in a graph that is large for them.
const filterBits = 16

// newFilter makes a filter for up to keys of the nodes below n.
func newFilter(keys, n int) filter {
	return make(filter, 1<<bits.Len(uint(min(keys*filterBits, n)/64)))
}

// slot is the word of u and the bits it sets there.
func (f filter) slot(u ID) (word, mask uint64) {
	x := uint64(u+1) * 0x9e3779b97f4a7c15
	return x >> 32 & uint64(len(f)-1), 1<<(x>>20&63) | 1<<(x>>26&63)
}

func (f filter) add(u ID) {
	i, mask := f.slot(u)
	f[i] |= mask
}

// has reports whether u may be in the filter, which must not be empty.
func (f filter) has(u ID) bool {
	i, mask := f.slot(u)
	return f[i]&mask == mask
}
