package model

import (
	"fmt"
	"slices"

	"kith/model/internal/graph"
	"kith/model/nn"
)

// gate says how much weight a forecast has next to the ranker, by the age of the newest edge out of
// the source. The log-odds of a link are the ranker's, plus Weight times the forecast's, plus
// Shift. Only the forecast knows whether a link that exists occurs again, so about such links it
// always answers alone, and also about sources without edges. The ranker answers alone about
// sources that have edges to them only.
type gate struct {
	Ages   [gateParts]float64 // the largest age of each part, ascending; the last is ageless
	Weight [gateParts]float64 // one of gateWeights
	Shift  [gateParts]float64 // gives the links that do not exist as much probability as the forecast does
}

// gateParts is the number of parts that ages are divided into. They have equal numbers of late
// questions.
const gateParts = 3

// alone is the weight with which a forecast replaces the ranker.
const alone = -1

// gateChoices is the number of gateWeights.
const gateChoices = 5

// gateWeights are the weights that a gate chooses from. The first leaves the order of the links to
// the ranker.
func gateWeights() [gateChoices]float64 { return [...]float64{0, 0.25, 0.5, 1, alone} }

// openGate is the gate before a training of it: the forecast answers.
func openGate() gate {
	return gate{Ages: [gateParts]float64{ageless, ageless, ageless}, Weight: [gateParts]float64{alone, alone, alone}}
}

// open reports whether the forecast always answers alone.
func (g *gate) open() bool { return g.Weight == openGate().Weight }

// part returns the part that an age is in.
func (g *gate) part(age float64) int {
	for k, most := range g.Ages {
		if age <= most {
			return k
		}
	}
	return gateParts - 1
}

// check reports an error for decoded values that a gate cannot have.
func (g *gate) check() error {
	weights := gateWeights()
	for _, w := range g.Weight {
		if !slices.Contains(weights[:], w) {
			return fmt.Errorf("a forecast of weight %v", w)
		}
	}
	if !nn.Finite(g.Ages[:]...) || !nn.Finite(g.Shift[:]...) {
		return fmt.Errorf("a gate of ages %v and shifts %v", g.Ages, g.Shift)
	}
	return nil
}

// share is the part of a forecast in the log-odds of a pair: Weight times the forecast plus Shift.
type share struct{ Weight, Shift float64 }

// asks reports whether the forecast is part of the log-odds.
func (s share) asks() bool { return s.Weight != 0 }

// answers reports whether the forecast answers alone about all targets of a source.
func (o *forecastSnapshot) answers(w World, source ID) bool {
	return o.reads(w) && (o.gate.open() || o.gate.of(w.Graph.(Timed), clockOf(w), source).Weight == alone)
}

// shares returns the share of the forecast in each pair, and whether it answers all of them alone.
func (o *forecastSnapshot) shares(dst []share, w World, pairs []Pair) (all []share, isAlone bool) {
	all = slices.Grow(dst[:0], len(pairs))[:len(pairs)]
	if o.gate.open() {
		for i := range all {
			all[i] = share{Weight: alone}
		}
		return all, true
	}
	g := w.Graph.(Timed)
	c := clockOf(w)
	isAlone = true
	for first, run := range graph.BySource(pairs) {
		of, known := o.gate.of(g, c, run[0].Source), graph.Out(g, run[0].Source)
		for i, p := range run {
			all[first+i] = of
			if _, linked := slices.BinarySearch(known, p.Target); linked {
				all[first+i] = share{Weight: alone}
			}
			isAlone = isAlone && all[first+i].Weight == alone
		}
	}
	return all, isAlone
}

// of returns the share in new links of a source.
func (g *gate) of(in Timed, c clock, source ID) share {
	if times := in.OutTimes(source); hasTime(times) {
		k := g.part(c.age(latest(times, c.now)))
		return share{g.Weight[k], g.Shift[k]}
	}
	if graph.InLen(in, source) == 0 {
		return share{Weight: alone}
	}
	return share{}
}

// hasTime reports whether an edge of a row has a time. Whether a row whose edges have no times is
// nil depends on where the row is stored.
func hasTime(times []int64) bool {
	return slices.ContainsFunc(times, func(t int64) bool { return t != 0 })
}

// latest returns the latest of the times that are not after now, or 0.
func latest(times []int64, now int64) (newest int64) {
	for _, t := range times {
		if t <= now {
			newest = max(newest, t)
		}
	}
	return newest
}
