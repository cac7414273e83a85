package walk

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Best returns the first k of a full sort, and a rank is certain exactly if no scores within the bounds could change
// it.
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

// A bound that is too small to change the score in a sum still makes a rank uncertain.
func TestBestOfTinyBounds(t *testing.T) {
	t.Parallel()
	bounds := []float64{0, 1e-15, 0}
	if got := Best(3, 2, func(i int) (float64, float64) { return 19, bounds[i] }); got[0].Certain {
		t.Errorf("got %+v, which is not certain", got[0])
	}
}
