package model

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/nn"
)

// words holds the nodes' feature vectors weighted as in a text index: entry times log(1 + n / (1 + nodes with this
// entry)), in rows of unit length, without the zeros.
type words struct {
	len    int // length of a vector
	rows   []sparse
	rarity []float32 // the logarithm, for each entry
	norm   []float32 // length of the rows before normalisation
}

// sparse holds the nonzero entries of a vector, in ascending order of their index.
type sparse struct {
	at    []uint32
	value []float32
}

// wordsOf reads the vectors of a world's nodes.
func wordsOf(c *config, w World) (words, error) {
	t := words{len: c.FeatureLen, rows: make([]sparse, w.Graph.NumNodes())}
	plain := config{FeatureLen: c.FeatureLen}
	f := make([]float32, t.len)
	holders := make([]float64, t.len)
	for u := range t.rows {
		if err := plain.vector(w, ID(u), f); err != nil {
			return t, err
		}
		for i, x := range f {
			if x != 0 {
				t.rows[u].at = append(t.rows[u].at, uint32(i))
				t.rows[u].value = append(t.rows[u].value, x)
				holders[i]++
			}
		}
	}
	n := float64(len(t.rows))
	for _, h := range holders {
		t.rarity = append(t.rarity, float32(math.Log1p(n/(1+h))))
	}
	for _, r := range t.rows {
		for i, at := range r.at {
			r.value[i] *= t.rarity[at]
		}
		t.norm = append(t.norm, float32(math.Sqrt(nn.Product64(r.value, r.value))))
		nn.Scale(r.value, 1)
	}
	return t, nil
}

// dense returns the rows as a dense matrix.
func (t words) dense() blas32.General {
	x := nn.Resize(blas32.General{}, len(t.rows), t.len)
	for u, r := range t.rows {
		to := nn.Row(x, u)
		for i, at := range r.at {
			to[at] = r.value[i]
		}
	}
	return x
}

// dot returns the scalar product with another sparse vector.
func (a sparse) dot(b sparse) (sum float64) {
	for i, j := 0, 0; i < len(a.at) && j < len(b.at); {
		switch {
		case a.at[i] < b.at[j]:
			i++
		case a.at[i] > b.at[j]:
			j++
		default:
			sum += float64(a.value[i]) * float64(b.value[j])
			i++
			j++
		}
	}
	return sum
}

// times returns the scalar product with a dense vector.
func (a sparse) times(b []float32) (sum float64) {
	for i, at := range a.at {
		sum += float64(a.value[i]) * float64(b[at])
	}
	return sum
}

// average returns N x, N = D⁻¹A, or with self W x, W = (D + I)⁻¹(A + I): the mean over the neighbours, with self also
// over the node itself. A node without neighbours gets zeros in N x.
func (a adjacency) average(ctx context.Context, x blas32.General, self bool) (blas32.General, error) {
	y := nn.Resize(blas32.General{}, x.Rows, x.Cols)
	return y, nn.Parallel(ctx, len(a), func(u int) {
		to := blas32.Vector{N: y.Cols, Inc: 1, Data: nn.Row(y, u)}
		n := len(a[u])
		if self {
			n++
			copy(to.Data, nn.Row(x, u))
		}
		for _, w := range a[u] {
			blas32.Axpy(1, blas32.Vector{N: x.Cols, Inc: 1, Data: nn.Row(x, int(w))}, to)
		}
		if n > 1 {
			blas32.Scal(1/float32(n), to)
		}
	})
}

// smooth returns (1-α) Σ αᵏ Nᵏ x over the first stepsOf(α) terms.
func (a adjacency) smooth(ctx context.Context, alpha float64, x blas32.General) (blas32.General, error) {
	all := func(m blas32.General) blas32.Vector { return blas32.Vector{N: len(m.Data), Inc: 1, Data: m.Data} }
	sum := nn.Resize(blas32.General{}, x.Rows, x.Cols)
	weight := 1 - alpha
	for range stepsOf(alpha) {
		blas32.Axpy(float32(weight), all(x), all(sum))
		var err error
		if x, err = a.average(ctx, x, false); err != nil {
			return sum, err
		}
		weight *= alpha
	}
	return sum, nil
}

// stepsOf returns the number of steps after which αᵏ has fallen to about 1/1000, at most walkSteps.
func stepsOf(alpha float64) int {
	return min(int(math.Log(1e-3)/math.Log(alpha)), walkSteps)
}
