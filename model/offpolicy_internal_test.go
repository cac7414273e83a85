package model

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// simulate makes a log of SquareCB on scores that are wrong by some noise, and the value, in that world, of a policy that
// takes the best of other scores: exact, over the same contexts.
func simulate(rng *rand.Rand, n int) (log []Logged, truth float64) {
	const k = 5
	e := Explorer{Gamma: 3}
	for range n {
		var p, seen, scores [k]float64
		best := 0
		for i := range k {
			p[i] = 0.1 + 0.6*rng.Float64()
			seen[i], scores[i] = p[i]+0.2*rng.NormFloat64(), p[i]+0.2*rng.NormFloat64()
			if scores[i] > scores[best] {
				best = i
			}
		}
		propensities := e.Propensities(seen[:], 20)
		chosen := Draw(rng, propensities)
		l := Logged{Propensity: propensities[chosen], Score: scores[chosen], Mean: scores[best]}
		if chosen == best {
			l.Target = 1
		}
		if rng.Float64() < p[chosen] {
			l.Reward = 1
		}
		log, truth = append(log, l), truth+p[best]/float64(n)
	}
	return log, truth
}

// The value of the policy, over all contexts, lies in the intervals of 95 % of logs, but for binomial error.
func TestOffPolicyCovers(t *testing.T) {
	repetitions := 200.0
	if testing.Short() {
		repetitions = 60
	}
	_, truth := simulate(rand.New(rand.NewPCG(7, 7)), 400_000)
	widths := map[string]float64{}
	for _, name := range Estimators() {
		covered, sum := 0, 0.0
		for i := range int(repetitions) {
			rng := rand.New(rand.NewPCG(uint64(i), 1))
			log, _ := simulate(rng, 600)
			v, err := OffPolicy(context.Background(), name, log, 400, rng)
			if err != nil {
				t.Fatal(err)
			}
			if v.Low <= truth && truth <= v.High {
				covered++
			}
			sum += v.Value / repetitions
			widths[name] += (v.High - v.Low) / repetitions
			if !(v.Low <= v.Value && v.Value <= v.High && v.Effective > 1 && v.Effective < 600) {
				t.Fatalf("%s: %+v", name, v)
			}
		}
		sd := math.Sqrt(repetitions * 0.95 * 0.05)
		t.Logf("%s: %d of %v cover %.4f, mean %.4f, mean width %.4f", name, covered, repetitions, truth, sum, widths[name])
		if math.Abs(float64(covered)-0.95*repetitions) > 3*sd {
			t.Errorf("%s: %d of %v intervals cover", name, covered, repetitions)
		}
		if se := widths[name] / (2 * 1.96) / math.Sqrt(repetitions); math.Abs(sum-truth) > 3*se {
			t.Errorf("%s: the mean estimate is %.4f, the truth %.4f", name, sum, truth)
		}
	}
	if widths["dr"] >= widths["ips"] {
		t.Errorf("widths %v: the line is worth nothing", widths)
	}
}

func TestOffPolicyRefuses(t *testing.T) {
	ctx, rng := context.Background(), rand.New(rand.NewPCG(1, 1))
	good := Logged{Propensity: 0.5, Target: 1, Reward: 1}
	for what, c := range map[string]struct {
		name string
		log  []Logged
		want error
	}{
		"name":       {"best", []Logged{good}, ErrOption},
		"empty":      {"ips", nil, ErrInput},
		"propensity": {"dr", []Logged{good, {Target: 1}}, ErrInput},
		"overlap":    {"snips", []Logged{{Propensity: 0.5}}, ErrInput},
		"nothing":    {"dr", []Logged{good}, nil},
	} {
		if _, err := OffPolicy(ctx, c.name, c.log, 10, rng); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
	}
	ctx, stop := context.WithCancel(ctx)
	stop()
	if _, err := OffPolicy(ctx, "ips", []Logged{good}, 10, rng); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
