package model

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/nn"
)

// maxPosition is the largest number of eigenvectors of a position.
const maxPosition = 64

// halvings is the exponent of (S + I) / 2 in the matrix whose eigenvectors are computed.
const halvings = 4

// position locates nodes in the graph as a whole by the eigenvectors of S = (D + I)^-1/2 (A + I) (D + I)^-1/2 with the
// largest eigenvalues. With weights (1-α)/(1-αs) their scalar products approximate personalised PageRank with damping
// α, divided by the square root of the degrees.
type position struct {
	value []float32      // eigenvalues s, descending
	row   blas32.General // one row for each node

	weight [numWalks][]float32
}

const numWalks = 3

// positionLen is the number of columns: the scalar product and the cosine for each walk of walkAlphas.
const positionLen = 2 * numWalks

func positionIn(ctx context.Context, rng *rand.Rand, a adjacency, k int) (*position, error) {
	root := make([]float32, len(a))
	for u, r := range a {
		root[u] = float32(1 / math.Sqrt(float64(len(r)+1)))
	}
	// A power of (S + I) / 2 has the eigenvectors of S in the same order, and larger gaps between its eigenvalues near
	// 1.
	half := func(ctx context.Context, x, y []float32) error {
		return nn.InBlocks(ctx, len(y), func(first, end int) {
			for u := first; u < end; u++ {
				sum := x[u] * root[u]
				for _, v := range a[u] {
					sum += x[v] * root[v]
				}
				y[u] = (sum*root[u] + x[u]) / 2
			}
		})
	}
	between := make([]float32, len(a))
	l := nn.Lanczos{Rng: rng, Product: func(ctx context.Context, x, y []float32) error {
		copy(between, x)
		for range halvings {
			if err := half(ctx, between, y); err != nil {
				return err
			}
			copy(between, y)
		}
		return nil
	}}
	p := &position{}
	var err error
	p.value, p.row, err = l.Eigen(ctx, len(a), k)
	for i, v := range p.value {
		p.value[i] = float32(2*math.Pow(math.Max(float64(v), 0), 1./halvings) - 1)
	}
	p.prepare()
	return p, err
}

// prepare computes the weights.
func (p *position) prepare() {
	for i, alpha := range walkAlphas() {
		p.weight[i] = make([]float32, len(p.value))
		for j, s := range p.value {
			p.weight[i][j] = float32((1 - alpha) / (1 - alpha*min(float64(s), 1)))
		}
	}
}

// of returns the row of a node. For a node without a row, it returns the mean of its neighbours' rows.
func (p *position) of(neighbours []ID, u ID) []float32 {
	if int(u) < p.row.Rows {
		return nn.Row(p.row, int(u))
	}
	sum := make([]float32, p.row.Cols)
	n := 0
	for _, v := range neighbours {
		if int(v) < p.row.Rows {
			nn.AddTo(sum, nn.Row(p.row, int(v)))
			n++
		}
	}
	for i := range sum {
		sum[i] /= float32(max(n, 1))
	}
	return sum
}

// columns fills the columns of a pair, given the rows of both ends. Scalar products are relative to the mean square of
// all entries.
func (p *position) columns(a, b []float32, x []float32) {
	for i, weight := range p.weight {
		both, left, right := 0.0, 0.0, 0.0
		for j, w := range weight {
			both += float64(w * a[j] * b[j])
			left += float64(w * a[j] * a[j])
			right += float64(w * b[j] * b[j])
		}
		x[i] = float32(math.Asinh(both * float64(p.row.Rows)))
		x[numWalks+i] = float32(both / math.Max(math.Sqrt(left*right), 1e-12))
	}
}
