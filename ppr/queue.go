package ppr

import (
	"context"
	"math"
)

// Fraction of a pass over the graph, in edge operations, that the queue may use before sweeps are
// cheaper. The queue meets a target in L1 only if the component of the source is small.
const (
	queueShare   = 1. / 8
	queueShareL1 = 1. / 32
)

// solveToGoal pushes until the goal is met. It first pushes the nodes above a threshold in FIFO
// order (Andersen, Chung and Lang, FOCS 2006, over-relaxed as in Chen et al., KDD 2023). Once that
// has cost its fraction of a pass over the graph, or there is no room for more nodes, it runs
// sweeps in node order, which are ten times cheaper per edge. Without room for sweeps it continues.
// For a goal in L1, the threshold decreases until it suffices for the nodes that were reached.
func (sv *Solver) solveToGoal(ctx context.Context, t goal) error {
	maySweep, budget := sv.maySweep(sv.sys.g.NumNodes()), math.MaxInt
	share, th := queueShare, t.limit
	if t.norm == L1 {
		share, th = queueShareL1, t.limit/sv.volume()
	}
	if maySweep {
		budget = int(share * float64(sv.sys.g.Arcs()))
	}
	for {
		sv.setThreshold(th)
		done, err := sv.drain(ctx, budget)
		switch {
		case err != nil:
			return err
		case !done:
			return sv.sweep(ctx, t)
		case t.norm == MaxNorm || t.met(sv.total()):
			return nil
		}
		volume := sv.volume()
		if th*volume <= t.limit { // the residual that is left is rounding noise, or without room
			break
		}
		th = min(th/2, t.limit/volume)
	}
	if !maySweep {
		return nil
	}
	return sv.sweep(ctx, t)
}

// volume returns the sum of the sizes of the nodes of the workspace, at least the unit of weight.
func (sv *Solver) volume() (sum float64) {
	for u, c := range sv.cells.all() {
		sum += sv.sys.size(u, c.dh)
	}
	return max(sum, sv.sys.unit)
}

// drain pushes queued nodes until the queue is empty, the edge operations exceed the budget or, if
// there is one, the room is used up.
func (sv *Solver) drain(ctx context.Context, budget int) (done bool, err error) {
	for len(sv.next) > 0 {
		sv.queue, sv.next = sv.next, sv.queue[:0]
		for i, u := range sv.queue {
			if sv.ops > budget || sv.full && budget < math.MaxInt {
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

// relax pushes u: it adds t = omega r_u/Dh_u to y_u, rounds y_u to float32 where that hardly
// changes t, and updates r by the rounded t. It leaves a node as it is, until the next threshold,
// if there is no room for its neighbours.
func (sv *Solver) relax(u ID) {
	c := sv.cells.at(u)
	to, weight := sv.sys.column(u)
	if !sv.cells.fits(to) {
		sv.full = true
		return
	}
	c.limit = sv.leastLimit(c.dh)
	sv.pushes++
	t := sv.omega * c.r / c.dh
	y := c.y + t
	if rounded := float64(float32(y)); math.Abs(rounded-y) <= sv.maxRounding*math.Abs(t) {
		y, t = rounded, rounded-c.y
	}
	if y == c.y {
		return // r is too small to change y in float64
	}
	if c.y == 0 {
		sv.estimates++
	}
	c.y = y
	c.r -= c.dh * t
	sv.spread(to, weight, t)
	c = sv.cells.at(u) // spread may have moved it
	if math.Abs(c.r) > c.limit {
		sv.enqueueIfAbove(u)
	}
}
