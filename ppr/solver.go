package ppr

import (
	"context"
	"fmt"
	"iter"
	"math"
)

// Solver is a workspace for computing states. Its memory is reused. A Solver must not be used by
// several goroutines at once. Results do not depend on earlier use.
type Solver struct {
	// Memory is the number of bytes that the workspace may take; 0 means no limit. Another 5/4 of a
	// byte a node, the lists of right sides and states that are passed in, and the state that is
	// returned are not counted.
	//
	// Without a limit a workspace for a graph of up to a million nodes takes 32 bytes a node, and
	// 24 more once it sweeps the graph (28 if it has weights). A sweep takes place only if its
	// arrays fit into half of Memory. Where there are more nodes, or 32 bytes a node do not fit
	// into the rest, the workspace takes 32 to 256 bytes for each node that is touched. When they
	// are used up, the solver pushes only nodes whose neighbours have all been touched, and may
	// return ErrPrecision: the residual of the others stays in the state, and in its bounds.
	Memory int64

	sys         system
	cells       sparse[cell]
	full        bool   // a push was left out because cells has no room for it
	dense       bool   // sweeps have begun; the workspace is nodes and r instead of cells
	from        *State // state that a cell starts from when it is first touched; nil means zero
	threshold   float64
	omega       float64 // over-relaxation
	maxRounding float64 // largest change of a push by rounding to float32, relative to the push
	queue       []ID    // nodes being pushed in this round, in order
	next        []ID
	nodes       []sweepNode     // replaces cells during sweeps
	r           []float64       // residuals during sweeps
	sinks       []ID            // in row form, sinks that had a residual when sweeps began
	mean        float64         // mean weight of the graph's edges, during sweeps
	ratio       []float32       // size of each node over Dh, during sweeps of a scaled system
	norms       norms           // of the residuals that are not in cells
	mixed       sparse[float64] // combined residuals of states
	ops         int             // edge operations
	pushes      int
	loaded      int   // cells in use
	estimates   int   // at least the number of cells with an estimate
	err         error // first node whose degree is out of range
	scratch     repairScratch
}

// cell is one node of the workspace; dh is 0 in an unused cell. limit is the magnitude above which
// the residual must be pushed. It is 0 in unused cells, so that one comparison finds both new nodes
// and nodes to push, and infinite in queued cells.
type cell struct {
	r, limit, y, dh float64
}

// NewSolver returns an empty workspace.
func NewSolver() *Solver { return &Solver{} }

// Solve computes the state of h from scratch.
func (sv *Solver) Solve(ctx context.Context, g Graph, form Form, alpha float64, h Vector, t Target) (*State, error) {
	q, goal, err := checkArgs(g, form, alpha, h, t)
	if err != nil {
		return nil, err
	}
	return sv.solve(ctx, q, h.compact(), goal)
}

// Values returns what [State.Value] returns at the given nodes for the result of [Solver.Solve], to
// the bit, without creating a State: laying out a state takes as long as a local solve.
func (sv *Solver) Values(
	ctx context.Context, g Graph, form Form, alpha float64, h Vector, t Target, at []ID,
) (v, bound []float64, err error) {
	v, bound = make([]float64, len(at)), make([]float64, len(at))
	err = sv.read(ctx, g, form, alpha, h, t, at, func(q *system, m norms, i int, y, r float64) {
		v[i], bound[i] = q.value(m, at[i], y, r)
	})
	return v, bound, err
}

// Estimates is Values without the bounds. It takes little time for nodes whose value is 0.
func (sv *Solver) Estimates(
	ctx context.Context, g Graph, form Form, alpha float64, h Vector, t Target, at []ID,
) (v []float64, err error) {
	v = make([]float64, len(at))
	err = sv.read(ctx, g, form, alpha, h, t, at, func(q *system, m norms, i int, y, r float64) {
		if y != 0 || r != 0 {
			v[i], _ = q.estimate(at[i], y, r)
		}
	})
	return v, err
}

