package model

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// noisy is a Walker whose proximities are off by up to e times the degree.
type noisy struct {
	exact
	e   float64
	rng *rand.Rand
}

func (w noisy) ProximityError() float64 { return w.e }

func (w noisy) Proximity(ctx context.Context, alpha float64, source ID, at []ID) (to, from []float64, err error) {
	to, from, err = w.exact.Proximity(ctx, alpha, source, at)
	for i, j := range at {
		by := w.e * (2*w.rng.Float64() - 1)
		to[i] += by * max(1, w.g.Degree(j))
		from[i] += by * max(1, w.g.Degree(source))
	}
	return to, from, err
}

// Scores from inexact proximities differ from others by at most their bounds, which is infinite only where the estimate
// is not that of a belief, or a walk spreads it.
func TestBoundOfInexactProximities(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		policy   string
		settings []any
		finite   bool
	}{
		{"default", nil, true}, {"default", []any{"pin", "off", "nu", 3.0}, true}, {"default", []any{"blocks", "structural"}, true},
		{"default", []any{"alpha", 0.3}, false}, {"prb", nil, false}, {"neural_greedy", nil, false}, {"pair_net", nil, false},
	} {
		m := newModel(t, c.policy, "", 3, c.settings...)
		r := newRounds(3)
		pairs := Pairs(2, []ID{0, 1, 3, 5, 9, 14, 16, 20, 29})
		for _, learned := range []bool{false, true} {
			if learned && c.policy != "pair_net" {
				play(t, m, r, 60)
			}
			w := r.mesh.world(r.feature)
			want := scoresOf(t, m.Scorer(), w, pairs)
			for _, e := range []float64{1e-7, 1e-5, 1e-3} {
				w.Walk = noisy{exact{r.mesh}, e, rng}
				for i, s := range scoresOf(t, m.Scorer(), w, pairs) {
					if off := math.Abs(s.Score - want[i].Score); !(off <= s.Bound) || c.finite == math.IsInf(s.Bound, 1) {
						t.Errorf("%s %v, e %g, %v: score %v ± %v, want %v", c.policy, c.settings, e, pairs[i], s.Score, s.Bound, want[i].Score)
					}
					if e == 1e-7 && c.finite && s.Bound > 0.2 {
						t.Errorf("%s %v, %v: bound %v", c.policy, c.settings, pairs[i], s.Bound)
					}
				}
			}
		}
	}
}
