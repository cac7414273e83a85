package model

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/nn"
)

func resolved(t *testing.T, preset string, features int) config {
	t.Helper()
	c, err := Spec{Policy: "prb", Preset: preset, FeatureLen: features}.resolve()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Preset paper has the values of the paper's text, and fixed values where the text leaves them
// open.
func TestPaper(t *testing.T) {
	t.Parallel()
	c := resolved(t, "paper", 10)
	want := config{
		Policy: "prb", Preset: "paper", FeatureLen: 10, Blocks: blockSource | blockTarget, Unit: true,
		Layers: 2, Width: 100, Pool: 50,
		Exploit: nn.Fit{Rate: 0.01, Batch: 1, Steps: 2000, Stop: 1e-3},
		Explore: nn.Fit{Adam: true, Rate: 0.001, Batch: 1, Steps: 2000, Stop: 2e-3, Fresh: true},
		Weight:  1, Schedule: schedule{{2000, 50}, {0, 100}}, EarlyStop: true, Nu: 0.1, Lambda: 0.1, Alpha: 0.85,
	}
	same(t, c, want)
	if f1, f2 := c.exploitShape(), c.exploreShape(); f1.Params() != 2100 || f2.Params() != 42*100+100 {
		t.Errorf("f1 has %d parameters, f2 %d; want 2100, 4300", f1.Params(), f2.Params())
	}
	trainings := 0
	for round := 1; round <= 10000; round++ {
		if c.Schedule.due(round) {
			trainings++
		}
	}
	if trainings != 40+80 {
		t.Errorf("%d trainings in 10,000 rounds, want 120", trainings)
	}
}

// Preset released has the values of the authors' program.
func TestReleased(t *testing.T) {
	t.Parallel()
	want := config{
		Policy: "prb", Preset: "released", FeatureLen: 10, Blocks: blockSource | blockTarget,
		Layers: 2, Width: 100, Uniform: true, Pool: 50, Kernel: 40, Stride: 50,
		Exploit: nn.Fit{Rate: 0.1, Double: true, Batch: 1, Steps: 2000, Stop: 1e-3},
		Explore: nn.Fit{Adam: true, Rate: 0.01, Decay: 1e-4, Double: true, Batch: 1, Steps: 2000, Stop: 2e-3, Fresh: true},
		Shift:   1, ExtraRounds: 1000, ExtraTarget: 1.2, DecayAfter: 500,
		Weight: 1, Schedule: schedule{{1000, 10}, {0, 100}}, EarlyStop: true, Nu: 0.1, Lambda: 0.1, Alpha: 0.85,
	}
	same(t, resolved(t, "released", 10), want)
}

func same(t *testing.T, got, want config) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
}

// The score of preset released subtracts the shift from f2, and reduces the weight of f2 from round
// 500 on.
func TestReleasedScore(t *testing.T) {
	t.Parallel()
	r := newRound(t, "prb", "released", 3, "steps", 0, "alpha", 0)
	for _, c := range []struct {
		rounds int
		weight float64
	}{{0, 1}, {499, 1}, {500, 1 / math.Sqrt(500)}, {900, 1.0 / 30}} {
		for r.played < c.rounds {
			r.play(t)
		}
		s := r.model.Scorer()
		x, err := s.Contexts(context.Background(), r.world, r.pairs)
		if err != nil {
			t.Fatal(err)
		}
		scores, err := s.Score(context.Background(), r.world, r.pairs)
		if err != nil {
			t.Fatal(err)
		}
		for i, score := range scores {
			in := x[20*i : 20*i+20]
			f1 := output(s.exploit, in)
			f2 := output(s.explore, pooledGradient(s.exploit, in, 50))
			if want := f1 + c.weight*(f2-1); !nearly(score.Score, want) {
				t.Errorf("round %d: score %v, want %v", c.rounds, score.Score, want)
			}
		}
	}
}

// output returns the output of a network for one input.
func output(n *nn.Network, x []float32) float64 {
	return n.Outputs(blas32.General{Rows: 1, Cols: len(x), Stride: len(x), Data: x})[0]
}

// pooledGradient returns φ of one input.
func pooledGradient(n *nn.Network, x []float32, pool int) []float32 {
	var t nn.Tape
	n.Forward(&t, blas32.General{Rows: 1, Cols: len(x), Stride: len(x), Data: x})
	phi := nn.Resize(blas32.General{}, 1, nn.PhiLen(n.Shape, pool))
	n.Phi(&t, pool, phi)
	return phi.Data
}

