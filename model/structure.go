package model

import (
	"context"
	"fmt"
	"math"
	"sort"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/nn"
)

// overlap describes the common neighbours w of a pair (v, c), on a directed graph those with v→w→c.
type overlap struct {
	common   float64 // number of common neighbours
	adamic   float64 // Σ 1/log(degree of w): Adamic and Adar, Social Networks 25 (2003)
	resource float64 // Σ 1/degree of w: Zhou, Lü and Zhang, Eur. Phys. J. B 71 (2009)
	square   float64 // Σ 1/degree² of w
}

// overlapOf computes the overlap of v and c. The degree of a node is its number of neighbours, in both directions on a
// directed graph. v and c are not counted as common neighbours, even if they have loops.
func overlapOf(g Graph, p Pair) overlap {
	from, _ := g.Out(p.Source)
	to, _ := g.In(p.Target)
	return overlapOfRows(g, p, from, to)
}

// overlapOfRows computes the overlap of two given rows, one of each end.
func overlapOfRows(g Graph, p Pair, from, to []ID) (o overlap) {
	intersect(from, to, func(w ID) {
		if w == p.Source || w == p.Target {
			return
		}
		d := float64(max(neighbors(g, w), 2)) // the degree is 1 if both ends are the same node
		o.common++
		o.adamic += 1 / math.Log(d)
		o.resource += 1 / d
		o.square += 1 / (d * d)
	})
	return o
}

func neighbors(g Graph, w ID) int {
	out, _ := g.Out(w)
	if !g.Directed() {
		return len(out)
	}
	in, _ := g.In(w)
	return len(out) + len(in)
}

// intersect calls each for the common nodes of two ascending rows. It searches the longer row forward for each node of
// the shorter one.
func intersect(a, b []ID, each func(ID)) {
	if len(a) > len(b) {
		a, b = b, a
	}
	for _, w := range a {
		step := 1
		for step < len(b) && b[step-1] < w {
			step *= 2
		}
		near := b[:min(step, len(b))]
		at := sort.Search(len(near), func(i int) bool { return near[i] >= w })
		if at < len(near) && near[at] == w {
			each(w)
		}
		if b = b[at:]; len(b) == 0 {
			return
		}
	}
}

// Columns of the structural block, in order.
const (
	colTo       = iota // proximity of the candidate seen from the source
	colFrom            // proximity of the source seen from the candidate
	colCommon          // log1p of the number of common neighbours
	colAdamic          // log1p of Adamic-Adar
	colResource        // log1p of resource allocation
	colSource          // log1p of the source's out-neighbours
	colTarget          // log1p of the candidate's in-neighbours
	colSalton          // common neighbours / sqrt(source's out- × candidate's in-neighbours) (Salton and McGill, 1983)
	colPaths           // log1p of the paths of three edges, each divided by the root of its first node's neighbours
	colShare           // proximity of the candidate divided by its number of in-neighbours
	structuralLen
)

// proximityAlpha is the damping of the block's PageRank. It is independent of the policy's own walk.
const proximityAlpha = 0.85

// logProximity maps a PageRank of 0 to 0 and of 1 to 1, logarithmically above 1e-6.
func logProximity(p float64) float64 {
	return math.Log1p(max(p, 0)*1e6) / math.Log1p(1e6)
}

// approach stores the proximities of the pairs in both directions on the tape.
func (t *reader) approach(ctx context.Context, w World, pairs []Pair) error {
	t.to, t.from, t.second.known = t.to[:0], t.from[:0], false
	t.rivals.known = false
	for first := 0; first < len(pairs); {
		end := first + 1
		for end < len(pairs) && pairs[end].Source == pairs[first].Source {
			end++
		}
		to, from, err := t.proximity(ctx, w, pairs[first:end])
		if err != nil {
			return err
		}
		t.to, t.from = append(t.to, to...), append(t.from, from...)
		first = end
	}
	return nil
}

// glance holds the data of a pair that the graph blocks are computed from.
type glance struct {
	overlap
	flow                     // from source to candidate, within the limit of second
	paths, evenPaths float64 // paths of three edges: sum of weights, and sum of weights over the degrees of both inner nodes
	to, from         float64 // proximities
	out, in          float64 // numbers of neighbours out of the source and into the candidate
}

// reader reads the graph around the pairs of a question. It remembers what it read of the last source.
type reader struct {
	second second    // nodes two edges from the source
	rivals rivals    // rivals of the source's candidates
	to     []float64 // proximity of each target seen from its source
	from   []float64 // proximity of each source seen from its target
	at     []ID      // nodes whose walk values are requested
}

// glance reads the graph around the i-th pair, whose proximities are on the tape.
func (t *reader) glance(g Graph, pairs []Pair, i int) glance {
	p := pairs[i]
	t.second.of(g, p.Source)
	out, _ := g.Out(p.Source)
	in, _ := g.In(p.Target)
	paths, even := t.second.paths(g, p)
	return glance{
		overlap: overlapOfRows(g, p, out, in), flow: t.second.to(p.Target), paths: paths, evenPaths: even,
		to: t.to[i], from: t.from[i], out: float64(len(out)), in: float64(len(in)),
	}
}

// structural fills the structural block of the pairs from first on, one row of x each.
func (t *reader) structural(g Graph, pairs []Pair, first int, x blas32.General) {
	for i := range x.Rows {
		l := t.glance(g, pairs, first+i)
		l.structural(nn.Row(x, i))
	}
}

// proximity computes the PageRank of pairs of one source in both directions.
func (t *reader) proximity(ctx context.Context, w World, pairs []Pair) (to, from []float64, err error) {
	to, from, err = w.Walk.Proximity(ctx, proximityAlpha, pairs[0].Source, t.targets(pairs))
	if err == nil && (len(to) != len(pairs) || len(from) != len(pairs)) {
		err = fmt.Errorf("%w: %d and %d proximities of %d candidates", ErrInput, len(to), len(from), len(pairs))
	}
	return to, from, err
}

// structural fills the structural block of the pair.
func (l *glance) structural(x []float32) {
	for col, v := range [structuralLen]float64{
		colTo:       logProximity(l.to),
		colFrom:     logProximity(l.from),
		colCommon:   math.Log1p(l.overlap.common),
		colAdamic:   math.Log1p(l.overlap.adamic),
		colResource: math.Log1p(l.overlap.resource),
		colSource:   math.Log1p(l.out),
		colTarget:   math.Log1p(l.in),
		colSalton:   l.overlap.common / math.Sqrt(max(1, l.out*l.in)),
		colPaths:    math.Log1p(l.paths),
		colShare:    logProximity(l.to / max(1, l.in)),
	} {
		x[col] = float32(v)
	}
}

func (t *reader) targets(pairs []Pair) []ID {
	t.at = t.at[:0]
	for _, p := range pairs {
		t.at = append(t.at, p.Target)
	}
	return t.at
}
