package ppr

import (
	"context"
	"math"
)

// Fraction of a pass over the graph, in edge operations, that the queue may use before sweeps are cheaper. The
// queue meets a target in L1 only if the component of the source is small.
const (
	queueShare   = 1. / 8
	queueShareL1 = 1. / 32
)

// solveToGoal pushes until the goal is met. It first pushes the nodes above the threshold in FIFO order (Andersen, Chung
// and Lang, FOCS 2006, over-relaxed as in Chen et al., KDD 2023). Once that has cost its fraction of a pass over
// the graph, it runs sweeps in node order, which are ten times cheaper per edge.
func (sv *Solver) solveToGoal(ctx context.Context, t goal) error {
	th, budget := t.limit, sv.sys.g.NumNodes()/4
	var s *Survey
	if t.norm == L1 {
		s = surveyFor(sv.sys.g)
		th, budget = th/max(s.Volume, 1), int(queueShareL1*float64(s.Arcs))
	}
	sv.setThreshold(th)
	if done, err := sv.drain(ctx, budget); err != nil || done && (t.norm == MaxNorm || t.met(sv.total())) {
		return err
	}
	if s == nil {
		if done, err := sv.drain(ctx, int(queueShare*float64(arcsOf(sv.sys.g)))); done || err != nil {
			return err
		}
	}
	return sv.sweep(ctx, t)
}

// drain pushes queued nodes until the queue is empty or the edge operations exceed the budget.
func (sv *Solver) drain(ctx context.Context, budget int) (done bool, err error) {
	for len(sv.next) > 0 {
		sv.queue, sv.next = sv.next, sv.queue[:0]
		for i, u := range sv.queue {
			if sv.ops > budget {
				sv.next = append(sv.next, sv.queue[i:]...)
				return false, ctx.Err()
			}
			if sv.pushes&1023 == 0 && ctx.Err() != nil {
				return false, ctx.Err()
			}
			sv.relax(u)
		}
	}
	return true, sv.err
}

// relax pushes u: it adds t = omega r_u/Dh_u to y_u, rounds y_u to float32 where that hardly changes t, and updates
// r by the rounded t.
func (sv *Solver) relax(u ID) {
	c := sv.cells.at(u)
	c.limit = max(sv.threshold*c.dh, math.SmallestNonzeroFloat64)
	sv.pushes++
	t := sv.omega * c.r / c.dh
	y := c.y + t
	if short := float64(float32(y)); math.Abs(short-y) <= sv.maxRounding*math.Abs(t) {
		y, t = short, short-c.y
	}
	if y == c.y {
		return // r is too small to change y in float64
	}
	c.y = y
	c.r -= c.dh * t
	sv.spread(u, t)
	c = sv.cells.at(u) // spread may have moved it
	if math.Abs(c.r) > c.limit {
		sv.enqueueIfAbove(u)
	}
}
