package rules

import "kith/model/internal/graph"

// pusher computes personalised PageRank by local pushes (Andersen, Chung and Lang, FOCS 2006).
type pusher struct {
	numbering
	rank, left []float32 // estimate and residual, by number
	degree     []int32   // -1: not read
	queue      []int32
}

const (
	pushAlpha   = 0.2   // probability that a walk ends at a node
	pushEpsilon = 2e-5  // of the residual of a node for each of its edges
	mostPushed  = 60000 // edges
)

// of returns the estimate of a node.
func (p *pusher) of(u ID) float32 {
	if i := p.find(u); i >= 0 {
		return p.rank[i]
	}
	return 0
}

// run computes PageRank from a source. rows calls a function with the rows of a node.
func (p *pusher) run(g graph.Typed, source ID, rows func(u ID, f func([]ID))) {
	p.open(g.NumNodes())
	p.rank, p.left, p.degree, p.queue = p.rank[:0], p.left[:0], p.degree[:0], p.queue[:0]
	p.add(source, 1)
	p.queue = append(p.queue, 0)
	pushed := 0
	for at := 0; at < len(p.queue) && pushed < mostPushed; at++ {
		i := p.queue[at]
		u := p.nodes[i]
		d := p.degreeOf(i, rows)
		r := p.left[i]
		if d == 0 {
			p.rank[i] += r
			p.left[i] = 0
			continue
		}
		if r < pushEpsilon*float32(d) {
			continue
		}
		p.rank[i] += pushAlpha * r
		p.left[i] = 0
		share := (1 - pushAlpha) * r / float32(d)
		pushed += int(d)
		rows(u, func(row []ID) {
			for _, v := range row {
				j := p.add(v, share)
				if e := pushEpsilon * float32(p.degreeOf(j, rows)); p.left[j] >= e && p.left[j]-share < e {
					p.queue = append(p.queue, j)
				}
			}
		})
	}
	for i, r := range p.left {
		p.rank[i] += pushAlpha * r
	}
}

// add adds to the residual of a node.
func (p *pusher) add(u ID, r float32) int32 {
	i := p.number(u)
	if i == len(p.rank) {
		p.rank, p.left, p.degree = append(p.rank, 0), append(p.left, 0), append(p.degree, -1)
	}
	p.left[i] += r
	return int32(i)
}

// degreeOf returns the number of edges of a node.
func (p *pusher) degreeOf(i int32, rows func(u ID, f func([]ID))) int32 {
	if p.degree[i] < 0 {
		n := 0
		rows(p.nodes[i], func(row []ID) { n += len(row) })
		p.degree[i] = int32(n)
	}
	return p.degree[i]
}
