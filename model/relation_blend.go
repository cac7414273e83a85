package model

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// leastGain is the gain of log-likelihood below which an added score is left out. Chance adds half
// on average.
const leastGain = 3

// fitWeights returns the weights of the added scores for choices that the network has not learned:
// 0 for the scores that do not help.
func (r *relational) fitWeights(all []choice) []float64 {
	b := blend{scores: 1 + len(addedScores)}
	bare, p := &relational{net: r.net}, new(choiceShard)
	for _, c := range all {
		c.standsFor = nil // the weights are about the scores themselves
		b.lists = append(b.lists, listOf(&c, bare.scores(p, &c)))
	}
	w := b.choose()
	weights := make([]float64, len(addedScores))
	for k := range weights {
		weights[k] = rounded(w[1+k] / w[0])
	}
	return weights
}

// listOf returns the scores of the link of a choice, and then of its candidates: the network's
// followed by the added ones.
func listOf(c *choice, network []float64) (list [][]float64) {
	for i, f := range network {
		row := c.link
		if i > 0 {
			row = c.from + i - 1
		}
		z := []float64{f}
		for _, a := range c.added {
			z = append(z, a[row])
		}
		list = append(list, z)
	}
	return list
}

// blend is a conditional logit (McFadden, 1974) of a few scores: the probability of a candidate of
// a list is proportional to exp(wᵀz). The first one of each list is the link.
type blend struct {
	scores int
	lists  [][][]float64
	fixed  []bool // scores with weight 0
}

// blendPrior is the precision of the normal prior of the weights, with mean 1 for the first and 0
// for the others.
const blendPrior = 1

// choose returns the weights of the scores. Scores without a positive weight or with a small gain
// get 0, one after the other. The first score always has a positive weight.
func (b *blend) choose() []float64 {
	b.fixed = make([]bool, b.scores)
	w := b.fit()
	for {
		worst, gain := 0, float64(leastGain)
		for k := 1; k < b.scores; k++ {
			if b.fixed[k] {
				continue
			}
			if g := b.gain(k, w); g < gain {
				worst, gain = k, g
			}
		}
		if worst == 0 {
			w[0] = max(w[0], 1e-3)
			return w
		}
		b.fixed[worst] = true
		w = b.fit()
	}
}

// gain returns by how much score k, with its weight in w, lowers the loss.
func (b *blend) gain(k int, w []float64) float64 {
	if w[k] <= 0 {
		return math.Inf(-1)
	}
	b.fixed[k] = true
	defer func() { b.fixed[k] = false }()
	return b.loss(b.fit()) - b.loss(w)
}

// fit returns the weights with the least loss.
func (b *blend) fit() []float64 {
	from := make([]float64, b.scores)
	from[0] = 1
	return newton(from, b.loss, b.step)
}

// loss is the negative log-likelihood and log-prior, up to a constant.
func (b *blend) loss(w []float64) (sum float64) {
	for k, v := range w {
		if k == 0 {
			v--
		}
		sum += blendPrior * v * v / 2
	}
	for _, list := range b.lists {
		sum += softmaxLoss(b.values(list, w), make([]float64, len(list)))
	}
	return sum
}

// step returns Newton's step.
func (b *blend) step(w []float64) ([]float64, bool) {
	g, h := make([]float64, len(w)), mat.NewSymDense(len(w), nil)
	for k, v := range w {
		if k == 0 {
			v--
		}
		g[k] = -blendPrior * v
		h.SetSym(k, k, blendPrior)
	}
	mean := make([]float64, len(w))
	for _, list := range b.lists {
		p := make([]float64, len(list))
		softmaxLoss(b.values(list, w), p)
		p[0]++ // p has the probabilities
		clear(mean)
		for i, z := range list {
			for k, v := range z {
				mean[k] += p[i] * v
			}
		}
		for k, m := range mean {
			g[k] += list[0][k] - m
		}
		for i, z := range list {
			for k := range z {
				for l := k; l < len(w); l++ {
					h.SetSym(k, l, h.At(k, l)+p[i]*(z[k]-mean[k])*(z[l]-mean[l]))
				}
			}
		}
	}
	for k, fixed := range b.fixed {
		if fixed {
			g[k] = 0
			for l := range w {
				h.SetSym(k, l, 0)
			}
			h.SetSym(k, k, 1)
		}
	}
	return solve(h, g)
}

// values returns wᵀz of a list.
func (b *blend) values(list [][]float64, w []float64) []float64 {
	all := make([]float64, len(list))
	for i, z := range list {
		for k, v := range z {
			all[i] += w[k] * v
		}
	}
	return all
}
