package spectral

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"kith/model/nn"
)

// crowd returns n nodes, each with some of len words. Tests use more words than the length of
// latent vectors.
func crowd(n, len int) words {
	rng := rand.New(rand.NewPCG(3, 3))
	t := words{len: len, rows: make([]nn.Sparse, n)}
	for u := range t.rows {
		for w := range len {
			if rng.IntN(10) == 0 {
				t.rows[u].Append(w, 1)
			}
		}
		nn.Scale(t.rows[u].Value, 1)
	}
	return t
}

// dense returns the rows as a dense matrix.
func (t words) dense() blas32.General {
	x := nn.Resize(blas32.General{}, len(t.rows), t.len)
	for u, r := range t.rows {
		to := nn.Row(x, u)
		for i, at := range r.At {
			to[at] = r.Value[i]
		}
	}
	return x
}

// latentLen is the length of the latent vectors of the tests.
const latentLen = 100

func latent(t words) blas32.General {
	ctx := context.Background()
	return sparseProduct(ctx, t.rows, t.topics(ctx, latentLen))
}

// The singular value decomposition is the best approximation of its rank. Latent vectors are nearly
// as good.
func TestLatentIsNearlyOptimal(t *testing.T) {
	t.Parallel()
	words := crowd(200, 160)
	z := latent(words)
	x := mat.NewDense(200, 160, nil)
	for u := range 200 {
		for i, v := range nn.Row(words.dense(), u) {
			x.Set(u, i, float64(v))
		}
	}
	var svd mat.SVD
	svd.Factorize(x, mat.SVDNone)
	best, got := 0.0, 0.0
	for _, s := range svd.Values(nil)[:z.Cols] {
		best += s * s
	}
	for _, v := range z.Data {
		got += float64(v) * float64(v)
	}
	if got > best*(1+1e-5) || got < 0.98*best {
		t.Errorf("latent vectors of length %d hold %.4f of the squared norm, the best %.4f", z.Cols, got, best)
	}
}

// Nodes without words get zero vectors.
func TestLatentOfNothing(t *testing.T) {
	t.Parallel()
	z := latent(words{len: 3, rows: make([]nn.Sparse, 2)})
	if slices.ContainsFunc(z.Data, func(v float32) bool { return v != 0 || math.IsNaN(float64(v)) }) {
		t.Errorf("%v", z.Data)
	}
}

// Latent vectors are bit-identical for any number of processors.
func TestLatentProcessors(t *testing.T) {
	words := crowd(150, 130)
	var all [][]float32
	for _, n := range []int{1, 3} {
		before := runtime.GOMAXPROCS(n)
		z := latent(words)
		runtime.GOMAXPROCS(before)
		all = append(all, z.Data)
	}
	if !slices.Equal(all[0], all[1]) {
		t.Error("1 and 3 processors differ")
	}
}
