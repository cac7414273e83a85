package model

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/nn"
)

// Nodes returns the nodes whose ids the model contains, ascending: its class nodes, the nodes in the memory of its
// belief or forecast, and the nodes that a training computed vectors of.
func (m *Model) Nodes() []ID {
	all := slices.Clone(m.config.Classes)
	if m.belief != nil {
		for _, d := range m.belief.memory.document() {
			all = append(append(all, d.Node), d.To...)
		}
		if v := m.belief.vectors; v != nil {
			for u := range ID(v.nodes()) {
				all = append(all, u)
			}
		}
	}
	if m.forecast != nil {
		all = append(all, m.forecast.memory.nodes()...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Renamed returns a copy of the model for a graph in which the nodes have other ids. to must be injective. Data of
// nodes without an id there is dropped. Class nodes must have one and keep their order; otherwise the error is
// ErrInput.
func (m *Model) Renamed(to func(ID) (ID, bool)) (*Model, error) {
	d, err := m.document()
	if err != nil {
		return nil, err
	}
	d.Config.Classes = nil
	for _, u := range m.config.Classes {
		v, ok := to(u)
		if last := len(d.Config.Classes) - 1; !ok || last >= 0 && d.Config.Classes[last] >= v {
			return nil, fmt.Errorf("%w: the nodes that stand for classes are not all there, in the same order", ErrInput)
		}
		d.Config.Classes = append(d.Config.Classes, v)
	}
	if d.Belief != nil {
		d.Belief.Nodes, d.Belief.vectors = renamed(d.Belief.Nodes, to), d.Belief.vectors.renamed(to)
	}
	d.Forecast = d.Forecast.renamed(to)
	return d.model()
}

func renamed(nodes []nodeDocument, to func(ID) (ID, bool)) (all []nodeDocument) {
	for _, d := range nodes {
		if u, ok := to(d.Node); ok {
			d.Node = u
			all = append(all, d.renamed(to))
		}
	}
	slices.SortFunc(all, func(a, b nodeDocument) int { return cmp.Compare(a.Node, b.Node) })
	return all
}

// renamed returns the memory with renamed targets.
func (d nodeDocument) renamed(to func(ID) (ID, bool)) nodeDocument {
	n := nodeMemory{target: counts{d.Target[0], d.Target[1]}}
	for i, t := range d.To {
		if u, ok := to(t); ok {
			*n.pair(u) = counts{d.Tries[i], d.Wins[i]}
		}
	}
	return n.document(d.Node, d.Offers)
}

// nodes returns the number of nodes that have vectors.
func (v *vectors) nodes() int { return v.spectrum.in.Rows }

// renamed returns the vectors of the renamed nodes. Ids below the largest new id without an old node get zeros.
func (v *vectors) renamed(to func(ID) (ID, bool)) *vectors {
	if v == nil {
		return nil
	}
	r := renaming{to: map[ID]ID{}}
	for u := range ID(v.nodes()) {
		if now, ok := to(u); ok {
			r.to[u], r.n = now, max(r.n, int(now)+1)
		}
	}
	if r.n == 0 {
		return nil
	}
	s := &spectrum{value: v.spectrum.value, mean: v.spectrum.mean, directed: v.spectrum.directed, in: r.rows(v.spectrum.in)}
	s.out = s.in
	if s.directed {
		s.out = r.rows(v.spectrum.out)
	}
	s.prepare()
	out := &vectors{spectrum: s}
	if v.profile != nil {
		out.profile = v.profile.renamed(&r)
	}
	return out
}

func (p *profile) renamed(r *renaming) *profile {
	out := &profile{
		rarity: p.rarity, topics: p.topics, norm: make([]float32, r.n), kin: make(adjacency, r.n),
		position: &position{value: p.position.value, row: r.rows(p.position.row)},
	}
	out.position.prepare()
	for i, x := range p.part {
		out.part[i] = r.rows(x)
	}
	for u, now := range r.to {
		out.norm[now] = p.norm[u]
		for _, v := range p.kin[u] {
			if w, ok := r.to[v]; ok {
				out.kin[now] = append(out.kin[now], w)
			}
		}
		slices.Sort(out.kin[now])
	}
	return out
}

// renaming maps nodes to new ids, which are below n.
type renaming struct {
	to map[ID]ID
	n  int
}

// rows returns a matrix with the rows at the new ids of their nodes.
func (r *renaming) rows(x blas32.General) blas32.General {
	y := nn.Resize(blas32.General{}, r.n, x.Cols)
	for u, now := range r.to {
		copy(nn.Row(y, int(now)), nn.Row(x, int(u)))
	}
	return y
}
