package recommend

import (
	"context"

	"kith/cmd/prbench/internal/ridge"
)

// ease scores an item by the ridge regression of its column on the columns of all other items; see
// package ridge. It takes three dense matrices of items by items.
func ease() *Rival {
	return &Rival{
		Name:    "ease",
		options: []option{{"lambda", []float64{100, 200, 500, 1000, 2000}}},
		prepare: func(_ context.Context, m *matrix, _ uint64) (fit, error) {
			return func(ctx context.Context, values []float64) (Scorer, error) {
				b, err := ridge.Weights(ctx, m.items, m.users, values[0])
				return func(user int, scores []float32) {
					ridge.Scores(b, m.items[user], scores)
				}, err
			}, nil
		},
	}
}
