package model

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"
)

// fit holds the parameters of fitting a network to its samples.
type fit struct {
	Adam   bool    // Adam if true, otherwise plain gradient descent
	Rate   float64 // learning rate
	Decay  float64 // weight decay
	Fresh  bool    // Adam's moments start from zero in each training
	Double bool    // loss (f-y)² instead of (f-y)²/2
	Batch  int     // samples per step
	Steps  int     // maximum number of steps per training
	Stop   float64 // a training ends if the mean loss of a pass is below Stop; 0: never
}

// regressor is a network with its samples and its optimiser.
type regressor struct {
	net  *network
	opt  optimizer
	fit  fit
	data samples

	frozen *network // copy shared with scorers; nil after a change of net
	run    run
}

// run is the working memory of a training.
type run struct {
	tape  tape
	x     blas32.General
	y     []float32
	dout  []float32
	order []int

	before []float32 // weights before the training
}

func newRegressor(s shape, f fit, limit int) *regressor {
	n := s.params()
	r := &regressor{
		net:  newNetwork(s, make([]float32, n)),
		opt:  newOptimizer(f, n),
		fit:  f,
		data: samples{dim: s.In, limit: limit},
	}
	if lags(s, f) {
		r.opt.lag = &lagging{width: s.Hidden[0], last: make([]int, s.In)}
	}
	return r
}

// snapshot returns a copy of the network that later trainings do not change.
func (r *regressor) snapshot() *network {
	if r.frozen == nil {
		r.frozen = r.net.clone()
	}
	return r.frozen
}

// train passes over all samples, each time in a new random order, until the fit's steps are used up or the mean loss of
// a pass is low enough. It reports whether the result was kept.
func (r *regressor) train(rng *rand.Rand) (kept bool) {
	if r.data.len() == 0 {
		return false
	}
	r.begin()
	for left := r.fit.Steps; left > 0; {
		steps, loss := r.pass(rng, left)
		left -= steps
		if loss < r.fit.Stop {
			break
		}
	}
	return r.end()
}

// epochs makes n full passes and calls done after each.
func (r *regressor) epochs(ctx context.Context, rng *rand.Rand, n int, done func()) error {
	r.begin()
	defer r.end()
	for range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.data.len() > 0 {
			r.pass(rng, r.data.len())
		}
		done()
	}
	return nil
}

func (r *regressor) begin() {
	r.frozen = nil
	r.run.before = append(r.run.before[:0], r.net.theta...)
	if r.fit.Fresh {
		r.opt.forget()
	}
}

// end undoes a training that has led to weights that are not finite because its steps were too large for the data.
func (r *regressor) end() (kept bool) {
	if r.opt.lag != nil {
		r.opt.settle(r.net.theta)
	}
	if finite32(r.net.theta) && finite32(r.opt.m) && finite32(r.opt.v) {
		return true
	}
	copy(r.net.theta, r.run.before)
	r.opt.forget()
	return false
}

// pass makes a pass over the samples with at most limit steps. It returns the number of steps and the mean loss.
func (r *regressor) pass(rng *rand.Rand, limit int) (steps int, loss float64) {
	n := r.data.len()
	order := r.run.shuffle(rng, n, min(n, limit*r.fit.Batch))
	seen := 0
	for seen < len(order) {
		batch := order[seen:min(seen+r.fit.Batch, len(order))]
		loss += r.step(batch)
		seen += len(batch)
		steps++
	}
	return steps, loss / float64(seen)
}

// shuffle returns the first k elements of a random permutation of n samples.
func (r *run) shuffle(rng *rand.Rand, n, k int) []int {
	r.order = r.order[:0]
	for i := range n {
		r.order = append(r.order, i)
	}
	for i := range k {
		j := i + rng.IntN(n-i)
		r.order[i], r.order[j] = r.order[j], r.order[i]
	}
	return r.order[:k]
}

// step makes one step on the mean loss of a batch. It returns the sum of the losses before the step.
func (r *regressor) step(batch []int) (loss float64) {
	w := &r.run
	w.x, w.y = r.data.gather(batch, w.x, w.y)
	scale := float32(1)
	if r.fit.Double {
		scale = 2
	}
	w.dout = w.dout[:0]
	if r.opt.lag != nil {
		r.opt.meet(r.net.theta, w.x)
	}
	for i, f := range r.net.forward(&w.tape, w.x) {
		e := f - w.y[i]
		loss += float64(scale*e*e) / 2
		w.dout = append(w.dout, scale*e/float32(len(batch)))
	}
	r.net.backward(&w.tape, w.dout)
	r.opt.step(r.net, &w.tape)
	return loss
}

func (r *regressor) bytes() int {
	return 4*(len(r.net.theta)+len(r.opt.m)+len(r.opt.v)) + r.data.bytes()
}

type regressorDocument struct {
	Theta []byte
	Steps int
	M, V  []byte
	Edges int
	X, Y  []byte
}

func (r *regressor) document() *regressorDocument {
	if r == nil {
		return nil
	}
	return &regressorDocument{
		Theta: packFloats(r.net.theta),
		Steps: r.opt.steps, M: packFloats(r.opt.m), V: packFloats(r.opt.v),
		Edges: r.data.edges, X: packFloats(r.data.x), Y: packFloats(r.data.y),
	}
}

func (r *regressor) restore(d *regressorDocument) error {
	if r == nil {
		return nil
	}
	moments := len(r.opt.m)
	switch {
	case len(d.M) != 4*moments || len(d.V) != 4*moments || d.Steps < 0:
		return fmt.Errorf("optimiser state of %d and %d bytes", len(d.M), len(d.V))
	}
	r.opt.steps = d.Steps
	into := [][]float32{r.net.theta, r.opt.m, r.opt.v}
	for i, from := range [][]byte{d.Theta, d.M, d.V} {
		if !unpackFloats(into[i], from) {
			return fmt.Errorf("number %d is not finite", i)
		}
	}
	return r.data.restore(d.Edges, d.X, d.Y)
}

func (f *fit) check() error {
	if f.Batch < 1 || f.Batch > 1<<16 || f.Steps < 0 || !finite(f.Rate, f.Decay, f.Stop) {
		return fmt.Errorf("fit %+v", *f)
	}
	return nil
}
