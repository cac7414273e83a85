package nn

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// Optimizer converts gradients into steps: plain stochastic gradient descent, or Adam with bias
// correction and weight decay added to the gradient (Kingma and Ba, ICLR 2015, algorithm 1: β1 =
// 0.9, β2 = 0.999, ε = 1e-8).
type Optimizer struct {
	adam        bool
	Rate, decay float64   `msgpack:"-"`
	Steps       int       // number of Adam steps so far
	M, V        []float32 `msgpack:"-"` // Adam's moments
	Grad        []float32 `msgpack:"-"` // Adam's scratch
	lag         *lagging  // nil: every step updates every weight
}

// NewOptimizer returns the optimizer of a fit for the given number of parameters, before its first
// step.
func NewOptimizer(f Fit, params int) Optimizer {
	o := Optimizer{adam: f.Adam, Rate: f.Rate, decay: f.Decay}
	if f.Adam {
		o.M, o.V, o.Grad = make([]float32, params), make([]float32, params), make([]float32, params)
	}
	return o
}

// forget resets the moments to the state before the first step.
func (o *Optimizer) forget() {
	o.Steps = 0
	clear(o.M)
	clear(o.V)
	if o.lag != nil {
		clear(o.lag.last)
		o.lag.rates = o.lag.rates[:0]
	}
}

// step moves the weights of n against the gradient that its last backward pass left on t.
func (o *Optimizer) step(n *Network, t *Tape) {
	if o.lag != nil {
		n.AddGradient(t, 1, o.Grad)
		o.lagStep(n.Theta)
		return
	}
	if o.adam {
		clear(o.Grad)
		n.AddGradient(t, 1, o.Grad)
		o.AdamStep(n.Theta)
		return
	}
	if keep := float32(1 - o.Rate*o.decay); keep != 1 {
		for i := range n.Theta {
			n.Theta[i] *= keep
		}
	}
	n.AddGradient(t, -float32(o.Rate), n.Theta)
}

const beta1, beta2, epsilon = 0.9, 0.999, 1e-8

// AdamStep moves theta by a step of Adam along o.Grad.
func (o *Optimizer) AdamStep(theta []float32) {
	rate, tiny := o.tick()
	o.move(theta, 0, len(theta), rate, tiny)
}

// tick starts Adam's next step. The corrections m̂ = m/(1-β1ᵏ) and v̂ = v/(1-β2ᵏ) are folded into
// the rate and into ε.
func (o *Optimizer) tick() (rate, tiny float32) {
	o.Steps++
	k := float64(o.Steps)
	root := math.Sqrt(1 - math.Pow(beta2, k))
	return float32(o.Rate * root / (1 - math.Pow(beta1, k))), float32(epsilon * root)
}

// move makes the step for the weights theta[from:to].
func (o *Optimizer) move(theta []float32, from, to int, rate, tiny float32) {
	decay := float32(o.decay)
	theta, grad := theta[from:to], o.Grad[from:to]
	ms, vs := o.M[from:to][:len(theta)], o.V[from:to][:len(theta)]
	for i, w := range theta {
		g := grad[i] + decay*w
		m := beta1*ms[i] + (1-beta1)*g
		v := beta2*vs[i] + (1-beta2)*g*g
		ms[i], vs[i] = m, v
		theta[i] = w - rate*m/(float32(math.Sqrt(float64(v)))+tiny)
	}
}

// Decoupled makes a step of AdamW along o.Grad. The decay is not part of the gradient.
func (o *Optimizer) Decoupled(theta []float32, decay float64) {
	blas32.Scal(float32(1-o.Rate*decay), blas32.Vector{N: len(theta), Inc: 1, Data: theta})
	o.AdamStep(theta)
}

// lagging is Adam for a first layer most of whose inputs are zero in most samples, as with words.
// The weights of a zero input have no gradient; Adam moves them only by their decaying moments.
// lagging postpones these steps and makes them up when the input is next in use, or at the end of
// the training.
//
// After s steps without a gradient m and v have shrunk to β1ˢm and β2ˢv, and the weight has moved
// by Σ rate_k β1ᵏm / (√(β2ᵏv) + ε) for k = 1..s. With ε fixed at its value in the first such step,
// which matters only where √v is nearly as small, this is m/(√v + ε) times a sum that all weights
// of the input share.
type lagging struct {
	width int       // weights per input
	last  []int     // for each input, the step that its weights are up to date with; 0: no step has moved them
	rows  []int     // inputs in use in the current batch, ascending
	rates []float32 // rate of each step so far
}

// lagFrom is the smallest number of inputs for which lagging pays off.
const lagFrom = 1024

// lags reports whether a network with this fit can have such a layer. Weight decay excludes it,
// because it moves every weight in every step, and so do moments that are stored in documents.
func lags(s Shape, f Fit) bool {
	return f.Adam && f.Fresh && f.Decay == 0 && len(s.Hidden) > 0 && s.In >= lagFrom
}

// catchUpInputs brings the weights of the inputs that are in use in x up to date.
func (o *Optimizer) catchUpInputs(theta []float32, x blas32.General) {
	l := o.lag
	l.rows = l.rows[:0]
	for j := range l.last {
		for i := range x.Rows {
			if x.Data[i*x.Stride+j] != 0 {
				l.rows = append(l.rows, j)
				o.catchUp(theta, j)
				break
			}
		}
	}
}

// catchUpAll brings all weights up to date.
func (o *Optimizer) catchUpAll(theta []float32) {
	for j := range o.lag.last {
		o.catchUp(theta, j)
	}
}

// maxMissed is the number of missed steps after which β1ᵏ/√β2ᵏ, and with it the rest of the sum, is
// below float32 precision.
const maxMissed = 180

// catchUp makes the missed steps of the weights of an input.
func (o *Optimizer) catchUp(theta []float32, input int) {
	l := o.lag
	last := l.last[input]
	missed := o.Steps - last
	if last == 0 || missed == 0 {
		return
	}
	sum, ratio := 0.0, 1.0
	for _, rate := range l.rates[last:min(o.Steps, last+maxMissed)] {
		ratio *= beta1 / math.Sqrt(beta2)
		sum += float64(rate) * ratio
	}
	by, tiny := float32(sum), float32(epsilon*math.Sqrt(1-math.Pow(beta2, float64(last+1))))
	keepM, keepV := float32(math.Pow(beta1, float64(missed))), float32(math.Pow(beta2, float64(missed)))
	from, to := input*l.width, (input+1)*l.width
	w, ms, vs := theta[from:to], o.M[from:to], o.V[from:to]
	for i, m := range ms {
		w[i] -= by * m / (float32(math.Sqrt(float64(vs[i]))) + tiny)
		ms[i], vs[i] = keepM*m, keepV*vs[i]
	}
	l.last[input] = o.Steps
}

// lagStep makes a step for the weights of the inputs in use and for all weights outside the first
// layer. It resets the gradient to zero.
func (o *Optimizer) lagStep(theta []float32) {
	l := o.lag
	rate, tiny := o.tick()
	l.rates = append(l.rates, rate)
	for _, j := range l.rows {
		o.move(theta, j*l.width, (j+1)*l.width, rate, tiny)
		l.last[j] = o.Steps
	}
	o.move(theta, len(l.last)*l.width, len(theta), rate, tiny)
	for _, j := range l.rows {
		clear(o.Grad[j*l.width : (j+1)*l.width])
	}
	clear(o.Grad[len(l.last)*l.width:])
}