// nearly reports whether two numbers are equal but for rounding.
func nearly(a, b float64) bool { return math.Abs(a-b) <= 1e-4*(1+math.Abs(b)) }

// The target of f1 is the reward. The target of f2 is the residual of f1, plus one in preset
// released. After a failure in the first 1,000 rounds, preset released also trains f2 on the
// candidates that were not chosen, with target 1.2.
func TestTargets(t *testing.T) {
	t.Parallel()
	for _, preset := range []string{"paper", "released"} {
		r := newRound(t, "prb", preset, 3, "steps", 0)
		shift, extras := 0.0, 0
		if preset == "released" {
			shift, extras = 1, 2
		}
		for _, chosen := range []int{1, 2} { // a success, then a failure
			s, reward := r.model.Scorer(), float64(2-chosen)
			x, err := s.Contexts(context.Background(), r.world, r.pairs)
			if err != nil {
				t.Fatal(err)
			}
			f := output(s.exploit, x[20*chosen:20*chosen+20])
			before := r.model.explore.Data.Len()
			if _, err := r.model.Observe(Outcome{Contexts: x, Chosen: chosen, Reward: reward}); err != nil {
				t.Fatal(err)
			}
			y1, y2 := r.model.exploit.Data.Y, r.model.explore.Data.Y[before:]
			if y := y1[len(y1)-1]; float64(y) != reward {
				t.Errorf("%s: target of f1 %v, want %v", preset, y, reward)
			}
			want := []float64{reward - f + shift}
			if reward == 0 && extras > 0 {
				want = []float64{1.2, 1.2, want[0]}
			}
			if !slices.EqualFunc(y2, want, func(a float32, b float64) bool { return nearly(float64(a), b) }) {
				t.Errorf("%s: targets of f2 %v, want %v", preset, y2, want)
			}
		}
		r.model.rounds = 1000
		if o := (Outcome{Reward: 0}); r.model.extras(o) {
			t.Errorf("%s: others than the chosen are shown after 1,000 rounds", preset)
		}
	}
}

// A training passes over single samples until the steps are used up or the loss of a pass is low.
// In preset released the loss is without the factor 1/2.
func TestLossAndStop(t *testing.T) {
	t.Parallel()
	for double, want := range map[bool]float64{false: 0.5 * 9, true: 9} {
		f := nn.Fit{Rate: 0, Double: double, Batch: 1, Steps: 7, Stop: want * 1.01}
		r := nn.NewRegressor(nn.Shape{In: 1}, f, 0)
		for range 3 {
			r.Data.Add([]float32{0}, 3)
		}
		steps, loss := r.Pass(rand.New(rand.NewPCG(1, 1)), 2)
		if steps != 2 || !nearly(loss, want) {
			t.Errorf("double %v: %d steps, mean loss %v; want 2, %v", double, steps, loss, want)
		}
	}
}

// Pool may be 1.
func TestUnpooled(t *testing.T) {
	t.Parallel()
	r := newRound(t, "prb", "paper", 4, "pool", 1, "steps", 20)
	if n := r.model.config.exploreShape().In; n != 2100 {
		t.Errorf("φ has %d numbers, want 2100", n)
	}
	for range 120 {
		r.play(t)
	}
	if !r.model.Trained() || r.model.explore.Data.Len() != 120 {
		t.Errorf("trained %v, %d samples", r.model.Trained(), r.model.explore.Data.Len())
	}
	// The last round chose the first pair, and the weights have not changed since round 100.
	want := pooledGradient(r.model.exploit.Net, r.contexts[:20], 1)
	if got := r.model.explore.Data.Row(119); !slices.EqualFunc(got, want, func(a, b float32) bool { return nearly(float64(a), float64(b)) }) {
		t.Errorf("φ = %v, want %v", got, want)
	}
}

// The sizes equal those of the authors' code: f1 is 20-100-1 with biases, its gradient is pooled by
// 50, and the convolution has a single output: 41 and 301 parameters.
func TestReleasedSizes(t *testing.T) {
	t.Parallel()
	c, err := Spec{Policy: "prb", Preset: "released", FeatureLen: 10}.resolve()
	if err != nil {
		t.Fatal(err)
	}
	f1, f2 := c.exploitShape(), c.exploreShape()
	if f1.Params() != 2201 || f2.In != 45 || f2.Params() != 41+301 {
		t.Errorf("f1 has %d parameters, φ %d numbers, f2 has %d parameters; want 2201, 45, 342",
			f1.Params(), f2.In, f2.Params())
	}
}
