package model

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// long runs the tests that take seconds with more repetitions.
var long = flag.Bool("long", false, "run the long tests in full")

// notShort skips a test that takes long if -short is given.
func notShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes seconds")
	}
}

// simulate returns a log of SquareCB on noisy scores, and the exact value, on the same contexts, of
// a policy that takes the best of other scores.
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
		l := LoggedPlace{Propensity: propensities[chosen], MaxWeight: 1 / propensities[best], Score: scores[chosen], Mean: scores[best]}
		if chosen == best {
			l.Target = 1
		}
		if rng.Float64() < p[chosen] {
			l.Reward = 1
		}
		log, truth = append(log, Logged{l}), truth+p[best]/float64(n)
	}
	return log, truth
}

// The mean of the estimates is the value of the policy within four standard errors. The line of dr
// reduces the variance.
func TestOffPolicyEstimates(t *testing.T) {
	t.Parallel()
	notShort(t)
	repetitions := sized(400, 100)
	_, truth := simulate(rand.New(rand.NewPCG(7, 7)), 400_000)
	spread := map[string]float64{}
	for _, name := range Estimators() {
		sum, squares := 0.0, 0.0
		for i := range repetitions {
			log, _ := simulate(rand.New(rand.NewPCG(uint64(i), 1)), 600)
			v, err := OffPolicy(context.Background(), name, log, Rewards{0, 1})
			if err != nil {
				t.Fatal(err)
			}
			sum += v.Value
			squares += (v.Value - truth) * (v.Value - truth)
			if !(0 <= v.Low && v.Low < v.Value && v.Value < v.High && v.Effective > 1 && v.Effective < 600) {
				t.Fatalf("%s: %+v", name, v)
			}
		}
		n := float64(repetitions)
		spread[name] = math.Sqrt(squares / n)
		if mean := sum / n; math.Abs(mean-truth) > 4*spread[name]/math.Sqrt(n) {
			t.Errorf("%s: the mean estimate is %.4f, the truth %.4f", name, mean, truth)
		}
	}
	if spread["dr"] >= spread["ips"] {
		t.Errorf("standard errors %v: the line is worth nothing", spread)
	}
}

// overlaps are pairs of a logging and an evaluated policy that choose among eight candidates.
// propensity is that of the evaluated policy's best candidate.
var overlaps = []struct {
	name       string
	propensity func(rng *rand.Rand) float64
}{
	{"near", func(*rand.Rand) float64 { return 0.9 }},
	{"near but for a tenth of the sources", func(rng *rand.Rand) float64 {
		if rng.Float64() < 0.1 {
			return 0.002
		}
		return 0.9
	}},
	{"far", func(rng *rand.Rand) float64 { return 0.03 + 0.2*rng.Float64() }},
}

// bernoulli returns a log whose rewards are high with probability rate and otherwise low,
// independent of the choice.
func bernoulli(rng *rand.Rand, n int, rate float64, rewards Rewards, propensity func(*rand.Rand) float64) (log []Logged) {
	for range n {
		p := propensity(rng)
		l := LoggedPlace{Propensity: p, Target: 1, MaxWeight: 1 / p, Reward: rewards.Min, Score: rng.Float64()}
		l.Mean = l.Score
		if rng.Float64() >= p {
			l.Propensity, l.Target, l.Score = (1-p)/7, 0, l.Mean*rng.Float64()
		}
		if rng.Float64() < rate {
			l.Reward = rewards.Max
		}
		log = append(log, Logged{l})
	}
	return log
}

// At least 95 % of the intervals contain the true value, within binomial error, for any number of
// choices, rate of rewards and pair of policies.
func TestOffPolicyCovers(t *testing.T) {
	notShort(t)
	repetitions := map[int]int{20: 60, 100: 30, 1000: 5}
	if *long {
		repetitions = map[int]int{20: 4000, 100: 2000, 1000: 300}
	}
	for _, p := range overlaps {
		for _, rate := range []float64{0, 0.02, 0.2, 0.9, 1} {
			for _, n := range []int{20, 100, 1000} {
				for _, name := range Estimators() {
					t.Run(fmt.Sprintf("%s/%s/%v/%d", name, p.name, rate, n), func(t *testing.T) {
						t.Parallel()
						covers(t, name, rate, n, repetitions[n], p.propensity)
					})
				}
			}
		}
	}
}

