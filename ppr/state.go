package ppr

import (
	"cmp"
	"iter"
	"slices"
)

// State is an approximate solution of Q y = b for one form, alpha and right side h, with its
// residual.
//
// INVARIANT: r = b - Q y, up to rounding, on the graph the state was last brought up to; norms are
// at least the norms of r.
//
// A State is immutable and safe for concurrent readers. A catch-up shares the lists of the state it
// started from and stores the few nodes it changed in over.
type State struct {
	kernel
	weighted bool    // see system
	unit     float64 // see system
	h        Vector
	lists    *lists
	over     []entry // changed nodes, ascending; they override lists
	overSet  filter  // set of the nodes in over; nil if over is empty
	norms    norms
	ops      int // edge operations of a computation from scratch
	age      int // catch-ups since norms were last measured in full
	drift    int // edge operations since r was last computed from y
}

// entry is one node's part of a state.
type entry struct {
	node ID
	y, r float64
}

// lists holds a state's nodes, ascending. Estimates and residuals are stored separately: the
// support of y is several times smaller, and combining states reads only y.
type lists struct {
	yNode []ID
	y     []float32
	low   []float32 // y + low is the estimate; nil where float32 holds it exactly
	rNode []ID
	r     []float64
	rTop  []ID   // every rBlock-th of rNode
	set   filter // nodes of yNode, rNode and h
	ySet  filter // support of y and nodes of h
}

// rBlock is the number of nodes in a cache line. A look-up in cold memory reads the few lines of
// rTop, which are mostly shared by all look-ups, and then one line of rNode.
const rBlock = 16

// Form returns the form the state was solved in.
func (s *State) Form() Form { return s.form }

// Alpha returns the damping factor.
func (s *State) Alpha() float64 { return s.alpha }

// H returns the right side h without zeros. The caller must not modify it.
func (s *State) H() Vector { return s.h }

// EdgeOps returns the number of edge operations that computing the state from scratch took, which
// is its cost in a cache.
func (s *State) EdgeOps() int { return s.ops }

// Estimate returns y in float32, ascending by node and without zeros: the part of a state to store
// for [Solver.Reload]. The caller must not modify it.
func (s *State) Estimate() ([]ID, []float32) {
	if len(s.over) == 0 {
		return s.lists.yNode, s.lists.y
	}
	nodes := make([]ID, 0, len(s.lists.yNode)+len(s.over))
	y := make([]float32, 0, cap(nodes))
	for e := range s.entries() {
		if v := float32(e.y); v != 0 {
			nodes, y = append(nodes, e.node), append(y, v)
		}
	}
	return nodes, y
}

// Value returns v_j and a certified bound of |v_j - v*_j|. g must be the graph the state was last
// brought up to. Value takes the half step v = Dh y + r (in row form y + r/Dh), which the residual
// gives at no cost; its error is a Dh^-1 A times the error of y.
func (s *State) Value(g Graph, j ID) (v, bound float64) {
	q := system{g: g, kernel: s.kernel}
	y, r := s.at(j)
	return q.value(s.norms, j, y, r)
}

// Values returns the values of nodes and their bounds; see [State.Value].
func (s *State) Values(g Graph, at []ID) (v, bound []float64) {
	v, bound = make([]float64, len(at)), make([]float64, len(at))
	for i, j := range at {
		v[i], bound[i] = s.Value(g, j)
	}
	return v, bound
}

// Estimates is Values without the bounds. It takes little time for nodes whose value is 0 if the
// nodes ascend.
func (s *State) Estimates(g Graph, at []ID) []float64 {
	v, q := make([]float64, len(at)), system{g: g, kernel: s.kernel}
	if lookups := 8 * len(at); lookups < len(s.lists.rNode) || !slices.IsSorted(at) {
		for i, j := range at {
			if y, r := s.at(j); y != 0 || r != 0 {
				v[i], _ = q.estimate(j, y, r)
			}
		}
		return v
	}
	i := 0
	for e := range s.entries() {
		i += gallop(at[i:], e.node)
		for ; i < len(at) && at[i] == e.node; i++ {
			v[i], _ = q.estimate(e.node, e.y, e.r)
		}
	}
	return v
}

