package recommend

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/nn"
)

// gfcf is GF-CF (Shen et al., How Powerful is Graph Convolution for Recommendation?, CIKM 2021).
// The scores of a user with the row r of the matrix R are
//
//	s = r (S + weight D^(-1/2) V Vᵀ D^(1/2)), S = NᵀN, N = E^(-1/2) R D^(-1/2),
//
// where D has the number of users of each item, E the number of items of each user, and V the
// leading eigenvectors of S: the sum of a linear and an ideal low-pass filter.
func gfcf() *Rival {
	return &Rival{
		Name: "gfcf",
		options: []option{
			{"vectors", []float64{32, 64, 128, mostVectors}}, {"weight", []float64{0.1, 0.3, 1}},
		},
		prepare: func(ctx context.Context, m *matrix, seed uint64) (fit, error) {
			f, err := newFilter(ctx, m, seed)
			return func(_ context.Context, values []float64) (Scorer, error) {
				return f.scorer(int(values[0]), float32(values[1])), nil
			}, err
		},
	}
}

// mostVectors is the largest number of eigenvectors.
const mostVectors = 256

// filter is S with its leading eigenvectors.
type filter struct {
	m       *matrix
	scale   []float32      // D^(-1/2), 0 for an item without users
	vectors blas32.General // a row for each item; the leading eigenvector is the first column
}

func newFilter(ctx context.Context, m *matrix, seed uint64) (*filter, error) {
	f := &filter{m: m, scale: make([]float32, len(m.users))}
	for i, users := range m.users {
		if len(users) > 0 {
			f.scale[i] = float32(1 / math.Sqrt(float64(len(users))))
		}
	}
	l := nn.Krylov{Power: 2, Rng: rand.New(rand.NewPCG(seed, 53)), Product: f.multiply}
	var err error
	_, f.vectors, err = l.Eigen(ctx, len(m.users), min(mostVectors, len(m.users)))
	return f, err
}

// multiply sets y to Sx.
func (f *filter) multiply(ctx context.Context, x, y blas32.General) error {
	clear(y.Data)
	sum := nn.NewVector(x.Cols)
	for _, items := range f.m.items {
		clear(sum)
		for _, i := range items {
			nn.Axpy(f.scale[i], nn.Row(x, int(i)), sum)
		}
		for _, i := range items {
			nn.Axpy(f.scale[i]/float32(len(items)), sum, nn.Row(y, int(i)))
		}
	}
	return ctx.Err()
}

// addProduct adds to y the product of S and the vector that has 1 for some items and 0 for others.
func (f *filter) addProduct(items []uint32, y []float32) {
	byUser := make([]float32, len(f.m.items))
	for _, i := range items {
		for _, u := range f.m.users[i] {
			byUser[u] += f.scale[i]
		}
	}
	for u, v := range byUser {
		if v == 0 {
			continue
		}
		v /= float32(len(f.m.items[u]))
		for _, i := range f.m.items[u] {
			y[i] += v * f.scale[i]
		}
	}
}

// scorer returns the scorer of the first vectors.
func (f *filter) scorer(vectors int, weight float32) Scorer {
	vectors = min(vectors, f.vectors.Cols)
	return func(user int, scores []float32) {
		f.addProduct(f.m.items[user], scores)
		if weight == 0 {
			return
		}
		sum := nn.NewVector(vectors)
		for _, i := range f.m.items[user] {
			nn.Axpy(f.scale[i], nn.Row(f.vectors, int(i))[:vectors], sum)
		}
		for i, scale := range f.scale {
			if scale > 0 {
				scores[i] += weight / scale * nn.Dot(sum, nn.Row(f.vectors, i))
			}
		}
	}
}
