package model

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The fitted weights are a stationary point of the loss, even if scores are large and candidates
// have large weights.
func TestCalibration(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 5))
		spread, stands := math.Exp(4*rng.Float64()), math.Exp(10*rng.Float64())
		r := calibration{before: [3]float64{1, 0, 0}, precision: [3]float64{1, 1, 0.01}}
		for i := range 400 {
			e := example{[3]float64{spread * rng.NormFloat64(), 3 + rng.NormFloat64(), 1}, 0, stands}
			if i%10 == 0 {
				e.y, e.weight, e.z[0] = 1, 1, e.z[0]+spread
			}
			r.examples = append(r.examples, e)
		}
		w := r.fit()
		for a := range w {
			up, down := w, w
			up[a], down[a] = up[a]+1e-4, down[a]-1e-4
			if slope := (r.loss(up) - r.loss(down)) / 2e-4; math.Abs(slope) > 1e-3*(1+r.loss(w)) {
				t.Errorf("seed %d: at %v the loss %v has slope %v in weight %d", seed, w, r.loss(w), slope, a)
			}
		}
	}
}
