package model

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Logged is one choice with a known reward, the input for estimating a different policy's value.
type Logged struct {
	Propensity float64 // probability with which the candidate was chosen
	Target     float64 // probability with which the policy to estimate would have chosen it
	MaxWeight  float64 // largest Target/Propensity over all candidates of the choice
	Reward     float64
	Score      float64 // score of the chosen candidate; any quantity that correlates with rewards
	Mean       float64 // mean score of the candidates under the policy to estimate
}

// weight is the importance weight of the choice.
func (l *Logged) weight() float64 { return l.Target / l.Propensity }

// Rewards is the range of possible rewards.
type Rewards struct{ Min, Max float64 }

// Estimate is an estimate of the mean reward of a policy from the choices of a different policy.
type Estimate struct {
	Value     float64 `json:"value"`
	Low       float64 `json:"low"` // Low and High contain the mean reward with a probability of at least 95 %
	High      float64 `json:"high"`
	Effective float64 `json:"effective"` // number of the policy's own choices that would be as informative: (Σw)²/Σw²
	Weights   float64 `json:"weights"`   // Σw; near the number of choices if the log is informative enough
	Rare      int     `json:"rare"`      // number of choices with too improbable candidates; Low and High allow any reward for them
}

// Estimators returns the names that OffPolicy accepts.
func Estimators() []string { return []string{"ips", "snips", "dr"} }

// OffPolicy estimates the value of a policy from the choices of a different policy, with w =
// Target/Propensity:
//
//   - ips: the mean of w r (Horvitz and Thompson, 1952).
//   - snips: Σ w r / Σ w (Swaminathan and Joachims, NeurIPS 2015): slightly biased, with less
//     variance.
//   - dr: the mean of q(policy) + w (r - q(chosen)) (Dudik, Langford and Li, ICML 2011), doubly
//     robust. q is a linear function of the scores, fitted to the rewards of the half of the log
//     that does not contain the choice, so that dr is unbiased, too.
//
// The interval accounts for rewards and weights that are possible but do not occur in the log, so
// it has a positive width even if all rewards are equal; see [estimator.limit]. It lies within the
// range of rewards if the estimate does. OffPolicy returns ErrOption for an unknown name. It
// returns ErrInput for a log in which the policy would have chosen none of the chosen candidates,
// for a propensity of 0, a weight above MaxWeight and a reward out of range.
func OffPolicy(ctx context.Context, name string, log []Logged, rewards Rewards) (Estimate, error) {
	if !slices.Contains(Estimators(), name) {
		return Estimate{}, &NameError{"estimator", name, Estimators()}
	}
	v, err := weigh(log, rewards)
	if err != nil {
		return v, err
	}
	e := estimator{name: name, log: log, lines: fitLines(log, rewards), largest: largestWeight(log)}
	var sum term
	for i := range log {
		if log[i].MaxWeight > e.largest {
			v.Rare++
		}
		sum = sum.plus(e.term(i, log[i].weight(), log[i].Reward))
	}
	v.Value = sum.above / sum.below
	low, err := e.limit(ctx, 1, rewards.Min)
	if err != nil {
		return v, err
	}
	high, err := e.limit(ctx, -1, rewards.Max)
	v.Low, v.High = min(v.Value, low), max(v.Value, -high)
	return v, err
}

// weigh checks the log and sums its weights.
func weigh(log []Logged, rewards Rewards) (v Estimate, err error) {
	squares := 0.0
	for i := range log {
		l := &log[i]
		w := l.weight()
		switch {
		case !(l.Propensity > 0):
			return v, fmt.Errorf("%w: choice %d with propensity %v", ErrInput, i, l.Propensity)
		case !(w <= l.MaxWeight):
			return v, fmt.Errorf("%w: choice %d has weight %v, above its MaxWeight %v", ErrInput, i, w, l.MaxWeight)
		case !(l.Reward >= rewards.Min && l.Reward <= rewards.Max):
			return v, fmt.Errorf("%w: choice %d has reward %v (accepted: from %v to %v)", ErrInput, i, l.Reward, rewards.Min, rewards.Max)
		}
		v.Weights += w
		squares += w * w
	}
	if v.Weights == 0 {
		return v, fmt.Errorf("%w: the policy would have made none of the %d choices", ErrInput, len(log))
	}
	v.Effective = v.Weights * v.Weights / squares
	return v, nil
}

// estimator computes the terms of an estimate.
type estimator struct {
	name    string
	log     []Logged
	lines   [2]line
	largest float64 // largest weight; in the limits, a choice with a larger MaxWeight counts with the worst reward and weight 1
}

// term is the contribution of one choice to the numerator (above) and the denominator (below) of an
// estimate.
type term struct{ above, below float64 }

func (t term) plus(o term) term { return term{t.above + o.above, t.below + o.below} }

// term returns the contribution of choice i for the given weight and reward.
func (e *estimator) term(i int, w, reward float64) term {
	switch e.name {
	case "ips":
		return term{w * reward, 1}
	case "snips":
		return term{w * reward, w}
	}
	l, q := &e.log[i], e.lines[1-i%2]
	return term{q.at(l.Mean) + w*(reward-q.at(l.Score)), 1}
}

