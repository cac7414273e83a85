package recommend

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"kith/model/nn"
)

// ials is a factorization of the matrix for implicit feedback (Hu, Koren and Volinsky, ICDM 2008)
// with the objective of Rendle et al., Revisiting the Performance of iALS on Item Recommendation
// Benchmarks, RecSys 2022:
//
//	Σ (1 - w·h)² over links + α₀ Σ (w·h)² over all pairs + Σ λ(w) |w|² + Σ λ(h) |h|²
//
// for the vectors w of users and h of items. The regularization is scaled by frequency: λ(w)
// is λ (n + α₀ m) for a user with n of m items, and λ(h) is λ (n + α₀ m) for an item with n of m
// users.
func ials() *Rival {
	return &Rival{
		Name: "ials",
		options: []option{
			{"factors", []float64{64}},
			{"alpha0", []float64{0.03, 0.1, 0.3, 1}}, {"lambda", []float64{0.001, 0.003, 0.01}},
		},
		prepare: func(_ context.Context, m *matrix, seed uint64) (fit, error) {
			return func(ctx context.Context, values []float64) (Scorer, error) {
				f := newFactorization(m, int(values[0]), seed)
				f.alpha0, f.lambda = values[1], values[2]
				for range sweeps {
					if err := f.sweep(ctx); err != nil {
						return nil, err
					}
				}
				return f.scorer(), nil
			}, nil
		},
	}
}

// sweeps is the number of times that users and items are solved in turn.
const sweeps = 16

// factorization approximates a matrix by the products of vectors of users and of items.
type factorization struct {
	m              *matrix
	users, items   blas32.General // a row for each
	alpha0, lambda float64
}

// newFactorization draws the vectors of the items, with a length of about 0.1.
func newFactorization(m *matrix, factors int, seed uint64) *factorization {
	rng := rand.New(rand.NewPCG(seed, 47))
	f := &factorization{
		m:     m,
		users: nn.Resize(blas32.General{}, len(m.items), factors),
		items: nn.Resize(blas32.General{}, len(m.users), factors),
	}
	for i := range f.items.Data {
		f.items.Data[i] = float32(0.1 / math.Sqrt(float64(factors)) * rng.NormFloat64())
	}
	return f
}

// sweep solves the users given the items, and then the items given the users.
func (f *factorization) sweep(ctx context.Context) error {
	if err := f.solve(ctx, f.users, f.items, f.m.items); err != nil {
		return err
	}
	return f.solve(ctx, f.items, f.users, f.m.users)
}

// solve sets each row of x to the minimum of the objective, given the rows of y and the links of
// each row of x to them.
func (f *factorization) solve(ctx context.Context, x, y blas32.General, links [][]uint32) error {
	rows := make([]uint32, y.Rows)
	for i := range rows {
		rows[i] = uint32(i)
	}
	all := gram(y, rows)
	return inParts(ctx, len(links), func(first, end int) {
		left := make([]float64, y.Cols*y.Cols)
		right := make([]float64, y.Cols)
		for u := first; u < end; u++ {
			linked := gram(y, links[u])
			for i := range left {
				left[i] = float64(linked.Data[i]) + f.alpha0*float64(all.Data[i])
			}
			clear(right)
			for _, v := range links[u] {
				for i, h := range nn.Row(y, int(v)) {
					right[i] += float64(h)
				}
			}
			lambda := f.lambda * (float64(len(links[u])) + f.alpha0*float64(y.Rows))
			solveRidge(left, right, lambda)
			copy(nn.Row(x, u), nn.Narrow(right))
		}
	})
}

// gram returns XᵀX for the matrix X of some rows of y. It stores Xᵀ too, because a product is only
// fast if its right factor is not transposed.
func gram(y blas32.General, rows []uint32) blas32.General {
	x := nn.Resize(blas32.General{}, len(rows), y.Cols)
	transposed := nn.Resize(blas32.General{}, y.Cols, len(rows))
	for j, v := range rows {
		for i, h := range nn.Row(y, int(v)) {
			x.Data[j*x.Stride+i], transposed.Data[i*transposed.Stride+j] = h, h
		}
	}
	g := nn.Resize(blas32.General{}, y.Cols, y.Cols)
	if len(rows) > 0 {
		nn.AddProduct(transposed, x, blas.NoTrans, g)
	}
	return g
}

// solveRidge replaces b by the solution x of (A + λI) x = b for a positive semidefinite A, which it
// overwrites.
func solveRidge(a, b []float64, lambda float64) {
	n := len(b)
	for i := range n {
		a[i*n+i] += lambda
	}
	u, _ := lapack64.Potrf(blas64.Symmetric{N: n, Stride: n, Data: a, Uplo: blas.Upper})
	x := blas64.Vector{N: n, Inc: 1, Data: b}
	blas64.Trsv(blas.Trans, u, x)
	blas64.Trsv(blas.NoTrans, u, x)
}

// scorer scores items by the products of their vectors with the vector of the user.
func (f *factorization) scorer() Scorer {
	return func(user int, scores []float32) {
		w := nn.Row(f.users, user)
		for i := range scores {
			scores[i] = nn.Dot(w, nn.Row(f.items, i))
		}
	}
}
