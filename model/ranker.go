package model

import (
	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/internal/column"
	"kith/model/nn"
)

// ranker is the part of the default that learns from edges: a network with one hidden layer that
// scores a pair by the columns of the graph and of the feature vectors. It is trained to rank links
// above other candidates of the same source. A level then converts its outputs to log-odds. A
// ranker is immutable.
type ranker struct {
	net   *nn.Network // reads scaled columns
	level level
}

// level converts a score to the log-odds of a link: slope·score + degree·log1p(neighbours out of
// the source) + shift.
type level struct{ Slope, Degree, Shift float64 }

func (l level) of(score, source float64) float64 { return l.Slope*score + l.Degree*source + l.Shift }

// A trained ranker is the mean of rankerMembers networks with rankerWidth hidden units each. The
// start is one such network.
const (
	rankerWidth   = 48
	rankerMembers = 3
)

// rankerShape returns the shape of the mean of the given number of networks.
func (c *config) rankerShape(members int) nn.Shape {
	return nn.Shape{In: c.rankLen(), Hidden: []int{members * rankerWidth}, Bias: true}
}

// logOdds computes the log-odds of the rows of z, which are scaled columns of pairs.
func (r *ranker) logOdds(t *nn.Tape, z blas32.General, odds []float64) {
	source := z.Cols - column.StructuralLen + column.ColSource
	for i, f := range r.net.Forward(t, z) {
		odds[i] = r.level.of(float64(f), float64(nn.Row(z, i)[source]))
	}
}

// slopes returns the derivatives of the log-odds of a row with respect to its columns.
func (r *ranker) slopes(t *nn.Tape, z blas32.General) []float64 {
	r.net.Forward(t, z)
	r.net.Backward(t, t.RepeatOne(1))
	dx := r.net.InputGradient(t, blas32.General{})
	slopes := make([]float64, z.Cols)
	for i, v := range dx.Data {
		slopes[i] = r.level.Slope * float64(v)
	}
	slopes[z.Cols-column.StructuralLen+column.ColSource] += r.level.Degree
	return slopes
}

// rounded returns v rounded to float32, as the text of a learned start stores it.
func rounded(v float64) float64 { return float64(float32(v)) }
