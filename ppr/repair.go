package ppr

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// Repair tells what bringing a state up to date took.
type Repair struct {
	Hits    int     // changes that meet the state's support
	Mass    float64 // sum of the magnitudes added to the residual
	Pushes  int
	EdgeOps int
	Fresh   bool // computed from nothing, because that was cheaper
}

// repair holds the working lists of a catch-up.
type repair struct {
	hits  []Change
	shift []degreeShift
	stale bool // a degree fell so far that the rounding of its old size shows
}

// degreeShift is a part of what changes did to a node's degree.
type degreeShift struct {
	node ID
	by   float64 // weight gained
	rows int     // row entries gained
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
// graph, in order for each pair; a pair that recurs counts from its first Old to its last New. Changes whose ends are
// both outside the state's support may be left out.
//
// The estimate stays, the residual is repaired exactly in time linear in the changes that meet the support, and what
// then stands above the threshold is pushed; a state that nothing touches is returned as it is. Where the changes
// outweigh the state, it is computed afresh.
func (sv *Solver) CatchUp(ctx context.Context, g Graph, st *State, changes []Change, t Target) (*State, Repair, error) {
	return sv.advance(ctx, g, st, changes, Vector{}, t)
}

// Update is CatchUp with a right side that has moved by dh as well.
func (sv *Solver) Update(ctx context.Context, g Graph, st *State, changes []Change, dh Vector, t Target) (*State, Repair, error) {
	return sv.advance(ctx, g, st, changes, dh, t)
}

func (sv *Solver) advance(ctx context.Context, g Graph, st *State, changes []Change, dh Vector, t Target) (*State, Repair, error) {
	q, err := newSystem(g, st.form, st.alpha)
	if err != nil {
		return nil, Repair{}, err
	}
	if q.directed != st.directed {
		return nil, Repair{}, fmt.Errorf("%w: a state of a directed graph and an undirected graph", ErrMismatch)
	}
	if err := dh.check(g.NumNodes()); err != nil {
		return nil, Repair{}, err
	}
	goal, err := q.goal(t)
	if err != nil {
		return nil, Repair{}, err
	}
	h := st.h
	if len(dh.Node) > 0 {
		h = h.plus(dh)
	}
	if err := checkChanges(changes, g.NumNodes()); err != nil {
		return nil, Repair{}, err
	}
	if len(changes) > scanOps*st.ops+1024 {
		return sv.renew(ctx, q, h, goal, Repair{})
	}
	defer sv.reset()
	sv.begin(q, st)
	rep := sv.repair(st, changes, dh)
	if rep.Mass > q.mass(h)/2+q.mass(dh) || hitOps*rep.Hits > st.ops+1024 {
		sv.reset()
		return sv.renew(ctx, q, h, goal, rep)
	}
	if sv.loaded == 0 && goal.met(sv.norms) {
		if sv.norms == st.norms {
			return st, rep, nil
		}
	}
	if err := sv.close(ctx, st, goal); err != nil {
		return nil, rep, err
	}
	rep.Pushes, rep.EdgeOps = sv.push, sv.ops
	next, err := sv.merge(st, h)
	if err == nil {
		err = next.reached(goal)
	}
	if err != nil {
		return nil, rep, err
	}
	if sv.todo.stale || next.drift > maxDrift+8*next.ops {
		next, err = sv.scrub(ctx, q, next, goal)
	}
	return next, rep, err
}

// renew computes the state from nothing instead.
func (sv *Solver) renew(ctx context.Context, q system, h Vector, t goal, rep Repair) (*State, Repair, error) {
	st, err := sv.solve(ctx, q, h, t)
	if err != nil {
		return nil, rep, err
	}
	rep.Fresh, rep.EdgeOps = true, st.ops
	return st, rep, nil
}

// scrub computes r anew from y, so that rounding does not add up over the repairs of a long life.
func (sv *Solver) scrub(ctx context.Context, q system, st *State, t goal) (*State, error) {
	sv.reset()
	clean, err := sv.reload(q, st.h, st.entries())
	if err != nil {
		return nil, err
	}
	clean.ops = st.ops
	if t.met(clean.norms) {
		return clean, nil
	}
	defer sv.reset()
	sv.begin(q, clean)
	if err := sv.close(ctx, clean, t); err != nil {
		return nil, err
	}
	clean, err = sv.merge(clean, clean.h)
	if err != nil {
		return nil, err
	}
	return clean, clean.reached(t)
}

// repair loads the nodes whose residual the changes and dh touch, and corrects it.
func (sv *Solver) repair(st *State, changes []Change, dh Vector) (rep Repair) {
	sv.scan(st, changes)
	rep.Hits = len(sv.todo.hits)
	hits := sv.net()
	rep.Mass = sv.shiftDegrees(st, hits) + sv.shiftEdges(hits)
	for i, u := range dh.Node {
		db := sv.sys.rhs(u, dh.Value[i])
		sv.load(u).r += db
		rep.Mass += math.Abs(db)
	}
	return rep
}

// scan collects the changes that meet the support of y or h. Where a change takes degree from a node that holds a
// residual, |r|/Dh has grown without r changing: the norms must know, and a node they grow past has to be pushed.
func (sv *Solver) scan(st *State, changes []Change) {
	sv.todo.hits, sv.todo.stale = sv.todo.hits[:0], false
	set, over := st.lists.set, st.overSet
	for _, c := range changes {
		if set.has(c.U) || set.has(c.V) || over != nil && (over.has(c.U) || over.has(c.V)) {
			sv.meet(st, c)
		}
	}
}

// checkChanges verifies that changes are of a graph with n nodes.
func checkChanges(changes []Change, n int) error {
	for _, c := range changes {
		if int(max(c.U, c.V)) >= n {
			return fmt.Errorf("%w: change %d-%d of %d", ErrNode, c.U, c.V, n)
		}
		if !(c.Old >= 0 && c.Old <= math.MaxFloat32 && c.New >= 0 && c.New <= math.MaxFloat32) {
			return fmt.Errorf("%w: weight %v to %v at %d-%d", ErrInput, c.Old, c.New, c.U, c.V)
		}
	}
	return nil
}

// meet looks at a change that seems to meet the state.
func (sv *Solver) meet(st *State, c Change) {
	if st.supports(c.U) || st.supports(c.V) {
		sv.todo.hits = append(sv.todo.hits, c)
	}
	if c.New < c.Old || c.Old == 0 && c.New < 1 {
		sv.weaken(st, c.U)
		if c.V != c.U && !sv.sys.directed {
			sv.weaken(st, c.V)
		}
	}
}

// supports reports whether a change at u moves the residual.
func (s *State) supports(u ID) bool {
	return s.estimate(u) != 0 || s.form == Row && find(s.h.Node, u) >= 0
}

// weaken accounts for a degree that may have fallen at u.
func (sv *Solver) weaken(st *State, u ID) {
	r := st.residual(u)
	if r == 0 {
		return
	}
	dh := pivot(sv.sys.g, u)
	sv.norms.n2 += r * r / dh // its old share stays counted as well; a full measurement follows sooner or later
	if math.Abs(r) > st.norms.li*dh {
		sv.load(u)
	}
}

// net folds recurring pairs of the hits into one change each, ordered by pair, and drops those without effect.
func (sv *Solver) net() []Change {
	hits := sv.todo.hits
	if !sv.sys.directed {
		for i, c := range hits {
			hits[i].U, hits[i].V = min(c.U, c.V), max(c.U, c.V)
		}
	}
	slices.SortStableFunc(hits, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.U, b.U), cmp.Compare(a.V, b.V))
	})
	out := hits[:0]
	for i := 0; i < len(hits); {
		c := hits[i]
		for i++; i < len(hits) && hits[i].U == c.U && hits[i].V == c.V; i++ {
			c.New = hits[i].New
		}
		if c.New != c.Old {
			out = append(out, c)
		}
	}
	return out
}

