package spectral

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"kith/model/internal/graphtest"

	"pgregory.net/rapid"
)

func TestLargest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of   []float32
		k    int
		want []ID
	}{
		{[]float32{1, 3, 2}, 2, []ID{1, 2}},
		{[]float32{2, 2, 2, 2}, 3, []ID{0, 1, 2}},
		{[]float32{0, -1, 5}, 2, []ID{2}},
		{nil, 1, nil},
	} {
		if got := largest(c.of, c.k, 0); !slices.Equal(got, c.want) {
			t.Errorf("largest(%v, %d, 0) = %v, want %v", c.of, c.k, got, c.want)
		}
	}
}

func TestLargestIsSorting(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		of := rapid.SliceOf(rapid.Map(rapid.IntRange(-2, 6), func(i int) float32 { return float32(i) })).Draw(t, "of")
		k := rapid.IntRange(1, 6).Draw(t, "k")
		var all []ID
		for v, x := range of {
			if x > 0 {
				all = append(all, ID(v))
			}
		}
		slices.SortStableFunc(all, func(u, v ID) int { return int(of[v] - of[u]) })
		if got := largest(of, k, 0); !slices.Equal(got, all[:min(k, len(all))]) {
			t.Errorf("largest(%v, %d) = %v of %v", of, k, got, all)
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
	w := worldOf(graphtest.New(n, false), func(u ID) []float32 { return subject[u] })
	words, err := wordsOf(featuresOf(subjects*each), w)
	if err != nil {
		t.Fatal(err)
	}
	kin := words.kin(context.Background())
	for u, row := range kin {
		if len(row) < kinLinks || !slices.IsSorted(row) {
			t.Errorf("kin of %d: %v", u, row)
		}
		for _, v := range row {
			if int(v)%subjects != u%subjects || int(v) == u || !slices.Contains(kin[v], ID(u)) {
				t.Errorf("%d is kin of %d, which has %v", v, u, kin[v])
			}
		}
	}
}
