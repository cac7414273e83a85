package trial

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/nn"
)

// The gradient of a convolved network matches finite differences.
func TestConvolvedGradient(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	c := newConvolved(rng, 145, []int{5})
	x := nn.Resize(blas32.General{}, 3, 145)
	for i := range x.Data {
		x.Data[i] = float32(rng.NormFloat64())
	}
	loss := func() (sum float64) {
		for i, f := range c.forward(x) {
			sum += float64(i+1) * float64(f)
		}
		return sum
	}
	loss()
	grad := make([]float32, len(c.theta))
	c.gradient(x, []float32{1, 2, 3}, grad)
	for i, was := range c.theta {
		const step = 1e-3
		c.theta[i] = was + step
		up := loss()
		c.theta[i] = was - step
		down := loss()
		c.theta[i] = was
		if want := (up - down) / (2 * step); math.Abs(want-float64(grad[i])) > 5e-3*(1+math.Abs(want)) {
			t.Errorf("derivative %d of %d: %v, by differences %v", i, len(grad), grad[i], want)
		}
	}
}

// A training fits its samples, and one with steps that are too large changes nothing.
func TestConvolvedTrains(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	c := newConvolved(rng, 60, []int{8})
	for i := range 20 {
		x := make([]float32, 60)
		for j := range x {
			x[j] = float32(rng.NormFloat64())
		}
		x[0] = float32(i % 2)
		c.data.Add(x, float64(i%2))
	}
	c.fit = nn.Fit{Adam: true, Rate: 0.01, Batch: 1, Steps: 2000, Stop: 1e-3}
	c.train(rng)
	x, y := c.data.Gather([]int{0, 1, 2, 3}, blas32.General{}, nil)
	for i, f := range c.forward(x) {
		if math.Abs(float64(f-y[i])) > 0.2 {
			t.Errorf("sample %d: %v, want %v", i, f, y[i])
		}
	}
	before := slices.Clone(c.theta)
	c.fit.Rate = math.Inf(1)
	c.train(rng)
	if !slices.Equal(before, c.theta) {
		t.Error("a training with infinite steps is kept")
	}
}

// Of equal targets the first counts, and each run of a source adds the seed weight.
func TestStartOf(t *testing.T) {
	t.Parallel()
	pairs := []Pair{{Source: 1, Target: 4}, {Source: 1, Target: 2}, {Source: 4, Target: 2}}
	s := startOf(pairs, []float64{0.5, 0.25, 9}, 2)
	if !slices.Equal(s.Node, []ID{1, 2, 4}) || !slices.Equal(s.Value, []float64{2, 0.25, 2.5}) {
		t.Errorf("%+v", s)
	}
}
