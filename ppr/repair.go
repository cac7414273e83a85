package ppr

import (
	"cmp"
	"math"
	"slices"
)

// repairScratch holds the working lists of a catch-up.
type repairScratch struct {
	relevant []uint32 // positions of the changes that meet the support of y or h, ascending
	lowered  []entry  // nodes with a residual whose degree may have decreased, ascending
	hits     []Change
	shift    []degreeShift
	stale    bool // a degree fell so far that the rounding error of its old size matters
}

// degreeShift is one contribution of the changes to a node's degree.
type degreeShift struct {
	node ID
	by   float64 // weight gained
	rows int     // number of row entries gained
}

// repair loads the nodes whose residual the changes and dh affect, and corrects these residuals.
// Where a change decreases the degree of a node with a residual, |r|/Dh increases although r does
// not change: repair updates the norms, and loads the node if it exceeds them, so that it can be
// pushed.
func (sv *Solver) repair(st *State, set *ChangeSet, dh Vector) (rep Repair) {
	sv.scan(st, set)
	for _, e := range sv.scratch.lowered {
		sv.updateNorms(st, e)
	}
	rep.Hits = len(sv.scratch.relevant)
	hits := sv.mergeHits(set.list)
	rep.Mass = sv.shiftDegrees(st, hits) + sv.shiftEdges(hits)
	sv.dropSinks()
	for i, u := range dh.Node {
		db := sv.sys.rhs(u, dh.Value[i])
		sv.load(u).r += db
		rep.Mass += math.Abs(db)
	}
	return rep
}

// scan finds the changes that concern a state, by scanning either the changes or the nodes of the
// state. Both find the same changes.
func (sv *Solver) scan(st *State, set *ChangeSet) {
	scratch := &sv.scratch
	scratch.relevant, scratch.lowered, scratch.stale = scratch.relevant[:0], scratch.lowered[:0], false
	if x := set.indexed(len(st.lists.y) + len(st.over)); x != nil {
		sv.scanState(st, set.list, x)
	} else {
		sv.scanChanges(st, set.list)
	}
	slices.Sort(scratch.relevant)
	scratch.relevant = slices.Compact(scratch.relevant)
	slices.SortFunc(scratch.lowered, func(a, b entry) int { return cmp.Compare(a.node, b.node) })
	scratch.lowered = slices.CompactFunc(scratch.lowered, func(a, b entry) bool { return a.node == b.node })
}

// scanChanges looks up the endpoints of all changes in the state.
func (sv *Solver) scanChanges(st *State, list []Change) {
	set, over := st.lists.set, st.overSet
	for i, c := range list {
		if set.has(c.U) || set.has(c.V) || over != nil && (over.has(c.U) || over.has(c.V)) {
			if st.supports(c.U) || st.supports(c.V) {
				sv.scratch.relevant = append(sv.scratch.relevant, uint32(i))
			}
			for _, u := range [2]ID{c.U, c.V} {
				if sv.lowersPivot(c, u) {
					sv.addLowered(u, st.residual(u))
				}
			}
		}
	}
}

// scanState looks up all nodes of the state in the change index.
func (sv *Solver) scanState(st *State, list []Change, x *changeIndex) {
	l, lowered := st.lists, sv.lowered(x)
	meet := func(u ID) {
		if x.touched.has(u) {
			sv.scratch.relevant = append(sv.scratch.relevant, x.changes(u)...)
		}
	}
	for _, u := range l.yNode {
		if x.touched.has(u) && st.changed(u) == nil {
			meet(u)
		}
	}
	if st.form == Row {
		for _, u := range st.h.Node {
			meet(u)
		}
	}
	for _, e := range st.over {
		if e.y != 0 {
			meet(e.node)
		}
		if lowered.has(e.node) && sv.anyLowersPivot(list, x, e.node) {
			sv.addLowered(e.node, e.r)
		}
	}
	if lowered == nil {
		return
	}
	for k, u := range l.rNode {
		if lowered.has(u) && st.changed(u) == nil && sv.anyLowersPivot(list, x, u) {
			sv.addLowered(u, l.r[k])
		}
	}
}

// lowersPivot reports whether c may lower the pivot of u, one of its endpoints, or its divisor.
func (sv *Solver) lowersPivot(c Change, u ID) bool {
	if sv.sys.directed && u != c.U {
		return false
	}
	return c.New < c.Old || c.Old == 0 && sv.firstLowers()
}

// firstLowers reports whether the first edge of a sink may lower its pivot 1, or its divisor. On an
// undirected graph such a node has no residual, see solveIsolated; without weights the pivot
// remains 1.
func (sv *Solver) firstLowers() bool { return sv.sys.weighted && sv.sys.directed }

