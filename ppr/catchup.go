package ppr

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// Repair describes the cost of bringing a state up to date.
type Repair struct {
	Hits    int     // changes that meet the state's support
	Mass    float64 // sum of the magnitudes added to the residual
	EdgeOps int     // edge operations of the repair, or of the computation from scratch if Fresh
	Fresh   bool    // the state was computed from scratch, because that was cheaper
}

// Limits of a catch-up.
const (
	scanOps  = 2       // changes scanned in the time of an edge operation
	hitOps   = 64      // edge operations in the time of repairing one hit
	maxAge   = 64      // catch-ups after which the norms are measured in full
	maxFall  = 16      // factor by which a degree may decrease before r is recomputed from y
	maxDrift = 1 << 17 // edge operations, in addition to 8 times the state's own, after which r is recomputed from y
)

// CatchUp brings a state up to g, the graph after the changes, and to the target. The changes must
// be all changes since the state's own graph, in order for each pair. If a pair occurs several
// times, its change is from its first Old to its last New. The right side moves by dh, which is
// empty unless the state belongs to a tracked query.
//
// CatchUp keeps the estimate, repairs the residual exactly, and pushes the nodes above the
// threshold. It costs one look at each change or at each node of the state, plus work in the
// neighbourhood that the changes touch. A state that no change touches is returned unchanged. If
// the changes outweigh the state, the state is computed from scratch.
func (sv *Solver) CatchUp(
	ctx context.Context, g Graph, st *State, changes *ChangeSet, dh Vector, t Target,
) (*State, Repair, error) {
	q, goal, err := st.prepare(g, changes, dh, t)
	if err != nil {
		return nil, Repair{}, err
	}
	h := st.moved(dh)
	if len(changes.list) > scanOps*st.ops+1024 {
		return sv.renew(ctx, q, h, goal, Repair{})
	}
	defer sv.reset()
	sv.begin(q, st)
	rep := sv.repair(st, changes, dh)
	if rep.Mass > q.mass(h)/2+q.mass(dh) || hitOps*rep.Hits > st.ops+1024 {
		return sv.renew(ctx, q, h, goal, rep)
	}
	if q.weighted && !st.weighted || q.directed && q.unit != st.unit {
		sv.loadAll(st) // isolated nodes must be solved, or norms.li changes with the unit
	}
	if sv.loaded == 0 && sv.norms == st.norms && goal.met(st.norms) {
		return st, rep, nil
	}
	next, err := sv.finish(ctx, st, h, goal)
	rep.EdgeOps = sv.ops
	if next != nil && (sv.scratch.stale || next.drift > maxDrift+8*next.ops) {
		next, err = sv.recomputeResidual(ctx, next, goal)
	}
	return next, rep, err
}

// prepare verifies the arguments of an update of s.
func (s *State) prepare(g Graph, changes *ChangeSet, dh Vector, t Target) (system, goal, error) {
	q, to, err := checkArgs(g, s.form, s.alpha, dh, t)
	if err == nil && q.directed != s.directed {
		err = fmt.Errorf("%w: directed %v on a graph with directed %v", ErrMismatch, s.directed, q.directed)
	}
	if err = cmp.Or(err, changes.check(g.NumNodes())); err != nil {
		return q, to, err
	}
	q.unit = MeanWeight(g, s.moved(dh))
	to, err = q.goal(t)
	return q, to, err
}

// moved returns the right side of s moved by dh.
func (s *State) moved(dh Vector) Vector {
	if len(dh.Node) == 0 {
		return s.h
	}
	return s.h.add(1, dh)
}

// renew computes the state from scratch instead of repairing it.
func (sv *Solver) renew(ctx context.Context, q system, h Vector, t goal, rep Repair) (*State, Repair, error) {
	sv.reset()
	st, err := sv.solve(ctx, q, h, t)
	if st != nil {
		rep.Fresh, rep.EdgeOps = true, st.ops
	}
	return st, rep, err
}

// recomputeResidual recomputes r from y, so that rounding errors do not accumulate over many
// repairs.
func (sv *Solver) recomputeResidual(ctx context.Context, st *State, t goal) (*State, error) {
	q := sv.sys
	sv.reset()
	clean, err := sv.reload(q, st.h, st.entries())
	if err != nil {
		return nil, err
	}
	clean.ops = st.ops
	sv.begin(q, clean)
	return sv.finish(ctx, clean, st.h, t)
}

// finish pushes until the repaired residual meets the goal, then returns the state of h made of st
// and the workspace.
func (sv *Solver) finish(ctx context.Context, st *State, h Vector, t goal) (*State, error) {
	sv.solveIsolated()
	if !t.met(sv.total()) || sv.aboveSize(t) {
		if t.norm == L1 || st.norms.li > t.limit {
			sv.loadAll(st)
			sv.solveIsolated()
		}
		if err := sv.solveToGoal(ctx, t); err != nil {
			return nil, err
		}
	}
	if sv.err != nil {
		return nil, sv.err
	}
	next := sv.merged(st, h)
	return next, next.norms.reached(t)
}

// loadAll adds all nodes of a state to the workspace.
func (sv *Solver) loadAll(st *State) {
	for e := range st.entries() {
		sv.load(e.node)
	}
	sv.norms = norms{} // all of r is in the workspace now
}

// aboveSize reports whether a node in the workspace is above the threshold of a target that its
// degree meets.
func (sv *Solver) aboveSize(t goal) bool {
	if !sv.sys.scaled() || t.norm != MaxNorm {
		return false
	}
	for u, c := range sv.cells.all() {
		if r := math.Abs(c.r); r > t.limit*sv.sys.leastSize(c.dh) && r > t.limit*sv.sys.size(u, c.dh) {
			return true
		}
	}
	return false
}

// total returns the norms of the whole residual, in the workspace and outside it.
func (sv *Solver) total() norms {
	m := sv.norms
	m.l1, m.n2 = max(m.l1, 0), max(m.n2, 0) // rounding of the differences may make them negative
	for u, c := range sv.cells.all() {
		m.add(c.r, c.dh, sv.sys.divisor(u, c.dh))
	}
	return m
}

// merged returns the state of h in which the nodes of the workspace replace the nodes of st.
func (sv *Solver) merged(st *State, h Vector) *State {
	drift := st.drift + sv.ops + len(sv.scratch.relevant)
	if sv.dense {
		s := sv.newState(h)
		s.ops, s.drift = st.ops, drift
		return s
	}
	next := *st
	next.weighted, next.unit = sv.sys.weighted, sv.sys.unit
	next.h, next.age, next.drift = h, st.age+1, drift
	next.over = slices.AppendSeq(make([]entry, 0, len(st.over)+sv.loaded), merge(sv.entries(), st.over, false))
	next.norms = sv.total()
	n := sv.sys.g.NumNodes()
	if len(next.over) > 32+len(st.lists.r)/8 || next.age > maxAge || next.norms.l1 < st.norms.l1/16 {
		most := listSizes{len(next.over) + len(st.lists.y), len(next.over) + len(st.lists.r)}
		next.lists = newLists(h, next.entries(), most, n)
		next.over, next.overSet, next.age = nil, nil, 0
		next.norms = sv.sys.norms(next.entries())
		return &next
	}
	next.overSet = newFilter(len(next.over), n)
	for _, e := range next.over {
		next.overSet.add(e.node)
	}
	return &next
}
