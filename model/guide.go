package model

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/column"
	"kith/model/nn"
)

// guide is a second teacher of a network that learns choices. A share of the target distribution is the softmax of the
// guide's scores of the candidates, the rest is the link. A small share of a simple formula keeps the network near that
// formula where graphs differ (label smoothing: Szegedy et al., CVPR 2016). With a share of 1 the network learns only
// from the guide (distillation: Hinton, Vinyals and Dean, 2015).
type guide struct {
	share float64
	score func(t *nn.Tape, x blas32.General) []float32 // scores of the rows; a choice with equal scores gets no advice
}

// guideByResource scores candidates by a power of their resource allocation; the exponent suits most graphs.
func guideByResource(share float64) *guide {
	const power = 1.2
	column, by := column.SimilarityLen+column.TopResource, power/column.TopologyScales()[column.TopResource]
	return &guide{share, func(_ *nn.Tape, x blas32.General) []float32 {
		score := make([]float32, x.Rows)
		for i := range score {
			score[i] = by * nn.Row(x, i)[column]
		}
		return score
	}}
}

// guideByNetwork scores candidates by a network, with share 1.
func guideByNetwork(n *nn.Network) *guide { return &guide{1, n.Forward} }

// advice holds a guide's scores for the rows of a part of a batch.
type advice struct {
	share float64
	score []float32
	tape  nn.Tape
}

// listen stores the guide's scores of the choices of a part. The guide reads unscaled columns.
func (p *choiceShard) listen(g *guide) {
	if g == nil || len(p.lists) == 0 {
		return
	}
	p.advice.share, p.advice.score = g.share, g.score(&p.advice.tape, p.x)
}

// loss returns the change of the loss of a choice by the advice and adds its slopes.
func (a *advice) loss(score, slope []float64, l choiceList) (loss float64) {
	if a.share == 0 {
		return 0
	}
	from := a.score[l.link:l.end]
	top := slices.Max(from)
	if top == slices.Min(from) {
		return 0
	}
	sum := 0.0
	for _, v := range from {
		sum += math.Exp(float64(v - top))
	}
	for i, v := range from {
		q := a.share * math.Exp(float64(v-top)) / sum
		loss -= q * score[l.link+i]
		slope[l.link+i] -= q
	}
	slope[l.link] += a.share
	return loss + a.share*score[l.link]
}
