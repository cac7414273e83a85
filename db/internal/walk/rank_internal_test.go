package walk

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Best returns the first k of a full sort, and a rank is certain exactly if no scores within the
// bounds could change it.
func TestBest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(t, "n")
		k := rapid.IntRange(0, n+3).Draw(t, "k")
		widest := rapid.SampledFrom([]float64{0, 0.5, 4}).Draw(t, "widest")
		score, bound := make([]float64, n), make([]float64, n)
		for i := range n {
			score[i] = float64(rapid.IntRange(0, 2*n).Draw(t, "score"))
			bound[i] = widest * rapid.Float64Range(0, 1).Draw(t, "bound")
		}
		got := Best(n, k, func(i int) (float64, float64) { return score[i], bound[i] })
		want := make([]Ranked, n)
		for i := range n {
			want[i] = Ranked{Place: i, Score: score[i], Bound: bound[i]}
		}
		slices.SortFunc(want, byRank)
		for i, r := range want {
			others := slices.Concat(want[:i], want[i+1:])
			want[i].Certain = !slices.ContainsFunc(others, func(o Ranked) bool {
				exact := o.Bound == 0 && r.Bound == 0
				return !exact && math.Abs(o.Score-r.Score) <= o.Bound+r.Bound
			})
		}
		if want = want[:min(k, n)]; !slices.Equal(got, want) {
			t.Fatalf("got %v\nwant %v", got, want)
		}
	})
}

// BenchmarkBest ranks 100 and 10,000 candidates.
func BenchmarkBest(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		score, random := make([]float64, n), rand.New(rand.NewPCG(1, 2))
		for i := range score {
			score[i] = random.Float64()
		}
		for _, k := range []int{10, n} {
			b.Run(fmt.Sprintf("candidates=%d/top=%d", n, k), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					Best(n, k, func(i int) (float64, float64) { return score[i], 0 })
				}
			})
		}
	}
}

// A bound that is too small to change the score in a sum still makes a rank uncertain.
func TestBestOfTinyBounds(t *testing.T) {
	t.Parallel()
	bounds := []float64{0, 1e-15, 0}
	if got := Best(3, 2, func(i int) (float64, float64) { return 19, bounds[i] }); got[0].Certain {
		t.Errorf("got %+v, which is not certain", got[0])
	}
}
