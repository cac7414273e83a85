package model

import "math/rand/v2"

// heuristic scores a candidate by a fixed formula.
type heuristic func(s *Scorer, w World, p Pair) float64

func commonNeighbors(_ *Scorer, w World, p Pair) float64 {
	return overlapOf(w.Graph, p).common
}

func adamicAdar(_ *Scorer, w World, p Pair) float64 {
	return overlapOf(w.Graph, p).adamic
}

func resourceAllocation(_ *Scorer, w World, p Pair) float64 {
	return overlapOf(w.Graph, p).resource
}

// uniform draws a number in [0, 1) that is a function of seed, round and pair, so that asking twice changes nothing.
func uniform(s *Scorer, _ World, p Pair) float64 {
	pair := uint64(p.Source)<<32 | uint64(p.Target)
	return rand.New(rand.NewPCG(s.config.Seed^uint64(s.round), pair)).Float64()
}
