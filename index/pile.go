package index

import (
	"maps"
	"slices"
)

// longRow is the number of entries from which the changes of a row are collected in a pile. If each change were
// inserted into the row at once, an edit of n edges of one node would take time quadratic in n.
const longRow = 512

// pile holds the pending changes of a long row by neighbour.
type pile map[ID]rowEntry

// rowEntry is an entry of a row; weight 0 means that the entry is removed.
type rowEntry struct {
	weight float32
	time   int64
}

// rowOf identifies a row that has a pile.
type rowOf struct {
	in   *adjacency
	node ID
}

// pile returns the pile of u's row, and creates it if needed.
func (e *Edit) pile(a *adjacency, u ID) pile {
	at := rowOf{a, u}
	p := e.piles[at]
	if p == nil {
		p = pile{}
		if e.piles == nil {
			e.piles = map[rowOf]pile{}
		}
		e.piles[at] = p
	}
	return p
}

// settle merges all piles into their rows.
func (e *Edit) settle() {
	for at, p := range e.piles {
		at.in.rows.at(at.node).merge(p)
	}
	clear(e.piles)
}

// Edge returns the edge from u to v as edited so far, and whether there is one.
func (e *Edit) Edge(u, v ID) (Edge, bool) {
	x, ok := e.piles[rowOf{e.g.out, u}][v]
	if !ok {
		return e.g.Edge(u, v)
	}
	if x.weight == 0 {
		return Edge{}, false
	}
	return e.g.edge(u, v, x.weight, x.time), true
}

// merge applies the changes of p in time linear in the row, plus the time to sort the changes.
func (r *row) merge(p pile) {
	m := rowMerge{to: make([]ID, 0, len(r.to)+len(p))}
	for _, x := range p {
		m.weights = m.weights || x.weight != 0 && x.weight != 1
		m.times = m.times || x.time != 0
	}
	m.weights, m.times = m.weights || r.weight != nil, m.times || r.time != nil
	i := 0
	for _, v := range slices.Sorted(maps.Keys(p)) {
		for ; i < len(r.to) && r.to[i] < v; i++ {
			m.add(r.to[i], at(r.weight, i, 1), at(r.time, i, 0))
		}
		if i < len(r.to) && r.to[i] == v {
			i++
		}
		if x := p[v]; x.weight != 0 {
			m.add(v, x.weight, x.time)
		}
	}
	for ; i < len(r.to); i++ {
		m.add(r.to[i], at(r.weight, i, 1), at(r.time, i, 0))
	}
	r.to, r.weight, r.time, r.degree = m.to, m.weight, m.time, sum(m.weight, len(m.to))
}

// rowMerge builds a row.
type rowMerge struct {
	weights, times bool // planes that the row stores
	to             []ID
	weight         []float32
	time           []int64
}

func (m *rowMerge) add(v ID, w float32, t int64) {
	m.to = append(m.to, v)
	if m.weights {
		m.weight = append(m.weight, w)
	}
	if m.times {
		m.time = append(m.time, t)
	}
}
