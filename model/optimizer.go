package model

import "math"

// optimizer turns gradients into steps: plain stochastic gradient descent, or Adam with bias correction and weight
// decay added to the gradient (Kingma and Ba, ICLR 2015, algorithm 1: β1 = 0.9, β2 = 0.999, ε = 1e-8).
type optimizer struct {
	adam        bool
	rate, decay float64
	steps       int       // Adam's time step
	m, v        []float32 // Adam's moments
}

func newOptimizer(f fit, params int) optimizer {
	o := optimizer{adam: f.Adam, rate: f.Rate, decay: f.Decay}
	if f.Adam {
		o.m, o.v = make([]float32, params), make([]float32, params)
	}
	return o
}

// forget drops the moments, as if no step had been made.
func (o *optimizer) forget() {
	o.steps = 0
	clear(o.m)
	clear(o.v)
}

func (o *optimizer) step(theta, grad []float32) {
	if !o.adam {
		rate, decay := float32(o.rate), float32(o.decay)
		for i, g := range grad {
			theta[i] -= rate * (g + decay*theta[i])
		}
		return
	}
	const b1, b2, eps = 0.9, 0.999, 1e-8
	o.steps++
	t := float64(o.steps)
	// m̂ = m/(1-β1ᵗ) and v̂ = v/(1-β2ᵗ): the corrections are folded into the rate and into the divisor.
	root := math.Sqrt(1 - math.Pow(b2, t))
	rate := float32(o.rate * root / (1 - math.Pow(b1, t)))
	tiny, decay := float32(eps*root), float32(o.decay)
	for i, g := range grad {
		g += decay * theta[i]
		m := b1*o.m[i] + (1-b1)*g
		v := b2*o.v[i] + (1-b2)*g*g
		o.m[i], o.v[i] = m, v
		theta[i] -= rate * m / (float32(math.Sqrt(float64(v))) + tiny)
	}
}
