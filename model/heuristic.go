package model

import (
	"context"
	"slices"

	"kith/model/column"
)

// heuristic scores a candidate by a fixed formula.
type heuristic func(s *Scorer, w World, p Pair) float64

// pathSum scores candidates by a sum over the walks from their sources.
type pathSum func(ctx context.Context, s *Scorer, w World, pairs []Pair, scores []Score) error

func commonNeighbors(_ *Scorer, w World, p Pair) float64 {
	return column.OverlapOf(w.Graph, p).Common
}

func adamicAdar(_ *Scorer, w World, p Pair) float64 {
	return column.OverlapOf(w.Graph, p).Adamic
}

func resourceAllocation(_ *Scorer, w World, p Pair) float64 {
	return column.OverlapOf(w.Graph, p).Resource
}

// preferentialAttachment is the product of the numbers of neighbours (Barabási and Albert, Science 286, 1999): those
// out of the source and those into the target. Loops do not count.
func preferentialAttachment(_ *Scorer, w World, p Pair) float64 {
	from, _ := w.Graph.Out(p.Source)
	to, _ := w.Graph.In(p.Target)
	return float64(without(from, p.Source) * without(to, p.Target))
}

// jaccard is the number of common neighbours divided by the number of neighbours out of the source or into the target
// (Jaccard, 1901). Source and target themselves are not counted.
func jaccard(_ *Scorer, w World, p Pair) float64 {
	common := column.OverlapOf(w.Graph, p).Common
	from, _ := w.Graph.Out(p.Source)
	to, _ := w.Graph.In(p.Target)
	all := float64(without(from, p.Source, p.Target)+without(to, p.Source, p.Target)) - common
	if all == 0 {
		return 0
	}
	return common / all
}

// without counts the nodes of an ascending row except the given others.
func without(row []ID, others ...ID) int {
	n := len(row)
	for i, u := range others {
		if _, there := slices.BinarySearch(row, u); there && !slices.Contains(others[:i], u) {
			n--
		}
	}
	return n
}

// evenly gives every candidate the same start value. It represents mass 1/k at each of k candidates: a walk is linear,
// so a common factor does not change the ranking.
func evenly(*Scorer, World, Pair) float64 { return 1 }

// seeded sets up the walk of ppr: all mass starts at the serving node.
func seeded(c *config) {
	c.Alpha, c.Column, c.SeedWeight, c.Center = 0.85, true, 1, false
}

// unseeded sets up the walk of eve_ppr: that of PRB (NeurIPS 2024, section 4) with the same h at all candidates,
// independent of the outcomes, and 0 elsewhere.
func unseeded(c *config) {
	c.Alpha, c.Column, c.SeedWeight, c.Center = 0.85, false, 0, false
}

// uniform draws a number in [0, 1) that is a function of seed, round and pair, so that scoring twice gives the same
// result.
func uniform(s *Scorer, _ World, p Pair) float64 {
	return s.random(p).Float64()
}
