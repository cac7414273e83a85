package recommend

import (
	"context"

	"kith/model/nn"
)

// neighbors holds, for each item, the items that it is one of the nearest ones of, with their
// similarities.
type neighbors []nn.Sparse

// neighbors finds the k items that are most similar to each item among those that share users with
// it. similarity is called with two items and the sum of the weights of the users that they share.
func (m *matrix) neighbors(
	ctx context.Context, k int,
	weight func(user uint32) float32, similarity func(item, other int, shared float32) float32,
) (neighbors, error) {
	nearest := make([]nn.Sparse, len(m.users))
	err := inParts(ctx, len(nearest), func(first, end int) {
		row := make([]float32, len(nearest))
		for item := first; item < end; item++ {
			clear(row)
			for _, u := range m.users[item] {
				w := weight(u)
				for _, other := range m.items[u] {
					row[other] += w
				}
			}
			row[item] = 0
			for other, shared := range row {
				if shared > 0 {
					row[other] = similarity(item, other, shared)
				}
			}
			for _, other := range nn.Largest(row, k, 0) {
				nearest[item].Append(int(other), row[other])
			}
		}
	})
	of := make(neighbors, len(nearest))
	for item, row := range nearest {
		for i, other := range row.At {
			of[other].Append(item, row.Value[i])
		}
	}
	return of, err
}

// scorer scores an item by the sum of its similarities to those of its nearest items that the user
// has.
func (of neighbors) scorer(m *matrix) Scorer {
	return func(user int, scores []float32) {
		for _, other := range m.items[user] {
			for i, item := range of[other].At {
				scores[item] += of[other].Value[i]
			}
		}
	}
}