// read solves for h, and calls f for each of the given nodes with the norms of the residual, the
// index of the node, and its estimate and residual.
func (sv *Solver) read(
	ctx context.Context, g Graph, form Form, alpha float64, h Vector, t Target, at []ID, f func(q *system, m norms, i int, y, r float64),
) error {
	q, goal, err := checkArgs(g, form, alpha, h, t)
	if err != nil {
		return err
	}
	defer sv.reset()
	if err := sv.run(ctx, q, h, goal); err != nil {
		return err
	}
	for _, j := range at {
		if int(j) >= g.NumNodes() {
			return fmt.Errorf("%w: %d of %d", ErrNode, j, g.NumNodes())
		}
	}
	m := sv.residual()
	for i, j := range at {
		y, r := sv.at(j)
		f(&q, m, i, asStored(y), r)
	}
	return m.reached(goal)
}

func (sv *Solver) solve(ctx context.Context, q system, h Vector, t goal) (*State, error) {
	defer sv.reset()
	if err := sv.run(ctx, q, h, t); err != nil {
		return nil, err
	}
	st := sv.newState(h)
	return st, st.norms.reached(t)
}

// run solves for h from scratch until the goal is met.
func (sv *Solver) run(ctx context.Context, q system, h Vector, t goal) error {
	sv.begin(q, nil)
	for i, u := range h.Node {
		if h.Value[i] != 0 {
			sv.load(u).r = q.rhs(u, h.Value[i])
		}
	}
	sv.solveIsolated()
	return sv.solveToGoal(ctx, t)
}

// solveIsolated solves the equations of the nodes of the workspace without edges, which have no
// other unknown on an undirected graph.
//
// INVARIANT: on an undirected graph with weights, a node without edges has no residual. Its pivot 1
// has no unit of weight, so a residual would count for more or less in the norms, by the unit of
// weight, once the node has an edge.
func (sv *Solver) solveIsolated() {
	if sv.sys.directed || !sv.sys.weighted {
		return
	}
	for u, c := range sv.cells.all() {
		if c.r == 0 || !sv.sys.sink(u, c.dh) {
			continue
		}
		if c.y == 0 {
			sv.estimates++
		}
		c.y, c.r = c.y+c.r, 0
	}
}

// Refine pushes a state until it meets a finer target. A state that meets the target already is
// returned unchanged.
func (sv *Solver) Refine(ctx context.Context, g Graph, st *State, t Target) (*State, error) {
	st, _, err := sv.CatchUp(ctx, g, st, new(ChangeSet), Vector{}, t)
	return st, err
}

// Reload creates a state from a stored estimate. It recomputes the residual in float64, so the
// state is as exact as one that never left memory, and its bound is valid for y on this graph.
func (sv *Solver) Reload(g Graph, form Form, alpha float64, h Vector, nodes []ID, y []float32) (*State, error) {
	q, err := newSystem(g, form, alpha)
	if err != nil {
		return nil, err
	}
	values := make([]float64, len(y))
	for i := range y {
		values[i] = float64(y[i])
	}
	if err := h.check(g.NumNodes(), maxValue); err != nil {
		return nil, err
	}
	if err := (Vector{nodes, values}).check(g.NumNodes(), math.MaxFloat32); err != nil {
		return nil, err
	}
	q.unit = MeanWeight(g, h)
	return sv.reload(q, h.compact(), Vector{nodes, values}.entries())
}

func (v Vector) entries() iter.Seq[entry] {
	return func(yield func(entry) bool) {
		for i, u := range v.Node {
			if !yield(entry{node: u, y: v.Value[i]}) {
				return
			}
		}
	}
}

// reload returns the state of h whose estimate is y, with r = b - Q y. It drops estimates whose
// residuals do not fit.
func (sv *Solver) reload(q system, h Vector, y iter.Seq[entry]) (*State, error) {
	defer sv.reset()
	sv.begin(q, nil)
	for i, u := range h.Node {
		sv.load(u).r = q.rhs(u, h.Value[i])
	}
	for e := range y {
		to, weight := q.column(e.node)
		if e.y != 0 && sv.cells.fits(to) {
			c := sv.load(e.node)
			c.y = e.y
			c.r -= c.dh * e.y
			sv.estimates++
			sv.spread(to, weight, e.y)
		}
	}
	sv.solveIsolated()
	if sv.err != nil {
		return nil, sv.err
	}
	return sv.newState(h), nil
}

