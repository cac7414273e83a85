package spectral

import (
	"context"
	"slices"

	"kith/model/internal/column"
	"kith/model/internal/graph"
	"kith/model/nn"
)

// Features says how the content of nodes is read.
type Features struct {
	column.Content
	Len  int                                  // length of a vector of content; 0: nodes have none
	Fits func(u ID, features []float32) error // checks a feature vector; nil: they are not read
}

// Bytes is the number of bytes that the content of a world takes while its words are computed: rows
// and columns.
func (of Features) Bytes(w World) (n int64) {
	var v nn.Sparse
	for u := range ID(w.Graph.NumNodes()) {
		v = nn.Sparse{At: v.At[:0], Value: v.Value[:0]}
		of.Append(w, u, &v)
		n += 2 * 8 * int64(len(v.At))
	}
	return n
}

// wordsOf reads the contents of a world's nodes.
func wordsOf(of Features, w World) (nn.Words, error) {
	vectors := make([]nn.Sparse, w.Graph.NumNodes())
	for u := range vectors {
		if w.Features != nil && of.Fits != nil {
			if err := of.Fits(ID(u), w.Features(ID(u))); err != nil {
				return nn.Words{}, err
			}
		}
		v := &vectors[u]
		of.Append(w, ID(u), v)
		known, _ := slices.BinarySearch(v.At, uint32(of.Len))
		v.At, v.Value = v.At[:known], v.Value[:known]
	}
	return nn.WordsOf(vectors, of.Len), nil
}

// contentOf returns nil for nodes without content. Latent vectors have at most the given
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
