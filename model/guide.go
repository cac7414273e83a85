package model

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
)

// guide is a second teacher of a network that learns choices: a share of what the network is to predict is the softmax of
// scores that the guide gives the candidates, and the rest is the link. A small share of a simple formula keeps the network
// near it where graphs differ (label smoothing: Szegedy et al., CVPR 2016). A share of 1 has it learn what the guide knows
// (distillation: Hinton, Vinyals and Dean, 2015).
type guide struct {
	share float64
	score func(t *tape, x blas32.General) []float32 // of the rows; where all of a choice are the same, the guide says nothing
}

// guideByResource scores candidates by their resource allocation, to the power that is about right on most graphs.
func guideByResource(share float64) *guide {
	const power = 1.2
	column, by := similarityLen+topResource, power/topologyScales()[topResource]
	return &guide{share, func(_ *tape, x blas32.General) []float32 {
		score := make([]float32, x.Rows)
		for i := range score {
			score[i] = by * row(x, i)[column]
		}
		return score
	}}
}

// guideByNetwork scores candidates as a network does, which is all there is to learn.
func guideByNetwork(n *network) *guide { return &guide{1, n.forward} }

// advice is what a guide says of the rows of a part of a batch.
type advice struct {
	share float64
	score []float32
	tape  tape
}

// listen takes the advice of a guide on the choices of a part, which reads their columns as they are.
func (p *choiceShard) listen(g *guide) {
	if g == nil || len(p.lists) == 0 {
		return
	}
	p.advice.share, p.advice.score = g.share, g.score(&p.advice.tape, p.x)
}

// loss returns what advice adds to the loss of a choice, and adds its slopes: the target is no longer the link alone.
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