// covers counts the logs whose interval contains the rate.
func covers(t *testing.T, name string, rate float64, n, repetitions int, propensity func(*rand.Rand) float64) {
	covered, told, width := 0, 0, 0.0
	for i := range repetitions {
		rng := rand.New(rand.NewPCG(uint64(i), uint64(n)))
		v, err := OffPolicy(context.Background(), name, bernoulli(rng, n, rate, Rewards{0, 1}, propensity), Rewards{0, 1})
		if errors.Is(err, ErrInput) {
			continue // the policy would have chosen none of the chosen candidates
		}
		if err != nil {
			t.Fatal(err)
		}
		told++
		if v.Low <= rate && rate <= v.High {
			covered++
		}
		width += min(v.High, 1) - max(v.Low, 0)
		if !(v.Low < v.High) {
			t.Fatalf("the interval of %+v has no width", v)
		}
	}
	t.Logf("%d of %d cover, mean width %.3f", covered, told, width/float64(told))
	if sd := math.Sqrt(float64(told) * 0.95 * 0.05); float64(covered) < 0.95*float64(told)-3*sd {
		t.Errorf("%d of %d intervals cover", covered, told)
	}
}

// simulateSlates returns a log of slates of SquareCB, and the exact value, on the same contexts, of
// slates of the best by other scores. The reward of a place is 1 with the appeal of its candidate
// times a factor of the place.
func simulateSlates(rng *rand.Rand, n int, appeal float64) (log []Logged, truth float64) {
	const candidates, places = 8, 4
	e := Explorer{Gamma: 3}
	for range n {
		p, seen, scores := make([]float64, candidates), make([]float64, candidates), make([]float64, candidates)
		for i := range p {
			p[i] = appeal * rng.Float64()
			seen[i], scores[i] = p[i]+0.2*rng.NormFloat64(), p[i]+0.2*rng.NormFloat64()
		}
		slate := NewSlate(seen, e.Propensities(seen, 20))
		shown, best := slate.Draw(rng, places), NewSlate(scores, nil).Best(places)
		of, ofBest := slate.Propensities(shown), slate.Propensities(best)
		l := make(Logged, places)
		for k, c := range shown {
			seen := p[c] / float64(k+1)
			l[k] = LoggedPlace{Propensity: of[k], MaxWeight: 1 / ofBest[k], Score: scores[c], Mean: scores[best[k]]}
			if c == best[k] {
				l[k].Target = 1
			}
			if rng.Float64() < seen {
				l[k].Reward = 1
			}
			truth += p[best[k]] / float64(k+1) / float64(n)
		}
		log = append(log, l)
	}
	return log, truth
}

// The mean of the estimates of slates is the value of the policy within four standard errors, and
// at least 95 % of the intervals contain it, within binomial error.
func TestOffPolicySlates(t *testing.T) {
	t.Parallel()
	notShort(t)
	for _, appeal := range []float64{0.05, 0.5, 1} {
		_, truth := simulateSlates(rand.New(rand.NewPCG(7, 7)), 40_000, appeal)
		for n, repetitions := range map[int]int{20: sized(2000, 100), 100: sized(1000, 60), 1000: sized(100, 10)} {
			for _, name := range Estimators() {
				t.Run(fmt.Sprintf("%s/%v/%d", name, appeal, n), func(t *testing.T) {
					t.Parallel()
					var sum, squares, told, covered, width float64
					for i := range repetitions {
						log, _ := simulateSlates(rand.New(rand.NewPCG(uint64(i), uint64(n))), n, appeal)
						v, err := OffPolicy(t.Context(), name, log, Rewards{0, 1})
						if err != nil {
							t.Fatal(err)
						}
						told++
						sum, squares = sum+v.Value, squares+(v.Value-truth)*(v.Value-truth)
						if v.Low <= truth && truth <= v.High {
							covered++
						}
						width += v.High - v.Low
						if possible := 0 <= v.Value && v.Value <= 4; !(v.Low < v.High) || possible && !(v.Low >= 0 && v.High <= 4) {
							t.Fatalf("%+v", v)
						}
					}
					t.Logf("%v of %v cover, mean width %.3f of %.3f", covered, told, width/told, truth)
					if mean, sd := sum/told, math.Sqrt(squares/told); name != "snips" && math.Abs(mean-truth) > 4*sd/math.Sqrt(told) {
						t.Errorf("the mean estimate is %.4f ± %.4f, the truth %.4f", mean, sd/math.Sqrt(told), truth)
					}
					if sd := math.Sqrt(told * 0.95 * 0.05); covered < 0.95*told-3*sd {
						t.Errorf("%v of %v intervals cover", covered, told)
					}
				})
			}
		}
	}
}

