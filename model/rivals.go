package model

import (
	"math"
	"slices"
)

// rivals holds the nodes two edges away from a source. Those that the source has no edge to are the rivals of every
// candidate, independent of the other candidates of a question. Those that are also neighbours of the source show what
// its links look like.
type rivals struct {
	source ID
	known  bool               // the data is that of source
	open   [yardsticks]ladder // rivals by each yardstick
	linked [yardsticks]ladder // neighbours of the source by each yardstick
	most   flow               // maximum of each number over the rivals
	habit  [yardsticks]float64
	closed float64 // share of the source's neighbours that are also two edges away, with a prior of one in four
	mutual float64 // see mutual
}

// Yardsticks, in order.
const (
	byResource = iota
	byAdamic
	byEven
	byDegree
	yardsticks
)

// measures returns the value of each yardstick for a node with flow f and in in-neighbours.
func measures(f flow, in float64) [yardsticks]float64 {
	return [yardsticks]float64{byResource: f.resource, byAdamic: f.adamic, byEven: f.even, byDegree: in}
}

// of computes the rivals of the source of s, unless they are already known.
func (r *rivals) of(g Graph, s *second) {
	if r.known && r.source == s.source {
		return
	}
	r.source, r.known, r.most = s.source, true, flow{}
	for k := range yardsticks {
		r.open[k].clear()
		r.linked[k].clear()
	}
	out, _ := g.Out(s.source)
	closed := 0
	for i, u := range s.node {
		f := s.flow[i]
		if _, there := slices.BinarySearch(out, u); there {
			closed++
			addMeasures(&r.linked, measures(withoutEdge(g, u, f)))
			continue
		}
		in, _ := g.In(u)
		addMeasures(&r.open, measures(f, float64(len(in))))
		r.most.common = max(r.most.common, f.common)
		r.most.adamic = max(r.most.adamic, f.adamic)
		r.most.resource = max(r.most.resource, f.resource)
	}
	for k := range yardsticks {
		r.open[k].sum()
		r.linked[k].sum()
	}
	r.closed = float64(closed+1) / float64(len(out)+4)
	r.mutual = mutual(g, s.source)
	r.habits(g, s, out)
}

// addMeasures adds the value of each yardstick to its ladder.
func addMeasures(to *[yardsticks]ladder, v [yardsticks]float64) {
	for k := range to {
		to[k].add(v[k])
	}
}

// withoutEdge returns the flow to a neighbour of the source and the number of its in-neighbours without the edge
// between them.
func withoutEdge(g Graph, u ID, f flow) (flow, float64) {
	in, _ := g.In(u)
	if !g.Directed() {
		f.even = f.weight / math.Sqrt(float64(max(1, len(in)-1)))
	}
	return f, float64(len(in) - 1)
}

// maxHabit is the approximate maximum number of neighbours that a habit is computed from. A larger neighbourhood is
// sampled at equal distances.
const maxHabit = 64

// habits computes the mean, over neighbours of the source, of log1p of the number of rivals above the neighbour. Two
// random rivals are added as a prior.
func (r *rivals) habits(g Graph, s *second, out []ID) {
	const before = 2
	random := max(0, math.Log1p(r.open[0].len())-1)
	for k := range r.habit {
		r.habit[k] = before * random
	}
	n := float64(before)
	for i := 0; i < len(out); i += max(1, len(out)/maxHabit) {
		if out[i] == s.source {
			continue
		}
		n++
		for k, v := range measures(withoutEdge(g, out[i], s.to(out[i]))) {
			r.habit[k] += math.Log1p(r.open[k].above(v))
		}
	}
	for k := range r.habit {
		r.habit[k] /= n
	}
}

// mutual is the share of a node's neighbours on a directed graph that it has arcs both to and from.
func mutual(g Graph, u ID) float64 {
	out, _ := g.Out(u)
	in, _ := g.In(u)
	both := 0
	intersect(out, in, func(ID) { both++ })
	return float64(both) / float64(max(1, len(out)+len(in)-both))
}

// rivals fills the columns that compare the candidate with the rivals and the neighbours of the source.
func (l *glance) rivals(g Graph, p Pair, r *rivals, x []float32) {
	links := r.linked[0].len()
	for k, v := range measures(l.flow, l.in) {
		x[topRank+k] = float32(math.Log1p(r.open[k].above(v)))
		x[topAbove+k] = float32(math.Log((r.linked[k].above(v) + 0.5) / (links + 1)))
		x[topHabit+k] = float32(r.habit[k])
	}
	x[topMostCommon] = float32(l.flow.common / max(r.most.common, 1))
	x[topMostAdamic] = float32(l.flow.adamic / max(r.most.adamic, resourceFloor))
	x[topMostResource] = float32(l.flow.resource / max(r.most.resource, resourceFloor))
	x[topRivals], x[topClosed] = float32(math.Log1p(r.open[0].len())), float32(r.closed)
	if g.Directed() {
		x[topMutual], x[topTargetMutual] = float32(r.mutual), float32(mutual(g, p.Target))
	}
}

// ladder is a histogram of numbers on a logarithmic scale with 64 rungs per octave. It is ready for use after clear.
type ladder struct {
	count    [rungs + 1]float32 // after sum: how many numbers are on the rung or above
	low, top int                // lowest and highest rung with a number; all others hold 0
}

const (
	rungs      = 48 * 64
	bottomRung = (127 - 24) * 64 // rung of 2^-24, from the exponent and the first digits of a float32
)

// rung returns the rung of a number. Small numbers are on the lowest rung.
func rung(x float64) int {
	return min(max(int(math.Float32bits(float32(max(x, 0)))>>17)-bottomRung, 0), rungs-1)
}

func (l *ladder) clear() {
	if l.low <= l.top {
		clear(l.count[l.low : l.top+1])
	}
	l.low, l.top = rungs, -1
}

func (l *ladder) add(x float64) {
	i := rung(x)
	l.count[i]++
	l.low, l.top = min(l.low, i), max(l.top, i)
}

// sum accumulates the counts. No number may be added afterwards.
func (l *ladder) sum() {
	for i := l.top - 1; i >= l.low; i-- {
		l.count[i] += l.count[i+1]
	}
}

// len returns how many numbers were added. It must follow sum.
func (l *ladder) len() float64 { return float64(l.count[l.low]) }

// above returns how many numbers are above x. Numbers on the same rung as x count half.
func (l *ladder) above(x float64) float64 {
	i := rung(x)
	if i < l.low {
		return l.len()
	}
	return float64(l.count[i]+l.count[i+1]) / 2
}
