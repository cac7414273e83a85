package recommend

import (
	"context"
	"math"
)

// itemKNN scores an item by its similarities to those of its k nearest items that the user has
// (Sarwar et al., Item-Based Collaborative Filtering Recommendation Algorithms, WWW 2001). The
// similarity is the cosine of the columns of two items. A shrinkage in its denominator makes
// similarities smaller that rest on few users.
func itemKNN() *Rival {
	return &Rival{
		Name: "itemknn",
		options: []option{
			{"k", []float64{20, 50, 100, 200, 500, 1000}}, {"shrinkage", []float64{0, 10, 100}},
		},
		prepare: func(_ context.Context, m *matrix, _ uint64) (fit, error) {
			return func(ctx context.Context, values []float64) (Scorer, error) {
				k, shrinkage := int(values[0]), values[1]
				once := func(uint32) float32 { return 1 }
				cosine := func(item, other int, shared float32) float32 {
					lengths := math.Sqrt(float64(len(m.users[item])) * float64(len(m.users[other])))
					return float32(float64(shared) / (lengths + shrinkage))
				}
				of, err := m.neighbors(ctx, k, once, cosine)
				return of.scorer(m), err
			}, nil
		},
	}
}