// gallop returns the number of nodes of an ascending list that are less than u. It takes little
// time if these are few.
func gallop(list []ID, u ID) int {
	step := 1
	for step < len(list) && list[step-1] < u {
		step *= 2
	}
	lo := step / 2
	i, _ := slices.BinarySearch(list[lo:min(step, len(list))], u)
	return lo + i
}

// value returns v_j and its bound for an estimate y and a residual r at j. m holds the norms of the
// whole residual.
func (q *system) value(m norms, j ID, y, r float64) (v, bound float64) {
	v, degree := q.estimate(j, y, r)
	dh := cmp.Or(degree, 1)
	bound = q.alpha * m.bound(q.kernel, dh)
	if (q.form == Row || !q.directed) && degree == 0 {
		bound = 0
	}
	if q.form == Column {
		bound *= dh
	}
	return v, bound
}

// estimate returns v_j for an estimate y and a residual r at j, and the degree of j.
func (q *system) estimate(j ID, y, r float64) (v, degree float64) {
	degree = q.g.Degree(j)
	dh := cmp.Or(degree, 1)
	if v = y + r/dh; q.form == Column {
		v *= dh
	}
	return v, degree
}

// Nodes returns the nodes with an estimate or a residual, ascending.
func (s *State) Nodes() []ID {
	nodes := make([]ID, 0, len(s.lists.rNode)+len(s.over))
	for e := range s.entries() {
		nodes = append(nodes, e.node)
	}
	return nodes
}

// ElsewhereBound returns a bound of |v_j| at every node that Nodes does not have, where Value
// returns 0.
func (s *State) ElsewhereBound() float64 {
	e := s.norms.l1
	if s.form == Row {
		e = s.norms.li
	}
	return s.alpha * e / (1 - s.alpha) * (1 + slack)
}

// Bound returns the certified error in norm n on the graph the state was last brought up to. It is
// +Inf for L1 in row form on a directed graph. For column form on a directed graph see [MaxNorm].
func (s *State) Bound(n Norm) float64 {
	return s.norms.errorBound(n, s.kernel)
}

// Bytes returns the number of bytes of memory the state holds, including memory shared with other
// states.
func (s *State) Bytes() int {
	l := s.lists
	return 256 + 16*len(s.h.Node) + 24*len(s.over) + 8*len(s.overSet) + 8*len(l.yNode) + 4*len(l.low) +
		12*len(l.rNode) + 8*(len(l.set)+len(l.ySet))
}

// changed returns u's entry in over, or nil.
func (s *State) changed(u ID) *entry {
	if s.overSet != nil && s.overSet.has(u) {
		i, ok := slices.BinarySearchFunc(s.over, u, func(e entry, u ID) int { return cmp.Compare(e.node, u) })
		if ok {
			return &s.over[i]
		}
	}
	return nil
}

// at returns the state's estimate and residual at u.
func (s *State) at(u ID) (y, r float64) {
	if e := s.changed(u); e != nil {
		return e.y, e.r
	}
	l := s.lists
	if i := find(l.yNode, u); i >= 0 {
		y = l.value(i)
	}
	return y, l.residual(u)
}

// estimate returns the state's y at u.
func (s *State) estimate(u ID) float64 {
	if e := s.changed(u); e != nil {
		return e.y
	}
	return s.lists.estimate(u)
}

// residual returns the state's r at u.
func (s *State) residual(u ID) float64 {
	if e := s.changed(u); e != nil {
		return e.r
	}
	return s.lists.residual(u)
}

func (l *lists) estimate(u ID) float64 {
	if !l.ySet.has(u) {
		return 0
	}
	i := find(l.yNode, u)
	if i < 0 {
		return 0
	}
	return l.value(i)
}

// value returns the i-th estimate.
func (l *lists) value(i int) float64 {
	if l.low != nil {
		return float64(l.y[i]) + float64(l.low[i])
	}
	return float64(l.y[i])
}

