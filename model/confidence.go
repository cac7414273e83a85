package model

import (
	"math/rand/v2"
)

// bonus returns what a pair gains from the standard deviation of its estimate.
type bonus func(s *Scorer, p Pair, deviation float64) float64

// upper is the upper confidence bound of NeuralUCB (Zhou, Li and Gu, ICML 2020, algorithm 1).
func upper(_ *Scorer, _ Pair, deviation float64) float64 { return deviation }

// sampled is a draw from the posterior of NeuralTS (Zhang, Zhou, Li and Gu, ICLR 2021, algorithm 1), less its mean. The
// draw is a function of seed, round and pair, so that scoring twice gives the same result.
func sampled(s *Scorer, p Pair, deviation float64) float64 {
	return deviation * s.random(p).NormFloat64()
}

// random returns the random numbers of a pair in this round: a function of seed, round and pair.
func (s *Scorer) random(p Pair) *rand.Rand {
	pair := uint64(p.Source)<<32 | uint64(p.Target)
	return rand.New(rand.NewPCG(s.config.Seed^uint64(s.round), pair))
}
