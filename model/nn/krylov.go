package nn

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"kith/model/internal/gemm"
)

// KrylovWidth is the number of vectors that a Krylov multiplies at a time at most.
const KrylovWidth = 32

// KrylovVectors returns the number of vectors of length n that a Krylov holds at most for k
// eigenvalues, the result not included.
func KrylovVectors(k int) int { return basisLen(k, false) + 3*KrylovWidth }

// basisLen returns the number of basis vectors that k eigenvectors need.
func basisLen(k int, short bool) int {
	if short {
		return 3*k/2 + 20
	}
	return 2*k + 20
}

// Krylov computes eigenvectors of a symmetric matrix S by the block method of Lanczos with full
// reorthogonalisation (Golub and Van Loan, Matrix Computations, section 10.3). A block finds as
// many vectors of a multiple eigenvalue as it has columns. The blocks are multiplied by a power of
// S, whose large eigenvalues are further apart, so that few blocks are enough. The square of the
// largest eigenvalue of the power must be a float32.
type Krylov struct {
	Product func(ctx context.Context, x, y blas32.General) error // y = Sx, at most KrylovWidth columns
	Power   int                                                  // of S; an even one if S has no negative eigenvalues
	Short   bool                                                 // the basis is a quarter shorter, and the last eigenvectors are less exact
	Rng     *rand.Rand

	basis []blas32.General // blocks of orthonormal columns
	power int              // that the blocks are multiplied by
	form  *mat.SymDense    // the power of S in this basis
	spare blas32.General   // scratch of powers

	largest float64 // length of a product with a vector of the basis, so far
}

// krylovSize returns the number of basis vectors used for k eigenvectors of an n x n matrix, and
// the width of a block. A short basis has narrow blocks, because the space gets better with their
// number.
func krylovSize(n, k int, short bool) (steps, width int) {
	steps, width = basisLen(k, short), KrylovWidth
	if steps < 5*KrylovWidth {
		width /= 2
	}
	steps = (steps + width - 1) / width * width
	return min(n, steps), min(n, width)
}

// leastValue is the least absolute eigenvalue of the power of S, as a share of the largest, that is
// not a rounding error.
const leastValue = 1e-6

// Eigen returns the k eigenvalues of largest absolute value, in descending order of it, and one row
// for each row of S with its entries of the eigenvectors.
func (l *Krylov) Eigen(ctx context.Context, n, k int) (value []float32, vector blas32.General, err error) {
	if err := l.run(ctx, n, k); err != nil {
		return nil, blas32.General{}, err
	}
	return l.ritz(ctx, n, k)
}

// Refine is Eigen for vectors that are near the eigenvectors, one in each column. It makes one step
// of subspace iteration (Golub and Van Loan, section 8.2.4).
func (l *Krylov) Refine(ctx context.Context, near blas32.General) (value []float32, vector blas32.General, err error) {
	n, k := near.Rows, near.Cols
	l.begin(k)
	l.power = 1
	for done := 0; done < k && err == nil; done += KrylovWidth {
		x := Resize(blas32.General{}, n, min(k-done, KrylovWidth))
		for i := range n {
			copy(Row(x, i), Row(near, i)[done:])
		}
		err = l.addProduct(ctx, x)
	}
	if err != nil {
		return nil, blas32.General{}, err
	}
	return l.ritz(ctx, n, k)
}

// addProduct adds the product of S and x to the basis, and to the form.
func (l *Krylov) addProduct(ctx context.Context, x blas32.General) error {
	y, first := Resize(blas32.General{}, x.Rows, x.Cols), len(l.basis)*KrylovWidth
	if err := l.multiply(ctx, x, y); err != nil {
		return err
	}
	q, err := l.block(ctx, y, x.Cols)
	if err != nil {
		return err
	}
	l.basis = append(l.basis, q)
	if err := l.multiply(ctx, q, y); err != nil {
		return err
	}
	projections, err := products(ctx, l.basis, y)
	if err == nil {
		l.setForm(first, projections)
	}
	return err
}

