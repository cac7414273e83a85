package model

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"
)

// content is what the nodes' words T tell without any edge.
type content struct {
	words
	topics blas32.General // basis of the latent vectors, one row for each word
	vector blas32.General // latent vectors, one row for each node
	kin    adjacency
}

// contentOf returns nil for nodes without feature vectors. Latent vectors have at most the given length.
func contentOf(ctx context.Context, c *config, w World, length int) (*content, error) {
	if c.FeatureLen == 0 {
		return nil, nil
	}
	t := &content{}
	var err error
	if t.words, err = wordsOf(c, w); err != nil {
		return nil, err
	}
	if t.topics, err = t.words.topics(ctx, length); err != nil {
		return nil, err
	}
	if t.vector, err = combined(ctx, t.rows, t.topics); err != nil {
		return nil, err
	}
	t.kin, err = t.words.kin(ctx)
	return t, err
}