func (l *lists) residual(u ID) float64 {
	lo := rBlock * searchFloor(l.rTop, u)
	if i := find(l.rNode[lo:min(lo+rBlock, len(l.rNode))], u); i >= 0 {
		return l.r[lo+i]
	}
	return 0
}

// entries returns the nodes where y or r is not zero, ascending.
func (s *State) entries() iter.Seq[entry] {
	return merge(s.lists.entries(), s.over, true)
}

// merge merges two ascending sequences. Of two entries of the same node it yields the entry of the
// list if listWins.
func merge(entries iter.Seq[entry], list []entry, listWins bool) iter.Seq[entry] {
	return func(yield func(entry) bool) {
		rest := list
		for e := range entries {
			for len(rest) > 0 && rest[0].node < e.node {
				if !yield(rest[0]) {
					return
				}
				rest = rest[1:]
			}
			if len(rest) > 0 && rest[0].node == e.node {
				if listWins {
					e = rest[0]
				}
				rest = rest[1:]
			}
			if !yield(e) {
				return
			}
		}
		for _, e := range rest {
			if !yield(e) {
				return
			}
		}
	}
}

func (l *lists) entries() iter.Seq[entry] {
	return func(yield func(entry) bool) {
		for i, k := 0, 0; i < len(l.yNode) || k < len(l.rNode); {
			var e entry
			switch {
			case k == len(l.rNode) || i < len(l.yNode) && l.yNode[i] < l.rNode[k]:
				e.node = l.yNode[i]
			default:
				e.node, e.r = l.rNode[k], l.r[k]
				k++
			}
			if i < len(l.yNode) && l.yNode[i] == e.node {
				e.y = l.value(i)
				i++
			}
			if !yield(e) {
				return
			}
		}
	}
}

// listSizes are the greatest sizes that the lists of y and of r may have.
type listSizes struct{ y, r int }

// newLists packs entries, in ascending order, of a graph with n nodes. h is the state's right side:
// a change at its nodes matters even where the estimate is 0.
func newLists(h Vector, entries iter.Seq[entry], most listSizes, n int) *lists {
	l := &lists{
		yNode: make([]ID, 0, most.y), y: make([]float32, 0, most.y),
		rNode: make([]ID, 0, most.r), r: make([]float64, 0, most.r),
	}
	for e := range entries {
		if e.y != 0 {
			l.addEstimate(e.node, e.y)
		}
		if e.r != 0 {
			l.rNode, l.r = append(l.rNode, e.node), append(l.r, e.r)
		}
	}
	l.yNode, l.y, l.rNode, l.r = slices.Clip(l.yNode), slices.Clip(l.y), slices.Clip(l.rNode), slices.Clip(l.r)
	for i := 0; i < len(l.rNode); i += rBlock {
		l.rTop = append(l.rTop, l.rNode[i])
	}
	l.ySet = newFilter(len(h.Node)+len(l.y), n)
	l.set = newFilter(len(h.Node)+len(l.r), n) // few nodes have an estimate but no residual
	for _, list := range [][]ID{h.Node, l.yNode} {
		for _, u := range list {
			l.ySet.add(u)
			l.set.add(u)
		}
	}
	for _, u := range l.rNode {
		l.set.add(u)
	}
	return l
}

// asStored returns y as a State returns it after [lists.addEstimate].
func asStored(y float64) float64 {
	rounded := float32(y)
	return float64(rounded) + float64(float32(y-float64(rounded)))
}

// addEstimate appends y, as float32 plus remainder once any estimate needs a remainder.
func (l *lists) addEstimate(u ID, y float64) {
	rounded := float32(y)
	if rest := float32(y - float64(rounded)); l.low != nil || rest != 0 {
		for len(l.low) < len(l.y) {
			l.low = append(l.low, 0)
		}
		l.low = append(l.low, rest)
	}
	l.yNode, l.y = append(l.yNode, u), append(l.y, rounded)
}
