package model

import (
	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/column"
	"kith/model/nn"
)

// scratch is the working memory of scoring and learning. Row i of its matrices belongs to the i-th pair of a batch.
type scratch struct {
	column.Reader                // graph around the pairs
	net           nn.Tape        // pass of a network
	times         timeScratch    // pass of a forecast
	x             blas32.General // contexts
	pooled        blas32.General // their φ, or the inputs of a belief
	product       blas32.General // inputs times covariance
	ranked        blas32.General // input of the ranker
	forms         []float64      // quadratic forms, or output of the ranker
	vectors       *vectors       // vectors that contexts read; nil: none
	outlook       *outlook       // forecast that contexts read; nil: none
	order         []uint64       // scratch of the start vector
	start         Start          // start values of a walk
}
