package model

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"pgregory.net/rapid"

	"kith/model/nn"
)

// inputsOf returns the inputs z of an outcome of p: the scaled context and history, 1, and the
// log-odds of the ranker.
func inputsOf(b *belief, p Pair, x []float32) []float64 {
	full := append(slices.Clone(x), make([]float32, historyLen)...)
	b.memory.history(p, full[len(x):])
	z := make([]float64, len(b.mean))
	for i, v := range full {
		z[i] = min(max(float64(v)*float64(b.scale[i]), -10), 10)
	}
	z[len(full)] = 1
	if b.ranker != nil {
		in := nn.Resize(blas32.General{}, 1, b.config.rankLen())
		b.config.rankInput(x, b.scale, in.Data)
		b.ranker.logOdds(new(nn.Tape), in, z[len(full)+1:])
	}
	return z
}

// chance returns the probability of a link with inputs z, computed by the formula.
func chance(b *belief, z []float64) float64 {
	d, mean, v := len(z), 0.0, 0.0
	for i := range d {
		mean += b.mean[i] * z[i]
		for j := range d {
			v += z[i] * b.cov[i*d+j] * z[j]
		}
	}
	return nn.Sigmoid(mean / math.Sqrt(1+math.Pi*v/8))
}

// plain is a belief with the given number of inputs and a constant, all of scale 1 and with the
// same deviation. It has no history.
func plain(inputs int, spread float64) *belief {
	d := inputs + 1
	b := &belief{
		scale: slices.Repeat([]float32{1}, d), data: nn.Samples{Dim: inputs}, z: make([]float64, d), t: make([]float64, d),
		prior: make([]float64, d), spread: slices.Repeat([]float64{spread * spread}, d),
	}
	b.reset()
	return b
}

// With a single weight, a step matches the formula, and its mean is near that of the exact
// posterior.
func TestBeliefOfOneWeight(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ mean, cov, reward float64 }{
		{0, 1, 1}, {0, 1, 0}, {-2, 4, 1}, {-2, 4, 0}, {1, 0.25, 0}, {0.5, 2, 0.5},
	} {
		b := plain(0, 1)
		b.mean[0], b.cov[0] = c.mean, c.cov
		b.learn(nil, c.reward)
		p := nn.Sigmoid(c.mean / math.Sqrt(1+math.Pi*c.cov/8))
		q := p * (1 - p)
		mean := c.mean + c.cov*(c.reward-p)/(1+q*c.cov)
		cov := c.cov / (1 + q*c.cov)
		if math.Abs(b.mean[0]-mean) > 1e-12 || math.Abs(b.cov[0]-cov) > 1e-12 {
			t.Errorf("%+v: mean %v, variance %v, want %v, %v", c, b.mean[0], b.cov[0], mean, cov)
		}
		exact, variance := posteriorOf(c.mean, c.cov, c.reward)
		if math.Abs(b.mean[0]-exact) > 0.25*math.Sqrt(c.cov) || b.cov[0] > c.cov || math.Abs(b.cov[0]-variance) > 0.35*c.cov {
			t.Errorf("%+v: mean %v, variance %v, exact %v, %v", c, b.mean[0], b.cov[0], exact, variance)
		}
	}
}

// posteriorOf integrates the posterior of a weight with prior N(mean, cov) after an outcome of
// input 1.
func posteriorOf(mean, cov, reward float64) (first, variance float64) {
	var mass, sum, square float64
	for i := range 20001 {
		w := mean + math.Sqrt(cov)*float64(i-10000)/1000
		density := math.Exp(-(w-mean)*(w-mean)/(2*cov)) * math.Pow(nn.Sigmoid(w), reward) * math.Pow(1-nn.Sigmoid(w), 1-reward)
		mass, sum, square = mass+density, sum+density*w, square+density*w*w
	}
	first = sum / mass
	return first, square/mass - first*first
}

