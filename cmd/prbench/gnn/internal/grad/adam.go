package grad

import (
	"math"
	"math/rand/v2"
)

// Param is a matrix that is learned.
type Param struct {
	Value        Matrix
	grad         []float32
	mean, square []float32 // Adam's moments
}

// NewParam returns a parameter with uniform random entries of at most sqrt(6 / (rows + cols))
// (Glorot and Bengio, 2010).
func NewParam(r *rand.Rand, rows, cols int) *Param {
	p := FilledParam(rows, cols, 0)
	limit := math.Sqrt(6 / float64(rows+cols))
	for i := range p.Value.Data {
		p.Value.Data[i] = float32((2*r.Float64() - 1) * limit)
	}
	return p
}

// FilledParam returns a parameter whose entries are v.
func FilledParam(rows, cols int, v float32) *Param {
	m := NewMatrix(rows, cols)
	for i := range m.Data {
		m.Data[i] = v
	}
	n := len(m.Data)
	return &Param{m, make([]float32, n), make([]float32, n), make([]float32, n)}
}

// Adam is the optimizer of Kingma and Ba (2015). Decay times the parameters is added to their
// gradients.
type Adam struct {
	Rate, Decay float64
	steps       int
}

// Step changes the parameters by their gradients and sets these to 0.
func (a *Adam) Step(params []*Param) {
	const beta1, beta2, epsilon = 0.9, 0.999, 1e-8
	a.steps++
	rate := a.Rate * math.Sqrt(1-math.Pow(beta2, float64(a.steps))) / (1 - math.Pow(beta1, float64(a.steps)))
	for _, p := range params {
		for i, g := range p.grad {
			g += float32(a.Decay) * p.Value.Data[i]
			p.mean[i] += (1 - beta1) * (g - p.mean[i])
			p.square[i] += (1 - beta2) * (g*g - p.square[i])
			p.Value.Data[i] -= float32(rate * float64(p.mean[i]) / (math.Sqrt(float64(p.square[i])) + epsilon))
		}
		clear(p.grad)
	}
}

// Gradient returns the gradient that Backward has added since the last step.
func (p *Param) Gradient() []float32 { return p.grad }
