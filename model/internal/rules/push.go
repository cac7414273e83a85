package rules

import "kith/model/internal/graph"

// pusher computes personalised PageRank by local pushes (Andersen, Chung and Lang, FOCS 2006).
type pusher struct {
	numbering
	of    []mass // by number
	queue []int32
}

// mass is what a walk has at a node.
type mass struct {
	rank, left float32 // estimate and residual
	least      float32 // residual from which the node is pushed
	degree     int32
}

const (
	pushAlpha   = 0.2   // probability that a walk ends at a node
	pushEpsilon = 2e-5  // of the residual of a node for each of its edges
	mostPushed  = 60000 // edges
)

// rankOf returns the estimate of a node.
func (p *pusher) rankOf(u ID) float32 {
	if i := p.find(u); i >= 0 {
		return p.of[i].rank
	}
	return 0
}

// run computes PageRank from a source. rows calls a function with the rows of a node.
func (p *pusher) run(g graph.Typed, source ID, rows func(u ID, f func([]ID))) {
	p.open(g.NumNodes())
	p.of, p.queue = p.of[:0], p.queue[:0]
	p.of[p.node(source, rows)].left = 1
	p.queue = append(p.queue, 0)
	pushed := 0
	for at := 0; at < len(p.queue) && pushed < mostPushed; at++ {
		u := p.nodes[p.queue[at]]
		m := &p.of[p.queue[at]]
		r := m.left
		if m.degree == 0 {
			m.rank += r
			m.left = 0
			continue
		}
		if r < m.least {
			continue
		}
		m.rank += pushAlpha * r
		m.left = 0
		share := (1 - pushAlpha) * r / float32(m.degree)
		pushed += int(m.degree)
		rows(u, func(row []ID) {
			for _, v := range row {
				i := p.node(v, rows)
				to := &p.of[i]
				if to.left += share; to.left >= to.least && to.left-share < to.least {
					p.queue = append(p.queue, i)
				}
			}
		})
	}
	for i := range p.of {
		p.of[i].rank += pushAlpha * p.of[i].left
	}
}

// node returns the number of a node, whose edges it counts if it is new.
func (p *pusher) node(u ID, rows func(u ID, f func([]ID))) int32 {
	i := p.number(u)
	if i == len(p.of) {
		n := 0
		rows(u, func(row []ID) { n += len(row) })
		p.of = append(p.of, mass{least: pushEpsilon * float32(n), degree: int32(n)})
	}
	return int32(i)
}
