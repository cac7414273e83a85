package model

import "math"

// optimizer turns gradients into steps: plain stochastic gradient descent, or Adam with bias correction and weight
// decay added to the gradient (Kingma and Ba, ICLR 2015, algorithm 1: β1 = 0.9, β2 = 0.999, ε = 1e-8).
type optimizer struct {
	adam        bool
	rate, decay float64
	steps       int       // Adam's time step
	m, v        []float32 // Adam's moments
	grad        []float32 // Adam's scratch
}

func newOptimizer(f fit, params int) optimizer {
	o := optimizer{adam: f.Adam, rate: f.Rate, decay: f.Decay}
	if f.Adam {
		o.m, o.v, o.grad = make([]float32, params), make([]float32, params), make([]float32, params)
	}
	return o
}

// forget drops the moments, as if no step had been made.
func (o *optimizer) forget() {
	o.steps = 0
	clear(o.m)
	clear(o.v)
}

// step moves the weights of n against the gradient that its last backward pass left on t.
func (o *optimizer) step(n *network, t *tape) {
	if o.adam {
		clear(o.grad)
		n.addGradient(t, 1, o.grad)
		o.adamStep(n.theta)
		return
	}
	if keep := float32(1 - o.rate*o.decay); keep != 1 {
		for i := range n.theta {
			n.theta[i] *= keep
		}
	}
	n.addGradient(t, -float32(o.rate), n.theta)
}

func (o *optimizer) adamStep(theta []float32) {
	const b1, b2, eps = 0.9, 0.999, 1e-8
	o.steps++
	k := float64(o.steps)
	// m̂ = m/(1-β1ᵏ) and v̂ = v/(1-β2ᵏ): the corrections are folded into the rate and into the divisor.
	root := math.Sqrt(1 - math.Pow(b2, k))
	rate := float32(o.rate * root / (1 - math.Pow(b1, k)))
	tiny, decay := float32(eps*root), float32(o.decay)
	ms, vs, grad := o.m[:len(theta)], o.v[:len(theta)], o.grad[:len(theta)]
	for i, w := range theta {
		g := grad[i] + decay*w
		m := b1*ms[i] + (1-b1)*g
		v := b2*vs[i] + (1-b2)*g*g
		ms[i], vs[i] = m, v
		theta[i] = w - rate*m/(float32(math.Sqrt(float64(v)))+tiny)
	}
}
