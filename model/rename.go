package model

import (
	"cmp"
	"fmt"
	"slices"
)

// Nodes returns the nodes that the model knows by their ids: those that stand for its classes, and those that its belief
// remembers something of. They ascend.
func (m *Model) Nodes() []ID {
	all := slices.Clone(m.config.Classes)
	if m.belief != nil {
		for _, d := range m.belief.memory.document() {
			all = append(append(all, d.Node), d.To...)
		}
	}
	if m.forecast != nil {
		all = append(all, m.forecast.memory.nodes()...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Renamed returns a copy of the model for a graph in which the nodes have other ids, no two the same. What it remembers of
// a node that has none there is left out, and so are the vectors of all nodes, which the next TrainEdges computes. Nodes that stand for classes must have one, and be in the same order, or the
// error is ErrInput.
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
		d.Belief.Nodes, d.Belief.Vectors = renamed(d.Belief.Nodes, to), nil
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

// renamed returns the memory with other targets.
func (d nodeDocument) renamed(to func(ID) (ID, bool)) nodeDocument {
	n := nodeMemory{target: counts{d.Target[0], d.Target[1]}}
	for i, t := range d.To {
		if u, ok := to(t); ok {
			*n.pair(u) = counts{d.Tries[i], d.Wins[i]}
		}
	}
	return n.document(d.Node, d.Offers)
}