// ritz returns the k eigenvalues of largest absolute value of the form, and the vectors that the
// basis makes of its eigenvectors.
func (l *Krylov) ritz(ctx context.Context, n, k int) (value []float32, vector blas32.General, err error) {
	values, in, err := eigen(l.form)
	if err != nil {
		return nil, blas32.General{}, err
	}
	order := Numbers(len(values))
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(math.Abs(values[j]), math.Abs(values[i])) })
	order = order[:min(k, len(order))]
	turn := Resize(blas32.General{}, len(values), len(order))
	for j, from := range order {
		if math.Abs(values[from]) < leastValue*math.Abs(values[order[0]]) {
			values[from] = 0
		}
		value = append(value, float32(math.Copysign(math.Pow(math.Abs(values[from]), 1/float64(l.power)), values[from])))
		for i := range turn.Rows {
			Row(turn, i)[j] = float32(in.At(i, from))
		}
	}
	vector = Resize(blas32.General{}, n, turn.Cols)
	clear(vector.Data)
	return value, vector, l.combine(ctx, 1, turn, vector)
}

// eigen returns the eigenvalues of a symmetric matrix, ascending, and its eigenvectors as columns.
func eigen(of *mat.SymDense) (values []float64, vectors mat.Dense, err error) {
	if of == nil {
		return nil, vectors, nil
	}
	var e mat.EigenSym
	if !e.Factorize(of, true) {
		return nil, vectors, errors.New("eigenvalues beyond the numbers of float32")
	}
	e.VectorsTo(&vectors)
	return e.Values(nil), vectors, nil
}

// begin makes the basis empty, for a number of vectors.
func (l *Krylov) begin(steps int) {
	l.basis, l.form, l.largest = nil, nil, 0
	if steps > 0 {
		l.form = mat.NewSymDense(steps, nil)
	}
}

// run fills the basis and the form.
func (l *Krylov) run(ctx context.Context, n, k int) error {
	steps, width := krylovSize(n, k, l.Short)
	l.power = l.Power
	if steps == n { // the basis has the whole space
		l.power = 1
	}
	l.begin(steps)
	next := Resize(blas32.General{}, n, width)
	clear(next.Data)
	for done := 0; done < steps; done += next.Cols {
		q, err := l.block(ctx, next, min(steps-done, width))
		if err != nil {
			return err
		}
		l.basis = append(l.basis, q)
		next = Resize(next, n, q.Cols)
		if err := l.multiply(ctx, q, next); err != nil {
			return err
		}
		projections, err := l.remove(ctx, next)
		if err != nil {
			return err
		}
		l.setForm(done, projections)
		l.largest = max(l.largest, longest(projections)) // what they leave of next may be a rounding error
	}
	return ctx.Err()
}

// multiply sets y to the product of the power of S and x.
func (l *Krylov) multiply(ctx context.Context, x, y blas32.General) error {
	for left := l.power; left > 0; left-- {
		to := y
		if left%2 == 0 {
			l.spare = Resize(l.spare, x.Rows, x.Cols)
			to = l.spare
		}
		if err := l.Product(ctx, x, to); err != nil {
			return err
		}
		x = to
	}
	return nil
}

// setForm sets the columns of the form from first on, and by symmetry its rows.
func (l *Krylov) setForm(first int, projections blas32.General) {
	for i := range projections.Rows {
		for j, v := range Row(projections, i) {
			switch at := first + j; {
			case i < first:
				l.form.SetSym(i, at, float64(v))
			case i <= at:
				l.form.SetSym(i, at, (float64(v)+float64(Row(projections, at)[i-first]))/2)
			}
		}
	}
}

// longest returns the length of the longest column.
func longest(x blas32.General) (length float64) {
	for j := range x.Cols {
		square := 0.0
		for i := range x.Rows {
			square += float64(Row(x, i)[j]) * float64(Row(x, i)[j])
		}
		length = max(length, math.Sqrt(square))
	}
	return length
}

// block returns orthonormal columns, orthogonal to the basis, that span the same space as the
// columns of next. Where these are dependent, columns are drawn.
func (l *Krylov) block(ctx context.Context, next blas32.General, width int) (q blas32.General, err error) {
	q = Resize(blas32.General{}, next.Rows, width)
	found, largest, err := l.normalise(ctx, next, q, 1e-5*l.largest)
	l.largest = max(l.largest, largest)
	unit := 1 / math.Sqrt(float64(q.Rows))
	for range 2 {
		for i := range q.Rows {
			for j := found; j < width; j++ {
				Row(q, i)[j] = float32(unit * l.Rng.NormFloat64())
			}
		}
		if err == nil {
			_, err = l.remove(ctx, q)
		}
		if err != nil {
			return q, err
		}
		again := Resize(next, next.Rows, width)
		copy(again.Data, q.Data)
		if found, _, err = l.normalise(ctx, again, q, 0); found == width {
			break
		}
	}
	return q, err
}

