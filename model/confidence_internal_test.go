package model

import (
	"context"
	"math"
	"testing"
)

// A pair that was tried often is less uncertain than an untried pair, and nu scales the bonus.
func TestUpperBound(t *testing.T) {
	t.Parallel()
	ask := func(nu float64) []Score {
		m := newModel(t, "neural_ucb", "paper", 3, "nu", nu, "lambda", 0.01)
		w := stillWorld(4, 3)
		x, err := m.Scorer().Contexts(context.Background(), w, Pairs(0, []ID{1}))
		if err != nil {
			t.Fatal(err)
		}
		for range 30 {
			if _, err := m.Observe(Outcome{Contexts: x}); err != nil {
				t.Fatal(err)
			}
		}
		scores, err := m.Scorer().Score(context.Background(), w, Pairs(0, []ID{1, 2}))
		if err != nil {
			t.Fatal(err)
		}
		return scores
	}
	one, two := ask(0.1), ask(0.2)
	if !(one[0].Explore > 0 && one[0].Explore < 0.9*one[1].Explore) {
		t.Errorf("bonus %v of what was tried, %v of what was not", one[0].Explore, one[1].Explore)
	}
	for i := range one {
		if !nearly(two[i].Explore, 2*one[i].Explore) || one[i].Score != one[i].Exploit+one[i].Explore {
			t.Errorf("%+v with nu = 0.1, %+v with 0.2", one[i], two[i])
		}
	}
}

// Draws have the mean and the deviation of the posterior, over rounds and over pairs.
func TestSampled(t *testing.T) {
	t.Parallel()
	s := &Scorer{config: &config{Seed: 9}}
	const n = 20000
	for name, draw := range map[string]func(i int) float64{
		"rounds": func(i int) float64 { s.round = i; return sampled(s, Pair{Source: 1, Target: 2}, 3) },
		"pairs":  func(i int) float64 { return sampled(s, Pair{Source: 1, Target: ID(i)}, 3) },
	} {
		var sum, squares float64
		for i := range n {
			v := draw(i)
			sum += v / n
			squares += v * v / n
		}
		if math.Abs(sum) > 0.1 || math.Abs(math.Sqrt(squares)-3) > 0.1 {
			t.Errorf("over %s: mean %.3f, deviation %.3f; want 0, 3", name, sum, math.Sqrt(squares))
		}
	}
	if sampled(s, Pair{Source: 1, Target: 2}, 3) != sampled(s, Pair{Source: 1, Target: 2}, 3) {
		t.Error("asking twice gives two draws")
	}
}
