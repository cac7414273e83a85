package trial

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/nn"
)

// convolved is a network that begins with a convolution with one channel and a bias, y[j] = b + Σ_i
// w[i] x[j·stride + i], with its samples and its optimiser. The loss is (f-y)².
type convolved struct {
	theta []float32 // w, b, then the parameters of net
	w     []float32 // view of theta
	net   *nn.Network
	fit   nn.Fit
	kept  bool // Adam's moments are kept from one training to the next
	opt   nn.Optimizer
	data  nn.Samples

	front blas32.General // y
	tape  nn.Tape
}

// newConvolved returns a network of a number of inputs with weights from ±1/sqrt(fan-in).
func newConvolved(rng *rand.Rand, inputs int, hidden []int) *convolved {
	kernel := min(releasedKernel, inputs)
	shape := nn.Shape{In: (inputs-kernel)/releasedStride + 1, Hidden: hidden, Bias: true}
	theta := make([]float32, kernel+1+shape.Params())
	for i := range theta[:kernel+1] {
		theta[i] = float32((2*rng.Float64() - 1) / math.Sqrt(float64(kernel)))
	}
	c := &convolved{theta: theta, w: theta[:kernel], net: nn.NewNetwork(shape, theta[kernel+1:]), data: nn.Samples{Dim: inputs}}
	c.net.InitUniform(rng)
	return c
}

// forward computes f of the rows of x.
func (c *convolved) forward(x blas32.General) []float32 {
	c.front = nn.Resize(c.front, x.Rows, c.net.Shape.In)
	for i := range x.Rows {
		from, to := nn.Row(x, i), nn.Row(c.front, i)
		for j := range to {
			to[j] = c.theta[len(c.w)] + nn.Dot(c.w, from[j*releasedStride:])
		}
	}
	return c.net.Forward(&c.tape, c.front)
}

// gradient fills the gradient of a loss, given x and the derivative with respect to each output.
func (c *convolved) gradient(x blas32.General, dout, grad []float32) {
	clear(grad)
	c.net.Backward(&c.tape, dout)
	c.net.AddGradient(&c.tape, 1, grad[len(c.w)+1:])
	kernel, bias, next := grad[:len(c.w)], &grad[len(c.w)], c.net.Dense[0]
	for i := range x.Rows {
		for j := range c.net.Shape.In {
			d := nn.Dot(nn.Row(c.tape.Delta[0], i), next.W[j*next.Out:]) // derivative with respect to y[j]
			for k, v := range nn.Row(x, i)[j*releasedStride:][:len(kernel)] {
				kernel[k] += d * v
			}
			*bias += d
		}
	}
}

// train passes over all samples in random order until the fit's steps are used up or the mean loss
// of a pass is low enough. It undoes a training that leads to weights that are not finite.
func (c *convolved) train(rng *rand.Rand) {
	before := slices.Clone(c.theta)
	if !c.kept || c.opt.Grad == nil {
		c.opt = nn.NewOptimizer(c.fit, len(c.theta))
	}
	n := c.data.Len()
	for left := c.fit.Steps; left > 0 && n > 0; {
		order := shuffled(rng, n, min(n, left*c.fit.Batch))
		loss := 0.0
		batches := 0
		for batch := range slices.Chunk(order, c.fit.Batch) {
			loss += c.step(batch)
			batches++
		}
		left -= batches
		if loss/float64(len(order)) < c.fit.Stop {
			break
		}
	}
	if !nn.Finite(c.theta...) || !nn.Finite(c.opt.M...) || !nn.Finite(c.opt.V...) {
		copy(c.theta, before)
		c.opt = nn.NewOptimizer(c.fit, len(c.theta))
	}
}

// shuffled returns the first k elements of a random permutation of n numbers.
func shuffled(rng *rand.Rand, n, k int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	for i := range k {
		j := i + rng.IntN(n-i)
		order[i], order[j] = order[j], order[i]
	}
	return order[:k]
}

// step makes a step on the mean loss of a batch. It returns the sum of the losses before the step.
func (c *convolved) step(batch []int) (loss float64) {
	x, y := c.data.Gather(batch, blas32.General{}, nil)
	var dout []float32
	for i, f := range c.forward(x) {
		e := f - y[i]
		loss += float64(2*e*e) / 2
		dout = append(dout, 2*e/float32(len(batch)))
	}
	c.gradient(x, dout, c.opt.Grad)
	c.opt.AdamStep(c.theta)
	return loss
}