// remove subtracts from the columns of x their projections on the basis. It returns these, one
// row for each vector of the basis.
func (l *Krylov) remove(ctx context.Context, x blas32.General) (projections blas32.General, err error) {
	projections, err = products(ctx, l.basis, x)
	if err != nil || len(l.basis) == 0 {
		return projections, err
	}
	return projections, l.combine(ctx, -1, projections, x)
}

// combine adds by times the product of the basis and a matrix to x.
func (l *Krylov) combine(ctx context.Context, by float32, with, x blas32.General) error {
	return InBlocks(ctx, x.Rows, func(first, end int) {
		row := 0
		for _, q := range l.basis {
			gemm.Add(blas.NoTrans, blas.NoTrans, by, Rows(q, first, end), Rows(with, row, row+q.Cols), Rows(x, first, end))
			row += q.Cols
		}
	})
}

// productParts is the number of parts of the rows whose products are summed separately. It is a
// constant, so that sums do not depend on the number of processors.
const productParts = 16

// products returns the scalar products of the columns of some matrices, one row for each, and the
// columns of x.
func products(ctx context.Context, of []blas32.General, x blas32.General) (blas32.General, error) {
	rows := 0
	for _, q := range of {
		rows += q.Cols
	}
	var parts [productParts]blas32.General
	err := Parallel(ctx, productParts, func(i int) {
		part := Resize(blas32.General{}, rows, x.Cols)
		for first, last := x.Rows*i/productParts, x.Rows*(i+1)/productParts; first < last; first += blockLen {
			end, row := min(first+blockLen, last), 0
			for _, q := range of {
				gemm.Add(blas.Trans, blas.NoTrans, 1, Rows(q, first, end), Rows(x, first, end), Rows(part, row, row+q.Cols))
				row += q.Cols
			}
		}
		parts[i] = part
	})
	sum := Resize(blas32.General{}, rows, x.Cols)
	if err != nil {
		return sum, err
	}
	for _, part := range parts {
		AddTo(sum.Data, part.Data)
	}
	return sum, nil
}

// leastShare is the least length of a column, as a share of the largest, that is not a rounding
// error.
const leastShare = 1e-3

// normalise sets the first columns of q to orthonormal vectors that span the columns of x but for
// directions that are rounding errors or not longer than least, and the rest to zeros (Stathopoulos
// and Wu, SIAM Journal on Scientific Computing 23, 2002, algorithm SVQB). It returns their number,
// and the length of the longest direction.
func (l *Krylov) normalise(ctx context.Context, x, q blas32.General, least float64) (found int, largest float64, err error) {
	clear(q.Data)
	square, err := products(ctx, []blas32.General{x}, x)
	if err != nil {
		return 0, 0, err
	}
	of := mat.NewSymDense(x.Cols, nil)
	for i := range x.Cols {
		for j := range i + 1 {
			of.SetSym(i, j, float64(Row(square, i)[j]))
		}
	}
	values, vectors, err := eigen(of)
	if err != nil {
		return 0, 0, err
	}
	largest = math.Sqrt(max(values[len(values)-1], 0))
	turn := Resize(blas32.General{}, x.Cols, q.Cols)
	clear(turn.Data)
	for found < q.Cols && found < len(values) {
		from := len(values) - 1 - found
		length := math.Sqrt(max(values[from], 0))
		if length <= max(leastShare*largest, least) {
			break
		}
		for i := range turn.Rows {
			Row(turn, i)[found] = float32(vectors.At(i, from) / length)
		}
		found++
	}
	return found, largest, InBlocks(ctx, x.Rows, func(first, end int) {
		gemm.Add(blas.NoTrans, blas.NoTrans, 1, Rows(x, first, end), turn, Rows(q, first, end))
	})
}
