package model

import (
	"context"
	"math/rand/v2"

	"kith/model/internal/spectral"
)

// vectorRank returns the rank of the spectrum of a graph of n nodes in a training with the given
// memory, and the bytes that its computation may take. It returns 0 if the contexts have no vectors
// block, or if there are too many nodes for the memory.
func (c *config) vectorRank(n int, memory int64) (rank int, budget int64) {
	if rank, budget = spectral.Rank(n, memory); c.vectorsLen() == 0 {
		return 0, budget
	}
	return rank, budget
}

// planVectors plans the vectors of a training. It returns nil for a training without vectors. If
// they are left out because they do not fit into the memory, leftOut is the number of bytes that
// they take at least.
func (c *config) planVectors(ctx context.Context, whole World, memory int64) (p *spectral.Plan, leftOut int64, err error) {
	n := whole.Graph.NumNodes()
	rank, budget := c.vectorRank(n, memory)
	switch {
	case c.vectorsLen() == 0:
		return nil, 0, nil
	case rank == 0:
		return nil, spectral.LeastBytes(n), nil
	}
	plain := &config{FeatureLen: c.FeatureLen}
	if c.FeatureLen > 0 {
		if bytes := spectral.WordBytes(whole); bytes > memory {
			return nil, bytes, nil
		}
	}
	p, err = spectral.NewPlan(ctx, spectral.Features{Len: c.FeatureLen, Read: plain.vector}, whole, budget)
	return p, 0, err
}

// vectorsIn computes the vectors of a world. It returns nil if p is nil.
func vectorsIn(ctx context.Context, rng *rand.Rand, p *spectral.Plan, w World, to *Meter) (*spectral.Vectors, error) {
	if p == nil {
		return nil, nil
	}
	to.Begin(NodeVectors)
	defer to.Step(1)
	return p.In(ctx, rng, w.Graph)
}

// vectorsLen is the length of the vectors block.
func (c *config) vectorsLen() int {
	if c.Blocks&blockVectors == 0 || c.Blocks&blockGraph != blockGraph || c.Unit {
		return 0
	}
	return spectral.Len(c.FeatureLen > 0)
}
