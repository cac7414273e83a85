package nn

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"
)

// Lanczos finds the largest eigenvalues of a symmetric matrix, and orthonormal eigenvectors.
func TestLanczosIsEigen(t *testing.T) {
	t.Parallel()
	const n, k = 300, 40
	rng := rand.New(rand.NewPCG(3, 1))
	s, dense := Resize(blas32.General{}, n, n), mat.NewSymDense(n, nil)
	for range 5 * n { // a sparse matrix, as of a graph
		i, j := rng.IntN(n), rng.IntN(n)
		s.Data[i*n+j], s.Data[j*n+i] = 1, 1
		dense.SetSym(i, j, 1)
	}
	l := Lanczos{Rng: rng, Product: func(_ context.Context, x, y []float32) error {
		for i := range y {
			y[i] = float32(Product64(Row(s, i), x))
		}
		return nil
	}}
	values, vectors, err := l.Eigen(context.Background(), n, k)
	if err != nil || len(values) != k {
		t.Fatal(len(values), err)
	}
	var eigen mat.EigenSym
	eigen.Factorize(dense, false)
	all := eigen.Values(nil)
	if top := all[n-1]; math.Abs(float64(values[0])-top) > 1e-4*top {
		t.Errorf("the largest eigenvalue is %v, want %v", values[0], top)
	}
	for i := range k {
		for j := range i + 1 {
			sum, want := 0.0, 0.0
			for u := range n {
				sum += float64(Row(vectors, u)[i]) * float64(Row(vectors, u)[j])
			}
			if i == j {
				want = 1
			}
			if math.Abs(sum-want) > 1e-4 {
				t.Errorf("the product of vectors %d and %d is %v, want %v", i, j, sum, want)
			}
		}
	}
}
