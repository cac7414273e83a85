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
		Policy: "prb", Preset: "paper", FeatureLen: 10, Blocks: blockSource | blockTarget, Normalize: normalizeContext,
		networkConfig: networkConfig{
			Layers: 2, Width: 100, Pool: 50,
			Exploit: nn.Fit{Rate: 0.01, Batch: 1, Steps: 2000, Stop: 1e-3},
			Explore: nn.Fit{Adam: true, Rate: 0.001, Batch: 1, Steps: 2000, Stop: 2e-3, Fresh: true},
			Weight:  1, Schedule: schedule{{2000, 50}, {0, 100}}, EarlyStop: true,
		},
		beliefConfig: beliefConfig{Nu: 0.1, Lambda: 0.1},
		walkConfig:   walkConfig{Walk: Walk{Alpha: 0.85}},
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

func same(t *testing.T, got, want config) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant\n%+v", got, want)
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

// The target of f1 is the reward, and the target of f2 is the residual of f1, for the chosen
// candidate alone.
func TestTargets(t *testing.T) {
	t.Parallel()
	r := newRound(t, "prb", "paper", 3, "steps", 0)
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
			t.Errorf("target of f1 %v, want %v", y, reward)
		}
		if len(y2) != 1 || !nearly(float64(y2[0]), reward-f) {
			t.Errorf("targets of f2 %v, want %v", y2, reward-f)
		}
	}
}

// A training passes over single samples until the steps are used up or the loss of a pass is low.
func TestLossAndStop(t *testing.T) {
	t.Parallel()
	f := nn.Fit{Rate: 0, Batch: 1, Steps: 7, Stop: 4.6}
	r := nn.NewRegressor(nn.Shape{In: 1}, f, 0)
	for range 3 {
		r.Data.Add([]float32{0}, 3)
	}
	steps, loss := r.Pass(rand.New(rand.NewPCG(1, 1)), 2)
	if steps != 2 || !nearly(loss, 4.5) {
		t.Errorf("%d steps, mean loss %v; want 2, 4.5", steps, loss)
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