// In any dimension a step matches the formula, and the result is a covariance matrix: symmetric,
// positive semidefinite, without an increased variance.
func TestBeliefStep(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := plain(rapid.IntRange(1, 6).Draw(t, "inputs"), rapid.Float64Range(0.1, 10).Draw(t, "spread"))
		d := len(b.mean)
		entry := rapid.Float32Range(-20, 20)
		reward := rapid.SampledFrom([]float64{0, 1, 0, 1, 0.3, -5, 7})
		for range rapid.IntRange(1, 60).Draw(t, "outcomes") {
			x, y := rapid.SliceOfN(entry, d-1, d-1).Draw(t, "x"), reward.Draw(t, "reward")
			mean, before := stepped(b, x, y), slices.Clone(b.cov)
			b.learn(x, y)
			for i := range d {
				if math.Abs(b.mean[i]-mean[i]) > 1e-9*(1+math.Abs(mean[i])) {
					t.Fatalf("mean %v, want %v", b.mean, mean)
				}
				if b.cov[i*d+i] > before[i*d+i]+1e-9 {
					t.Fatalf("variance %v grew from %v", b.cov[i*d+i], before[i*d+i])
				}
			}
			covariance(t, b, rapid.SliceOfN(rapid.Float64Range(-1, 1), d, d).Draw(t, "direction"))
		}
	})
}

// stepped returns the mean after an outcome, computed by the formula.
func stepped(b *belief, x []float32, reward float64) []float64 {
	d := len(b.mean)
	z := make([]float64, d)
	for i, v := range x {
		z[i] = min(max(float64(v), -10), 10)
	}
	z[d-1] = 1
	v, p := 0.0, chance(b, z)
	for i := range d {
		for j := range d {
			v += z[i] * b.cov[i*d+j] * z[j]
		}
	}
	q := max(p*(1-p), 1e-4)
	mean := slices.Clone(b.mean)
	for i := range d {
		for j := range d {
			mean[i] += b.cov[i*d+j] * z[j] * (min(max(reward, 0), 1) - p) / (1 + q*v)
		}
	}
	return mean
}

func covariance(t *rapid.T, b *belief, u []float64) {
	d, form := len(u), 0.0
	for i := range d {
		for j := range d {
			if math.Abs(b.cov[i*d+j]-b.cov[j*d+i]) > 1e-9*b.spread[0] {
				t.Fatalf("cov[%d, %d] = %v, cov[%d, %d] = %v", i, j, b.cov[i*d+j], j, i, b.cov[j*d+i])
			}
			form += u[i] * b.cov[i*d+j] * u[j]
		}
	}
	if form < -1e-9*b.spread[0] {
		t.Fatalf("variance %v in direction %v", form, u)
	}
}

// On outcomes drawn from a logistic model the belief converges to the model's weights, and its
// deviations are realistic.
func TestBeliefConverges(t *testing.T) {
	t.Parallel()
	truth := []float64{1.5, -2, 0, 0.5, -1} // the last weight is that of the constant
	rng := rand.New(rand.NewPCG(5, 5))
	b := plain(len(truth)-1, 2)
	for range 20000 {
		x, sum := make([]float32, len(truth)-1), truth[len(truth)-1]
		for i := range x {
			x[i] = float32(rng.NormFloat64())
			sum += truth[i] * float64(x[i])
		}
		reward := 0.0
		if rng.Float64() < nn.Sigmoid(sum) {
			reward = 1
		}
		b.learn(x, reward)
	}
	for i, want := range truth {
		deviation := math.Sqrt(b.cov[i*len(truth)+i])
		if off := math.Abs(b.mean[i] - want); off > 0.15 || off > 5*deviation || deviation > 0.05 {
			t.Errorf("weight %d is believed to be %v ± %v, want %v", i, b.mean[i], deviation, want)
		}
	}
}

// tried returns a model of policy default that has learned n outcomes.
func tried(t testing.TB, n int) *Model {
	t.Helper()
	m := newModel(t, "default", "", 2)
	rng := rand.New(rand.NewPCG(8, 8))
	for range n {
		x := make([]float32, m.config.width())
		for i := range x {
			x[i] = rng.Float32()
		}
		o := Outcome{Pair: Pair{Source: ID(rng.IntN(9)), Target: ID(rng.IntN(9))}, Contexts: x, Reward: float64(rng.IntN(2))}
		if trained, err := m.Observe(o); err != nil || !trained {
			t.Fatalf("learned %v, %v", trained, err)
		}
	}
	return m
}