// lowered returns the touched nodes whose pivots or divisors may have decreased.
func (sv *Solver) lowered(x *changeIndex) bitmap {
	if sv.firstLowers() {
		return x.touched
	}
	return x.lowered
}

// anyLowersPivot reports whether a change at u may lower its pivot.
func (sv *Solver) anyLowersPivot(list []Change, x *changeIndex, u ID) bool {
	return slices.ContainsFunc(x.changes(u), func(i uint32) bool { return sv.lowersPivot(list[i], u) })
}

// addLowered adds a node whose degree may have decreased, with its residual r.
func (sv *Solver) addLowered(u ID, r float64) {
	if r != 0 {
		sv.scratch.lowered = append(sv.scratch.lowered, entry{node: u, r: r})
	}
}

// supports reports whether a change at u moves the residual.
func (s *State) supports(u ID) bool {
	return s.estimate(u) != 0 || s.form == Row && find(s.h.Node, u) >= 0
}

// updateNorms updates the norms for a node whose degree may have decreased.
func (sv *Solver) updateNorms(st *State, e entry) {
	dh := pivot(sv.sys.g, e.node)
	sv.norms.n2 += e.r * e.r / dh // the old contribution stays included until the next full measurement
	if math.Abs(e.r) > st.norms.li*sv.sys.divisor(e.node, dh) || sv.sys.weighted && sv.sys.sink(e.node, dh) {
		sv.load(e.node)
	}
}

// mergeHits returns the relevant changes, ordered by pair. Repeated changes of a pair are merged
// into one, and changes without effect are dropped.
func (sv *Solver) mergeHits(list []Change) []Change {
	hits := sv.scratch.hits[:0]
	for _, i := range sv.scratch.relevant {
		c := list[i]
		if !sv.sys.directed {
			c.U, c.V = min(c.U, c.V), max(c.U, c.V)
		}
		hits = append(hits, c)
	}
	sv.scratch.hits = hits
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

// shiftDegrees corrects r for the pivots that changed: r_u -= (Dh'_u - Dh_u) y_u. In row form it
// also corrects r for the right side, which changes with the pivots. It returns the magnitude
// added.
func (sv *Solver) shiftDegrees(st *State, hits []Change) (mass float64) {
	list := sv.scratch.shift[:0]
	for _, c := range hits {
		s := degreeShift{c.U, float64(c.New) - float64(c.Old), edges(c.New) - edges(c.Old)}
		list = append(list, s)
		if c.V != c.U && !sv.sys.directed {
			s.node = c.V
			list = append(list, s)
		}
	}
	sv.scratch.shift = list
	slices.SortFunc(list, func(a, b degreeShift) int { return cmp.Compare(a.node, b.node) })
	for i := 0; i < len(list); {
		s := list[i]
		for i++; i < len(list) && list[i].node == s.node; i++ {
			s.by += list[i].by
			s.rows += list[i].rows
		}
		c, by := sv.load(s.node), s.by
		if st.supports(s.node) { // or else some of the node's changes may not be among the hits
			by = sv.pivotShift(s)
		}
		lost := by
		if sv.sys.scaled() {
			if to, _ := sv.sys.g.Out(s.node); len(to) == s.rows { // it was a sink: the estimate moves to the residual
				c.r, c.y = c.r+c.y, 0
			} else if len(to) == 0 { // it is a sink: the estimate moves once the edges are gone, see dropSinks
				lost = s.by
			}
		}
		d := -lost * c.y
		if sv.sys.form == Row {
			d += (1 - sv.sys.alpha) * st.h.at(s.node) * by
		}
		c.r += d
		sv.scratch.stale = sv.scratch.stale || c.dh-by > maxFall*c.dh
		mass += math.Abs(d)
	}
	return mass
}

// dropSinks removes the estimates of nodes that have lost their last edge, whose product with the
// old pivot is in the residual. In column form such an estimate was made for another pivot, and no
// edge depends on it any more.
func (sv *Solver) dropSinks() {
	if !sv.sys.scaled() {
		return
	}
	for _, s := range sv.scratch.shift {
		if c := sv.cells.at(s.node); sv.sys.sink(s.node, c.dh) {
			c.y = 0
		}
	}
}

// edges returns the number of edges that a weight represents: 0 or 1.
func edges(w float32) int {
	if w == 0 {
		return 0
	}
	return 1
}

// pivotShift returns Dh' - Dh. It detects degree 0 by counting row entries, because sums of float
// weights need not cancel.
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

// shiftEdges corrects r for the entries of A that changed: each changed edge adds a w y. It returns
// the magnitude added.
func (sv *Solver) shiftEdges(hits []Change) (mass float64) {
	for _, c := range hits {
		w := sv.sys.alpha * (float64(c.New) - float64(c.Old))
		sv.load(c.U)
		v := sv.load(c.V)
		u := sv.cells.at(c.U) // the second load may have moved it
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
