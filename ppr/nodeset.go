package ppr

import (
	"iter"
	"math/bits"
)

// nodeSet is a set of nodes that iterates in ascending order without sorting. It consists of a bitmap and a bitmap
// of the non-zero words of the first, so that an iteration costs the members and one word per 4,096 nodes.
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
