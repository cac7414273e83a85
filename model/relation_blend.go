package model

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"kith/model/internal/graph"
	"kith/model/nn"
)

// leastGain is the gain of log-likelihood below which an added score is left out. Chance adds half
// on average.
const leastGain = 3

// fitWeights returns the weights of the scores for lists that the network has not learned: 0 for
// the added scores that do not help. A direction has weights of its own where they help.
func (l *relationLearner) fitWeights(members []*nn.Network) scoreWeights {
	var all []blendList
	byHead := map[graph.Direction][]blendList{}
	for k, net := range members {
		for _, list := range l.blended(k) {
			one := blendListOf(&list.ranked, net)
			all, byHead[list.head] = append(all, one), append(byHead[list.head], one)
		}
	}
	b := newBlend(all, 1+len(addedScores))
	b.choose()
	out := scoreWeights{All: b.rounded()}
	for head, lists := range byHead {
		if own := b.narrowed(lists); own != nil {
			for int(head) >= len(out.Each) {
				out.Each = append(out.Each, nil)
			}
			out.Each[head] = own.rounded()
		}
	}
	return out
}

// blendList is a list for a blend.
type blendList struct {
	scores [][]float64 // of the link, and then of its candidates: the network's, and the added ones
	fixed  []float64   // what is added to the values of these
}

// blendListOf returns the list of a choice.
func blendListOf(c *choice, net *nn.Network) blendList {
	p, bare := new(choiceShard), *c
	bare.standsFor = nil
	p.forward(net, nil, []choice{bare}, []int{0})
	list := blendList{fixed: append([]float64{0}, c.standsFor...)}
	for i, f := range p.score {
		row := c.link
		if i > 0 {
			row = c.from + i - 1
		}
		z := []float64{f}
		for _, a := range c.added {
			z = append(z, a[row])
		}
		list.scores = append(list.scores, z)
	}
	return list
}

// blend is a conditional logit (McFadden, 1974) of a few scores: the probability of a candidate of
// a list is proportional to exp(wᵀz + fixed). The first one of each list is the link. The weights
// have a normal prior.
type blend struct {
	lists     []blendList
	before    []float64 // mean of the prior
	precision float64   // of the prior
	out       []bool    // scores that are left out
	w         []float64
}

// Precisions of the prior of the weights of all directions and of one.
const (
	blendPrior     = 1
	directionPrior = 4
)

// newBlend returns a blend of lists with a number of scores. Before it is fitted, the first one
// counts once and the others do not count.
func newBlend(lists []blendList, scores int) *blend {
	b := &blend{lists: lists, before: make([]float64, scores), precision: blendPrior, out: make([]bool, scores)}
	b.before[0] = 1
	return b
}

// rounded returns the weights as they are stored. The first score counts at least a little.
func (b *blend) rounded() []float64 {
	all := make([]float64, len(b.w))
	for k, w := range b.w {
		all[k] = rounded(w)
	}
	all[0] = max(all[0], 1e-3)
	return all
}

// choose fits the weights. Scores without a positive weight are left out, and scores that the prior
// leaves out and that gain little, one after the other. The first score always stays.
func (b *blend) choose() {
	for b.w = b.fit(); ; b.w = b.fit() {
		worst, gain := 0, float64(leastGain)
		for k := 1; k < len(b.w); k++ {
			if b.out[k] || b.before[k] > 0 && b.w[k] > 0 {
				continue
			}
			if g := b.gain(k); g < gain {
				worst, gain = k, g
			}
		}
		if worst == 0 {
			return
		}
		b.out[worst] = true
	}
}

// narrowed returns a blend that is fitted to some lists, with the weights of b as prior mean. It
// returns nil if that gains little.
func (b *blend) narrowed(lists []blendList) *blend {
	own := &blend{lists: lists, before: b.w, precision: directionPrior, out: make([]bool, len(b.w))}
	own.choose()
	if own.loss(b.w)-own.loss(own.w) < leastGain {
		return nil
	}
	return own
}

// gain returns by how much score k, with its weight, lowers the loss.
func (b *blend) gain(k int) float64 {
	if b.w[k] <= 0 {
		return math.Inf(-1)
	}
	b.out[k] = true
	defer func() { b.out[k] = false }()
	return b.loss(b.fit()) - b.loss(b.w)
}

// fit returns the weights with the least loss.
func (b *blend) fit() []float64 {
	from := slices.Clone(b.before)
	for k, out := range b.out {
		if out {
			from[k] = 0
		}
	}
	return newton(from, b.loss, b.step)
}

// loss is the negative log-likelihood and log-prior, up to a constant.
func (b *blend) loss(w []float64) (sum float64) {
	for k, v := range w {
		v -= b.before[k]
		sum += b.precision * v * v / 2
	}
	for i := range b.lists {
		values := b.lists[i].values(w)
		sum += softmaxLoss(values, make([]float64, len(values)))
	}
	return sum
}

// step returns Newton's step.
func (b *blend) step(w []float64) ([]float64, bool) {
	g, h := make([]float64, len(w)), mat.NewSymDense(len(w), nil)
	for k, v := range w {
		g[k] = b.precision * (b.before[k] - v)
		h.SetSym(k, k, b.precision)
	}
	mean := make([]float64, len(w))
	for i := range b.lists {
		list := &b.lists[i]
		p := make([]float64, len(list.scores))
		softmaxLoss(list.values(w), p)
		p[0]++ // p has the probabilities
		clear(mean)
		for i, z := range list.scores {
			for k, v := range z {
				mean[k] += p[i] * v
			}
		}
		for k, m := range mean {
			g[k] += list.scores[0][k] - m
		}
		for i, z := range list.scores {
			for k := range z {
				for l := k; l < len(w); l++ {
					h.SetSym(k, l, h.At(k, l)+p[i]*(z[k]-mean[k])*(z[l]-mean[l]))
				}
			}
		}
	}
	for k, out := range b.out {
		if out {
			g[k] = 0
			for l := range w {
				h.SetSym(k, l, 0)
			}
			h.SetSym(k, k, 1)
		}
	}
	return solve(h, g)
}

// values returns the values of a list.
func (l *blendList) values(w []float64) []float64 {
	all := slices.Clone(l.fixed)
	for i, z := range l.scores {
		for k, v := range z {
			all[i] += w[k] * v
		}
	}
	return all
}
