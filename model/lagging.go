package model

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// lagging is Adam for a first layer most of whose inputs are zero in most samples, as those of prb_n are. The weights of
// an input that is zero have no gradient, and Adam moves them by what is left of their moments only: they are left behind,
// and make up for the steps they missed when their input is next in use, or at the end of the training.
//
// After s steps without a gradient m and v have shrunk to β1ˢm and β2ˢv, and the weight has moved by
// Σ rate_k β1ᵏm / (√(β2ᵏv) + ε) for k = 1..s. With ε as it was at the first of them, which shows only where √v is nearly
// as small, that is m/(√v + ε) times a sum which all weights of the input share.
type lagging struct {
	width int       // weights of an input
	last  []int     // of each input, the step its weights stand at; 0: no step has moved them
	rows  []int     // inputs in use in the present batch, ascending
	rates []float32 // of each step so far
}

// lagFrom is the number of inputs from which it pays.
const lagFrom = 1024

// lags says whether a network that is fitted so can have such a layer: without weight decay, which moves every weight in
// every step, and with moments that no stored document holds.
func lags(s shape, f fit) bool {
	return f.Adam && f.Fresh && f.Decay == 0 && s.Kernel == 0 && len(s.Hidden) > 0 && s.In >= lagFrom
}

// meet brings the weights of the inputs that x has in use up to date.
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

// reach is the number of missed steps after which β1ᵏ/√β2ᵏ, and with it the rest of the sum, is below float32 precision.
const reach = 180

// catchUp makes the steps that the weights of an input have missed.
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

// lagStep is a step of the weights of the inputs in use, and of all that are not in the first layer. It leaves the
// gradient zero.
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
