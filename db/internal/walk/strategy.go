package walk

import (
	"cmp"
	"fmt"
	"math"

	"kith/index"
	"kith/ppr"
)

// Strategy is a way to compute a walk.
type Strategy uint8

// The strategies.
const (
	Solve   Strategy = iota // solve for the start vector from scratch
	Track                   // update the state of the last start vector for this source
	Combine                 // read cached states of the start nodes at the candidates
	// Correct is Combine, and applies the residual of the states by cached states of the
	// candidates.
	Correct
)

func (s Strategy) String() string {
	return [...]string{"solve", "tracked", "combine", "combine corrected"}[s]
}

// Estimate is the predicted cost of a strategy.
type Estimate struct {
	Strategy Strategy
	Ms       float64 // predicted time in milliseconds
	Bound    float64 // predicted error, in the units of Tolerance
}

// Costs of the strategies' operations in nanoseconds, measured on one machine. Only their ratios
// affect the choice.
const (
	pushTime   = 40 // an edge operation of a local solve
	sweepTime  = 4  // an edge operation of a sweep
	lookUpTime = 15 // reading a state at a node
	carryTime  = 4  // an entry of a residual, or of an estimate combined with it
	sweepCount = 12 // number of sweeps of a solve that has become global
)

// typicalError is the L1 error that is assumed for a state at eps 1e-5 before one has been
// measured.
const typicalError = 0.1

// Estimates predicts the cost of each strategy. The first one is the cheapest that meets the
// tolerance, or a combination of a single state that meets it. Solving always meets it.
func (w *Walker) Estimates(t *Task) []Estimate {
	g := w.View.Graph
	arcs := float64(2*g.NumEdges() - g.NumLoops())
	k, eps := float64(len(t.Start.Node)), w.View.Meta.Epsilon
	price := w.States.Price(w.View, w.stateForm(t.Form), t.Alpha, t.Start.Node, 1/eps/100)
	global := sweepCount * arcs * sweepTime
	scratch := min(price.SolveOps*pushTime, global)
	solve := Estimate{Solve, min(k*scratch*eps/w.Tolerance(), global) / 1e6, w.Tolerance()}
	if w.Reader == nil {
		return []Estimate{solve}
	}
	all := []Estimate{solve}
	if w.States.Tracked(w.View, index.StateID{Form: t.Form, Alpha: t.Alpha, Source: t.Source}) {
		all = append(all, Estimate{Track, solve.Ms / 4, w.Tolerance()})
	}
	combined, corrected := w.bounds(t, cmp.Or(price.Error, typicalError))
	combine := Estimate{Combine, (float64(price.Missing)*scratch + k*float64(len(t.At))*lookUpTime) / 1e6, combined}
	all = append(all, combine)
	if !g.Directed() {
		ends := w.States.Price(w.View, w.stateForm(t.Form), t.Alpha, t.At, 1/eps/100)
		entries := price.SolveOps / 4 // entries of a residual; an estimate has a fifth of that
		ms := combine.Ms + (float64(ends.Missing)*scratch+(k+float64(len(t.At))/5)*entries*carryTime)/1e6
		all = append(all, Estimate{Correct, ms, min(combined, corrected)})
	}
	best := 0
	for i, c := range all {
		switch {
		case c.Bound > w.Tolerance():
		case c.Strategy == Combine && k == 1, c.Ms < all[best].Ms:
			// The state of a single source is worth keeping.
			best = i
		}
	}
	all[0], all[best] = all[best], all[0]
	return all
}

// bounds returns the error bound of a combination of states at the database's tolerance, relative
// to the largest start value, and the bound that remains when the residual is applied to the
// candidates. rest is the certified L1 error of one state. The second bound is about eps rest
// |weights|_2, because the n2 of a residual is at most its largest entry times its L1 norm, and
// residuals of different states hardly overlap. The certified error at the worst candidate was 0.3
// to 1.3 times as large on CA-GrQc, ego-Facebook, email-Enron and dblp-2010, for 10 and 100
// candidates, either form and eps from 1e-5 to 1e-6.
func (w *Walker) bounds(t *Task, rest float64) (combined, corrected float64) {
	total, squares := 0.0, 0.0
	form, unit := w.stateForm(t.Form), w.unit(t.Form, t.Start)
	for i, u := range t.Start.Node {
		weight := math.Abs(t.Start.Value[i]) * unit / w.unit(form, ppr.Unit(u))
		if t.Form != form { // column states, times the degree, serve the row form
			weight *= degree(w.View.Graph, u)
		}
		total += weight
		squares += weight * weight
	}
	if total == 0 {
		return 0, 0
	}
	eps, most := w.View.Meta.Epsilon, largest(t.Start.Value)
	return t.Alpha * eps * total / most, 1.3 * eps * rest * math.Sqrt(squares) / most
}

// stateForm returns the form of the cached states that serve form.
func (w *Walker) stateForm(form ppr.Form) ppr.Form {
	if !w.View.Graph.Directed() {
		return ppr.Column
	}
	return form
}

// Describe describes the chosen strategy and the cost of the rejected ones.
func (w *Walker) Describe(all []Estimate) string {
	s := fmt.Sprint(all[0].Strategy)
	for i, c := range all[1:] {
		s += [...]string{" (instead of ", ", "}[min(i, 1)] + fmt.Sprintf("%v: %.3g ms", c.Strategy, c.Ms)
		if c.Bound > w.Tolerance() {
			s += fmt.Sprintf(" but bound %.2g", c.Bound)
		}
	}
	if len(all) > 1 {
		s += ")"
	}
	return s
}
