package model

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/nn"
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
			for u := range ID(v.nodes()) {
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
		b.memory, b.vectors = b.memory.renamed(to), b.vectors.renamed(to)
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

// renamed returns the vectors of the renamed nodes. Ids below the largest new id without an old
// node get zeros.
func (v *vectors) renamed(to func(ID) (ID, bool)) *vectors {
	if v == nil {
		return nil
	}
	ids, n := map[ID]ID{}, 0
	for u := range ID(v.nodes()) {
		if now, ok := to(u); ok {
			ids[u], n = now, max(n, int(now)+1)
		}
	}
	if n == 0 {
		return nil
	}
	s := *v.spectrum
	out := &vectors{spectrum: &s}
	if v.profile != nil {
		p, place := *v.profile, *v.profile.position
		p.position, p.kin = &place, p.kin.renamed(ids, n)
		out.profile = &p
	}
	for _, x := range out.perNode() {
		y := nn.Resize(blas32.General{}, n, x.Cols)
		for u, now := range ids {
			copy(nn.Row(y, int(now)), nn.Row(*x.General, int(u)))
		}
		*x.General = y
	}
	if !s.directed {
		s.out = s.in
	}
	s.readTargets()
	return out
}

// renamed returns the links of the n nodes with new ids.
func (a adjacency) renamed(ids map[ID]ID, n int) adjacency {
	out := make(adjacency, n)
	for u, now := range ids {
		for _, v := range a[u] {
			if w, ok := ids[v]; ok {
				out[now] = append(out[now], w)
			}
		}
		slices.Sort(out[now])
	}
	return out
}