// shiftDegrees corrects r for the pivots that moved: r_u -= (Dh'_u - Dh_u) y_u, in row form also for the right side
// that moves with them. It returns the magnitude added.
func (sv *Solver) shiftDegrees(st *State, hits []Change) (mass float64) {
	list := sv.todo.shift[:0]
	for _, c := range hits {
		s := degreeShift{c.U, float64(c.New) - float64(c.Old), edges(c.New) - edges(c.Old)}
		list = append(list, s)
		if c.V != c.U && !sv.sys.directed {
			s.node = c.V
			list = append(list, s)
		}
	}
	sv.todo.shift = list
	slices.SortFunc(list, func(a, b degreeShift) int { return cmp.Compare(a.node, b.node) })
	for i := 0; i < len(list); {
		s := list[i]
		for i++; i < len(list) && list[i].node == s.node; i++ {
			s.by += list[i].by
			s.rows += list[i].rows
		}
		c, by := sv.load(s.node), sv.pivotShift(s)
		d := -by * c.y
		if sv.sys.form == Row {
			d += (1 - sv.sys.alpha) * st.h.at(s.node) * by
		}
		c.r += d
		sv.todo.stale = sv.todo.stale || c.dh-by > maxFall*c.dh
		mass += math.Abs(d)
	}
	return mass
}