// confidence is log 40: each limit of an interval is wrong with a probability of at most 1/40.
const confidence = 3.688879454113936

// limit returns a lower limit of the mean of sign times the reward. worst is the worst possible
// reward. With sign -1, the negated result is an upper limit of the mean reward.
//
// The limit comes from an empirical likelihood over a bounded support (Karampatziakis, Langford and
// Mineiro, NeurIPS 2020). Consider a gambler who stakes a fixed share λ of his money on each z =
// above - θ below, with λ so small that he cannot go broke. A mean θ is ruled out if, for some λ,
// the gambler would have multiplied his money by 40:
//
//	max Σ log(1 + λ z) > log 40,  0 ≤ λ ≤ -1 / (the least z there could be)
//
// For terms that are 0 or 1 this is Chernoff's bound of a binomial (rewards that are all 1 in n
// choices: θ = 40^(-1/n)), and for many choices it is a normal interval of 2.7 instead of 2
// standard errors. On simulated logs of 20, 100 and 1,000 choices, the bound of Maurer and Pontil
// (2009) was 2 to 5 times as wide. The bootstrap, even with Wilson's interval for the effective
// number of choices as its minimum width, covered as little as 7 % of the true values with ips.
func (e *estimator) limit(ctx context.Context, sign, worst float64) (float64, error) {
	terms, least := e.outcomes(sign, worst)
	var sum term
	for _, t := range terms {
		sum = sum.plus(t)
	}
	low, high := sign*worst, sum.above/sum.below
	z := make([]float64, len(terms))
	for range 30 {
		if err := ctx.Err(); err != nil || !(low < high) {
			return low, err
		}
		mean := (low + high) / 2
		for i, t := range terms {
			z[i] = t.above - mean*t.below
		}
		if growth(z, least.above-mean*least.below) > confidence {
			low = mean
		} else {
			high = mean
		}
	}
	return low, nil
}

// outcomes returns the terms times sign, and the smallest possible term.
func (e *estimator) outcomes(sign, worst float64) (terms []term, least term) {
	signed := func(t term) term { return term{sign * t.above, t.below} }
	least.above = math.Inf(1)
	for i := range e.log {
		l := &e.log[i]
		if l.MaxWeight > e.largest {
			terms = append(terms, term{sign * worst, 1})
			continue
		}
		terms = append(terms, signed(e.term(i, l.weight(), l.Reward)))
		for _, w := range [2]float64{0, e.largest} {
			if t := signed(e.term(i, w, worst)); t.below > 0 && t.above < least.above {
				least = t
			}
		}
	}
	return terms, least
}

// growth returns the largest Σ log(1 + λz) for λ from 0 to -1/least. least must be negative, and no
// z may be smaller.
func growth(z []float64, least float64) (sum float64) {
	low, high := 0.0, -1/least
	stake := high / 2
	for range 30 { // Newton's method for slope 0, with bisection if a step leaves the bracket
		slope, curvature := 0.0, 0.0
		for _, x := range z {
			part := x / (1 + stake*x)
			slope += part
			curvature += part * part
		}
		if slope > 0 {
			low = stake
		} else {
			high = stake
		}
		if slope*slope <= 1e-12*curvature { // twice the remaining growth
			break
		}
		if stake += slope / curvature; !(low < stake && stake < high) {
			stake = (low + high) / 2
		}
	}
	for _, x := range z {
		sum += math.Log1p(stake * x)
	}
	return sum
}

// largestWeight returns the largest weight that the limits allow for. A larger weight of a rare
// candidate means that its draws move the estimate more, and that the log tells less if the
// candidate was never drawn. Treating choices with rare candidates as unknown costs their share of
// the log. The result minimises the sum of both. It depends only on the candidates that could have
// been chosen, not on the chosen ones, so it does not bias the limits.
func largestWeight(log []Logged) (largest float64) {
	weights := make([]float64, len(log))
	for i := range log {
		weights[i] = log[i].MaxWeight
	}
	slices.Sort(weights)
	n, most := float64(len(weights)), math.Inf(-1)
	for i, w := range weights {
		if value := math.Log(float64(i+1)/n) - w*confidence/n; value >= most {
			most, largest = value, w
		}
	}
	return largest
}

// line is a regression of rewards on scores, clamped to the range of rewards.
type line struct {
	base, slope float64
	rewards     Rewards
}

func (l line) at(score float64) float64 {
	return min(max(l.base+l.slope*score, l.rewards.Min), l.rewards.Max)
}

// fitLines fits a line to the choices with even numbers and a line to the choices with odd numbers,
// by least squares.
func fitLines(log []Logged, rewards Rewards) (lines [2]line) {
	for half := range lines {
		lines[half].rewards = rewards
		var n, x, y, xx, xy float64
		for i := half; i < len(log); i += 2 {
			l := &log[i]
			n, x, y = n+1, x+l.Score, y+l.Reward
		}
		if n == 0 {
			continue
		}
		x, y = x/n, y/n
		for i := half; i < len(log); i += 2 {
			d := log[i].Score - x
			xx, xy = xx+d*d, xy+d*(log[i].Reward-y)
		}
		if xx > 0 {
			lines[half].slope = xy / xx
		}
		lines[half].base = y - lines[half].slope*x
	}
	return lines
}

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
