package model

import (
	"slices"
)

// Nodes returns the nodes whose ids the model contains, ascending: the nodes in the memory of its
// belief or forecast, and the nodes that a training computed vectors of.
func (m *Model) Nodes() []ID {
	var all []ID
	if m.belief != nil {
		for d := range m.belief.memory.all() {
			all = append(all, d.Node)
			for _, p := range d.Pairs {
				all = append(all, p.Target)
			}
		}
		if v := m.belief.vectors; v != nil {
			for u := range ID(v.Nodes()) {
				all = append(all, u)
			}
		}
	}
	if m.forecast != nil {
		all = append(all, m.forecast.Memory.nodes()...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Renamed returns a copy of the model for a graph in which the nodes have other ids. to must be
// injective. Data of nodes without an id there is dropped.
func (m *Model) Renamed(to func(ID) (ID, bool)) (*Model, error) {
	c, err := m.Clone()
	if err != nil {
		return nil, err
	}
	if b := c.belief; b != nil {
		b.memory, b.vectors = b.memory.renamed(to), b.vectors.Renamed(to)
	}
	if c.forecast != nil {
		c.forecast.Memory.rename(to)
	}
	return c, nil
}

// renamed returns the memory of the renamed nodes.
func (m *memory) renamed(to func(ID) (ID, bool)) memory {
	out := memory{total: m.total}
	for d := range m.all() {
		u, ok := to(d.Node)
		if !ok {
			continue
		}
		n := nodeMemory{Target: d.Target}
		for _, p := range d.Pairs {
			if v, ok := to(p.Target); ok {
				*n.pair(v) = p.counts
			}
		}
		out.put(nodeDocument{u, d.Offers, n})
	}
	return out
}
