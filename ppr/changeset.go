package ppr

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// ChangeSet is what changed in a graph over a stretch of its life, for states that are to follow it; a pair that recurs
// counts from its first Old to its last New. States that follow over the same stretch share one: from the third on they
// find it indexed by node, and look up their own nodes instead of all that changed.
//
// It is safe for concurrent use.
type ChangeSet struct {
	list  []Change
	nodes int   // all of them are below
	err   error // what is wrong with the list
	uses  atomic.Int32
	once  sync.Once
	index *changeIndex
}

// NewChangeSet makes a ChangeSet of changes in the order in which they happened, which must not be modified after that.
// A change that is malformed is reported by whoever uses the set.
func NewChangeSet(changes []Change) *ChangeSet {
	s := &ChangeSet{list: changes}
	for _, c := range changes {
		s.nodes = max(s.nodes, int(max(c.U, c.V))+1)
		if !(c.Old >= 0 && c.New >= 0 && c.Old <= math.MaxFloat32 && c.New <= math.MaxFloat32) && s.err == nil {
			s.err = fmt.Errorf("%w: weight %v to %v at %d-%d", ErrInput, c.Old, c.New, c.U, c.V)
		}
	}
	return s
}

// check verifies that the changes can be those of a graph with n nodes.
func (s *ChangeSet) check(n int) error {
	if s.nodes > n {
		return fmt.Errorf("%w: change at %d of %d", ErrNode, s.nodes-1, n)
	}
	return s.err
}

// Sizes of a set that is worth an index.
const (
	indexUses    = 3  // states that look, before it pays
	indexChanges = 64 // fewer are as soon looked at
)

// indexed is the index, or nil if there is none yet or looking at all changes costs less than at so many nodes.
func (s *ChangeSet) indexed(nodes int) *changeIndex {
	if len(s.list) < indexChanges || nodes > 4*len(s.list) || s.uses.Load() < indexUses && s.uses.Add(1) < indexUses {
		return nil
	}
	s.once.Do(func() { s.index = newChangeIndex(s) })
	return s.index
}

// changeIndex finds the changes at a node.
type changeIndex struct {
	touched bitmap
	fell    bitmap   // nodes whose degree may have fallen; nil: none
	before  []uint32 // number of touched nodes before each word of the bitmap
	start   []uint32 // the changes at the i-th touched node are at[start[i]:start[i+1]]
	at      []uint32
}

// weakens reports whether the change may lower a pivot: by weight lost, or from 1 at degree 0 to less.
func (c Change) weakens() bool { return c.New < c.Old || c.Old == 0 && c.New < 1 }

// newChangeIndex sorts changes by their ends, in time linear in them and a word for 64 nodes.
func newChangeIndex(s *ChangeSet) *changeIndex {
	words := (s.nodes + 63) / 64
	x := &changeIndex{touched: make(bitmap, words), before: make([]uint32, words)}
	for _, c := range s.list {
		x.touched.add(c.U)
		x.touched.add(c.V)
		if c.weakens() {
			if x.fell == nil {
				x.fell = make(bitmap, words)
			}
			x.fell.add(c.U)
			x.fell.add(c.V)
		}
	}
	count := uint32(0)
	for i, w := range x.touched {
		x.before[i] = count
		count += uint32(bits.OnesCount64(w))
	}
	x.start, x.at = make([]uint32, count+1), make([]uint32, 2*len(s.list))
	x.fill(s.list)
	return x
}

// fill is a counting sort.
func (x *changeIndex) fill(list []Change) {
	for _, c := range list {
		x.start[x.rank(c.U)]++
		x.start[x.rank(c.V)]++
	}
	end := uint32(0)
	for i := range x.start {
		end += x.start[i]
		x.start[i] = end
	}
	for i, c := range slices.Backward(list) {
		for _, u := range [2]ID{c.V, c.U} {
			k := x.rank(u)
			x.start[k]--
			x.at[x.start[k]] = uint32(i)
		}
	}
}

// rank is the number of touched nodes below u.
func (x *changeIndex) rank(u ID) uint32 {
	return x.before[u>>6] + uint32(bits.OnesCount64(x.touched[u>>6]&(1<<(u&63)-1)))
}

// changes lists the positions of the changes at a touched node, ascending; a loop's twice.
func (x *changeIndex) changes(u ID) []uint32 {
	k := x.rank(u)
	return x.at[x.start[k]:x.start[k+1]]
}

// bitmap is a set of nodes, of which those beyond its end are no members.
type bitmap []uint64

func (b bitmap) add(u ID) { b[u>>6] |= 1 << (u & 63) }

func (b bitmap) has(u ID) bool {
	w := int(u >> 6)
	return w < len(b) && b[w]>>(u&63)&1 != 0
}