// Learning the samples again, in the same order, gives bit-identical results.
func TestBeliefRefit(t *testing.T) {
	t.Parallel()
	b := tried(t, 80).belief
	mean, cov := slices.Clone(b.mean), slices.Clone(b.cov)
	if err := b.refit(context.Background()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(mean, b.mean) || !slices.Equal(cov, b.cov) {
		t.Error("a refit led elsewhere")
	}
}

// Samples from a graph's edges are learned first, with the history of nodes that were never tried.
func TestBeliefEdges(t *testing.T) {
	t.Parallel()
	b := tried(t, 3).belief
	fresh := nn.Samples{Dim: b.data.Dim - historyLen}
	fresh.Add(slices.Repeat([]float32{0.5}, fresh.Dim), 1)
	b.data.ReplaceEdges(b.unseen(fresh))
	if b.data.Len() != 4 || b.data.Edges != 1 || b.data.Y[0] != 1 {
		t.Fatalf("%d samples, %d of edges, the first of reward %v", b.data.Len(), b.data.Edges, b.data.Y[0])
	}
	want := append(slices.Repeat([]float32{0.5}, fresh.Dim), make([]float32, historyLen)...)
	if !slices.Equal(b.data.Row(0), want) {
		t.Errorf("sample %v, want %v", b.data.Row(0), want)
	}
	twin := newModel(t, "default", "", 2).belief
	for i := range 4 {
		twin.learn(b.data.Row(i), float64(b.data.Y[i]))
	}
	if err := b.refit(context.Background()); err != nil || !slices.Equal(b.mean, twin.mean) || !slices.Equal(b.cov, twin.cov) {
		t.Error("a refit is not the edges and then the outcomes", err)
	}
}

// Rewards are clamped to [0, 1].
func TestBeliefClamps(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]float64{{-3, 0}, {1e30, 1}} {
		a, b := plain(2, 1), plain(2, 1)
		a.learn([]float32{1, 2}, c[0])
		b.learn([]float32{1, 2}, c[1])
		if !slices.Equal(a.mean, b.mean) || !slices.Equal(a.cov, b.cov) {
			t.Errorf("reward %v is not learned as %v", c[0], c[1])
		}
	}
	a, b := plain(1, 1), plain(1, 1)
	a.learn([]float32{1e18}, 1)
	b.learn([]float32{10}, 1)
	if !slices.Equal(a.mean, b.mean) {
		t.Errorf("an input beyond its bounds: %v, want %v", a.mean, b.mean)
	}
}

// Learning does not change the snapshot that a scorer holds.
func TestBeliefSnapshot(t *testing.T) {
	t.Parallel()
	m := tried(t, 20)
	s := m.belief.snapshot()
	if s != m.belief.snapshot() {
		t.Error("another snapshot although nothing was learned")
	}
	mean, cov, before := slices.Clone(s.mean), slices.Clone(s.cov.Data), s.memory.of(Pair{Source: 3, Target: 4}, true)
	if _, err := m.Observe(Outcome{Pair: Pair{Source: 3, Target: 4}, Contexts: slices.Repeat([]float32{1}, m.config.width())}); err != nil {
		t.Fatal(err)
	}
	if s == m.belief.snapshot() {
		t.Error("the same snapshot although something was learned")
	}
	if !slices.Equal(mean, s.mean) || !slices.Equal(cov, s.cov.Data) || s.memory.of(Pair{Source: 3, Target: 4}, true) != before {
		t.Error("a snapshot changed")
	}
}

// A training that is cancelled while a belief learns its samples again leaves the belief unchanged.
func TestRefitStops(t *testing.T) {
	t.Parallel()
	m := tried(t, 20)
	before := encode(t, m)
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if err := m.TrainLog(ctx, 1, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled training: %v", err)
	}
	if !bytes.Equal(encode(t, m), before) {
		t.Error("a cancelled training changed the belief")
	}
}
