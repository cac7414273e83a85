package model

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// lagging is Adam for a first layer most of whose inputs are zero in most samples, as in prb_n. The weights of a zero
// input have no gradient; Adam moves them only by their decaying moments. lagging postpones these steps and makes them
// up when the input is next in use, or at the end of the training.
//
// After s steps without a gradient m and v have shrunk to β1ˢm and β2ˢv, and the weight has moved by Σ rate_k β1ᵏm /
// (√(β2ᵏv) + ε) for k = 1..s. With ε fixed at its value in the first of these steps, which matters only where √v is
// nearly as small, this is m/(√v + ε) times a sum that all weights of the input share.
type lagging struct {
	width int       // weights per input
	last  []int     // for each input, the step that its weights are up to date with; 0: no step has moved them
	rows  []int     // inputs in use in the current batch, ascending
	rates []float32 // rate of each step so far
}

// lagFrom is the smallest number of inputs for which lagging pays off.
const lagFrom = 1024

// lags reports whether a network with this fit can have such a layer. Weight decay excludes it, because it moves every
// weight in every step, and so do moments that are stored in documents.
func lags(s shape, f fit) bool {
	return f.Adam && f.Fresh && f.Decay == 0 && s.Kernel == 0 && len(s.Hidden) > 0 && s.In >= lagFrom
}

// meet brings the weights of the inputs that are in use in x up to date.
func (o *optimizer) meet(theta []float32, x blas32.General) {
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

// settle brings all weights up to date.
func (o *optimizer) settle(theta []float32) {
	for j := range o.lag.last {
		o.catchUp(theta, j)
	}
}

// reach is the number of missed steps after which β1ᵏ/√β2ᵏ, and with it the rest of the sum, is below float32
// precision.
const reach = 180

// catchUp makes the missed steps of the weights of an input.
func (o *optimizer) catchUp(theta []float32, input int) {
	l := o.lag
	last := l.last[input]
	missed := o.steps - last
	if last == 0 || missed == 0 {
		return
	}
	sum, ratio := 0.0, 1.0
	for _, rate := range l.rates[last:min(o.steps, last+reach)] {
		ratio *= beta1 / math.Sqrt(beta2)
		sum += float64(rate) * ratio
	}
	by, tiny := float32(sum), float32(epsilon*math.Sqrt(1-math.Pow(beta2, float64(last+1))))
	keepM, keepV := float32(math.Pow(beta1, float64(missed))), float32(math.Pow(beta2, float64(missed)))
	from, to := input*l.width, (input+1)*l.width
	w, ms, vs := theta[from:to], o.m[from:to], o.v[from:to]
	for i, m := range ms {
		w[i] -= by * m / (float32(math.Sqrt(float64(vs[i]))) + tiny)
		ms[i], vs[i] = keepM*m, keepV*vs[i]
	}
	l.last[input] = o.steps
}

// lagStep makes a step for the weights of the inputs in use and for all weights outside the first layer. It resets the
// gradient to zero.
func (o *optimizer) lagStep(theta []float32) {
	l := o.lag
	rate, tiny := o.tick()
	l.rates = append(l.rates, rate)
	for _, j := range l.rows {
		o.move(theta, j*l.width, (j+1)*l.width, rate, tiny)
		l.last[j] = o.steps
	}
	o.move(theta, len(l.last)*l.width, len(theta), rate, tiny)
	for _, j := range l.rows {
		clear(o.grad[j*l.width : (j+1)*l.width])
	}
	clear(o.grad[len(l.last)*l.width:])
}
