package model

import (
	"context"
	"fmt"
	"math"
	"sort"
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

// structural fills the structural block of each pair, a row each, from the graph as it is in this world.
func structural(ctx context.Context, w World, pairs []Pair, set func(i, col int, v float64)) error {
	return bySource(pairs, func(first int, run []Pair) error {
		return structuralFrom(ctx, w, run, func(i, col int, v float64) { set(first+i, col, v) })
	})
}

// bySource calls f for each run of pairs with the same source.
func bySource(pairs []Pair, f func(first int, run []Pair) error) error {
	for first := 0; first < len(pairs); {
		end := first + 1
		for end < len(pairs) && pairs[end].Source == pairs[first].Source {
			end++
		}
		if err := f(first, pairs[first:end]); err != nil {
			return err
		}
		first = end
	}
	return nil
}

func targetsOf(pairs []Pair) []ID {
	targets := make([]ID, len(pairs))
	for i, p := range pairs {
		targets[i] = p.Target
	}
	return targets
}

// structuralFrom does it for pairs of one source.
func structuralFrom(ctx context.Context, w World, pairs []Pair, set func(i, col int, v float64)) error {
	source, candidates := pairs[0].Source, targetsOf(pairs)
	to, from, err := w.Walk.Proximity(ctx, proximityAlpha, source, candidates)
	if err != nil {
		return err
	}
	if len(to) != len(candidates) || len(from) != len(candidates) {
		return fmt.Errorf("%w: %d and %d proximities of %d candidates", ErrInput, len(to), len(from), len(candidates))
	}
	out, _ := w.Graph.Out(source)
	second := secondNeighbors(w.Graph, source)
	for i, c := range candidates {
		o := overlapOf(w.Graph, pairs[i])
		in, _ := w.Graph.In(c)
		set(i, colTo, logProximity(to[i]))
		set(i, colFrom, logProximity(from[i]))
		set(i, colCommon, math.Log1p(o.common))
		set(i, colAdamic, math.Log1p(o.adamic))
		set(i, colResource, math.Log1p(o.resource))
		set(i, colSource, math.Log1p(float64(len(out))))
		set(i, colTarget, math.Log1p(float64(len(in))))
		set(i, colSalton, o.common/math.Sqrt(float64(max(1, len(out)*len(in)))))
		set(i, colPaths, math.Log1p(second.paths(w.Graph, pairs[i])))
		set(i, colShare, logProximity(to[i]/float64(max(1, len(in)))))
	}
	return nil
}
