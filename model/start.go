package model

import (
	"encoding/base64"
	"math/rand/v2"
)

// startRanker returns the ranker of a model that was not trained: what was learned on other graphs.
func startRanker(c *config) *ranker {
	shape := c.rankerShape()
	full := shape
	full.In = similarityLen + topologyLen + structuralLen
	own := newNetwork(shape, make([]float32, shape.params()))
	all := make([]float32, full.params()+3)
	packed, err := base64.StdEncoding.DecodeString(startWeights)
	if err != nil || len(packed) != 4*len(all) || !unpackFloats(all, packed) {
		return blankRanker(shape)
	}
	theta, l := all[:full.params()], all[full.params():]
	// Columns stand last in both: those of vectors, which come before, have no weight yet. Similarities were learned on words,
	// and say nothing of short vectors.
	rest := min(len(theta), len(own.theta)-c.vectorsLen()*rankerWidth)
	if c.FeatureLen > 0 && c.FeatureLen <= perEntry {
		rest = min(rest, len(theta)-similarityLen*rankerWidth)
	}
	copy(own.theta[len(own.theta)-rest:], theta[len(theta)-rest:])
	return &ranker{own, level{float64(l[0]), float64(l[1]), float64(l[2])}}
}

// blankRanker returns one that has learned nothing.
func blankRanker(s shape) *ranker {
	n := newNetwork(s, make([]float32, s.params()))
	n.initUniform(rand.New(rand.NewPCG(1, 1)))
	return &ranker{n, level{slope: 1}}
}

// pack is the ranker at rest.
func (r *ranker) pack() []byte {
	if r == nil {
		return nil
	}
	return packFloats(append(append([]float32(nil), r.net.theta...), narrow([]float64{r.level.slope, r.level.degree, r.level.shift})...))
}
