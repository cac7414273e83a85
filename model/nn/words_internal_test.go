package nn

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// crowd returns n nodes, each with some of len words. Tests use more words than the length of
// latent vectors.
func crowd(n, len int) Words {
	rng := rand.New(rand.NewPCG(3, 3))
	t := Words{Len: len, Rows: make([]Sparse, n)}
	for u := range t.Rows {
		for w := range len {
			if rng.IntN(10) == 0 {
				t.Rows[u].Append(w, 1)
			}
		}
		Scale(t.Rows[u].Value, 1)
	}
	return t
}

// latentLen is the length of the latent vectors of the tests.
const latentLen = 100

func latent(t Words) blas32.General {
	ctx := context.Background()
	return sparseProduct(ctx, t.Rows, t.topics(ctx, latentLen))
}

// The singular value decomposition is the best approximation of its rank. Latent vectors are nearly
// as good.
func TestLatentIsNearlyOptimal(t *testing.T) {
	t.Parallel()
	words := crowd(200, 160)
	z := latent(words)
	x := mat.NewDense(200, 160, nil)
	for u := range 200 {
		for i, v := range Row(words.Dense(), u) {
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
	z := latent(Words{Len: 3, Rows: make([]Sparse, 2)})
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

// The basis has the bits of the first columns of Q, in memory of the size of the matrix, not of all
// of Q.
func TestOrthonormalise(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][2]int{{300, 7}, {400, 100}, {50, 50}, {9, 1}} {
		x := randomRows(rng, size[0], size[1])
		m := mat.NewDense(x.Rows, x.Cols, nil)
		m.Apply(func(i, j int, _ float64) float64 { return float64(Row(x, i)[j]) }, m)
		var qr mat.QR
		var q mat.Dense
		qr.Factorize(m)
		qr.QTo(&q)
		orthonormalise(x)
		for i := range x.Rows {
			for j, got := range Row(x, i) {
				if want := float32(q.At(i, j)); got != want {
					t.Fatalf("%v: entry %d, %d is %v, want %v", size, i, j, got, want)
				}
			}
		}
	}
	var before, after runtime.MemStats
	x := randomRows(rng, 20_000, 3)
	runtime.ReadMemStats(&before)
	orthonormalise(x)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 10<<20 {
		t.Errorf("%d rows take %d MB", x.Rows, n>>20)
	}
}

func TestLargest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of   []float32
		k    int
		want []uint32
	}{
		{[]float32{1, 3, 2}, 2, []uint32{1, 2}},
		{[]float32{2, 2, 2, 2}, 3, []uint32{0, 1, 2}},
		{[]float32{0, -1, 5}, 2, []uint32{2}},
		{nil, 1, nil},
	} {
		if got := Largest(c.of, c.k, 0); !slices.Equal(got, c.want) {
			t.Errorf("Largest(%v, %d, 0) = %v, want %v", c.of, c.k, got, c.want)
		}
	}
}

func TestLargestIsSorting(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		of := rapid.SliceOf(rapid.Map(rapid.IntRange(-2, 6), func(i int) float32 { return float32(i) })).Draw(t, "of")
		k := rapid.IntRange(1, 6).Draw(t, "k")
		var all []uint32
		for v, x := range of {
			if x > 0 {
				all = append(all, uint32(v))
			}
		}
		slices.SortStableFunc(all, func(u, v uint32) int { return int(of[v] - of[u]) })
		if got := Largest(of, k, 0); !slices.Equal(got, all[:min(k, len(all))]) {
			t.Errorf("Largest(%v, %d) = %v of %v", of, k, got, all)
		}
	})
}

// Kin share a subject. Each node has at least kinLinks of them, the relation is symmetric, and no
// node is its own kin.
func TestKin(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	const n, subjects, each = 60, 3, 8
	subject := make([][]float32, n)
	for u := range subject {
		subject[u] = make([]float32, subjects*each)
		for range 6 {
			subject[u][u%subjects*each+rng.IntN(each)] = 1
		}
	}
	vectors := make([]Sparse, n)
	for u := range vectors {
		vectors[u].AppendVector(subject[u])
	}
	kin := WordsOf(vectors, subjects*each).kin(context.Background())
	for u, row := range kin {
		if len(row) < kinLinks || !slices.IsSorted(row) {
			t.Errorf("kin of %d: %v", u, row)
		}
		for _, v := range row {
			if int(v)%subjects != u%subjects || int(v) == u || !slices.Contains(kin[v], uint32(u)) {
				t.Errorf("%d is kin of %d, which has %v", v, u, kin[v])
			}
		}
	}
}

// randomRows returns a matrix of random numbers.
func randomRows(rng *rand.Rand, n, cols int) blas32.General {
	x := Resize(blas32.General{}, n, cols)
	for i := range x.Data {
		x.Data[i] = float32(rng.NormFloat64())
	}
	return x
}