// begin prepares the workspace for a system and a starting state; nil means zero.
func (sv *Solver) begin(q system, from *State) {
	sv.sys, sv.from = q, from
	sv.cells.grow(q.g.NumNodes(), sv.cellRoom(q.g.NumNodes()))
	sv.threshold, sv.omega, sv.maxRounding = math.Inf(1), 1.1, 1./16
	if q.directed { // above 2/(1+a) a push may increase |r|_1, and the queue may never empty
		sv.omega, sv.maxRounding = min(1.08, 0.999*2/(1+q.alpha)), 1./2048
	}
	if from != nil {
		sv.norms = from.norms
	}
}

// Sizes in bytes: of a cell, and of what sweeps take for a node.
const (
	cellBytes  = 32
	sweepBytes = 24
	ratioBytes = 4 // more, in column form of a graph with weights
)

// maySweep reports whether there is room for sweeps of n nodes.
func (sv *Solver) maySweep(n int) bool {
	bytes := int64(sweepBytes)
	if sv.sys.scaled() {
		bytes += ratioBytes
	}
	return sv.Memory == 0 || bytes*int64(n) <= sv.Memory/2
}

// cellRoom returns the number of cells that may be used for a graph of n nodes. The queues take
// another quarter.
func (sv *Solver) cellRoom(n int) int {
	switch {
	case sv.Memory == 0:
		return math.MaxInt
	case sv.maySweep(n):
		return int(sv.Memory / 4 / cellBytes)
	}
	return int(sv.Memory * 5 / 8 / cellBytes)
}

// mixedRoom returns the number of combined residuals that may be used.
func (sv *Solver) mixedRoom() int {
	if sv.Memory == 0 {
		return math.MaxInt
	}
	return int(sv.Memory / 8 / 8)
}

// reset clears the used part of the workspace, so that the next computation starts from zero.
func (sv *Solver) reset() {
	sv.cells.clear()
	sv.queue, sv.next = sv.queue[:0], sv.next[:0]
	sv.sys, sv.from, sv.full, sv.dense, sv.norms = system{}, nil, false, false, norms{}
	sv.ops, sv.pushes, sv.loaded, sv.estimates, sv.err = 0, 0, 0, 0, nil
}

// Bounds on degrees and on values of a right side, so that float32 can hold every estimate.
const (
	minDegree = 0x1p-40
	maxDegree = 0x1p72
	maxValue  = 0x1p60
)

// load adds a node to the workspace. The residual of the starting state is added to the residual
// that the cell has already received.
func (sv *Solver) load(u ID) *cell {
	c := sv.cells.at(u)
	if c.dh != 0 {
		return c
	}
	c = sv.cells.add(u)
	c.dh = sv.pivot(u)
	c.limit = sv.leastLimit(c.dh)
	sv.loaded++
	if sv.from != nil {
		y, r := sv.from.at(u)
		c.y = y
		c.r += r
		sv.norms.l1 -= math.Abs(r)
		sv.norms.n2 -= r * r / c.dh
	}
	return c
}

// limit returns the magnitude above which the residual of u must be pushed, where dh is its pivot.
func (sv *Solver) limit(u ID, dh float64) float64 {
	return max(sv.threshold*sv.sys.size(u, dh), math.SmallestNonzeroFloat64)
}

// leastLimit is a lower bound of limit for which no row need be read.
func (sv *Solver) leastLimit(dh float64) float64 {
	return max(sv.threshold*sv.sys.leastSize(dh), math.SmallestNonzeroFloat64)
}

// pivot returns Dh_u and records an error in sv.err if it is out of range.
func (sv *Solver) pivot(u ID) float64 {
	dh := pivot(sv.sys.g, u)
	if !(dh >= minDegree && dh <= maxDegree) && sv.err == nil {
		sv.err = fmt.Errorf("%w: node %d has degree %v", ErrInput, u, dh)
	}
	return dh
}

