package ppr

import (
	"context"
	"iter"
	"math"
)

const (
	// sweepOmega is the over-relaxation of sweeps on undirected graphs. On six real graphs it
	// certifies L1 1e-6 of 100 sources in 14 to 17 times the graph's arcs. Smaller values are
	// slower: 1.3 took at least a quarter more (at a share of 0.1).
	sweepOmega = 1.38
	// sweepShare is the fraction of |r|_1 that a sweep may leave unpushed.
	sweepShare = 0.4
	// stalled/(1-a) is the number of sweeps without progress after which the residual is rounding
	// noise. By then a peak that was pushed onto a node of small degree has long decayed.
	stalled = 32
)

// sweep finishes a computation that is no longer local. It runs successive over-relaxation in node
// order, with a threshold that decreases with the residual (as in PowerPush, Wu et al., SIGMOD
// 2021).
func (sv *Solver) sweep(ctx context.Context, t goal) error {
	runs := runsOf(sv.sys.g, sv.sys.reverse()) // first: a graph may prepare its rows for passes
	volume, err := sv.beginSweeps(runs)
	if err != nil {
		return err
	}
	omega := sv.omega
	if !sv.sys.directed {
		omega = sweepOmega
	}
	best, since := norms{l1: math.Inf(1), li: math.Inf(1)}, 0
	m := sv.measure(t)
	for !t.met(m) {
		if float64(since) > stalled/(1-sv.sys.alpha) {
			if !sv.sys.directed || omega == 1 {
				break
			}
			// Over-relaxed sweeps may carry a wave round a long cycle: the error decreases, but
			// the residual does not.
			omega, since = 1, 0
		}
		since++
		if m.l1 < 0.99*best.l1 || m.li < 0.99*best.li {
			best, since = norms{l1: min(m.l1, best.l1), li: min(m.li, best.li)}, 0
		}
		th := sweepShare * m.l1 / volume
		if t.norm == MaxNorm {
			th = max(th, t.limit/2)
		}
		if err := sv.pass(ctx, runs, omega, th); err != nil {
			return err
		}
		m = sv.measure(t)
	}
	return nil
}

// sweepNode holds what sweeps read of a node in node order. Residuals are accessed at random and
// are in a separate array.
type sweepNode struct {
	y, inverse float64 // estimate, 1/Dh
}

// beginSweeps copies the workspace, and the nodes of the starting state that are not in it, to the
// arrays that sweeps use. It returns the sum of the sizes.
func (sv *Solver) beginSweeps(runs iter.Seq2[ID, Run]) (volume float64, err error) {
	n := sv.sys.g.NumNodes()
	if len(sv.nodes) < n {
		sv.nodes, sv.r = make([]sweepNode, n+n/8), make([]float64, n+n/8)
	}
	clear(sv.r)
	sinks := 0
	for u := range n {
		dh := sv.pivot(ID(u))
		sv.nodes[u] = sweepNode{0, 1 / dh}
		switch {
		case sv.sys.scaled():
		case sv.sys.sink(ID(u), dh):
			sinks++
		default:
			volume += dh
		}
	}
	if sv.sys.scaled() {
		volume = sv.readSizes(runs)
	}
	sv.mean = 1
	if arcs := sv.sys.g.Arcs(); arcs > 0 && !sv.sys.scaled() {
		sv.mean = volume / float64(arcs)
	}
	volume += float64(sinks) * sv.mean // the pivot 1 counts as an edge of mean weight
	if sv.from != nil {
		for e := range sv.from.entries() {
			sv.nodes[e.node].y, sv.r[e.node] = e.y, e.r
		}
	}
	for u, c := range sv.cells.all() {
		sv.nodes[u].y, sv.r[u] = c.y, c.r
	}
	sv.findSinks()
	sv.dense = true
	return volume, sv.err
}

// readSizes sets sv.ratio from the lengths of the rows, and returns the sum of the sizes.
func (sv *Solver) readSizes(runs iter.Seq2[ID, Run]) (volume float64) {
	if n := sv.sys.g.NumNodes(); len(sv.ratio) < n {
		sv.ratio = make([]float32, n+n/8)
	}
	for u, run := range runs {
		for i, end := range run.Start[1:] {
			dh := sv.sys.pivot(u + ID(i))
			size := sv.sys.scaledSize(dh, int(end-run.Start[i]))
			sv.ratio[u+ID(i)] = float32(size / dh)
			volume += size
		}
	}
	return volume
}

