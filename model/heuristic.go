package model

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

// evenly is the start value of every candidate where none is better known than another. It stands for mass 1/k at each of
// k candidates: a walk is linear, so a common factor ranks nothing.
func evenly(*Scorer, World, Pair) float64 { return 1 }

// seeded is the walk of ppr: all mass starts at the serving node and spreads.
func seeded(c *config) {
	c.Alpha, c.Column, c.SeedWeight, c.Center = 0.85, true, 1, false
}

// unseeded is the walk of eve_ppr: that of PRB (NeurIPS 2024, section 4) whose h is the same at all candidates, whatever
// was observed, and 0 elsewhere.
func unseeded(c *config) {
	c.Alpha, c.Column, c.SeedWeight, c.Center = 0.85, false, 0, false
}

// uniform draws a number in [0, 1) that is a function of seed, round and pair, so that asking twice changes nothing.
func uniform(s *Scorer, _ World, p Pair) float64 {
	return s.random(p).Float64()
}
