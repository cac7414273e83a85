package model

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Logged is one choice whose reward is known, as an estimate of another policy's value sees it.
type Logged struct {
	Propensity float64 // with which the candidate was chosen
	Target     float64 // with which the other policy would have chosen it
	Reward     float64
	Score      float64 // of the chosen candidate, anything that goes along with rewards
	Mean       float64 // of the scores, as the other policy would have chosen
}

// Estimate is one of the mean reward of a policy, from the choices of another.
type Estimate struct {
	Value     float64 `json:"value"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`      // 95 % bootstrap interval
	Effective float64 `json:"effective"` // the number of choices of its own that would tell as much: (Σw)²/Σw²
}

// Estimators returns the names that OffPolicy accepts.
func Estimators() []string { return []string{"ips", "snips", "dr"} }

// OffPolicy estimates the value of a policy from the choices of another, with w = Target/Propensity:
//
//   - ips: the mean of w r (Horvitz and Thompson, 1952).
//   - snips: Σ w r / Σ w (Swaminathan and Joachims, NeurIPS 2015): slightly biased, of less variance.
//   - dr: the mean of q(policy) + w (r - q(chosen)) (Dudik, Langford and Li, ICML 2011), doubly robust. q is a line through
//     the scores, fitted to the rewards of the half of the log that the choice is not in, so that dr has no bias either.
//
// The interval is the middle 95 % of the estimates from so many resamples of the log. It returns ErrOption for another
// name, and ErrInput for a log in which the policy would have chosen nothing of what was chosen, or a propensity is 0.
func OffPolicy(ctx context.Context, name string, log []Logged, resamples int, rng *rand.Rand) (Estimate, error) {
	if !slices.Contains(Estimators(), name) {
		return Estimate{}, fmt.Errorf("%w: unknown estimator %q (accepted: %s)", ErrOption, name, strings.Join(Estimators(), ", "))
	}
	terms, v, err := terms(name, log)
	if err != nil {
		return v, err
	}
	v.Value = ratio(terms)
	estimates := make([]float64, 0, resamples)
	for range resamples {
		if err := ctx.Err(); err != nil {
			return v, err
		}
		var sum term
		for range terms {
			t := terms[rng.IntN(len(terms))]
			sum.above, sum.below = sum.above+t.above, sum.below+t.below
		}
		if sum.below > 0 { // or the resample has nothing that the policy would have chosen
			estimates = append(estimates, sum.above/sum.below)
		}
	}
	slices.Sort(estimates)
	v.Low, v.High = v.Value, v.Value
	if n := len(estimates); n > 0 {
		v.Low, v.High = estimates[n*25/1000], estimates[n-1-n*25/1000]
	}
	return v, nil
}

// term is what one choice adds above and below the line of an estimate.
type term struct{ above, below float64 }

func ratio(terms []term) float64 {
	var sum term
	for _, t := range terms {
		sum.above, sum.below = sum.above+t.above, sum.below+t.below
	}
	return sum.above / sum.below
}

func terms(name string, log []Logged) ([]term, Estimate, error) {
	var w1, w2 float64
	all, q := make([]term, len(log)), fitLines(log)
	for i, l := range log {
		if !(l.Propensity > 0) {
			return nil, Estimate{}, fmt.Errorf("%w: choice %d with propensity %v", ErrInput, i, l.Propensity)
		}
		w := l.Target / l.Propensity
		w1, w2 = w1+w, w2+w*w
		switch name {
		case "ips":
			all[i] = term{w * l.Reward, 1}
		case "snips":
			all[i] = term{w * l.Reward, w}
		default:
			line := q[1-i%2]
			all[i] = term{line.at(l.Mean) + w*(l.Reward-line.at(l.Score)), 1}
		}
	}
	if w1 == 0 {
		return nil, Estimate{}, fmt.Errorf("%w: the policy would have chosen nothing of what was chosen in %d choices", ErrInput, len(log))
	}
	return all, Estimate{Effective: w1 * w1 / w2}, nil
}

// line is a regression of rewards on scores.
type line struct{ base, slope float64 }

func (l line) at(score float64) float64 { return l.base + l.slope*score }

// fitLines fits a line to the choices with even numbers, and one to the others, by least squares.
func fitLines(log []Logged) (lines [2]line) {
	for half := range lines {
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
