package model

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"kith/model/nn"
)

const (
	latentLen   = 100 // largest length of a latent vector of pair_net
	latentSteps = 5   // steps of the subspace iteration
)

// topics returns one row for each word with its entries of the n largest right singular vectors of T. The scalar
// products of nodes' words in these coordinates approximate those of the words, without what only few nodes have in
// common: latent semantic analysis (Deerwester et al., JASIS 41, 1990), by subspace iteration from random vectors
// (Halko, Martinsson and Tropp, SIAM Review 53, 2011, algorithm 4.4).
func (t words) topics(ctx context.Context, n int) (blas32.General, error) {
	rng := rand.New(rand.NewPCG(0, 0)) // the start hardly affects the result
	basis := nn.Resize(blas32.General{}, t.len, min(n, t.len))
	for i := range basis.Data {
		basis.Data[i] = float32(rng.NormFloat64())
	}
	columns := t.transpose()
	for range latentSteps {
		nodes, err := combined(ctx, t.rows, basis)
		if err != nil {
			return nodes, err
		}
		if basis, err = combined(ctx, columns, nodes); err != nil {
			return nodes, err
		}
		orthonormalise(basis)
	}
	return basis, nil
}

// combined returns the product of a sparse matrix and x.
func combined(ctx context.Context, sparse []sparse, x blas32.General) (blas32.General, error) {
	y := nn.Resize(blas32.General{}, len(sparse), x.Cols)
	return y, nn.Parallel(ctx, len(sparse), func(i int) { sparse[i].combine(1, x, nn.Row(y, i)) })
}

// orthonormalise replaces the columns of x by an orthonormal basis of their span. x must not have more columns than
// rows.
func orthonormalise(x blas32.General) {
	m := mat.NewDense(x.Rows, x.Cols, nil)
	for i := range x.Rows {
		for j, v := range nn.Row(x, i) {
			m.Set(i, j, float64(v))
		}
	}
	var qr mat.QR
	qr.Factorize(m)
	var q mat.Dense
	qr.QTo(&q)
	for i := range x.Rows {
		for j := range x.Cols {
			nn.Row(x, i)[j] = float32(q.At(i, j))
		}
	}
}
