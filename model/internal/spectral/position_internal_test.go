package spectral

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// With all eigenvectors, the scalar products are (1-α)(I - αS)⁻¹.
func TestPositionIsPageRank(t *testing.T) {
	t.Parallel()
	const n = 30
	a := adjacencyOf(randomMesh(n, 90, false))
	p, err := positionIn(context.Background(), rand.New(rand.NewPCG(1, 2)), a, n)
	if err != nil {
		t.Fatal(err)
	}
	s := mat.NewDense(n, n, nil)
	for u, r := range a {
		for _, v := range append([]ID{ID(u)}, r...) {
			s.Set(u, int(v), 1/math.Sqrt(float64((len(r)+1)*(len(a[v])+1))))
		}
	}
	for i, alpha := range walkAlphas() {
		want, matrix := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
		for u := range n {
			for v := range n {
				matrix.Set(u, v, -alpha*s.At(u, v))
			}
			matrix.Set(u, u, 1-alpha*s.At(u, u))
		}
		if err := want.Inverse(matrix); err != nil {
			t.Fatal(err)
		}
		x := make([]float32, positionLen)
		for u := range n {
			for v := range n {
				p.columns(p.of(nil, ID(u)), p.of(nil, ID(v)), x)
				if want := math.Asinh(n * (1 - alpha) * want.At(u, v)); !about(float64(x[i]), want) {
					t.Fatalf("α = %v: pair %d, %d has %v, want %v", alpha, u, v, x[i], want)
				}
				if want := want.At(u, v) / math.Sqrt(want.At(u, u)*want.At(v, v)); !about(float64(x[numWalks+i]), want) {
					t.Fatalf("α = %v: pair %d, %d has cosine %v, want %v", alpha, u, v, x[numWalks+i], want)
				}
			}
		}
	}
}