// findSinks sets sv.sinks.
func (sv *Solver) findSinks() {
	sv.sinks = sv.sinks[:0]
	if !sv.sys.reverse() {
		return
	}
	for u, x := range sv.r[:sv.sys.g.NumNodes()] {
		if x != 0 && sv.sys.sink(ID(u), sv.sys.pivot(ID(u))) {
			sv.sinks = append(sv.sinks, ID(u))
		}
	}
}

// measure returns the norms of the residual that the goal needs: l1, and for a target in the
// maximum norm li, relative to the sizes of the nodes.
func (sv *Solver) measure(t goal) (m norms) {
	r := sv.r[:sv.sys.g.NumNodes()]
	m.l1 = sum(r)
	if t.norm == L1 {
		return m
	}
	for _, u := range sv.sinks { // the pivot 1 counts as an edge of mean weight
		m.l1 += (sv.mean - 1) * math.Abs(r[u])
	}
	nodes, scaled := sv.nodes[:len(r)], sv.sys.scaled()
	for u, x := range r {
		e := math.Abs(x) * nodes[u].inverse
		if scaled {
			e /= float64(sv.ratio[u])
		}
		if e > m.li {
			m.li = e
		}
	}
	return m
}

// sum returns the sum of magnitudes, in four independent chains of additions.
func sum(r []float64) float64 {
	var a, b, c, d float64
	for ; len(r) >= 4; r = r[4:] {
		a += math.Abs(r[0])
		b += math.Abs(r[1])
		c += math.Abs(r[2])
		d += math.Abs(r[3])
	}
	for _, x := range r {
		a += math.Abs(x)
	}
	return a + b + c + d
}

// checkRows is the number of rows between two checks of the context.
const checkRows = 1 << 14

// pass relaxes every node above the threshold, in node order.
func (sv *Solver) pass(ctx context.Context, runs iter.Seq2[ID, Run], omega, th float64) error {
	rest := 0
	for u, run := range runs {
		for len(run.Start) > 1 {
			if rest <= 0 {
				if err := ctx.Err(); err != nil {
					return err
				}
				rest = checkRows
			}
			n := min(len(run.Start)-1, rest)
			sv.relaxRun(u, Run{run.Start[:n+1], run.To, run.Weight}, omega, th)
			u, run.Start, rest = u+ID(n), run.Start[n:], rest-n
		}
	}
	return nil
}

// relaxRun relaxes the nodes of the run above the threshold, which begins at node u and holds their
// columns of Q.
func (sv *Solver) relaxRun(u ID, run Run, omega, th float64) {
	r, alpha, weight := sv.r, sv.sys.alpha, run.Weight
	nodes := sv.nodes[u:][:len(run.Start)-1]
	own := r[u:][:len(nodes)]
	var ratio []float32
	if sv.sys.scaled() {
		ratio = sv.ratio[u:][:len(nodes)]
	}
	begin := run.Start[0]
	for i, end := range run.Start[1:] {
		from := begin
		begin = end
		c := &nodes[i]
		t := own[i] * c.inverse
		limit := th
		if ratio != nil {
			limit *= float64(ratio[i])
		}
		if math.Abs(t) <= limit {
			continue
		}
		t *= omega
		c.y += t
		own[i] -= omega * own[i]
		t *= alpha
		to := run.To[from:end]
		sv.ops += len(to)
		if weight == nil {
			for _, v := range to {
				r[v] += t
			}
			continue
		}
		for k, w := range weight[from:end] {
			r[to[k]] += t * float64(w)
		}
	}
}

// Run holds the rows of consecutive nodes that are stored together. The i-th row is
// To[Start[i]:Start[i+1]], with its weights at the same indexes of Weight. A nil Weight means that
// all weights are 1.
type Run struct {
	Start  []uint32
	To     []ID
	Weight []float32
}

// runsOf returns the Out rows of g, or its In rows, of all nodes in order, as runs with their first
// nodes. A [Graph] with the method Runs(in bool) iter.Seq2[ID, Run] provides longer runs than one
// row, which makes sweeps up to three times as fast. The slices of a run are read only until the
// next run.
func runsOf(g Graph, in bool) iter.Seq2[ID, Run] {
	if g, ok := g.(interface {
		Runs(in bool) iter.Seq2[ID, Run]
	}); ok {
		return g.Runs(in)
	}
	row := g.Out
	if in {
		row = g.In
	}
	return func(yield func(ID, Run) bool) {
		for u := range ID(g.NumNodes()) {
			to, weight := row(u)
			if !yield(u, Run{[]uint32{0, uint32(len(to))}, to, weight}) {
				return
			}
		}
	}
}
