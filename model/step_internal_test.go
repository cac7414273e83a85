package model

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// With step = round every outcome moves the weights of f1 by one step of gradient descent on its
// own sample: θ - η (f - r) ∇f, with ∇f by finite differences.
func TestStepEachRound(t *testing.T) {
	t.Parallel()
	const rate = 0.01
	m := newModel(t, "prb", "paper", 2, "step", "round", "exploit_rate", rate, "width", 5)
	x := []float32{0.5, 0.5, 0.5, 0.5}
	row := blas32.General{Rows: 1, Cols: len(x), Stride: len(x), Data: x}
	theta := m.exploit.Net.Theta
	value := func() float64 { return float64(m.exploit.Net.Forward(&m.scratch.net, row)[0]) }
	before := slices.Clone(theta)
	f := value()
	var want []float64
	for i := range theta {
		const h = 1e-2
		theta[i] = before[i] + h
		above := value()
		theta[i] = before[i] - h
		want = append(want, float64(before[i])-rate*(f-1)*(above-value())/(2*h))
		theta[i] = before[i]
	}
	trained, err := m.Observe(Outcome{Pair: Pair{Source: 0, Target: 1}, Contexts: x, Reward: 1})
	if err != nil || !trained || !m.Trained() {
		t.Fatalf("trained %v, %v", trained, err)
	}
	for i, w := range want {
		if math.Abs(float64(theta[i])-w) > 1e-5 {
			t.Errorf("weight %d: %v, want %v (was %v)", i, theta[i], w, before[i])
		}
	}
	if m.explore.Opt.Steps != 1 {
		t.Errorf("f2 made %d steps", m.explore.Opt.Steps)
	}
}

// A decoded model continues exactly as the original, also with the training of the text of the
// paper.
func TestDecodeContinuesAsTheText(t *testing.T) {
	t.Parallel()
	for _, options := range [][]any{{"step", "round"}, {"moments", "kept"}, {"early_stop", "off"}} {
		m := newModel(t, "prb", "paper", 3, append(options, "steps", 20, "width", 20)...)
		play(t, m, newRounds(3), 57)
		twin, err := Decode(encode(t, m))
		if err != nil {
			t.Fatalf("%v: %v", options, err)
		}
		play(t, m, newRounds(4), 60)
		play(t, twin, newRounds(4), 60)
		if !bytes.Equal(encode(t, m), encode(t, twin)) {
			t.Errorf("%v: the decoded model went another way", options)
		}
	}
}
