package model

import (
	"fmt"
	"math"
	"slices"
)

// memory is what became of the pairs that were tried: for each node as a source and as a target, and for each pair. It is
// a value: remember leaves the memory it was called on as it was, for the scorers that hold it.
type memory struct {
	total counts
	pages []*memoryPage
}

const memoryPageLen = 512

type memoryPage [memoryPageLen]*nodeMemory

// nodeMemory is the memory of one node; it does not change.
type nodeMemory struct {
	source, target counts
	pairs          []pairMemory // as a source: ascending by target
}

type pairMemory struct {
	target ID
	counts
}

// counts are the outcomes of some tries. Rewards count from 0 to 1.
type counts struct{ tries, wins float64 }

func (c *counts) add(reward float64) {
	c.tries++
	c.wins += min(max(reward, 0), 1)
}

// rate is the mean reward, as it is believed when a number of tries of another mean came before.
func (c counts) rate(mean, before float64) float64 {
	return (c.wins + before*mean) / (c.tries + before)
}

// at returns the memory of a node; a node never heard of has an empty one.
func (m *memory) at(u ID) *nodeMemory {
	if i := int(u / memoryPageLen); i < len(m.pages) && m.pages[i] != nil {
		if n := m.pages[i][u%memoryPageLen]; n != nil {
			return n
		}
	}
	return &nodeMemory{}
}

// remember returns the memory with one more outcome.
func (m *memory) remember(p Pair, reward float64) memory {
	next := memory{total: m.total, pages: slices.Clone(m.pages)}
	if m.at(p.Target).target.tries == 0 {
		next.total.add(reward)
	}
	source := next.edit(p.Source)
	source.source.add(reward)
	source.pair(p.Target).add(reward)
	next.edit(p.Target).target.add(reward)
	return next
}

// edit puts a copy of a node's memory, and of its page, in their place and returns it.
func (m *memory) edit(u ID) *nodeMemory {
	i := int(u / memoryPageLen)
	for len(m.pages) <= i {
		m.pages = append(m.pages, nil)
	}
	page := new(memoryPage)
	if m.pages[i] != nil {
		*page = *m.pages[i]
	}
	n := *m.at(u)
	n.pairs = slices.Clone(n.pairs)
	page[u%memoryPageLen], m.pages[i] = &n, page
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

// of returns the outcomes of a pair; where an edge has no direction, those of both.
func (m *memory) of(p Pair, directed bool) counts {
	c := m.oneWay(p)
	if !directed && p.Source != p.Target {
		back := m.oneWay(Pair{p.Target, p.Source})
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
	colTargetRate = iota // log-odds of the target's success, relative to those of all tries
	historyLen
)

// rateWeight is the number of tries that a node's own must outweigh.
const rateWeight = 2

// history writes what is remembered of a pair's target.
func (m *memory) history(p Pair, x []float32) {
	mean := m.total.rate(0.1, 1)
	x[colTargetRate] = float32(logit(m.at(p.Target).target.rate(mean, rateWeight)) - logit(mean))
}

// logit returns the log-odds of a probability.
func logit(p float64) float64 { return math.Log(p / (1 - p)) }

func (m *memory) bytes() (n int) {
	for _, page := range m.pages {
		if page == nil {
			continue
		}
		n += 8 * memoryPageLen
		for _, u := range page {
			if u != nil {
				n += 56 + 24*cap(u.pairs)
			}
		}
	}
	return n
}

// nodeDocument is the memory of one node at rest.
type nodeDocument struct {
	Node           uint32
	Source, Target [2]float64 // tries and wins
	To             []uint32
	Tries, Wins    []float64
}

func (m *memory) document() (all []nodeDocument) {
	for i, page := range m.pages {
		if page == nil {
			continue
		}
		for j, n := range page {
			if n == nil {
				continue
			}
			d := nodeDocument{
				Node:   uint32(i*memoryPageLen + j),
				Source: [2]float64{n.source.tries, n.source.wins}, Target: [2]float64{n.target.tries, n.target.wins},
			}
			for _, p := range n.pairs {
				d.To, d.Tries, d.Wins = append(d.To, p.target), append(d.Tries, p.tries), append(d.Wins, p.wins)
			}
			all = append(all, d)
		}
	}
	return all
}

// restoreMemory rebuilds a memory from its documents, whose nodes ascend.
func restoreMemory(total [2]float64, nodes []nodeDocument) (m memory, err error) {
	m.total = counts{total[0], total[1]}
	for i, d := range nodes {
		ascends := (i == 0 || d.Node > nodes[i-1].Node) && slices.IsSorted(d.To) && len(slices.Compact(slices.Clone(d.To))) == len(d.To)
		if !ascends || len(d.Tries) != len(d.To) || len(d.Wins) != len(d.To) || d.Node > maxMemoryNode {
			return m, fmt.Errorf("memory of node %d", d.Node)
		}
		if !finite(d.Source[:]...) || !finite(d.Target[:]...) || !finite(d.Tries...) || !finite(d.Wins...) || !finite(total[:]...) {
			return m, fmt.Errorf("memory of node %d is not finite", d.Node)
		}
		m.restore(d)
	}
	return m, nil
}

// maxMemoryNode bounds what a damaged document can make of one number.
const maxMemoryNode = 1 << 30

func (m *memory) restore(d nodeDocument) {
	i := int(d.Node / memoryPageLen)
	if len(m.pages) <= i {
		m.pages = append(m.pages, make([]*memoryPage, i+1-len(m.pages))...)
	}
	if m.pages[i] == nil {
		m.pages[i] = new(memoryPage)
	}
	n := &nodeMemory{source: counts{d.Source[0], d.Source[1]}, target: counts{d.Target[0], d.Target[1]}}
	for k, t := range d.To {
		n.pairs = append(n.pairs, pairMemory{t, counts{d.Tries[k], d.Wins[k]}})
	}
	m.pages[i][d.Node%memoryPageLen] = n
}
