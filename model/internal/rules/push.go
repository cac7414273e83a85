package rules

// pusher computes personalised PageRank by local pushes (Andersen, Chung and Lang, FOCS 2006).
type pusher struct {
	numbering
	of    []mass    // by number
	rows  [][2][]ID // by number
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

// run computes PageRank from a source on a graph of n nodes. rows returns the rows of a node, whose
// edges lead on.
func (p *pusher) run(n int, source ID, rows func(u ID) [2][]ID) {
	p.open(n)
	p.of, p.rows, p.queue = p.of[:0], p.rows[:0], p.queue[:0]
	p.of[p.node(source, rows)].left = 1
	p.queue = append(p.queue, 0)
	pushed := 0
	for at := 0; at < len(p.queue) && pushed < mostPushed; at++ {
		i := p.queue[at]
		m := &p.of[i]
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
		for _, row := range p.rows[i] {
			for _, v := range row {
				j := p.node(v, rows)
				to := &p.of[j]
				if to.left += share; to.left >= to.least && to.left-share < to.least {
					p.queue = append(p.queue, j)
				}
			}
		}
	}
	for i := range p.of {
		p.of[i].rank += pushAlpha * p.of[i].left
	}
}

// node returns the number of a node, whose rows it reads if it is new.
func (p *pusher) node(u ID, rows func(u ID) [2][]ID) int32 {
	i := p.number(u)
	if i == len(p.of) {
		r := rows(u)
		n := len(r[0]) + len(r[1])
		p.rows = append(p.rows, r)
		p.of = append(p.of, mass{least: pushEpsilon * float32(n), degree: int32(n)})
	}
	return int32(i)
}
