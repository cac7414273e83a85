package model

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestPropensities(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		e      Explorer
		scores []float64
		rounds int
		want   []float64
	}{
		{Explorer{Gamma: 10}, []float64{0.5, 1}, 0, []float64{1. / 7, 6. / 7}},
		{Explorer{Gamma: 10}, []float64{0.5, 1}, 3, []float64{1. / 12, 11. / 12}},
		{Explorer{}, []float64{1, 1, 1}, 100, []float64{1. / 3, 1. / 3, 1. / 3}},
		{Explorer{Name: epsilonGreedy, Epsilon: 0.3}, []float64{0, 2, 2}, 9, []float64{0.1, 0.8, 0.1}},
		{Explorer{Name: epsilonGreedy}, []float64{0, 2}, 9, []float64{0, 1}},
		{Explorer{}, []float64{-3}, 0, []float64{1}},
		{Explorer{}, nil, 0, nil},
	} {
		e, err := c.e.Resolve()
		if err != nil {
			t.Fatal(err)
		}
		got := e.Propensities(c.scores, c.rounds)
		for i := range c.want {
			if math.Abs(got[i]-c.want[i]) > 1e-15 {
				t.Errorf("%v of %v: got %v, want %v", e, c.scores, got, c.want)
				break
			}
		}
	}
}

func TestPropensitiesSumToOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		scores := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 200).Draw(t, "scores")
		for _, e := range []Explorer{{Gamma: rapid.Float64Range(1e-6, 1e9).Draw(t, "gamma")}, {Name: epsilonGreedy, Epsilon: rapid.Float64Range(0, 1).Draw(t, "epsilon")}} {
			e, err := e.Resolve()
			if err != nil {
				t.Fatal(err)
			}
			sum, best := 0.0, 0
			p := e.Propensities(scores, rapid.IntRange(0, 1e9).Draw(t, "rounds"))
			for i, x := range p {
				if sum += x; x < 0 || x > 1 {
					t.Fatalf("%v: propensity %v", e, x)
				}
				if p[i] > p[best]+1e-12 {
					best = i
				}
			}
			if math.Abs(sum-1) > 1e-12 {
				t.Fatalf("%v: sum %v", e, sum)
			}
			for _, s := range scores {
				if s > scores[best] && p[best] > 1/float64(len(p))+1e-12 {
					t.Fatalf("%v: score %v is the likeliest, %v the best", e, scores[best], s)
				}
			}
		}
	})
}

func TestDraw(t *testing.T) {
	t.Parallel()
	p := []float64{0.1, 0, 0.6, 0.3, 0}
	const n = 100_000
	count := make([]float64, len(p))
	rng := rand.New(rand.NewPCG(1, 2))
	for range n {
		count[Draw(rng, p)]++
	}
	for i := range p {
		if sd := math.Sqrt(n * p[i] * (1 - p[i])); math.Abs(count[i]-n*p[i]) > 4*sd {
			t.Errorf("%d was drawn %v times of %d, with probability %v", i, count[i], n, p[i])
		}
	}
}

func TestExplorerRefuses(t *testing.T) {
	t.Parallel()
	for _, e := range []Explorer{
		{Name: "greedy"}, {Gamma: -1}, {Gamma: math.NaN()}, {Gamma: math.Inf(1)}, {Epsilon: 0.1},
		{Name: epsilonGreedy, Epsilon: 1.1}, {Name: epsilonGreedy, Epsilon: math.NaN()}, {Name: epsilonGreedy, Gamma: 1},
	} {
		if _, err := e.Resolve(); !errors.Is(err, ErrOption) {
			t.Errorf("%+v: %v", e, err)
		}
	}
}
