package model

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
)

// maxSmooth is the largest number of entries, nodes times words, of a matrix of smoothed features.
const maxSmooth = 1 << 26

// content is what the nodes' words T say without any edge.
type content struct {
	words
	vector blas32.General // latent ones
	kin    adjacency
}

// contentOf returns nil for nodes without feature vectors.
func contentOf(ctx context.Context, c *config, w World) (*content, error) {
	if c.FeatureLen == 0 {
		return nil, nil
	}
	if n := w.Graph.NumNodes(); n*c.FeatureLen > maxSmooth {
		return nil, fmt.Errorf("%w: %d nodes with %d features each (accepted: up to %d in all)", ErrInput, n, c.FeatureLen, maxSmooth)
	}
	t, err := wordsOf(c, w)
	if err != nil {
		return nil, err
	}
	vector, err := t.latent(ctx)
	if err != nil {
		return nil, err
	}
	kin, err := t.kin(ctx)
	return &content{t, vector, kin}, err
}
