package column

import (
	"math"
	"math/bits"

	"kith/model/internal/graph"
)

// Near finds the nodes two edges from a source, and sums a number of the common neighbours of the
// source and each of them. It reuses its memory.
type Near struct {
	slot []nearSlot // hash table, all free between two calls; its length is a power of two
	used []uint32   // slots that are taken
}

// nearSlot is an entry of a hash table.
type nearSlot struct {
	sum float64
	key graph.ID // the node plus 1; 0 means that the entry is free
}

// maxNear limits the edges that Near follows, so that the table fits the cache of a processor.
const maxNear = 1 << 16

// Sums calls each for the nodes two edges from source, in no order, with SumOf of source and the
// node, bit for bit. It leaves out source and the nodes that source has an edge to. number must be
// positive. Sums returns false, and calls nothing, if it would follow too many edges.
func (n *Near) Sums(g graph.Graph, source graph.ID, number Number, each func(u graph.ID, sum float64)) bool {
	out := graph.Out(g, source)
	edges := 1 + len(out)
	for _, w := range out {
		if edges += graph.OutLen(g, w); edges > maxNear {
			return false
		}
	}
	shift := 32 - bits.Len(uint(2*edges))
	if size := 1 << (32 - shift); len(n.slot) < size {
		n.slot = make([]nearSlot, size)
	}
	n.add([]graph.ID{source}, math.Inf(-1), shift) // a sum of minus infinity stays as it is
	n.add(out, math.Inf(-1), shift)
	for _, w := range out {
		if w != source {
			n.add(graph.Out(g, w), number(degree(g, w)), shift)
		}
	}
	for _, at := range n.used {
		if s := n.slot[at]; s.sum > 0 {
			each(s.key-1, s.sum)
		}
		n.slot[at] = nearSlot{}
	}
	n.used = n.used[:0]
	return true
}

// add adds x to the sums of some nodes. A node is in the slot of its hash, which has 32 - shift
// bits, or in the next free one.
func (n *Near) add(nodes []graph.ID, x float64, shift int) {
	slot, used := n.slot[:1<<(32-shift)], n.used
	for _, u := range nodes {
		at := u * 0x9E3779B1 >> shift
		for slot[at].key != 0 && slot[at].key != u+1 {
			at = (at + 1) & uint32(len(slot)-1)
		}
		if slot[at].key == 0 {
			slot[at], used = nearSlot{key: u + 1}, append(used, at)
		}
		slot[at].sum += x
	}
	n.used = used
}
