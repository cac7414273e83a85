package fitted

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/nn"
)

// wordsOf reads the vectors of a world's nodes.
func wordsOf(c *config, w World) (nn.Words, error) {
	vectors := make([]nn.Sparse, w.Graph.NumNodes())
	for u := range vectors {
		if w.Features == nil {
			break
		}
		from := w.Features(ID(u))
		if len(from) > c.FeatureLen {
			return nn.Words{}, fmt.Errorf("node %d has %d features, want %d", u, len(from), c.FeatureLen)
		}
		vectors[u].AppendVector(from)
	}
	return nn.WordsOf(vectors, c.FeatureLen), nil
}

// smooth returns (1-α) Σ αᵏ Nᵏ x over the first stepsOf(α) terms.
func (a adjacency) smooth(ctx context.Context, alpha float64, x blas32.General) blas32.General {
	sum := nn.Resize(blas32.General{}, x.Rows, x.Cols)
	weight := 1 - alpha
	for range stepsOf(alpha) {
		nn.Axpy(float32(weight), x.Data, sum.Data)
		x = nn.Average(ctx, a, x, false)
		weight *= alpha
	}
	return sum
}

// stepsOf returns the number of steps after which αᵏ has fallen to about 1/1000, at most walkSteps.
func stepsOf(alpha float64) int {
	return min(int(math.Log(1e-3)/math.Log(alpha)), walkSteps)
}

// contentOf returns nil for nodes without feature vectors. Latent vectors have at most the given
// length.
func contentOf(ctx context.Context, c *config, w World, length int) (*nn.Content, error) {
	if c.FeatureLen == 0 {
		return nil, nil
	}
	words, err := wordsOf(c, w)
	if err != nil {
		return nil, err
	}
	return words.Content(ctx, length)
}

// latentLen is the largest length of a latent vector of pair_net.
const latentLen = 100

// adjacency holds the neighbours of every node in ascending order, without the node itself. Each
// edge counts in both directions; weights are ignored.
type adjacency [][]ID

func adjacencyOf(g Graph) adjacency {
	a := make(adjacency, g.NumNodes())
	for u := range a {
		a[u] = slices.Clone(neighboursOf(g, ID(u)))
	}
	return a
}

// union returns the links of a and b without duplicates.
func (a adjacency) union(b adjacency) adjacency {
	all := make(adjacency, len(a))
	for u := range all {
		all[u] = merged(a[u], b[u])
	}
	return all
}

// neighboursOf returns the nodes other than u that are linked with u in either direction,
// ascending.
func neighboursOf(g Graph, u ID) []ID {
	near, _ := g.Out(u)
	if g.Directed() {
		in, _ := g.In(u)
		near = merged(near, in)
	}
	if at, loop := slices.BinarySearch(near, u); loop {
		return slices.Concat(near[:at], near[at+1:])
	}
	return near
}

// merged returns the union of two ascending rows.
func merged(a, b []ID) []ID {
	all := make([]ID, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			all, a = append(all, a[0]), a[1:]
		case a[0] > b[0]:
			all, b = append(all, b[0]), b[1:]
		default:
			all, a, b = append(all, a[0]), a[1:], b[1:]
		}
	}
	return append(append(all, a...), b...)
}
