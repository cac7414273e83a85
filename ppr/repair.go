package ppr

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

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

// repair loads the nodes whose residual the changes and dh touch, and corrects it.
func (sv *Solver) repair(st *State, changes []Change, dh Vector) (rep Repair, err error) {
	if err := sv.scan(st, changes); err != nil {
		return rep, err
	}
	rep.Hits = len(sv.todo.hits)
	hits := sv.net()
	rep.Mass = sv.shiftDegrees(st, hits) + sv.shiftEdges(hits)
	for i, u := range dh.Node {
		db := sv.sys.rhs(u, dh.Value[i])
		sv.load(u).r += db
		rep.Mass += math.Abs(db)
	}
	return rep, nil
}

// scan collects the changes that meet the support of y or h. Where a change takes degree from a node that holds a
// residual, |r|/Dh has grown without r changing: the norms must know, and a node they grow past has to be pushed.
func (sv *Solver) scan(st *State, changes []Change) error {
	sv.todo.hits, sv.todo.stale = sv.todo.hits[:0], false
	n, set, over := sv.sys.g.NumNodes(), st.lists.set, st.overSet
	for _, c := range changes {
		if !c.valid(n) {
			return c.check(n)
		}
		if set.has(c.U) || set.has(c.V) || over != nil && (over.has(c.U) || over.has(c.V)) {
			sv.meet(st, c)
		}
	}
	return nil
}

// valid reports whether the change is of a graph with n nodes.
func (c Change) valid(n int) bool {
	return int(max(c.U, c.V)) < n && c.Old >= 0 && c.New >= 0 && c.Old <= math.MaxFloat32 && c.New <= math.MaxFloat32
}

// check says what is wrong with a change that is not valid.
func (c Change) check(n int) error {
	switch {
	case c.valid(n):
		return nil
	case int(max(c.U, c.V)) >= n:
		return fmt.Errorf("%w: change %d-%d of %d", ErrNode, c.U, c.V, n)
	}
	return fmt.Errorf("%w: weight %v to %v at %d-%d", ErrInput, c.Old, c.New, c.U, c.V)
}

// weakens reports whether the change may lower a pivot: by weight lost, or from 1 at degree 0 to less.
func (c Change) weakens() bool { return c.New < c.Old || c.Old == 0 && c.New < 1 }

// meet looks at a change that seems to meet the state.
func (sv *Solver) meet(st *State, c Change) {
	if st.supports(c.U) || st.supports(c.V) {
		sv.todo.hits = append(sv.todo.hits, c)
	}
	if c.weakens() {
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
