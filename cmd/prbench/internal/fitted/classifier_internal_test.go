package fitted

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"kith/model/nn"
)

// byDifferences compares derivatives with central differences of f with respect to each entry of
// theta.
func byDifferences(t *testing.T, what string, theta, grad []float32, step float64, f func() float64) {
	t.Helper()
	for i, was := range theta {
		theta[i] = was + float32(step)
		up := f()
		theta[i] = was - float32(step)
		down := f()
		theta[i] = was
		if want := (up - down) / (2 * step); math.Abs(want-float64(grad[i])) > 2e-3*(1+math.Abs(want)) {
			t.Errorf("%s, derivative %d: %v, by differences %v", what, i, grad[i], want)
		}
	}
}

func TestCrossEntropy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ f, y, loss, slope float64 }{
		{0, 1, math.Ln2, -0.5}, {0, 0, math.Ln2, 0.5}, {1000, 1, 0, 0}, {-1000, 1, 1000, -1}, {1000, 0, 1000, 1},
	} {
		loss, slope := crossEntropy(c.f, c.y)
		if math.Abs(loss-c.loss) > 1e-12 || math.Abs(slope-c.slope) > 1e-12 {
			t.Errorf("f = %v, y = %v: %v, %v, want %v, %v", c.f, c.y, loss, slope, c.loss, c.slope)
		}
	}
}

// The gradients of the loss with respect to weights and inputs match finite differences, with and
// without dropped units.
func TestClassifierGradient(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, keep := range []float64{1, 0.6} {
		k := newClassifier(rng, nn.Shape{In: 3, Hidden: []int{5, 4}, Bias: true}, 0, 0, keep)
		x, label := noise(rng, 19, 3), make([]float32, 19)
		for i := range label {
			label[i] = float32(i % 2)
		}
		loss := func() float64 { // the same units are dropped each time
			k.opt.Rate = 0
			l, err := k.learn(context.Background(), rand.New(rand.NewPCG(3, 3)), x, label)
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		loss()
		grad := append([]float32(nil), k.opt.Grad...)
		var dx []float32
		for _, p := range k.parts {
			dx = append(dx, p.dx.Data...)
		}
		byDifferences(t, "weights", k.net.Theta, grad, 1e-3, loss)
		byDifferences(t, "inputs", x.Data, dx, 1e-3, loss)
	}
}

// A decay without a gradient shrinks the weights, and dropout keeps the given share of the units.
func TestDecayAndDropout(t *testing.T) {
	t.Parallel()
	o := nn.NewOptimizer(nn.Fit{Adam: true, Rate: 0.1}, 2)
	theta := []float32{1, -2}
	o.Decoupled(theta, 0.5)
	if theta[0] != 0.95 || theta[1] != -1.9 {
		t.Errorf("decayed to %v", theta)
	}
	v := make([]float32, 20001)
	for i := range v {
		v[i] = 1
	}
	dropout{rand.NewPCG(1, 1), 0.7}.apply(v)
	sum := 0.0
	for _, x := range v {
		sum += float64(x)
	}
	if share := sum / float64(len(v)); math.Abs(share-0.7) > 0.015 {
		t.Errorf("kept %v of the units, want 0.7", share)
	}
}
