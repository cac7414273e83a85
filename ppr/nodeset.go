package ppr

import (
	"iter"
	"math/bits"
)

// nodeSet is a set of nodes that iterates in ascending order without sorting. It consists of a
// bitmap and a bitmap of the non-zero words of the first, so that an iteration costs the members
// and one word per 4,096 nodes.
type nodeSet struct {
	word, sum []uint64
}

// grow makes room for n nodes in an empty set.
func (s *nodeSet) grow(n int) {
	if words := (n + 63) / 64; words > len(s.word) {
		s.word = make([]uint64, words)
		s.sum = make([]uint64, (words+63)/64)
	}
}

func (s *nodeSet) add(u ID) {
	w := u >> 6
	s.word[w] |= 1 << (u & 63)
	s.sum[w>>6] |= 1 << (w & 63)
}

// all returns the members in ascending order.
func (s *nodeSet) all() iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for i, sum := range s.sum {
			for ; sum != 0; sum &= sum - 1 {
				w := i<<6 + bits.TrailingZeros64(sum)
				for word := s.word[w]; word != 0; word &= word - 1 {
					if !yield(ID(w<<6 + bits.TrailingZeros64(word))) {
						return
					}
				}
			}
		}
	}
}

// clear empties the set.
func (s *nodeSet) clear() {
	for i, sum := range s.sum {
		for ; sum != 0; sum &= sum - 1 {
			s.word[i<<6+bits.TrailingZeros64(sum)] = 0
		}
		s.sum[i] = 0
	}
}

// filter is a Bloom filter (Bloom, CACM 1970) with all bits of a key in one word (as in Putze,
// Sanders and Singler, WEA 2007). One load shows that a node is not in a state, which is true of
// most endpoints in a change log. There are no false negatives. The length is a power of two; a
// filter is never larger than a bitmap of the graph, rounded up.
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

// bitmap is a set of nodes. Nodes beyond its end are not members.
type bitmap []uint64

func newBitmap(nodes int) bitmap { return make(bitmap, (nodes+63)/64) }

func (b bitmap) add(u ID) { b[u>>6] |= 1 << (u & 63) }

func (b bitmap) has(u ID) bool {
	w := int(u >> 6)
	return w < len(b) && b[w]>>(u&63)&1 != 0
}
