package model

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"kith/model/nn"
)

// Explorer converts the scores of candidates into the probabilities to choose them with. The zero
// Explorer is SquareCB with its default.
//
//   - squarecb: inverse gap weighting (Foster and Rakhlin, ICML 2020, algorithm 1). A candidate
//     whose score is below the best one of K has probability 1 / (K + γ (best - score)); the best
//     one has the remaining probability. γ is Gamma times the square root of the number of observed
//     outcomes plus one, so that exploration decreases with experience.
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

// NewExplorer returns the named explorer with its defaults. It returns ErrOption for an unknown
// name.
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

// Propensities returns the probability of choosing each candidate; they sum to 1. The explorer must
// be resolved. rounds is the number of outcomes observed so far.
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

// Slate draws several different candidates, one for each place of a list. Each place draws a
// candidate with the propensities of an explorer; a candidate that has a place already leaves this
// one to the best that has none. A slate of one place is the draw of a single candidate, and the
// places follow the scores except where an explorer strays.
//
// The draws of the places are independent, which makes the probability that a place shows a
// candidate computable: see Propensities.
type Slate struct {
	propensities []float64
	ranked       []int // the candidates, the best first
}

// NewSlate returns the slates of candidates with the given scores, for an explorer that gives them
// these propensities, which must sum to 1. Among equal scores the first is the best.
func NewSlate(scores, propensities []float64) *Slate {
	s := &Slate{propensities, nn.Numbers(len(scores))}
	slices.SortStableFunc(s.ranked, func(i, j int) int { return cmp.Compare(scores[j], scores[i]) })
	return s
}

// Best returns the list that shows the best candidates, for as many places as there are candidates.
func (s *Slate) Best(places int) []int { return s.ranked[:min(places, len(s.ranked))] }

// Draw returns a candidate for each of a number of places, or for as many as there are candidates.
func (s *Slate) Draw(rng *rand.Rand, places int) []int {
	shown, best := make([]bool, len(s.ranked)), 0
	list := make([]int, 0, min(places, len(s.ranked)))
	for len(list) < cap(list) {
		c := Draw(rng, s.propensities)
		for shown[c] {
			c = s.ranked[best]
			best++
		}
		shown[c] = true
		list = append(list, c)
	}
	return list
}

// Propensities returns, for each place of a list, the probability that a slate shows the list's
// candidate there.
//
// Let a candidate have r candidates above it, and p be its propensity. Each place shows one more
// candidate, and one from below only if its draw is the first of that candidate. So if the first j
// draws are none of the candidate, and have D different candidates from below, j - D of those above
// are shown. Place k shows the candidate if it is drawn there, not before, and D ≥ k - 1 - r
// candidates from below had been drawn, as otherwise it has been reached; or if it is reached: it
// is not drawn, and k - 1 - r different ones from below are drawn before, and no new one at k. The
// numbers of sequences with D different draws have the generating function Π (1 + y (exp(p z) - 1))
// over the candidates below (the coupon collector's, with a factor for each coupon).
func (s *Slate) Propensities(list []int) []float64 {
	out := make([]float64, len(list))
	top := s.Best(len(list)) // the others are too low to be reached
	for k, c := range list {
		out[k] = s.propensities[c] * math.Pow(1-s.propensities[c], float64(k))
	}
	below := newDraws(len(list))
	for _, c := range slices.Backward(s.ranked[len(top):]) {
		below.add(s.propensities[c])
	}
	for r := len(top) - 1; r >= 0; r-- {
		if k := slices.Index(list, top[r]); k >= 0 && k >= r {
			above := 0.0
			for _, c := range top[:r] {
				above += s.propensities[c]
			}
			drawn, reached := below.before(k, k-r, above)
			out[k] = s.propensities[top[r]]*drawn + reached
		}
		below.add(s.propensities[top[r]])
	}
	return out
}

// draws are the probabilities of sequences of draws from a set of candidates.
type draws struct {
	// all[d][j] is the probability that j draws are all from the set, and of d different candidates.
	// again[d][j] is the probability that besides the draw after them repeats one of these.
	all, again [][]float64
	choose     [][]float64 // binomial coefficients
}

// newDraws returns the draws from no candidate, of fewer than n draws.
func newDraws(n int) *draws {
	table := func() [][]float64 {
		t := make([][]float64, n)
		for i := range t {
			t[i] = make([]float64, n)
		}
		return t
	}
	d := &draws{table(), table(), table()}
	for j := range n {
		d.choose[j][0] = 1
		for m := 1; m <= j; m++ {
			d.choose[j][m] = d.choose[j-1][m-1] + d.choose[j-1][m]
		}
	}
	if n > 0 {
		d.all[0][0] = 1
	}
	return d
}

// add adds a candidate with propensity p to the set.
func (t *draws) add(p float64) {
	n := len(t.all)
	for d := n - 1; d > 0; d-- {
		for j := n - 1; j >= d; j-- {
			power := 1.0
			for m := 1; m <= j-d+1; m++ { // draws of the candidate
				power *= p
				with := t.choose[j][m] * power
				t.all[d][j] += with * t.all[d-1][j-m]
				t.again[d][j] += with * (t.again[d-1][j-m] + p*t.all[d-1][j-m])
			}
		}
	}
}

// before returns the probabilities that j draws are from the set or from other candidates, which
// have propensity above together, and drawn: at least d of the set are among them; reached: exactly
// d of the set are among them, and the draw after them is no new one of the set.
func (t *draws) before(j, d int, above float64) (drawn, reached float64) {
	power := 1.0
	for m := range j + 1 { // draws of the others
		with := t.choose[j][m] * power
		for e := d; e <= j-m; e++ {
			drawn += with * t.all[e][j-m]
		}
		if d <= j-m {
			reached += with * (above*t.all[d][j-m] + t.again[d][j-m])
		}
		power *= above
	}
	return drawn, reached
}
