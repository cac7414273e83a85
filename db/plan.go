package db

import (
	"fmt"
	"math"

	"kith/index"
	"kith/ppr"
)

// way is a way to compute a walk.
type way uint8

const (
	waySolve   way = iota // solve for the start vector, afresh
	wayTrack              // bring the state of the last start vector for this source up to date
	wayCombine            // read cached states of the start nodes at the candidates
	wayCorrect            // that, and carry their residual to the candidates by cached states of these
)

func (w way) String() string {
	return [...]string{"solve", "tracked", "combine", "combine corrected"}[w]
}

// choice is what the planner thinks of one way.
type choice struct {
	way   way
	ms    float64 // predicted
	bound float64 // predicted, as tolerance has it
}

// Times of the planner's units, in nanoseconds, as measured on one machine: only their ratios matter
// to the choice.
const (
	pushTime   = 40 // of an edge operation of a local solve
	sweepTime  = 4  // of one in a sweep
	lookUpTime = 15 // of reading a state at a node
	carryTime  = 4  // of an entry of a residual, or of an estimate held against it
	sweepCount = 12 // sweeps of a solve that has become global
)

// typicalRest is the L1 error of a state at eps 1e-5 that is assumed while none has been seen.
const typicalRest = 0.1

// task is a walk to be planned.
type task struct {
	form   ppr.Form
	alpha  float64
	source index.ID
	h      ppr.Vector
	at     []index.ID
}

// choices predicts what each way would cost, the cheapest of those that promise the tolerance first;
// solving always does.
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
		entries := price.Afresh / 4 // of a residual; an estimate has a fifth of that
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

// combinedBound is what states at the database's tolerance promise for their combination, relative to
// the largest start value.
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

// correctedBound is what is left of that when the residual is carried to the candidates, with rest for
// the certified L1 error of one state: about eps rest |weights|_2, because the n2 of a residual is at
// most its largest entry times its L1 norm, and residuals of different states hardly overlap. What
// gets certified at the worst candidate was 0.3 to 1.3 of that on CA-GrQc, ego-Facebook, email-Enron
// and dblp-2010, for 10 and 100 candidates, either form and eps from 1e-5 to 1e-6.
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

// weight is that of the state of the i-th start node u: column states serve the row form of an
// undirected graph, times the degree.
func (w *walker) weight(t *task, i int, u index.ID) float64 {
	weight := math.Abs(t.h.Value[i])
	if t.form == ppr.Row && !w.view.Graph.Directed() {
		weight *= pivot(w.view.Graph, u)
	}
	return weight
}

// stateForm is the form of the cached states that answer in form.
func (w *walker) stateForm(form ppr.Form) ppr.Form {
	if !w.view.Graph.Directed() {
		return ppr.Column
	}
	return form
}

// describe says what was chosen, and what the rest would have cost.
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
