package model

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Explorer converts the scores of candidates into the probabilities to choose them with. The zero Explorer is SquareCB
// with its default.
//
//   - squarecb: inverse gap weighting (Foster and Rakhlin, ICML 2020, algorithm 1). A candidate whose score is below the
//     best one of K has probability 1 / (K + γ (best - score)); the best one has the remaining probability. γ is Gamma
//     times the square root of the number of observed outcomes plus one, so that exploration decreases with experience.
//   - epsilon_greedy: with probability Epsilon a uniformly drawn candidate, otherwise the best.
//
// Among equal scores the first is the best.
type Explorer struct {
	Name    string  // "": squarecb
	Gamma   float64 // squarecb: greater than 0; 0 means 10
	Epsilon float64 // epsilon_greedy: from 0 to 1
}

// Names of explorers.
const (
	squareCB      = "squarecb"
	epsilonGreedy = "epsilon_greedy"
)

// Explorers returns the names that Explorer.Name accepts.
func Explorers() []string { return []string{squareCB, epsilonGreedy} }

const defaultGamma = 10

// NewExplorer returns the named explorer with its defaults. It returns ErrOption for an unknown name.
func NewExplorer(name string) (Explorer, error) {
	switch name {
	case "", squareCB:
		return Explorer{Name: squareCB, Gamma: defaultGamma}, nil
	case epsilonGreedy:
		return Explorer{Name: epsilonGreedy, Epsilon: 0.1}, nil
	}
	return Explorer{}, &NameError{"explorer", name, Explorers()}
}

// Resolve fills in the defaults. It returns ErrOption for an invalid explorer.
func (e Explorer) Resolve() (Explorer, error) {
	r, err := NewExplorer(e.Name)
	switch {
	case err != nil:
		return e, err
	case r.Name == epsilonGreedy:
		if e.Gamma != 0 || !(e.Epsilon >= 0 && e.Epsilon <= 1) {
			return e, optionf("%v (accepted: epsilon from 0 to 1, and no gamma)", e)
		}
		r.Epsilon = e.Epsilon
	case e.Gamma != 0 || e.Epsilon != 0:
		if e.Epsilon != 0 || !(e.Gamma > 0 && e.Gamma <= math.MaxFloat32) {
			return e, optionf("%v (accepted: gamma above 0, and no epsilon)", e)
		}
		r.Gamma = e.Gamma
	}
	return r, nil
}

// String returns the explorer in the syntax of the query language.
func (e Explorer) String() string {
	if e.Name == epsilonGreedy {
		return fmt.Sprintf("%s (epsilon = %v)", e.Name, e.Epsilon)
	}
	return fmt.Sprintf("%s (gamma = %v)", squareCB, e.Gamma)
}

// Propensities returns the probability of choosing each candidate; they sum to 1. The explorer must be resolved. rounds
// is the number of outcomes observed so far.
func (e Explorer) Propensities(scores []float64, rounds int) []float64 {
	p, best := make([]float64, len(scores)), 0
	for i, s := range scores {
		if s > scores[best] {
			best = i
		}
	}
	k, rest := float64(len(scores)), 1.0
	for i, s := range scores {
		switch {
		case i == best:
			continue
		case e.Name == epsilonGreedy:
			p[i] = e.Epsilon / k
		default:
			p[i] = 1 / (k + e.Gamma*math.Sqrt(float64(rounds)+1)*(scores[best]-s))
		}
		rest -= p[i]
	}
	if len(p) > 0 {
		p[best] = rest
	}
	return p
}

// Draw returns index i with probability propensities[i].
func Draw(rng *rand.Rand, propensities []float64) int {
	u, last := rng.Float64(), 0
	for i, p := range propensities {
		if p <= 0 {
			continue
		}
		if last = i; u < p {
			return i
		}
		u -= p
	}
	return last // reached only by rounding errors
}
