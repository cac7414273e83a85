package nn

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"
)

// A Krylov finds the largest eigenvalues of a symmetric matrix, and orthonormal eigenvectors, also
// of a matrix with multiple eigenvalues or a low rank.
func TestKrylovIsEigen(t *testing.T) {
	t.Parallel()
	sparse := func(rng *rand.Rand, n, entries int) *mat.SymDense {
		s := mat.NewSymDense(n, nil)
		for range entries {
			s.SetSym(rng.IntN(n), rng.IntN(n), 1)
		}
		return s
	}
	for _, c := range []struct {
		name string
		n, k int
		of   func(rng *rand.Rand, n int) *mat.SymDense
	}{
		{"graph", 300, 40, func(rng *rand.Rand, n int) *mat.SymDense { return sparse(rng, n, 5*n) }},
		{"large numbers", 100, 10, func(rng *rand.Rand, n int) *mat.SymDense {
			s := sparse(rng, n, 5*n)
			s.ScaleSym(1e4, s)
			return s
		}},
		{"identity", 200, 20, func(_ *rand.Rand, n int) *mat.SymDense {
			s := mat.NewSymDense(n, nil)
			for i := range n {
				s.SetSym(i, i, 1)
			}
			return s
		}},
		{"rank 2", 150, 10, func(_ *rand.Rand, n int) *mat.SymDense {
			s := mat.NewSymDense(n, nil)
			for i := 1; i < n; i++ {
				s.SetSym(0, i, 1) // a star
			}
			return s
		}},
		{"zero", 40, 8, func(_ *rand.Rand, n int) *mat.SymDense { return mat.NewSymDense(n, nil) }},
		{"all of a small matrix", 37, 37, func(rng *rand.Rand, n int) *mat.SymDense { return sparse(rng, n, 3*n) }},
		{"one", 1, 1, func(*rand.Rand, int) *mat.SymDense { return mat.NewSymDense(1, []float64{-3}) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(5) {
				rng := rand.New(rand.NewPCG(3, seed))
				of := c.of(rng, c.n)
				values, vectors, err := krylovOf(rng, of).Eigen(context.Background(), c.n, c.k)
				if err != nil {
					t.Fatal(err)
				}
				checkEigen(t, of, c.k, values, vectors)
			}
		})
	}
}

// Refine gets near the eigenvectors of a matrix from the eigenvectors of one that lacks a tenth of
// the entries and some rows, by a shorter basis, and also if some of them are zeros.
func TestKrylovRefine(t *testing.T) {
	t.Parallel()
	const n, k = 300, 40
	rng := rand.New(rand.NewPCG(3, 2))
	of, less := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	for e := range 5 * n {
		i, j := rng.IntN(n), rng.IntN(n)
		of.SetSym(i, j, 1)
		if e%10 != 0 && min(i, j) > 2 {
			less.SetSym(i, j, 1)
		}
	}
	short := krylovOf(rng, less)
	short.Short = true
	_, near, err := short.Eigen(context.Background(), n, k)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := short.form.SymmetricDim(), basisLen(k, true); got < want || got >= basisLen(k, false) {
		t.Errorf("a basis of %d vectors, want %d", got, want)
	}
	for i := range n {
		clear(Row(near, i)[k-3:])
	}
	values, vectors, err := krylovOf(rng, of).Refine(context.Background(), near)
	if err != nil {
		t.Fatal(err)
	}
	exact, _, err := krylovOf(rng, of).Eigen(context.Background(), n, k)
	if err != nil {
		t.Fatal(err)
	}
	for i := range k / 2 {
		if diff := math.Abs(float64(values[i])) - math.Abs(float64(exact[i])); math.Abs(diff) > 0.03*float64(exact[0]) {
			t.Errorf("eigenvalue %d is %v, want %v", i, values[i], exact[i])
		}
	}
	checkOrthonormal(t, k, vectors)
}

// krylovOf returns a Krylov of a dense matrix.
func krylovOf(rng *rand.Rand, of *mat.SymDense) *Krylov {
	n := of.SymmetricDim()
	s := Resize(blas32.General{}, n, n)
	for i := range n {
		for j := range n {
			Row(s, i)[j] = float32(of.At(i, j))
		}
	}
	return &Krylov{Rng: rng, Power: 3, Product: func(_ context.Context, x, y blas32.General) error {
		blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, s, x, 0, y)
		return nil
	}}
}

// checkEigen compares eigenvalues and vectors with all of a dense matrix.
func checkEigen(t *testing.T, of *mat.SymDense, k int, values []float32, vectors blas32.General) {
	t.Helper()
	var eigen mat.EigenSym
	eigen.Factorize(of, false)
	all := eigen.Values(nil)
	slices.SortFunc(all, func(a, b float64) int { return cmp.Compare(math.Abs(b), math.Abs(a)) })
	if len(values) != k {
		t.Fatalf("%d values, want %d", len(values), k)
	}
	for i := range (k + 1) / 2 { // the first ones have converged
		if diff := math.Abs(math.Abs(float64(values[i])) - math.Abs(all[i])); diff > 3e-3*math.Abs(all[0]) {
			t.Errorf("eigenvalue %d is %v, want %v", i, values[i], all[i])
		}
	}
	checkOrthonormal(t, k, vectors)
}

// checkOrthonormal checks the columns of vectors.
func checkOrthonormal(t *testing.T, k int, vectors blas32.General) {
	t.Helper()
	for i := range k {
		for j := range i + 1 {
			sum, want := 0.0, 0.0
			for u := range vectors.Rows {
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

// The number of processors changes no bit.
func TestKrylovIsDeterministic(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	of := mat.NewSymDense(2500, nil)
	for range 20000 {
		of.SetSym(rng.IntN(2500), rng.IntN(2500), 1)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first string
	for _, processors := range []int{1, 3} {
		runtime.GOMAXPROCS(processors)
		values, vectors, err := krylovOf(rand.New(rand.NewPCG(1, 2)), of).Eigen(context.Background(), 2500, 12)
		if err != nil {
			t.Fatal(err)
		}
		refined, again, err := krylovOf(rand.New(rand.NewPCG(1, 2)), of).Refine(context.Background(), vectors)
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(values, vectors.Data, refined, again.Data)
		if first == "" {
			first = got
		}
		if got != first {
			t.Error("other bits on", processors, "processors")
		}
	}
}

// A matrix whose power exceeds float32 is an error.
func TestKrylovOverflow(t *testing.T) {
	t.Parallel()
	of := mat.NewSymDense(100, nil)
	for i := range 99 {
		of.SetSym(i, i+1, 1e15)
	}
	if _, _, err := krylovOf(rand.New(rand.NewPCG(1, 2)), of).Eigen(context.Background(), 100, 5); err == nil {
		t.Error("no error")
	}
}
