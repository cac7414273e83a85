package model

import "math"

// optimizer converts gradients into steps: plain stochastic gradient descent, or Adam with bias correction and weight
// decay added to the gradient (Kingma and Ba, ICLR 2015, algorithm 1: β1 = 0.9, β2 = 0.999, ε = 1e-8).
type optimizer struct {
	adam        bool
	rate, decay float64
	steps       int       // number of Adam steps so far
	m, v        []float32 // Adam's moments
	grad        []float32 // Adam's scratch
	lag         *lagging  // nil: every step updates every weight
}

func newOptimizer(f fit, params int) optimizer {
	o := optimizer{adam: f.Adam, rate: f.Rate, decay: f.Decay}
	if f.Adam {
		o.m, o.v, o.grad = make([]float32, params), make([]float32, params), make([]float32, params)
	}
	return o
}

// forget resets the moments to the state before the first step.
func (o *optimizer) forget() {
	o.steps = 0
	clear(o.m)
	clear(o.v)
	if o.lag != nil {
		clear(o.lag.last)
		o.lag.rates = o.lag.rates[:0]
	}
}

// step moves the weights of n against the gradient that its last backward pass left on t.
func (o *optimizer) step(n *network, t *tape) {
	if o.lag != nil {
		n.addGradient(t, 1, o.grad)
		o.lagStep(n.theta)
		return
	}
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

const beta1, beta2, epsilon = 0.9, 0.999, 1e-8

func (o *optimizer) adamStep(theta []float32) {
	rate, tiny := o.tick()
	o.move(theta, 0, len(theta), rate, tiny)
}

// tick starts Adam's next step. The corrections m̂ = m/(1-β1ᵏ) and v̂ = v/(1-β2ᵏ) are folded into the rate and into ε.
func (o *optimizer) tick() (rate, tiny float32) {
	o.steps++
	k := float64(o.steps)
	root := math.Sqrt(1 - math.Pow(beta2, k))
	return float32(o.rate * root / (1 - math.Pow(beta1, k))), float32(epsilon * root)
}

// move makes the step for the weights theta[from:to].
func (o *optimizer) move(theta []float32, from, to int, rate, tiny float32) {
	decay := float32(o.decay)
	theta, grad := theta[from:to], o.grad[from:to]
	ms, vs := o.m[from:to][:len(theta)], o.v[from:to][:len(theta)]
	for i, w := range theta {
		g := grad[i] + decay*w
		m := beta1*ms[i] + (1-beta1)*g
		v := beta2*vs[i] + (1-beta2)*g*g
		ms[i], vs[i] = m, v
		theta[i] = w - rate*m/(float32(math.Sqrt(float64(v)))+tiny)
	}
}
