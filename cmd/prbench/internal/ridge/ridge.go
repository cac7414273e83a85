// Package ridge computes the ridge regressions of each column of a binary matrix on all other
// columns, in closed form: EASE (Steck, Embarrassingly Shallow Autoencoders for Sparse Data, WWW
// 2019, equations 5 to 8).
package ridge

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"kith/model/nn"
)

// Weights returns the matrix B whose column v has the weights of all other columns in the
// regression of column v, and zero on the diagonal: B[w, v] = -P[w, v] / P[v, v], where P is the
// inverse of XᵀX + λI. The binary matrix X is given by the columns of each row that have an entry,
// and the rows of each column.
func Weights(
	ctx context.Context, columns, rows [][]uint32, lambda float64,
) (blas32.General, error) {
	p, err := gram(ctx, columns, rows)
	if err != nil {
		return blas32.General{}, err
	}
	for i := range rows {
		p.SetSym(i, i, p.At(i, i)+lambda)
	}
	var factors mat.Cholesky
	if !factors.Factorize(p) {
		return blas32.General{}, fmt.Errorf("lambda = %v is too small for this graph", lambda)
	}
	if err := ctx.Err(); err != nil {
		return blas32.General{}, err
	}
	if err := factors.InverseTo(p); err != nil {
		return blas32.General{}, fmt.Errorf("lambda = %v is too small for this graph: %w", lambda, err)
	}
	return regressions(p), ctx.Err()
}

// gram returns XᵀX.
func gram(ctx context.Context, columns, rows [][]uint32) (*mat.SymDense, error) {
	n := len(rows)
	g := mat.NewSymDense(n, nil)
	return g, nn.Parallel(ctx, n, func(j int) {
		row := g.RawSymmetric().Data[j*n : (j+1)*n]
		for _, u := range rows[j] {
			for _, i := range columns[u] {
				row[i]++
			}
		}
	})
}

// regressions returns -P[w, v] / P[v, v], zero where w is v.
func regressions(p *mat.SymDense) blas32.General {
	n := p.SymmetricDim()
	b := nn.Resize(blas32.General{}, n, n)
	for w := range n {
		to := nn.Row(b, w)
		for v := range to {
			to[v] = float32(-p.At(w, v) / p.At(v, v))
		}
		to[w] = 0
	}
	return b
}

// Scores fills to with a row of XB, given the columns of the row of X with an entry.
func Scores(b blas32.General, columns []uint32, to []float32) {
	clear(to)
	for _, w := range columns {
		nn.AddTo(to, nn.Row(b, int(w)))
	}
}
