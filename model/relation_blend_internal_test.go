package model

import (
	"math"
	"math/rand/v2"
	"testing"
)

// blendLists draws lists of candidates, and the link of each by a conditional logit with the given
// weights. A candidate may stand for several.
func blendLists(rng *rand.Rand, n int, truth []float64) (all []blendList) {
	for range n {
		list := blendList{scores: make([][]float64, 12), fixed: make([]float64, 12)}
		best, most := 0, math.Inf(-1)
		for i := range list.scores {
			if i >= 6 {
				list.fixed[i] = 1.5
			}
			z := []float64{2 * rng.NormFloat64(), 2 * rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
			list.scores[i] = z
			utility := list.fixed[i] - math.Log(rng.ExpFloat64()) // Gumbel: the largest is drawn by the logit
			for k, v := range z {
				utility += truth[k] * v
			}
			if utility > most {
				best, most = i, utility
			}
		}
		list.scores[0], list.scores[best] = list.scores[best], list.scores[0]
		list.fixed[0], list.fixed[best] = list.fixed[best], list.fixed[0]
		all = append(all, list)
	}
	return all
}

// The weights of a blend are a stationary point of the loss, and near the weights that the links
// were drawn by. A score that does not help, or that misleads, is left out.
func TestBlend(t *testing.T) {
	t.Parallel()
	truth := []float64{0.8, 0.6, 0, -0.5}
	b := newBlend(blendLists(rand.New(rand.NewPCG(4, 4)), 2000, truth), len(truth))
	w := b.fit()
	for k := range w {
		up, down := append([]float64(nil), w...), append([]float64(nil), w...)
		up[k], down[k] = up[k]+1e-4, down[k]-1e-4
		if slope := (b.loss(up) - b.loss(down)) / 2e-4; math.Abs(slope) > 0.1 {
			t.Errorf("the loss has slope %v in weight %d", slope, k)
		}
		if math.Abs(w[k]-truth[k]) > 0.1 {
			t.Errorf("weight %d is %v, want %v", k, w[k], truth[k])
		}
	}
	b.choose()
	if b.w[0] <= 0 || b.w[1] < 0.5 || b.w[2] != 0 || b.w[3] != 0 {
		t.Errorf("chosen %v", b.w)
	}
}

// A direction has weights of its own where its lists say so, near the weights of all where it has
// few lists.
func TestBlendOfDirection(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 5))
	all := []float64{1, 0.5, 0, 0}
	b := newBlend(blendLists(rng, 2000, all), len(all))
	b.choose()
	for _, c := range []struct {
		name        string
		lists       int
		truth       []float64
		least, most []float64 // of the weights
	}{
		{"as all", 300, all, nil, nil},
		{"few", 3, []float64{1, 1, 0, 0}, nil, nil},
		{"another", 300, []float64{1, 0.5, 0, 1}, []float64{0.8, 0.3, 0, 0.7}, []float64{1.2, 0.7, 0.3, 1.3}},
		{"less", 300, []float64{1, 0, 0, 0}, []float64{0.7, 0, 0, 0}, []float64{1.2, 0.15, 0.3, 0.3}},
		{"no longer", 300, []float64{0.2, 1, 0, 0}, []float64{0, 0.8, 0, 0}, []float64{0.4, 1.2, 0.3, 0.3}},
	} {
		own := b.narrowed(blendLists(rng, c.lists, c.truth))
		if (own == nil) != (c.least == nil) {
			t.Errorf("%s: own weights %v", c.name, own != nil)
			continue
		}
		for k := range c.least {
			if w := own.w[k]; w < c.least[k] || w > c.most[k] {
				t.Errorf("%s: weight %d is %v, want %v to %v", c.name, k, w, c.least[k], c.most[k])
			}
		}
	}
}
