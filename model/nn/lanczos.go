package nn

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"
)

// LanczosExtra is the number of steps beyond twice the number of requested eigenvalues.
const LanczosExtra = 20

// Lanczos computes eigenvectors of a symmetric matrix S by the method of Lanczos with full
// reorthogonalisation (Golub and Van Loan, Matrix Computations, section 10.3). For a multiple
// eigenvalue it finds one vector, unless the Krylov space is exhausted earlier.
type Lanczos struct {
	Product func(ctx context.Context, x, y []float32) error // y = Sx
	Rng     *rand.Rand

	basis     blas32.General // orthonormal rows
	diagonal  []float64      // diagonal of the tridiagonal form of S in this basis
	offset    []float64      // entries next to the diagonal
	component []float64      // scratch: products with the rows of the basis
}

// lanczosSteps is the number of basis vectors used for k eigenvectors of an n x n matrix.
func lanczosSteps(n, k int) int { return min(n, 2*k+LanczosExtra) }

// Eigen returns the k eigenvalues of largest absolute value, in descending order of it, and one row
// for each node with its entries of the eigenvectors.
func (l *Lanczos) Eigen(ctx context.Context, n, k int) (value []float32, vector blas32.General, err error) {
	if err := l.run(ctx, n, lanczosSteps(n, k)); err != nil {
		return nil, blas32.General{}, err
	}
	steps := len(l.diagonal)
	if steps == 0 {
		return nil, blas32.General{}, nil
	}
	t := mat.NewSymDense(steps, nil)
	for i, v := range l.diagonal {
		t.SetSym(i, i, v)
		if i > 0 {
			t.SetSym(i-1, i, l.offset[i-1])
		}
	}
	var ritz mat.EigenSym
	ritz.Factorize(t, true)
	values := ritz.Values(nil)
	var in mat.Dense
	ritz.VectorsTo(&in)
	order := make([]int, steps)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(math.Abs(values[j]), math.Abs(values[i])) })
	order = order[:min(k, steps)]
	turn := Resize(blas32.General{}, steps, len(order))
	for j, from := range order {
		value = append(value, float32(values[from]))
		for i := range steps {
			Row(turn, i)[j] = float32(in.At(i, from))
		}
	}
	vector, err = l.turned(ctx, n, turn)
	return value, vector, err
}

// turned returns the product of the transposed basis and a matrix.
func (l *Lanczos) turned(ctx context.Context, n int, by blas32.General) (blas32.General, error) {
	x := Resize(blas32.General{}, n, by.Cols)
	return x, InBlocks(ctx, n, func(first, end int) {
		clear(x.Data[first*x.Stride : end*x.Stride])
		for i := range by.Rows {
			for u, q := range Row(l.basis, i)[first:end] {
				Axpy(q, Row(by, i), Row(x, first+u))
			}
		}
	})
}

// run fills the basis and the tridiagonal matrix.
func (l *Lanczos) run(ctx context.Context, n, steps int) error {
	l.basis = Resize(blas32.General{}, steps, n)
	l.diagonal, l.offset, l.component = nil, nil, make([]float64, steps)
	largest := 0.0 // largest absolute entry so far
	next := make([]float32, n)
	for i := range steps {
		if i > 0 {
			Axpy(float32(-l.diagonal[i-1]), Row(l.basis, i-1), next)
			if i > 1 {
				Axpy(float32(-l.offset[i-2]), Row(l.basis, i-2), next)
			}
			norm, err := l.orthogonalise(ctx, next, i, 1)
			if err != nil {
				return err
			}
			if norm <= 1e-5*largest {
				norm = 0
			}
			l.offset = append(l.offset, norm)
			largest = max(largest, norm)
		}
		if i == 0 || l.offset[i-1] == 0 { // the Krylov space is exhausted
			if err := l.fresh(ctx, next, i); err != nil {
				return err
			}
		}
		q := Row(l.basis, i)
		copy(q, next)
		Scale(q, 1)
		if err := l.Product(ctx, q, next); err != nil {
			return err
		}
		l.diagonal = append(l.diagonal, Product64(q, next))
		largest = max(largest, math.Abs(l.diagonal[i]))
	}
	return ctx.Err()
}

// fresh sets v to a random vector that is orthogonal to the first rows of the basis.
func (l *Lanczos) fresh(ctx context.Context, v []float32, rows int) error {
	for i := range v {
		v[i] = float32(l.Rng.NormFloat64())
	}
	_, err := l.orthogonalise(ctx, v, rows, 2)
	return err
}

// orthogonalise removes the components along the first rows of the basis from v, a number of times,
// and returns the remaining length. Twice is enough (Parlett, The Symmetric Eigenvalue Problem,
// section 6.9), and once for a vector whose components are rounding errors, as after a step of the
// recurrence.
func (l *Lanczos) orthogonalise(ctx context.Context, v []float32, rows, times int) (float64, error) {
	for range times {
		err := Parallel(ctx, rows, func(i int) { l.component[i] = Product64(Row(l.basis, i), v) })
		if err != nil {
			return 0, err
		}
		err = InBlocks(ctx, len(v), func(first, end int) {
			for i, c := range l.component[:rows] {
				Axpy(float32(-c), Row(l.basis, i)[first:end], v[first:end])
			}
		})
		if err != nil {
			return 0, err
		}
	}
	return math.Sqrt(Product64(v, v)), nil
}
