package model

import (
	"context"
	"fmt"
	"math"
	"sort"

	"gonum.org/v1/gonum/blas/blas32"
)

// overlap is what the common neighbours w of a pair (v, c) say of it; on a directed graph those with v→w→c.
type overlap struct {
	common   float64 // number of them
	adamic   float64 // Σ 1/log(degree of w): Adamic and Adar, Social Networks 25 (2003)
	resource float64 // Σ 1/degree of w: Zhou, Lü and Zhang, Eur. Phys. J. B 71 (2009)
}

// overlapOf reads the overlap of v and c. Degrees count neighbours, both ways on a directed graph; v and c themselves,
// which a loop can bring in, are no common neighbours.
func overlapOf(g Graph, p Pair) (o overlap) {
	v, c := p.Source, p.Target
	from, _ := g.Out(v)
	to, _ := g.In(c)
	intersect(from, to, func(w ID) {
		if w == v || w == c {
			return
		}
		d := float64(max(neighbors(g, w), 2)) // 1 where v is c
		o.common++
		o.adamic += 1 / math.Log(d)
		o.resource += 1 / d
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

// intersect calls each for the common nodes of two ascending rows: the longer row is searched forward for each node of
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
	colFrom            // and the other way round
	colCommon          // log1p of the number of common neighbours
	colAdamic          // log1p of Adamic-Adar
	colResource        // log1p of resource allocation
	colSource          // log1p of the source's out-neighbours
	colTarget          // log1p of the candidate's in-neighbours
	colSalton          // common neighbours over the root of the product of both counts (Salton and McGill, 1983)
	colPaths           // log1p of the paths of three edges, each over the root of its first node's neighbours
	colShare           // proximity of the candidate over its neighbours
	structuralLen
)

// proximityAlpha is the damping of the block's PageRank, whatever the policy's own walk.
const proximityAlpha = 0.85

// logProximity maps a PageRank of 0 to 0 and of 1 to 1, logarithmically above 1e-6.
func logProximity(p float64) float64 {
	return math.Log1p(max(p, 0)*1e6) / math.Log1p(1e6)
}

// approach leaves the proximities of the pairs on the tape, both ways, from the graph as it is in this world.
func (t *tape) approach(ctx context.Context, w World, pairs []Pair) error {
	t.to, t.from, t.second.known = t.to[:0], t.from[:0], false
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

// structural fills the structural block of the pairs from the first one on, a row each of x, in the columns from the given
// one on. Their proximities are on the tape.
func (t *tape) structural(g Graph, pairs []Pair, first int, x blas32.General, col int) {
	for i := range x.Rows {
		p := pairs[first+i]
		t.second.of(g, p.Source)
		t.structuralOf(g, p, t.to[first+i], t.from[first+i], row(x, i)[col:])
	}
}

// proximity asks for the PageRank of pairs of one source, both ways.
func (t *tape) proximity(ctx context.Context, w World, pairs []Pair) (to, from []float64, err error) {
	to, from, err = w.Walk.Proximity(ctx, proximityAlpha, pairs[0].Source, t.targets(pairs))
	if err == nil && (len(to) != len(pairs) || len(from) != len(pairs)) {
		err = fmt.Errorf("%w: %d and %d proximities of %d candidates", ErrInput, len(to), len(from), len(pairs))
	}
	return to, from, err
}

// structuralOf fills the block of a pair with these proximities.
func (t *tape) structuralOf(g Graph, p Pair, to, from float64, x []float32) {
	o := overlapOf(g, p)
	out, _ := g.Out(p.Source)
	in, _ := g.In(p.Target)
	for col, v := range [structuralLen]float64{
		colTo:       logProximity(to),
		colFrom:     logProximity(from),
		colCommon:   math.Log1p(o.common),
		colAdamic:   math.Log1p(o.adamic),
		colResource: math.Log1p(o.resource),
		colSource:   math.Log1p(float64(len(out))),
		colTarget:   math.Log1p(float64(len(in))),
		colSalton:   o.common / math.Sqrt(float64(max(1, len(out)*len(in)))),
		colPaths:    math.Log1p(t.second.paths(g, p)),
		colShare:    logProximity(to / float64(max(1, len(in)))),
	} {
		x[col] = float32(v)
	}
}
