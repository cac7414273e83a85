package model

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/vmihailenco/msgpack/v5"

	"kith/model/internal/column"
	"kith/model/nn"
)

// memory records the outcomes of the pairs that were tried, for each node as a target and for each
// pair, and how often each node was on offer. It is a value: remember leaves its receiver
// unchanged, because scorers hold it.
type memory struct {
	total   counts
	nodes   pages[*nodeMemory]
	size    memorySize
	offers  pages[uint32] // number of times each node was on offer
	offered offered
}

// memorySize is the number of nodes and distinct pairs with outcomes in a memory.
type memorySize struct{ nodes, pairs int }

// offered holds the sums over the nodes that were ever on offer.
type offered struct{ times, nodes float64 }

// nodeMemory is the memory of one node. It is immutable.
type nodeMemory struct {
	Target counts
	Pairs  []pairMemory // outcomes as a source, ascending by target
}

type pairMemory struct {
	//lint:ignore U1000 package msgpack reads the tag
	_msgpack struct{} `msgpack:",as_array"`
	Target   ID
	counts
}

// counts are the outcomes of some tries. Rewards are clamped to [0, 1].
type counts struct{ Tries, Wins float64 }

// valid reports whether such counts can occur.
func (c counts) valid() bool { return nn.Finite(c.Tries) && 0 <= c.Wins && c.Wins <= c.Tries }

func (c *counts) add(reward float64) {
	c.Tries++
	c.Wins += min(max(reward, 0), 1)
}

// rate is the mean reward with a prior that counts as the given number of tries (before) with the
// given mean.
func (c counts) rate(mean, before float64) float64 {
	return (c.Wins + before*mean) / (c.Tries + before)
}

// at returns the memory of a node. It is empty for an unknown node.
func (m *memory) at(u ID) *nodeMemory {
	if n := m.nodes.at(u); n != nil {
		return n
	}
	return &nodeMemory{}
}

// remember returns the memory with one more outcome, of a pair whose target was chosen from offer.
func (m *memory) remember(p Pair, reward float64, offer []ID) memory {
	next := *m
	next.total.add(reward)
	next.nodes = slices.Clone(m.nodes)
	source := next.edit(m, p.Source)
	next.size.pairs -= len(source.Pairs)
	source.Pairs = slices.Clone(source.Pairs)
	source.pair(p.Target).add(reward)
	next.size.pairs += len(source.Pairs)
	next.edit(m, p.Target).Target.add(reward)

	next.offers = slices.Clone(m.offers)
	for _, u := range offer {
		n := next.offers.edit(m.offers, u)
		if *n == 0 {
			next.offered.nodes++
		}
		*n++
		next.offered.times++
	}
	return next
}

// edit replaces the memory of a node by a copy and returns the copy.
func (m *memory) edit(before *memory, u ID) *nodeMemory {
	at := m.nodes.edit(before.nodes, u)
	if *at == nil {
		*at = &nodeMemory{}
		m.size.nodes++
	}
	n := **at
	*at = &n
	return &n
}

func (n *nodeMemory) find(target ID) (int, bool) {
	return slices.BinarySearchFunc(n.Pairs, target, func(p pairMemory, t ID) int { return cmp.Compare(p.Target, t) })
}

func (n *nodeMemory) pair(target ID) *counts {
	i, found := n.find(target)
	if !found {
		n.Pairs = slices.Insert(n.Pairs, i, pairMemory{Target: target})
	}
	return &n.Pairs[i].counts
}

// of returns the outcomes of a pair, or of both directions if edges have no direction.
func (m *memory) of(p Pair, directed bool) counts {
	c := m.oneWay(p)
	if !directed && p.Source != p.Target {
		back := m.oneWay(Pair{Source: p.Target, Target: p.Source})
		c.Tries, c.Wins = c.Tries+back.Tries, c.Wins+back.Wins
	}
	return c
}

func (m *memory) oneWay(p Pair) counts {
	n := m.at(p.Source)
	if i, found := n.find(p.Target); found {
		return n.Pairs[i].counts
	}
	return counts{}
}

// Columns of the history of a pair.
const (
	colTargetRate = iota // log-odds of the target's success rate, relative to the log-odds of all tries
	colOffered           // log of how often the target was on offer, relative to the mean over all nodes ever on offer
	historyLen
)

// Weights of the prior that a node's own history must outweigh.
const (
	rateWeight  = 2 // tries
	offerWeight = 3 // offers
)

// history writes the history of a pair's target to x.
func (m *memory) history(p Pair, x []float32) {
	mean := m.total.rate(0.1, 1)
	x[colTargetRate] = float32(logit(m.at(p.Target).Target.rate(mean, rateWeight)) - logit(mean))
	usual := m.offered.times / max(m.offered.nodes, 1)
	x[colOffered] = float32(math.Log((float64(m.offers.at(p.Target)) + offerWeight) / (usual + offerWeight)))
}

