package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The propensities of the places are the sums over all sequences of draws.
func TestSlatePropensities(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "candidates")
		places := rapid.IntRange(1, min(n, 4)).Draw(t, "places")
		scores := rapid.SliceOfN(rapid.Float64Range(0, 1), n, n).Draw(t, "scores")
		s := NewSlate(scores, Explorer{Gamma: rapid.Float64Range(0.01, 100).Draw(t, "gamma")}.Propensities(scores, 0))
		want := make([][]float64, places) // of each place and candidate
		for k := range want {
			want[k] = make([]float64, n)
		}
		drawn := make([]int, places)
		for sequence := range int(math.Pow(float64(n), float64(places))) {
			weight := 1.0
			for k := range drawn {
				drawn[k] = sequence % n
				sequence /= n
				weight *= s.propensities[drawn[k]]
			}
			for k, c := range s.shown(drawn) {
				want[k][c] += weight
			}
		}
		for c := range n { // at each place in turn
			for k := range places {
				list := slices.Repeat([]int{(c + 1) % n}, places)
				list[k] = c
				if n == 1 {
					list[k] = 0
				}
				if got := s.Propensities(list)[k]; math.Abs(got-want[k][c]) > 1e-12 {
					t.Fatalf("candidate %d at place %d: %v, want %v (propensities %v, scores %v)", c, k, got, want[k][c], s.propensities, scores)
				}
			}
		}
	})
}

// shown returns the list that a sequence of draws makes.
func (s *Slate) shown(drawn []int) (list []int) {
	for _, c := range drawn {
		if slices.Contains(list, c) {
			c = s.ranked[slices.IndexFunc(s.ranked, func(c int) bool { return !slices.Contains(list, c) })]
		}
		list = append(list, c)
	}
	return list
}

// Lists are drawn as often as the propensities say, have no candidate twice, and follow the scores
// without exploration.
func TestSlateDraw(t *testing.T) {
	t.Parallel()
	scores := []float64{0.1, 0.9, 0.5, 0.5, 0.2}
	greedy := NewSlate(scores, []float64{0, 1, 0, 0, 0})
	rng := rand.New(rand.NewPCG(1, 1))
	if list := greedy.Draw(rng, 9); !slices.Equal(list, []int{1, 2, 3, 4, 0}) {
		t.Errorf("without exploration: %v", list)
	}
	s := NewSlate(scores, Explorer{Gamma: 5}.Propensities(scores, 0))
	const places, draws = 3, 40000
	count := [places][5]float64{}
	for range draws {
		list := s.Draw(rng, places)
		for k, c := range list {
			if slices.Contains(list[:k], c) {
				t.Fatalf("a candidate twice: %v", list)
			}
			count[k][c]++
		}
	}
	for k := range places {
		for c := range scores {
			list := []int{-1, -1, -1}
			for i := range list {
				list[i] = (c + 1 + i) % len(scores)
			}
			list[k] = c
			want := s.Propensities(list)[k]
			if got := count[k][c] / draws; math.Abs(got-want) > 5*math.Sqrt(want/draws) {
				t.Errorf("candidate %d at place %d: %v of the lists, want %v", c, k, got, want)
			}
		}
	}
}

func BenchmarkSlatePropensities(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	scores := make([]float64, 1000)
	for i := range scores {
		scores[i] = rng.Float64()
	}
	s := NewSlate(scores, Explorer{Gamma: 10}.Propensities(scores, 100))
	list := s.Draw(rng, 10)
	for b.Loop() {
		s.Propensities(list)
	}
}
