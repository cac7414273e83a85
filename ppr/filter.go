package ppr

import "math/bits"

// filter is a Bloom filter (Bloom, CACM 1970) with all bits of a key in one word (as in Putze, Sanders and Singler,
// WEA 2007). One load shows that a node is not in a state, which is true of most endpoints in a change log. There
// are no false negatives. The length is a power of two; a filter is never larger than a bitmap of the graph,
// rounded up.
type filter []uint64

// filterBits is the minimum number of bits per key, unless a bitmap of the graph is smaller.
const filterBits = 16

// newFilter returns a filter for up to keys nodes out of n.
func newFilter(keys, n int) filter {
	return make(filter, 1<<bits.Len(uint(min(keys*filterBits, n)/64)))
}

// slot returns the word of u and the mask of its bits in that word.
func (f filter) slot(u ID) (word, mask uint64) {
	x := uint64(u+1) * 0x9e3779b97f4a7c15
	return x >> 32 & uint64(len(f)-1), 1<<(x>>20&63) | 1<<(x>>26&63)
}

func (f filter) add(u ID) {
	i, mask := f.slot(u)
	f[i] |= mask
}

// has reports whether u may be in the filter. The filter must have at least one word.
func (f filter) has(u ID) bool {
	i, mask := f.slot(u)
	return f[i]&mask == mask
}