// edges is the number of edges a weight stands for.
func edges(w float32) int {
	if w == 0 {
		return 0
	}
	return 1
}

// pivotShift is Dh' - Dh. Rows are counted, not weights, to tell degree 0: float sums need not cancel.
func (sv *Solver) pivotShift(s degreeShift) float64 {
	to, _ := sv.sys.g.Out(s.node)
	switch is, was := len(to) > 0, len(to)-s.rows > 0; {
	case is && was:
		return s.by
	case is:
		return s.by - 1
	case was:
		return 1 + s.by
	}
	return 0
}

// shiftEdges corrects r for the entries of A that moved: a w y arrives along each changed edge.
func (sv *Solver) shiftEdges(hits []Change) (mass float64) {
	for _, c := range hits {
		w := sv.sys.alpha * (float64(c.New) - float64(c.Old))
		u, v := sv.load(c.U), sv.load(c.V)
		forward := !sv.sys.directed || sv.sys.form == Column
		backward := sv.sys.directed && sv.sys.form == Row || !sv.sys.directed && c.U != c.V
		if forward {
			v.r += w * u.y
			mass += math.Abs(w * u.y)
		}
		if backward {
			u.r += w * v.y
			mass += math.Abs(w * v.y)
		}
	}
	return mass
}

// close pushes until the repaired residual meets the goal.
func (sv *Solver) close(ctx context.Context, st *State, t goal) error {
	if t.met(sv.total()) {
		return sv.err
	}
	if t.norm == L1 || st.norms.li > t.limit {
		for e := range st.entries() {
			sv.load(e.node)
		}
		sv.norms = norms{} // all of r is in the workspace now
	}
	return sv.settle(ctx, t)
}

// total is the norms of the whole residual, in the workspace and outside.
func (sv *Solver) total() norms {
	m := sv.norms
	for e := range sv.entries() {
		m.add(e.r, sv.cells[e.node].dh)
	}
	return m
}

// merge makes the state of h from st and what the workspace changed of it.
func (sv *Solver) merge(st *State, h Vector) (*State, error) {
	if sv.err != nil {
		return nil, sv.err
	}
	next := *st
	next.h, next.age, next.drift = h, st.age+1, st.drift+sv.ops+len(sv.todo.hits)
	if sv.dense {
		s, err := sv.fresh(h)
		if err != nil {
			return nil, err
		}
		s.ops, s.drift = st.ops, next.drift
		return s, nil
	}
	next.over = sv.overlay(st.over)
	next.norms = sv.total()
	if len(next.over) > 32+len(st.lists.rNode)/8 || next.age > maxAge || next.norms.l1 < st.norms.l1/16 {
		next.lists = newLists(h, next.entries(), len(next.over)+len(st.lists.y)+len(st.lists.r), sv.sys.g.NumNodes())
		next.over, next.overSet, next.age = nil, nil, 0
		next.norms = next.measure(sv.sys.g)
		return &next, next.inRange()
	}
	next.overSet = newFilter(len(next.over), sv.sys.g.NumNodes())
	for _, e := range next.over {
		next.overSet.add(e.node)
	}
	return &next, nil
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
