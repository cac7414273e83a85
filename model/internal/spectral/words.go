package spectral

import (
	"context"
	"slices"

	"kith/model/internal/graph"
	"kith/model/nn"
)

// Features says how the feature vectors of nodes are read.
type Features struct {
	Len  int // 0: nodes have no vectors
	Read func(w World, u ID, to []float32) error
}

// WordBytes is the number of bytes that the words of a world take while their content is computed:
// rows and columns.
func WordBytes(w World) (n int64) {
	if w.Features == nil {
		return 0
	}
	for u := range ID(w.Graph.NumNodes()) {
		for _, x := range w.Features(u) {
			if x != 0 {
				n += 2 * 8
			}
		}
	}
	return n
}

// wordsOf reads the vectors of a world's nodes.
func wordsOf(of Features, w World) (nn.Words, error) {
	vectors, f := make([]nn.Sparse, w.Graph.NumNodes()), make([]float32, of.Len)
	for u := range vectors {
		if err := of.Read(w, ID(u), f); err != nil {
			return nn.Words{}, err
		}
		vectors[u].AppendVector(f)
	}
	return nn.WordsOf(vectors, of.Len), nil
}

// contentOf returns nil for nodes without feature vectors. Latent vectors have at most the given
// length.
func contentOf(ctx context.Context, of Features, w World, length int) (*nn.Content, error) {
	if of.Len == 0 {
		return nil, nil
	}
	words, err := wordsOf(of, w)
	if err != nil {
		return nil, err
	}
	return words.Content(ctx, length)
}

// adjacency holds the neighbours of every node in ascending order, without the node itself. Each
// edge counts in both directions; weights are ignored.
type adjacency [][]ID

func adjacencyOf(g Graph) adjacency {
	a := make(adjacency, g.NumNodes())
	for u := range a {
		a[u] = slices.Clone(graph.Neighbours(g, ID(u)))
	}
	return a
}

// union returns the links of a and b without duplicates.
func (a adjacency) union(b adjacency) adjacency {
	all := make(adjacency, len(a))
	for u := range all {
		all[u] = graph.Union(a[u], b[u])
	}
	return all
}
