package ppr

import (
	"cmp"
	"math"
	"slices"
)

// repair holds the working lists of a catch-up.
type repair struct {
	met   []uint32 // positions of the changes that meet the support of y or h, ascending
	weak  []entry  // nodes with a residual whose degree may have fallen, ascending
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

// repair loads the nodes whose residual the changes and dh touch, and corrects it. Where a change takes degree from a
// node that holds a residual, |r|/Dh has grown without r changing: the norms must know, and a node they grow past has to
// be pushed.
func (sv *Solver) repair(st *State, set *ChangeSet, dh Vector) (rep Repair) {
	sv.scan(st, set)
	for _, e := range sv.todo.weak {
		sv.weaken(st, e)
	}
	rep.Hits = len(sv.todo.met)
	hits := sv.net(set.list)
	rep.Mass = sv.shiftDegrees(st, hits) + sv.shiftEdges(hits)
	for i, u := range dh.Node {
		db := sv.sys.rhs(u, dh.Value[i])
		sv.load(u).r += db
		rep.Mass += math.Abs(db)
	}
	return rep
}

// scan finds the changes that concern a state, by way of the changes or by way of the state's nodes: the same ones.
func (sv *Solver) scan(st *State, set *ChangeSet) {
	todo := &sv.todo
	todo.met, todo.weak, todo.stale = todo.met[:0], todo.weak[:0], false
	if x := set.indexed(len(st.lists.y) + len(st.over)); x != nil {
		sv.scanState(st, set.list, x)
	} else {
		sv.scanChanges(st, set.list)
	}
	slices.Sort(todo.met)
	todo.met = slices.Compact(todo.met)
	slices.SortFunc(todo.weak, func(a, b entry) int { return cmp.Compare(a.node, b.node) })
	todo.weak = slices.CompactFunc(todo.weak, func(a, b entry) bool { return a.node == b.node })
}

// scanChanges looks up the ends of all changes in the state.
func (sv *Solver) scanChanges(st *State, list []Change) {
	set, over := st.lists.set, st.overSet
	for i, c := range list {
		if set.has(c.U) || set.has(c.V) || over != nil && (over.has(c.U) || over.has(c.V)) {
			if st.supports(c.U) || st.supports(c.V) {
				sv.todo.met = append(sv.todo.met, uint32(i))
			}
			for _, u := range [2]ID{c.U, c.V} {
				if sv.weakens(c, u) {
					sv.note(u, st.residual(u))
				}
			}
		}
	}
}

// scanState looks up all nodes of the state in the changes.
func (sv *Solver) scanState(st *State, list []Change, x *changeIndex) {
	l := st.lists
	for _, u := range l.yNode {
		if x.touched.has(u) && st.changed(u) == nil {
			sv.todo.met = append(sv.todo.met, x.changes(u)...)
		}
	}
	if st.form == Row {
		for _, u := range st.h.Node {
			if x.touched.has(u) {
				sv.todo.met = append(sv.todo.met, x.changes(u)...)
			}
		}
	}
	for _, e := range st.over {
		if x.touched.has(e.node) && e.y != 0 {
			sv.todo.met = append(sv.todo.met, x.changes(e.node)...)
		}
		if x.fell.has(e.node) && sv.anyWeakens(list, x, e.node) {
			sv.note(e.node, e.r)
		}
	}
	if x.fell == nil {
		return
	}
	for k, u := range l.rNode {
		if x.fell.has(u) && st.changed(u) == nil && sv.anyWeakens(list, x, u) {
			sv.note(u, l.r[k])
		}
	}
}

// weakens reports whether c may lower the pivot of u, one of its ends.
func (sv *Solver) weakens(c Change, u ID) bool { return c.weakens() && (u == c.U || !sv.sys.directed) }

// anyWeakens reports whether a change at u may lower its pivot.
func (sv *Solver) anyWeakens(list []Change, x *changeIndex, u ID) bool {
	if !sv.sys.directed {
		return true // what x.fell tells
	}
	return slices.ContainsFunc(x.changes(u), func(i uint32) bool { return sv.weakens(list[i], u) })
}

// note lists a node whose degree may have fallen, with its residual.
func (sv *Solver) note(u ID, r float64) {
	if r != 0 {
		sv.todo.weak = append(sv.todo.weak, entry{node: u, r: r})
	}
}

// supports reports whether a change at u moves the residual.
func (s *State) supports(u ID) bool {
	return s.estimate(u) != 0 || s.form == Row && find(s.h.Node, u) >= 0
}

// weaken accounts for a degree that may have fallen.
func (sv *Solver) weaken(st *State, e entry) {
	dh := pivot(sv.sys.g, e.node)
	sv.norms.n2 += e.r * e.r / dh // its old share stays counted as well; a full measurement follows sooner or later
	if math.Abs(e.r) > st.norms.li*dh {
		sv.load(e.node)
	}
}

// net is the changes met, recurring pairs folded into one change each, ordered by pair, without those that have no effect.
func (sv *Solver) net(list []Change) []Change {
	hits := sv.todo.hits[:0]
	for _, i := range sv.todo.met {
		c := list[i]
		if !sv.sys.directed {
			c.U, c.V = min(c.U, c.V), max(c.U, c.V)
		}
		hits = append(hits, c)
	}
	sv.todo.hits = hits
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
