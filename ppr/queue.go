package ppr

import (
	"context"
	"math"
)

// Share of a pass over the graph, in edge operations, that the queue may take before sweeps are cheaper. A target in L1
// is met in the queue only if the source's component is small.
const (
	queueShare   = 1. / 8
	queueShareL1 = 1. / 32
)

// settle pushes until the goal is met: first what stands above the threshold, in the order it got there (FIFO, Andersen,
// Chung and Lang, FOCS 2006, over-relaxed as Chen et al., KDD 2023), and once that has cost its share of a pass over the
// graph, sweeps in node order, which are ten times cheaper an edge.
func (sv *Solver) settle(ctx context.Context, t goal) error {
	th, budget := t.limit, sv.sys.g.NumNodes()/4
	var s *Survey
	if t.norm == L1 {
		s = surveyOf(sv.sys.g)
		th, budget = th/max(s.Volume, 1), int(queueShareL1*float64(s.Arcs))
	}
	sv.arm(th)
	if done, err := sv.drain(ctx, budget); err != nil || done && (t.norm == MaxNorm || t.met(sv.total())) {
		return err
	}
	if s == nil {
		s = surveyOf(sv.sys.g)
		if done, err := sv.drain(ctx, int(queueShare*float64(s.Arcs))); done || err != nil {
			return err
		}
	}
	return sv.sweep(ctx, t)
}

// drain pushes queued nodes until none is left or the edge operations pass the budget.
func (sv *Solver) drain(ctx context.Context, budget int) (done bool, err error) {
	for len(sv.next) > 0 {
		sv.queue, sv.next = sv.next, sv.queue[:0]
		for i, u := range sv.queue {
			if sv.ops > budget {
				sv.next = append(sv.next, sv.queue[i:]...)
				return false, ctx.Err()
			}
			if sv.push&1023 == 0 && ctx.Err() != nil {
				return false, ctx.Err()
			}
			sv.relax(u)
		}
	}
	return true, sv.err
}

// relax pushes u: y_u grows by t = omega r_u/Dh_u, rounded to float32 where that hardly changes t, and r follows exactly.
func (sv *Solver) relax(u ID) {
	c := &sv.cells[u]
	c.limit = max(sv.th*c.dh, math.SmallestNonzeroFloat64)
	sv.push++
	t := sv.omega * c.r / c.dh
	y := c.y + t
	if short := float64(float32(y)); math.Abs(short-y) <= sv.lose*math.Abs(t) {
		y, t = short, short-c.y
	}
	if y == c.y {
		return // as close as float64 comes
	}
	c.y = y
	c.r -= c.dh * t
	sv.spread(u, t)
	if math.Abs(c.r) > c.limit {
		sv.wake(u)
	}
}
