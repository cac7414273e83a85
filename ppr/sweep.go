package ppr

import (
	"context"
	"math"
)

// stalled, over 1-a, is the number of sweeps without progress after which the residual is rounding noise.
const stalled = 4

// sweep finishes a computation that is no longer local: successive over-relaxation in node order with a threshold that
// falls with the residual (as PowerPush, Wu et al., SIGMOD 2021), and on undirected graphs every second time an exact
// step along the constant vector of the giant component, the slowest mode there is.
func (sv *Solver) sweep(ctx context.Context, t goal, s *Survey) error {
	if err := sv.spreadOut(); err != nil {
		return err
	}
	omega, c := sv.omega, s.Giant
	if !sv.sys.directed {
		omega = 1.2
	}
	best, since := norms{l1: math.Inf(1), li: math.Inf(1)}, 0
	for k := 0; ; k++ {
		m := sv.measure(t)
		if m.l1 < 0.99*best.l1 || m.li < 0.99*best.li {
			best, since = norms{l1: min(m.l1, best.l1), li: min(m.li, best.li)}, 0
		}
		if since++; t.met(m) || float64(since) > stalled/(1-sv.sys.alpha) {
			break
		}
		if c != nil && k%2 == 0 {
			sv.deflate(c)
		}
		th := 0.1 * m.l1 / s.Volume
		if t.norm == MaxNorm {
			th = max(th, t.limit/2)
		}
		if err := sv.pass(ctx, omega, th); err != nil {
			return err
		}
	}
	for u := range sv.cells {
		sv.cells[u].r = sv.r[u]
	}
	return nil
}

// spreadOut brings every node into the workspace and the residuals into an array of their own, where they are dense
// enough for the cache.
func (sv *Solver) spreadOut() error {
	if sv.from != nil {
		for e := range sv.from.entries() {
			sv.load(e.node)
		}
	}
	sv.from, sv.norms, sv.dense = nil, norms{}, true
	n := sv.sys.g.NumNodes()
	if len(sv.r) < len(sv.cells) {
		sv.r = make([]float64, len(sv.cells))
	}
	clear(sv.r[n:])
	for u := range n {
		c := &sv.cells[u]
		if c.dh == 0 {
			sv.load(ID(u))
		}
		sv.r[u] = c.r
	}
	return sv.err
}

// measure is the norms of r that the goal asks for.
func (sv *Solver) measure(t goal) (m norms) {
	for u, r := range sv.r[:sv.sys.g.NumNodes()] {
		r = math.Abs(r)
		m.l1 += r
		if t.norm == MaxNorm && r > m.li*sv.cells[u].dh {
			m.li = r / sv.cells[u].dh
		}
	}
	return m
}

// deflate solves exactly along the constant vector of c: Q 1_c = (1-a) d_c, so y gains S/((1-a) vol) on c and r loses
// (S/vol) d, where S is the sum of r over c.
func (sv *Solver) deflate(c *Component) {
	g, sum := sv.sys.g, 0.0
	n := g.NumNodes()
	for u, r := range sv.r[:n] {
		if c.holds(ID(u)) && g.Degree(ID(u)) > 0 {
			sum += r
		}
	}
	share := sum / c.volume
	step := share / (1 - sv.sys.alpha)
	for u := range n {
		if c.holds(ID(u)) && g.Degree(ID(u)) > 0 {
			sv.r[u] -= share * sv.cells[u].dh
			sv.cells[u].y += step
		}
	}
}

// pass relaxes every node above the threshold, in node order.
func (sv *Solver) pass(ctx context.Context, omega, th float64) error {
	r, alpha := sv.r, sv.sys.alpha
	for u := range sv.sys.g.NumNodes() {
		if u&0x3fff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		c := &sv.cells[u]
		if math.Abs(r[u]) <= th*c.dh {
			continue
		}
		t := omega * r[u] / c.dh
		c.y += t
		r[u] -= omega * r[u]
		t *= alpha
		to, weight := sv.sys.column(ID(u))
		sv.ops += len(to)
		if weight == nil {
			for _, v := range to {
				r[v] += t
			}
			continue
		}
		for i, v := range to {
			r[v] += t * float64(weight[i])
		}
	}
	return nil
}