// logit returns the log-odds of a probability.
func logit(p float64) float64 { return math.Log(p / (1 - p)) }

func (m *memory) bytes() int {
	return 40*m.size.nodes + 24*m.size.pairs + 8*m.nodes.entries() + 4*m.offers.entries()
}

// memoryDocument is the stored form of a memory, with the nodes in ascending order.
type memoryDocument struct {
	Total counts
	Nodes []nodeDocument
}

type nodeDocument struct {
	Node   ID
	Offers uint32
	nodeMemory
}

func (m *memory) EncodeMsgpack(e *msgpack.Encoder) error {
	return e.Encode(&memoryDocument{m.total, slices.Collect(m.all())})
}

func (m *memory) DecodeMsgpack(d *msgpack.Decoder) error {
	var doc memoryDocument
	if err := d.Decode(&doc); err != nil {
		return err
	}
	return m.restore(&doc)
}

// all yields the nodes in ascending order.
func (m *memory) all() iter.Seq[nodeDocument] {
	return func(yield func(nodeDocument) bool) {
		for page := range max(len(m.nodes), len(m.offers)) {
			if !m.nodes.has(page) && !m.offers.has(page) {
				continue
			}
			for u := ID(page * pageLen); u < ID((page+1)*pageLen); u++ {
				d := nodeDocument{u, m.offers.at(u), *m.at(u)}
				if (d.Offers != 0 || d.Target.Tries != 0 || d.Pairs != nil) && !yield(d) {
					return
				}
			}
		}
	}
}

// restore rebuilds the memory from its document.
func (m *memory) restore(d *memoryDocument) error {
	*m = memory{total: d.Total}
	if !m.total.valid() {
		return fmt.Errorf("memory of %v wins in %v tries", m.total.Wins, m.total.Tries)
	}
	for i, n := range d.Nodes {
		if i > 0 && n.Node <= d.Nodes[i-1].Node || !n.valid() {
			return fmt.Errorf("memory of node %d", n.Node)
		}
		m.put(n)
	}
	return nil
}

// maxMemoryNode is the largest node id that is remembered. It limits the page tables that a damaged
// document can cause to 16 MB each.
const maxMemoryNode = 1 << 30

// remembered reports an error if one of the nodes exceeds maxMemoryNode.
func remembered(nodes []ID) error {
	if u := slices.Max(nodes); u > maxMemoryNode {
		return fmt.Errorf("%w: node %d (accepted: up to %d)", ErrInput, u, maxMemoryNode)
	}
	return nil
}

func (d *nodeDocument) valid() bool {
	for i, p := range d.Pairs {
		if i > 0 && p.Target <= d.Pairs[i-1].Target || !p.valid() {
			return false
		}
	}
	return d.Node <= maxMemoryNode && d.Target.valid()
}

// put adds a node that the memory does not have.
func (m *memory) put(d nodeDocument) {
	if d.Offers > 0 {
		*m.offers.edit(nil, d.Node) = d.Offers
		m.offered.nodes++
		m.offered.times += float64(d.Offers)
	}
	if d.Target.Tries != 0 || len(d.Pairs) != 0 {
		*m.edit(&memory{}, d.Node) = d.nodeMemory
		m.size.pairs += len(d.Pairs)
	}
}

const pageLen = 512

// pages is an array with one T for each node. Versions of the array share pages (copy on write).
type pages[T any] []*[pageLen]T

// at returns the entry of a node, zero if its page does not exist.
func (p pages[T]) at(u ID) (v T) {
	if i := int(u / pageLen); p.has(i) {
		return p[i][u%pageLen]
	}
	return v
}

// edit returns a pointer to the entry of a node. It first creates the page, or copies it if the
// version before has the same page.
func (p *pages[T]) edit(before pages[T], u ID) *T {
	i := int(u / pageLen)
	if i >= len(*p) {
		*p = append(*p, slices.Repeat(pages[T]{nil}, i+1-len(*p))...)
	}
	switch page := (*p)[i]; {
	case page == nil:
		(*p)[i] = new([pageLen]T)
	case i < len(before) && page == before[i]:
		own := *page
		(*p)[i] = &own
	}
	return &(*p)[i][u%pageLen]
}

// has reports whether the i-th page exists.
func (p pages[T]) has(i int) bool { return i < len(p) && p[i] != nil }

// entries returns the number of allocated entries.
func (p pages[T]) entries() (n int) {
	for i := range p {
		if p.has(i) {
			n += pageLen
		}
	}
	return n
}

// historyColumns returns the inputs of a belief that follow the columns of a context.
func historyColumns() []column.Column {
	return []column.Column{
		colTargetRate:  {Name: "target success", Scale: 1, Family: column.Outcomes},
		colOffered:     {Name: "target on offer", Scale: 1, Family: column.Outcomes},
		historyLen:     {Name: "constant", Scale: 1, Family: column.General},
		historyLen + 1: {Name: "network", Scale: 1, Family: column.General},
	}
}
