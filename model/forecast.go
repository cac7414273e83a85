package model

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/nn"
)

// forecast is the part of the default that learns from events: links that occur at known times. It predicts the next
// targets of a source from the time columns.
type forecast struct {
	columns  norms
	pupil    pupil
	shift    float64 // added to scores to get log-probabilities
	events   int     // number of events learned
	waiting  int     // how many of them have gradients that wait for a step
	memory   eventMemory
	scratch  timeScratch
	dout     []float32
	snapshot *outlook // shared with scorers; nil after a change of the forecast
}

// outlook is a snapshot of a forecast.
type outlook struct {
	columns norms
	net     skipNet
	shift   float64
}

// timeScratch is the working memory of a forecast.
type timeScratch struct {
	history history
	net     nn.Tape
	times   blas32.General // time columns
	scores  []float64
}

// forecastWidth is the number of hidden units.
const forecastWidth = 32

// readyEvents is the smallest number of events with which a forecast is better than none.
const readyEvents = 256

// newForecast returns a forecast that has learned nothing.
func newForecast(c *config) *forecast {
	return &forecast{
		pupil: newPupil(timeLen, forecastWidth, c.Seed), memory: eventMemory{roles: map[ID]role{}},
	}
}

// outlook returns the current forecast, or nil if it has learned too little.
func (f *forecast) outlook() *outlook {
	if f == nil || f.events < readyEvents {
		return nil
	}
	if f.snapshot == nil {
		f.snapshot = &outlook{f.columns, f.pupil.mean.clone(), f.shift}
	}
	return f.snapshot
}

// reads reports whether the outlook scores this world: the graph is Timed and Now is set.
func (o *outlook) reads(w World) bool {
	_, timed := w.Graph.(Timed)
	return o != nil && timed && w.Now != 0
}

// logOdds fills a column of x, which has one row per pair. It replaces 0 by 1e-6, because 0 means that there is no
// forecast.
func (o *outlook) logOdds(t *timeScratch, w World, pairs []Pair, x blas32.General, col int) {
	t.times = nn.Resize(t.times, len(pairs), timeLen)
	t.history.columns(w, pairs, t.times, 0)
	o.columns.normalize(t.times)
	t.scores = slices.Grow(t.scores[:0], len(pairs))[:len(pairs)]
	o.net.scores(&t.net, t.times, t.scores)
	for i, s := range t.scores {
		odds := float32(logOddsOf(s + o.shift))
		if odds == 0 {
			odds = 1e-6
		}
		nn.Row(x, i)[col] = odds
	}
}

// logOddsOf returns the log-odds of a probability, given its logarithm. From 0.95 on they grow only with the logarithm.
func logOddsOf(log float64) float64 { return log - math.Log1p(-min(math.Exp(log), 0.95)) }

// norms scales columns to mean 0 and variance 1, estimated from the first rows that it is given.
type norms struct {
	Rows        float64
	Sum, Square [timeLen]float64
}

// normRows is the number of rows after which the norms no longer change.
const normRows = 50000

func (n *norms) add(x blas32.General) {
	if n.Rows >= normRows {
		return
	}
	n.Rows += float64(x.Rows)
	for i := range x.Rows {
		for j, v := range nn.Row(x, i) {
			n.Sum[j] += float64(v)
			n.Square[j] += float64(v) * float64(v)
		}
	}
}

// normalize scales all rows. Values are clamped to five deviations from the mean.
func (n *norms) normalize(x blas32.General) {
	var mean, by [timeLen]float64
	rows := max(n.Rows, 1)
	for j := range mean {
		mean[j] = n.Sum[j] / rows
		by[j] = 1 / (math.Sqrt(max(n.Square[j]/rows-mean[j]*mean[j], 0)) + 0.01)
	}
	for i := range x.Rows {
		r := nn.Row(x, i)
		for j, v := range r {
			r[j] = float32(min(max((float64(v)-mean[j])*by[j], -5), 5))
		}
	}
}

// skipNet is a network with one hidden layer plus a linear function of its inputs.
type skipNet struct {
	net   *nn.Network
	skip  []float32
	theta []float32 // all weights, with those of net first
}

func newSkipNet(in, width int, theta []float32) skipNet {
	s := nn.Shape{In: in, Hidden: []int{width}, Bias: true}
	n := s.Params()
	return skipNet{nn.NewNetwork(s, theta[:n]), theta[n:], theta}
}

func skipParams(in, width int) int {
	return nn.Shape{In: in, Hidden: []int{width}, Bias: true}.Params() + in
}

func (n *skipNet) clone() skipNet {
	return newSkipNet(n.net.Shape.In, n.net.Shape.Hidden[0], slices.Clone(n.theta))
}

// scores computes the outputs of all rows.
func (n *skipNet) scores(t *nn.Tape, x blas32.General, out []float64) {
	for i, f := range n.net.Forward(t, x) {
		out[i] = float64(f) + nn.Dot64(n.skip, nn.Row(x, i))
	}
}

// addGradient adds the gradient of a loss to grad, given its derivative with respect to each output. It must follow
// scores. The constant of the output gets no gradient: choices do not depend on it, and Adam would amplify rounding
// errors.
func (n *skipNet) addGradient(t *nn.Tape, dout, grad []float32) {
	n.net.Backward(t, dout)
	n.net.AddGradient(t, 1, grad)
	grad[len(n.net.Theta)-1] = 0
	skip := grad[len(n.net.Theta):]
	for i, d := range dout {
		for j, v := range nn.Row(t.Input, i) {
			skip[j] += d * v
		}
	}
}

// pupil is a skipNet in training by Adam. The running mean of its weights makes the predictions.
type pupil struct {
	now, mean skipNet
	opt       nn.Optimizer
}

// Rate of Adam, and weight of the newest step in the running mean.
const (
	forecastRate = 2e-3
	forecastMean = 1e-3
)

func newPupil(in, width int, seed uint64) pupil {
	params := skipParams(in, width)
	p := pupil{now: newSkipNet(in, width, make([]float32, params)), opt: nn.NewOptimizer(nn.Fit{Adam: true, Rate: forecastRate, Decay: 1e-5}, params)}
	p.now.net.InitNormal(newRandom(seed))
	p.mean = p.now.clone()
	return p
}

// step moves the weights against the accumulated gradient.
func (p *pupil) step(rate float64) {
	p.opt.Rate = rate
	p.opt.AdamStep(p.now.theta)
	clear(p.opt.Grad)
	by := float32(p.newest())
	for i, v := range p.now.theta {
		p.mean.theta[i] += by * (v - p.mean.theta[i])
	}
}

// newRandom returns the generator of the initial weights.
func newRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 9)) }

// newest is the weight of the newest step in a running mean. Early steps fade (Shamir and Zhang, ICML 2013).
func (p *pupil) newest() float64 { return max(forecastMean, 8/float64(p.opt.Steps+7)) }
