package nn

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// follow makes a step against a given gradient, which is the input of a linear network.
func (o *Optimizer) follow(theta []float32, grad ...float32) {
	n := NewNetwork(Shape{In: len(theta)}, theta)
	var t Tape
	n.Forward(&t, blas32.General{Rows: 1, Cols: len(grad), Stride: len(grad), Data: grad})
	n.Backward(&t, []float32{1})
	o.step(n, &t)
}

func TestGradientDescentStep(t *testing.T) {
	t.Parallel()
	o := NewOptimizer(Fit{Rate: 0.5, Decay: 0.1}, 2)
	theta := []float32{1, -2}
	o.follow(theta, 0.25, 0)
	want := []float64{1 - 0.5*(0.25+0.1), -2 + 0.5*0.2}
	for i, w := range want {
		if math.Abs(float64(theta[i])-w) > 1e-6 {
			t.Errorf("θ = %v, want %v", theta, want)
		}
	}
}

// Three steps of Adam match the equations of the paper.
func TestAdamSteps(t *testing.T) {
	t.Parallel()
	const rate, decay = 0.01, 0.1
	o := NewOptimizer(Fit{Adam: true, Rate: rate, Decay: decay}, 1)
	theta, m, v := []float32{0.5}, 0.0, 0.0
	want := 0.5
	for step, g := range []float64{0.3, -1, 0.001} {
		o.follow(theta, float32(g))
		g += decay * want
		m, v = 0.9*m+0.1*g, 0.999*v+0.001*g*g
		n := float64(step + 1)
		want -= rate * (m / (1 - math.Pow(0.9, n))) / (math.Sqrt(v/(1-math.Pow(0.999, n))) + 1e-8)
		if math.Abs(float64(theta[0])-want) > 1e-6 {
			t.Fatalf("step %d: θ = %v, want %v", step+1, theta[0], want)
		}
	}
	o.forget()
	before := theta[0]
	o.follow(theta, 1e-3)
	if moved := float64(before - theta[0]); math.Abs(moved-rate) > 1e-4 {
		t.Errorf("the first step after forget is %v long, want about the rate", moved)
	}
}
