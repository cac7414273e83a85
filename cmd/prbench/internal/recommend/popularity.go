package recommend

import "context"

// popularity scores an item by the number of its users.
func popularity() *Rival {
	return &Rival{
		Name: "popularity",
		prepare: func(_ context.Context, m *matrix, _ uint64) (fit, error) {
			return func(context.Context, []float64) (Scorer, error) {
				return func(_ int, scores []float32) {
					for i, users := range m.users {
						scores[i] = float32(len(users))
					}
				}, nil
			}, nil
		},
	}
}