// With equal weights, the limits are those of Chernoff's bound of a binomial: there the relative
// entropy of the rates is log 40 divided by the number of choices.
func TestOffPolicyBinomial(t *testing.T) {
	t.Parallel()
	entropy := func(p, q float64) (sum float64) {
		if p > 0 {
			sum += p * math.Log(p/q)
		}
		if p < 1 {
			sum += (1 - p) * math.Log((1-p)/(1-q))
		}
		return sum
	}
	for _, c := range []struct{ hits, chosen, others int }{{0, 5, 0}, {5, 5, 0}, {1, 1, 3}, {1, 5, 20}, {70, 100, 30}, {3, 900, 100}} {
		var log []Logged
		for i := range c.chosen + c.others {
			l := LoggedPlace{Propensity: 0.5, Target: 1, MaxWeight: 2}
			if i < c.hits {
				l.Reward = 1
			}
			if i >= c.chosen {
				l.Target, l.Reward = 0, 1
			}
			log = append(log, Logged{l})
		}
		v, err := OffPolicy(context.Background(), "snips", log, Rewards{0, 1})
		if err != nil {
			t.Fatal(err)
		}
		rate, bound := float64(c.hits)/float64(c.chosen), math.Log(40)/float64(c.chosen)
		if v.Low > 0 && math.Abs(entropy(rate, v.Low)-bound) > 1e-5 || v.High < 1 && math.Abs(entropy(rate, v.High)-bound) > 1e-5 {
			t.Errorf("%+v: %+v: entropies %v and %v, want %v", c, v, entropy(rate, v.Low), entropy(rate, v.High), bound)
		}
		if (v.Low > 1e-6) != (c.hits > 0) || (v.High < 1-1e-6) != (c.hits < c.chosen) {
			t.Errorf("%+v: %+v", c, v)
		}
	}
}

// Rewards on another scale have the same estimates and intervals, converted to that scale.
func TestOffPolicyScales(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"snips", "dr"} {
		estimate := func(r Rewards) Estimate {
			v, err := OffPolicy(context.Background(), name, bernoulli(rand.New(rand.NewPCG(3, 3)), 300, 0.3, r, overlaps[2].propensity), r)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		unit := estimate(Rewards{0, 1})
		for _, r := range []Rewards{{-1, 1}, {1, 5}, {-3e38, 3e38}, {0, 1e-30}} {
			v, size := estimate(r), r.Max-r.Min
			for _, c := range [][2]float64{{unit.Value, v.Value}, {unit.Low, v.Low}, {unit.High, v.High}} {
				if got := (c[1] - r.Min) / size; math.Abs(got-c[0]) > 1e-6 {
					t.Errorf("%s, rewards %v: %+v, with rewards from 0 to 1 %+v", name, r, v, unit)
				}
			}
		}
	}
}

func TestOffPolicyRefuses(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	good := Logged{{Propensity: 0.5, Target: 1, MaxWeight: 2, Reward: 1}}
	for what, c := range map[string]struct {
		name string
		log  []Logged
		want error
	}{
		"name":       {"best", []Logged{good}, ErrOption},
		"empty":      {"ips", nil, ErrInput},
		"propensity": {"dr", []Logged{good, {{Target: 1}}}, ErrInput},
		"overlap":    {"snips", []Logged{{{Propensity: 0.5}}}, ErrInput},
		"weight":     {"dr", []Logged{good, {{Propensity: 0.5, Target: 1, MaxWeight: 1}}}, ErrInput},
		"reward":     {"dr", []Logged{good, {{Propensity: 0.5, Reward: 1.5}}}, ErrInput},
		"no number":  {"dr", []Logged{good, {{Propensity: 0.5, Reward: math.NaN()}}}, ErrInput},
		"places":     {"ips", []Logged{good, {}}, ErrInput},
		"nothing":    {"dr", []Logged{good}, nil},
	} {
		if _, err := OffPolicy(ctx, c.name, c.log, Rewards{0, 1}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
	}
	ctx, stop := context.WithCancel(ctx)
	stop()
	if _, err := OffPolicy(ctx, "ips", []Logged{good}, Rewards{0, 1}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
