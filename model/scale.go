package model

import (
	"kith/model/column"
)

// scales returns the factor that scales each input of a belief to about 1, because the prior treats all inputs alike.
func (c *config) scales() []float32 {
	var s []float32
	add := func(n int, by float32) {
		for range n {
			s = append(s, by)
		}
	}
	has := func(b blocks) bool { return c.Blocks&b != 0 }
	if has(blockClass) {
		add(c.FeatureLen*len(c.Classes), 1)
	}
	for _, b := range []struct {
		block blocks
		by    float32
	}{{blockSource, 1}, {blockTarget, 1}, {blockProduct, 0.5}, {blockDifference, 1}} {
		if has(b.block) {
			add(c.FeatureLen, b.by)
		}
	}
	add(c.timeLen(), timeScale)
	add(c.vectorsLen(), 1)
	if has(blockSimilarity) && c.FeatureLen > 0 {
		s = append(s, 2, 1, 1, 1, 2, 2, 2, 2)
	}
	if has(blockTopology) {
		s = append(s, column.TopologyScales()...)
	}
	if has(blockStructural) {
		// Degrees get small factors: a source's degree is the same for all candidates, and a target's degree grows with
		// its past successes, which its success rate describes better.
		s = append(s, 0.8, 0.8, 1, 1, 1, 0.02, 0.02, 1, 0.4, 0.8)
	}
	if c.rankLen() > 0 {
		s = append(s, 1)
	}
	return append(s, 1, 1, 1) // history and the constant
}
