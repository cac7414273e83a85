package model

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The weights of a blend are a stationary point of the loss, and near the weights that the choices were
// drawn by. A score that does not help, or that misleads, is left out.
func TestBlend(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 4))
	truth := []float64{0.8, 0.6, 0, -0.5}
	b := blend{scores: len(truth)}
	for range 2000 {
		list := make([][]float64, 12)
		best, most := 0, math.Inf(-1)
		for i := range list {
			list[i] = []float64{2 * rng.NormFloat64(), 2 * rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
			utility := -math.Log(rng.ExpFloat64()) // Gumbel: the largest is drawn by a conditional logit
			for k, v := range list[i] {
				utility += truth[k] * v
			}
			if utility > most {
				best, most = i, utility
			}
		}
		list[0], list[best] = list[best], list[0]
		b.lists = append(b.lists, list)
	}
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
	chosen := b.choose()
	if chosen[0] <= 0 || chosen[1] < 0.5 || chosen[2] != 0 || chosen[3] != 0 {
		t.Errorf("chosen %v", chosen)
	}
}
