package model

import "math/rand/v2"

// heuristic scores a candidate by a fixed formula.
type heuristic func(s *Scorer, w World, source, candidate ID) float64

func commonNeighbors(_ *Scorer, w World, source, candidate ID) float64 {
	return overlapOf(w.Graph, source, candidate).common
}

func adamicAdar(_ *Scorer, w World, source, candidate ID) float64 {
	return overlapOf(w.Graph, source, candidate).adamic
}

func resourceAllocation(_ *Scorer, w World, source, candidate ID) float64 {
	return overlapOf(w.Graph, source, candidate).resource
}

// uniform draws a number in [0, 1) that is a function of seed, round and pair, so that asking twice changes nothing.
func uniform(s *Scorer, _ World, source, candidate ID) float64 {
	pair := uint64(source)<<32 | uint64(candidate)
	return rand.New(rand.NewPCG(s.config.Seed^uint64(s.round), pair)).Float64()
}