// spread adds a A t to the residuals that a push of t at a node reaches, whose column has the given
// entries.
func (sv *Solver) spread(to []ID, weight []float32, t float64) {
	t *= sv.sys.alpha
	sv.ops += len(to)
	page, cells := sv.cells.page, sv.cells.cell
	switch {
	case sv.cells.whole && weight == nil:
		for _, v := range to {
			if cells[v].add(t) {
				sv.enqueueIfAbove(v)
			}
		}
	case sv.cells.whole:
		for i, v := range to {
			if cells[v].add(t * float64(weight[i])) {
				sv.enqueueIfAbove(v)
			}
		}
	case weight == nil:
		for _, v := range to {
			if cells[page[v>>pageBits]|v&pageMask].add(t) {
				sv.enqueueIfAbove(v)
				cells = sv.cells.cell
			}
		}
	default:
		for i, v := range to {
			if cells[page[v>>pageBits]|v&pageMask].add(t * float64(weight[i])) {
				sv.enqueueIfAbove(v)
				cells = sv.cells.cell
			}
		}
	}
}

// add adds x to the residual, and reports whether it is above the limit. NaN is, so that its cell
// is loaded and cleared.
func (c *cell) add(x float64) bool {
	c.r += x
	return !(math.Abs(c.r) <= c.limit)
}

// enqueueIfAbove loads u if it is new and queues it if its residual is above the limit.
func (sv *Solver) enqueueIfAbove(u ID) {
	c := sv.load(u)
	if sv.sys.scaled() && math.Abs(c.r) > c.limit {
		c.limit = sv.limit(u, c.dh)
	}
	if math.Abs(c.r) > c.limit {
		c.limit = math.Inf(1)
		sv.next = append(sv.next, u)
	}
}

// setThreshold sets the threshold and queues every loaded node above it.
func (sv *Solver) setThreshold(th float64) {
	sv.threshold = th
	for u, c := range sv.cells.all() {
		c.limit = sv.leastLimit(c.dh)
		sv.enqueueIfAbove(u)
	}
}

// entries returns the nodes of the workspace in ascending order.
func (sv *Solver) entries() iter.Seq[entry] {
	return func(yield func(entry) bool) {
		if !sv.dense {
			for u, c := range sv.cells.all() {
				if !yield(entry{u, c.y, c.r}) {
					return
				}
			}
			return
		}
		for u, c := range sv.nodes[:sv.sys.g.NumNodes()] {
			if !yield(entry{ID(u), c.y, sv.r[u]}) {
				return
			}
		}
	}
}

// newState returns the workspace as a State with its own lists.
func (sv *Solver) newState(h Vector) *State {
	q := sv.sys
	s := &State{kernel: q.kernel, weighted: q.weighted, unit: q.unit, h: h, ops: sv.ops}
	s.lists = newLists(h, sv.entries(), sv.sizes(), q.g.NumNodes())
	s.norms = sv.residual()
	return s
}

// sizes returns the sizes of the lists that the workspace fills.
func (sv *Solver) sizes() (s listSizes) {
	if !sv.dense {
		return listSizes{sv.estimates, sv.loaded}
	}
	for u, c := range sv.nodes[:sv.sys.g.NumNodes()] {
		if c.y != 0 {
			s.y++
		}
		if sv.r[u] != 0 {
			s.r++
		}
	}
	return s
}

// residual returns the norms of the residual in the workspace.
func (sv *Solver) residual() (m norms) {
	if sv.dense {
		return sv.sys.norms(sv.entries())
	}
	for u, c := range sv.cells.all() {
		m.add(c.r, c.dh, sv.sys.divisor(u, c.dh))
	}
	return m
}

// at returns the estimate and the residual of a node in the workspace.
func (sv *Solver) at(u ID) (y, r float64) {
	if sv.dense {
		return sv.nodes[u].y, sv.r[u]
	}
	c := sv.cells.at(u)
	return c.y, c.r
}
