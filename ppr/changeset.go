package ppr

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// ChangeSet is a list of changes to a graph, for states that catch up with the graph. If a pair
// occurs several times, its change is from its first Old to its last New. States that catch up over
// the same changes share one ChangeSet: from the third state on, the set is indexed by node, and a
// state looks up its own nodes instead of scanning all changes.
//
// A ChangeSet is safe for concurrent use.
type ChangeSet struct {
	list  []Change
	nodes int   // an upper bound of all ids in list, exclusive
	err   error // set if list is malformed
	uses  atomic.Int32
	once  sync.Once
	index *changeIndex
}

// NewChangeSet returns a ChangeSet of changes in the order in which they happened. The caller must
// not modify changes afterwards. A malformed change is reported by the methods of [Solver] that use
// the set.
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

// check returns an error if the changes are malformed or name a node that is not below n.
func (s *ChangeSet) check(n int) error {
	if s.nodes > n {
		return fmt.Errorf("%w: change at %d of %d", ErrNode, s.nodes-1, n)
	}
	return s.err
}

// Minimum sizes of a set that is indexed.
const (
	indexUses    = 3  // number of states from which an index pays off
	indexChanges = 64 // below this, scanning all changes is as fast
)

// indexed returns the index for a state with the given number of nodes. It returns nil if scanning
// all changes is cheaper than looking up the nodes, or if the set has had too few users to build an
// index.
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
	lowered bitmap   // ends of edges whose weight decreased; nil means none
	before  []uint32 // number of touched nodes before each word of the bitmap
	start   []uint32 // the changes at the i-th touched node are at[start[i]:start[i+1]]
	at      []uint32
}

// newChangeIndex sorts the changes by their endpoints. It takes time linear in the number of
// changes plus a word per 64 nodes.
func newChangeIndex(s *ChangeSet) *changeIndex {
	x := &changeIndex{touched: newBitmap(s.nodes)}
	x.before = make([]uint32, len(x.touched))
	for _, c := range s.list {
		x.touched.add(c.U)
		x.touched.add(c.V)
		if c.New < c.Old {
			if x.lowered == nil {
				x.lowered = newBitmap(s.nodes)
			}
			x.lowered.add(c.U)
			x.lowered.add(c.V)
		}
	}
	count := uint32(0)
	for i, w := range x.touched {
		x.before[i] = count
		count += uint32(bits.OnesCount64(w))
	}
	x.start, x.at = make([]uint32, count+1), make([]uint32, 2*len(s.list))
	x.sortChanges(s.list)
	return x
}

// sortChanges builds start and at with a counting sort.
func (x *changeIndex) sortChanges(list []Change) {
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

// rank returns the number of touched nodes below u.
func (x *changeIndex) rank(u ID) uint32 {
	return x.before[u>>6] + uint32(bits.OnesCount64(x.touched[u>>6]&(1<<(u&63)-1)))
}

// changes returns the positions of the changes at a touched node in the list, ascending. A
// self-loop is listed twice.
func (x *changeIndex) changes(u ID) []uint32 {
	k := x.rank(u)
	return x.at[x.start[k]:x.start[k+1]]
}
