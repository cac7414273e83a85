package recommend

import (
	"context"
	"math"
)

// rp3beta scores an item by the probability that a walk of three random steps from the user, to an
// item, a user and an item, ends there, divided by the number of its users to the power of beta
// (Paudel et al., Updatable, Accurate, Diverse, and Scalable Recommendations for Interactive
// Applications, TiiS 2016). As is usual, only the k items count for it from which the last two
// steps lead to it most often.
func rp3beta() *Rival {
	return &Rival{
		Name: "rp3beta",
		options: []option{
			{"k", []float64{50, 200, 1000}}, {"beta", []float64{0, 0.2, 0.4, 0.6, 0.8}},
		},
		prepare: func(_ context.Context, m *matrix, _ uint64) (fit, error) {
			return func(ctx context.Context, values []float64) (Scorer, error) {
				k, beta := int(values[0]), values[1]
				step := func(user uint32) float32 { return 1 / float32(len(m.items[user])) }
				walk := func(item, other int, shared float32) float32 {
					popularity := math.Pow(float64(len(m.users[item])), beta)
					return float32(float64(shared) / float64(len(m.users[other])) / popularity)
				}
				of, err := m.neighbors(ctx, k, step, walk)
				return of.scorer(m), err
			}, nil
		},
	}
}
