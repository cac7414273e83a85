package db

import (
	"fmt"
	"math"

	"kith/index"
	"kith/ppr"
)

// way is a strategy to compute a walk.
type way uint8

const (
	waySolve   way = iota // solve for the start vector from scratch
	wayTrack              // update the state of the last start vector for this source
	wayCombine            // read cached states of the start nodes at the candidates
	wayCorrect            // the same, and apply their residual to the candidates by cached states of the candidates
)

func (w way) String() string {
	return [...]string{"solve", "tracked", "combine", "combine corrected"}[w]
}

// choice is the planner's estimate for one strategy.
type choice struct {
	way   way
	ms    float64 // predicted time in milliseconds
	bound float64 // predicted error, in the units of tolerance
}

// Costs of the planner's operations in nanoseconds, measured on one machine. Only their ratios affect the choice.
const (
	pushTime   = 40 // an edge operation of a local solve
	sweepTime  = 4  // an edge operation of a sweep
	lookUpTime = 15 // reading a state at a node
	carryTime  = 4  // an entry of a residual, or of an estimate combined with it
	sweepCount = 12 // number of sweeps of a solve that has become global
)

// typicalRest is the L1 error that is assumed for a state at eps 1e-5 before one has been measured.
const typicalRest = 0.1

// task is a walk to plan.
type task struct {
	form   ppr.Form
	alpha  float64
	source index.ID
	h      ppr.Vector
	at     []index.ID
}

// choices predicts the cost of each strategy. The first one is the cheapest that meets the tolerance, or a combination of
// a single state that meets it. Solving always meets it.
func (w *walker) choices(t *task) []choice {
	g := w.view.Graph
	arcs := float64(2*g.NumEdges() - g.NumLoops())
	k, eps := float64(len(t.h.Node)), w.view.Meta.Epsilon
	price := w.db.states.Price(w.stateForm(t.form), t.alpha, t.h.Node, 1/eps/100)
	global := sweepCount * arcs * sweepTime
	afresh := min(price.Afresh*pushTime, global)
	solve := choice{waySolve, min(k*afresh*eps/w.tolerance(), global) / 1e6, w.tolerance()}
	if w.reader == nil {
		return []choice{solve}
	}
	all := []choice{solve}
	if w.db.states.Tracked(index.StateOf{Form: t.form, Alpha: t.alpha, Source: t.source}) {
		all = append(all, choice{wayTrack, solve.ms / 4, w.tolerance()})
	}
	combine := choice{wayCombine, (float64(price.Missing)*afresh + k*float64(len(t.at))*lookUpTime) / 1e6, w.combinedBound(t)}
	all = append(all, combine)
	if !g.Directed() {
		ends := w.db.states.Price(w.stateForm(t.form), t.alpha, t.at, 1/eps/100)
		entries := price.Afresh / 4 // entries of a residual; an estimate has a fifth of that
		ms := combine.ms + (float64(ends.Missing)*afresh+(k+float64(len(t.at))/5)*entries*carryTime)/1e6
		all = append(all, choice{wayCorrect, ms, min(combine.bound, w.correctedBound(t, price.Rest))})
	}
	best := 0
	for i, c := range all {
		switch {
		case c.bound > w.tolerance():
		case c.way == wayCombine && k == 1, c.ms < all[best].ms: // the state of one source is worth keeping
			best = i
		}
	}
	all[0], all[best] = all[best], all[0]
	return all
}

// combinedBound returns the error bound of a combination of states at the database's tolerance, relative to the largest
// start value.
func (w *walker) combinedBound(t *task) float64 {
	total := 0.0
	for i, u := range t.h.Node {
		total += w.weight(t, i, u)
	}
	if total == 0 {
		return 0
	}
	return t.alpha * w.view.Meta.Epsilon * total / largest(t.h.Value)
}

// correctedBound returns the error that remains of combinedBound when the residual is applied to the candidates. rest
// is the certified L1 error of one state. The error is about eps rest |weights|_2, because the n2 of a residual is at
// most its largest entry times its L1 norm, and residuals of different states hardly overlap. The certified error at
// the worst candidate was 0.3 to 1.3 times that on CA-GrQc, ego-Facebook, email-Enron and dblp-2010, for 10 and 100
// candidates, either form and eps from 1e-5 to 1e-6.
func (w *walker) correctedBound(t *task, rest float64) float64 {
	squares := 0.0
	for i, u := range t.h.Node {
		weight := w.weight(t, i, u)
		squares += weight * weight
	}
	if squares == 0 {
		return 0
	}
	return 1.3 * w.view.Meta.Epsilon * orDefault(rest, typicalRest) * math.Sqrt(squares) / largest(t.h.Value)
}

// weight returns the weight of the state of u, the i-th start node. In an undirected graph column states, times the
// degree, serve the row form.
func (w *walker) weight(t *task, i int, u index.ID) float64 {
	weight := math.Abs(t.h.Value[i])
	if t.form == ppr.Row && !w.view.Graph.Directed() {
		weight *= pivot(w.view.Graph, u)
	}
	return weight
}

// stateForm returns the form of the cached states that serve form.
func (w *walker) stateForm(form ppr.Form) ppr.Form {
	if !w.view.Graph.Directed() {
		return ppr.Column
	}
	return form
}

// describe describes the chosen strategy and the cost of the others.
func (w *walker) describe(all []choice) string {
	s := fmt.Sprint(all[0].way)
	for i, c := range all[1:] {
		s += [...]string{" (instead of ", ", "}[min(i, 1)] + fmt.Sprintf("%v: %.3g ms", c.way, c.ms)
		if c.bound > w.tolerance() {
			s += fmt.Sprintf(" but bound %.2g", c.bound)
		}
	}
	if len(all) > 1 {
		s += ")"
	}
	return s
}
