package ppr

import (
	"context"
	"fmt"
)

// Repair tells what bringing a state up to date took.
type Repair struct {
	Hits    int     // changes that meet the state's support
	Mass    float64 // sum of the magnitudes added to the residual
	EdgeOps int     // edge operations, of the repair or of the fresh computation
	Fresh   bool    // computed from nothing, because that was cheaper
}

// Limits of a catch-up.
const (
	scanOps  = 2       // changes scanned in the time of one edge operation
	hitOps   = 64      // edge operations in the time of repairing one hit
	maxAge   = 64      // catch-ups after which the norms are measured in full
	maxFall  = 16      // factor by which a degree may fall before r is computed anew from y
	maxDrift = 1 << 17 // edge operations after which r is computed anew from y, beside 8 times the state's own
)

// CatchUp brings a state up to g, the graph after changes, and to the target. Changes are those since the state's own
// graph, in order for each pair; a pair that recurs counts from its first Old to its last New.
//
// The estimate stays, the residual is repaired exactly, and what then stands above the threshold is pushed: the cost is
// one look at each change or at each node of the state, and from there on that of the neighbourhood that the changes touch. A state that nothing
// touches is returned as it is. Where the changes outweigh the state, it is computed afresh.
func (sv *Solver) CatchUp(ctx context.Context, g Graph, st *State, changes *ChangeSet, t Target) (*State, Repair, error) {
	return sv.Update(ctx, g, st, changes, Vector{}, t)
}

// Update is CatchUp for a state whose right side has moved by dh as well: a tracked query.
func (sv *Solver) Update(ctx context.Context, g Graph, st *State, changes *ChangeSet, dh Vector, t Target) (*State, Repair, error) {
	q, goal, err := st.prepare(g, changes, dh, t)
	if err != nil {
		return nil, Repair{}, err
	}
	h := st.h
	if len(dh.Node) > 0 {
		h = h.add(1, dh)
	}
	if len(changes.list) > scanOps*st.ops+1024 {
		return sv.renew(ctx, q, h, goal, Repair{})
	}
	defer sv.reset()
	sv.begin(q, st)
	rep := sv.repair(st, changes, dh)
	if rep.Mass > q.mass(h)/2+q.mass(dh) || hitOps*rep.Hits > st.ops+1024 {
		return sv.renew(ctx, q, h, goal, rep)
	}
	if sv.loaded == 0 && sv.norms == st.norms && goal.met(st.norms) {
		return st, rep, nil
	}
	next, err := sv.close(ctx, st, h, goal)
	rep.EdgeOps = sv.ops
	if err == nil && (sv.todo.stale || next.drift > maxDrift+8*next.ops) {
		next, err = sv.scrub(ctx, next, goal)
	}
	return next, rep, err
}

// prepare verifies the arguments of an update of s.
func (s *State) prepare(g Graph, changes *ChangeSet, dh Vector, t Target) (q system, to goal, err error) {
	if q, err = newSystem(g, s.form, s.alpha); err != nil {
		return q, to, err
	}
	if q.directed != s.directed {
		return q, to, fmt.Errorf("%w: directed %v on a graph with directed %v", ErrMismatch, s.directed, q.directed)
	}
	if to, err = q.goal(t); err != nil {
		return q, to, err
	}
	if err = changes.check(g.NumNodes()); err != nil {
		return q, to, err
	}
	return q, to, dh.check(g.NumNodes(), maxValue)
}

// renew computes the state from nothing instead.
func (sv *Solver) renew(ctx context.Context, q system, h Vector, t goal, rep Repair) (*State, Repair, error) {
	sv.reset()
	st, err := sv.solve(ctx, q, h, t)
	if err != nil {
		return nil, rep, err
	}
	rep.Fresh, rep.EdgeOps = true, st.ops
	return st, rep, nil
}

// scrub computes r anew from y, so that rounding does not add up over the repairs of a long life.
func (sv *Solver) scrub(ctx context.Context, st *State, t goal) (*State, error) {
	q := sv.sys
	sv.reset()
	clean, err := sv.reload(q, st.h, st.entries())
	if err != nil {
		return nil, err
	}
	clean.ops = st.ops
	sv.begin(q, clean)
	return sv.close(ctx, clean, st.h, t)
}

// close pushes until the repaired residual meets the goal, and makes the state of h from st and what has changed of it.
func (sv *Solver) close(ctx context.Context, st *State, h Vector, t goal) (*State, error) {
	if !t.met(sv.total()) {
		if t.norm == L1 || st.norms.li > t.limit {
			for e := range st.entries() {
				sv.load(e.node)
			}
			sv.norms = norms{} // all of r is in the workspace now
		}
		if err := sv.settle(ctx, t); err != nil {
			return nil, err
		}
	}
	if sv.err != nil {
		return nil, sv.err
	}
	next := sv.merge(st, h)
	return next, next.norms.reached(t)
}

// total is the norms of the whole residual, in the workspace and outside.
func (sv *Solver) total() norms {
	m := sv.norms
	m.l1, m.n2 = max(m.l1, 0), max(m.n2, 0) // of differences, so to rounding
	for e := range sv.entries() {
		m.add(e.r, sv.cells[e.node].dh)
	}
	return m
}

// merge makes the state of h from st and what the workspace changed of it.
func (sv *Solver) merge(st *State, h Vector) *State {
	drift := st.drift + sv.ops + len(sv.todo.met)
	if sv.dense {
		s := sv.fresh(h)
		s.ops, s.drift = st.ops, drift
		return s
	}
	next := *st
	next.h, next.age, next.drift = h, st.age+1, drift
	next.over, next.norms = sv.overlay(st.over), sv.total()
	n := sv.sys.g.NumNodes()
	if len(next.over) > 32+len(st.lists.r)/8 || next.age > maxAge || next.norms.l1 < st.norms.l1/16 {
		next.lists = newLists(h, next.entries(), len(next.over)+len(st.lists.y)+len(st.lists.r), n)
		next.over, next.overSet, next.age = nil, nil, 0
		next.norms = next.measure(sv.sys.g)
		return &next
	}
	next.overSet = newFilter(len(next.over), n)
	for _, e := range next.over {
		next.overSet.add(e.node)
	}
	return &next
}

// overlay is old with the workspace's nodes put over it.
func (sv *Solver) overlay(old []entry) []entry {
	out := make([]entry, 0, len(old)+sv.loaded)
	for e := range sv.entries() {
		for len(old) > 0 && old[0].node < e.node {
			out, old = append(out, old[0]), old[1:]
		}
		if len(old) > 0 && old[0].node == e.node {
			old = old[1:]
		}
		out = append(out, e)
	}
	return append(out, old...)
}
