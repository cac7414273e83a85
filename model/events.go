package model

import (
	"math/rand/v2"
	"slices"
)

// eventMemory holds the nodes and pairs of past events, from which lists are drawn.
type eventMemory struct {
	Newest  []ID        // targets of the newest events
	Targets []ID        // distinct targets of all events
	Sources []ID        // distinct sources of all events
	roles   map[ID]role // roles of all targets and sources
	Pairs   [][2]ID     // uniform sample of the distinct pairs of events
	Seen    int         // number of pairs that the sample was drawn from
}

// role is a set of the roles that a node had in events.
type role uint8

const (
	asTarget role = 1 << iota
	asSource
)

// samplePairs is the size of the sample of pairs.
const samplePairs = 4096

// add records events. g is the graph before them.
func (m *eventMemory) add(rng *rand.Rand, g Graph, events []Pair) {
	for _, e := range events {
		m.Newest = append(m.Newest, e.Target)
		m.Targets = m.enter(m.Targets, e.Target, asTarget)
		m.Sources = m.enter(m.Sources, e.Source, asSource)
		if !linked(g, e.Source, e.Target) {
			m.addPair(rng, [2]ID{e.Source, e.Target})
		}
	}
	m.Newest = slices.Clone(m.Newest[max(0, len(m.Newest)-listNewest):])
}

// enter appends a node to the list of its role, if it is new there.
func (m *eventMemory) enter(list []ID, u ID, r role) []ID {
	if m.roles[u]&r != 0 {
		return list
	}
	m.roles[u] |= r
	return append(list, u)
}

// untried returns the number of nodes that were never a target and may become one, and a function
// that reports whether a node is one of them. Without edge directions, nodes that were only sources
// are taken for nodes of a different kind, which do not become targets.
func (m *eventMemory) untried(g Graph) (n int, is func(ID) bool) {
	if g.Directed() {
		return g.NumNodes() - len(m.Targets), func(u ID) bool { return m.roles[u]&asTarget == 0 }
	}
	return g.NumNodes() - len(m.roles), func(u ID) bool { return m.roles[u] == 0 }
}

// addPair keeps the sample of pairs uniform (Vitter's algorithm R, ACM TOMS 11, 1985).
func (m *eventMemory) addPair(rng *rand.Rand, p [2]ID) {
	m.Seen++
	if len(m.Pairs) < samplePairs {
		m.Pairs = append(m.Pairs, p)
		return
	}
	if i := rng.IntN(m.Seen); i < samplePairs {
		m.Pairs[i] = p
	}
}
