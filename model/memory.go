package model

import (
	"fmt"
	"math"
	"slices"

	"kith/model/nn"
)

// memory records the outcomes of the pairs that were tried, for each node as a target and for each pair, and how often
// each node was on offer. It is a value: remember leaves its receiver unchanged, because scorers hold it.
type memory struct {
	total   counts
	nodes   pages[*nodeMemory]
	held    held
	offers  pages[uint32] // number of times each node was on offer
	offered offered
}

// held is the number of nodes and distinct pairs with outcomes in a memory.
type held struct{ nodes, pairs int }

// offered holds the sums over the nodes that were ever on offer.
type offered struct{ times, nodes float64 }

// nodeMemory is the memory of one node. It is immutable.
type nodeMemory struct {
	target counts
	pairs  []pairMemory // outcomes as a source, ascending by target
}

type pairMemory struct {
	target ID
	counts
}

// counts are the outcomes of some tries. Rewards are clamped to [0, 1].
type counts struct{ tries, wins float64 }

// valid reports whether such counts can occur.
func (c counts) valid() bool { return nn.Finite(c.tries) && 0 <= c.wins && c.wins <= c.tries }

func (c *counts) add(reward float64) {
	c.tries++
	c.wins += min(max(reward, 0), 1)
}

// rate is the mean reward with a prior that counts as the given number of tries (before) with the given mean.
func (c counts) rate(mean, before float64) float64 {
	return (c.wins + before*mean) / (c.tries + before)
}

// at returns the memory of a node. It is empty for an unknown node.
func (m *memory) at(u ID) *nodeMemory {
	if n := m.nodes.at(u); n != nil {
		return n
	}
	return &nodeMemory{}
}

// remember returns the memory with one more outcome, of a pair whose target was one of those in offer.
func (m *memory) remember(p Pair, reward float64, offer []ID) memory {
	next := *m
	next.total.add(reward)
	next.nodes = slices.Clone(m.nodes)
	source := next.edit(m, p.Source)
	next.held.pairs -= len(source.pairs)
	source.pairs = slices.Clone(source.pairs)
	source.pair(p.Target).add(reward)
	next.held.pairs += len(source.pairs)
	next.edit(m, p.Target).target.add(reward)

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
		m.held.nodes++
	}
	n := **at
	*at = &n
	return &n
}

func (n *nodeMemory) find(target ID) (int, bool) {
	return slices.BinarySearchFunc(n.pairs, target, func(p pairMemory, t ID) int { return int(int64(p.target) - int64(t)) })
}

func (n *nodeMemory) pair(target ID) *counts {
	i, found := n.find(target)
	if !found {
		n.pairs = slices.Insert(n.pairs, i, pairMemory{target: target})
	}
	return &n.pairs[i].counts
}

// of returns the outcomes of a pair, or of both directions if edges have no direction.
func (m *memory) of(p Pair, directed bool) counts {
	c := m.oneWay(p)
	if !directed && p.Source != p.Target {
		back := m.oneWay(Pair{Source: p.Target, Target: p.Source})
		c.tries, c.wins = c.tries+back.tries, c.wins+back.wins
	}
	return c
}

func (m *memory) oneWay(p Pair) counts {
	n := m.at(p.Source)
	if i, found := n.find(p.Target); found {
		return n.pairs[i].counts
	}
	return counts{}
}

// Columns of the history of a pair.
const (
	colTargetRate = iota // log-odds of the target's success rate, relative to those of all tries
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
	x[colTargetRate] = float32(logit(m.at(p.Target).target.rate(mean, rateWeight)) - logit(mean))
	usual := m.offered.times / max(m.offered.nodes, 1)
	x[colOffered] = float32(math.Log((float64(m.offers.at(p.Target)) + offerWeight) / (usual + offerWeight)))
}

// logit returns the log-odds of a probability.
func logit(p float64) float64 { return math.Log(p / (1 - p)) }

func (m *memory) bytes() int {
	return 40*m.held.nodes + 24*m.held.pairs + 8*m.nodes.held() + 4*m.offers.held()
}

// nodeDocument is the stored form of the memory of one node.
type nodeDocument struct {
	Node        uint32
	Offers      uint32
	Target      [2]float64 // tries and wins
	To          []uint32
	Tries, Wins []float64
}

func (m *memory) document() (all []nodeDocument) {
	for page := range max(len(m.nodes), len(m.offers)) {
		if !m.nodes.has(page) && !m.offers.has(page) {
			continue
		}
		for i := range pageLen {
			u := ID(page*pageLen + i)
			if n, offers := m.at(u), m.offers.at(u); offers != 0 || n.target.tries != 0 || n.pairs != nil {
				all = append(all, n.document(u, offers))
			}
		}
	}
	return all
}

func (n *nodeMemory) document(u ID, offers uint32) nodeDocument {
	d := nodeDocument{Node: u, Offers: offers, Target: [2]float64{n.target.tries, n.target.wins}}
	for _, p := range n.pairs {
		d.To, d.Tries, d.Wins = append(d.To, p.target), append(d.Tries, p.tries), append(d.Wins, p.wins)
	}
	return d
}

// restoreMemory rebuilds a memory from its documents, which must be in ascending order of nodes.
func restoreMemory(total [2]float64, nodes []nodeDocument) (m memory, err error) {
	m.total = counts{total[0], total[1]}
	if !m.total.valid() {
		return m, fmt.Errorf("memory of %v wins in %v tries", m.total.wins, m.total.tries)
	}
	for i, d := range nodes {
		if i > 0 && d.Node <= nodes[i-1].Node || !d.valid() {
			return m, fmt.Errorf("memory of node %d", d.Node)
		}
		m.restore(d)
	}
	return m, nil
}

// maxMemoryNode is the largest node id that is remembered. It limits the page tables that a damaged document can cause
// to 16 MB each.
const maxMemoryNode = 1 << 30

// remembered reports an error if one of the nodes exceeds maxMemoryNode.
func remembered(nodes []ID) error {
	if u := slices.Max(nodes); u > maxMemoryNode {
		return fmt.Errorf("%w: node %d (accepted: up to %d)", ErrInput, u, maxMemoryNode)
	}
	return nil
}

func (d *nodeDocument) valid() bool {
	if d.Node > maxMemoryNode || len(d.Tries) != len(d.To) || len(d.Wins) != len(d.To) || !(counts{d.Target[0], d.Target[1]}).valid() {
		return false
	}
	for k, t := range d.To {
		if k > 0 && t <= d.To[k-1] || !(counts{d.Tries[k], d.Wins[k]}).valid() {
			return false
		}
	}
	return true
}

func (m *memory) restore(d nodeDocument) {
	if d.Offers > 0 {
		*m.offers.edit(nil, d.Node) = d.Offers
		m.offered.nodes++
		m.offered.times += float64(d.Offers)
	}
	if d.Target[0] == 0 && len(d.To) == 0 {
		return
	}
	n := m.edit(&memory{}, d.Node)
	n.target = counts{d.Target[0], d.Target[1]}
	for k, t := range d.To {
		n.pairs = append(n.pairs, pairMemory{t, counts{d.Tries[k], d.Wins[k]}})
	}
	m.held.pairs += len(n.pairs)
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

// edit returns a pointer to the entry of a node. It first creates the page, or copies it if the version before has the
// same page.
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

// held returns the number of allocated entries.
func (p pages[T]) held() (n int) {
	for i := range p {
		if p.has(i) {
			n += pageLen
		}
	}
	return n
}
