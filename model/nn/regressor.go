package nn

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"
)

// Fit holds the parameters of fitting a network to its samples.
type Fit struct {
	Adam  bool    // Adam if true, otherwise plain gradient descent
	Rate  float64 // learning rate
	Decay float64 // weight decay
	Fresh bool    // Adam's moments start from zero in each training
	Batch int     // samples per step
	Steps int     // maximum number of steps per training
	Stop  float64 // a training ends if the mean loss of a pass is below Stop; 0: never
}

// Regressor is a network with its samples and its optimiser. A document stores its exported fields
// and, separately, its weights.
type Regressor struct {
	Net  *Network `msgpack:"-"`
	Opt  Optimizer
	fit  Fit
	Data Samples

	frozen *Network // copy shared with scorers; nil after a change of Net
	run    run
}

// run is the working memory of a training.
type run struct {
	tape  Tape
	x     blas32.General
	y     []float32
	dout  []float32
	order []int

	before []float32 // weights before the training
}

// NewRegressor returns a regressor with weights of zero that keeps up to limit samples (0: all).
func NewRegressor(s Shape, f Fit, limit int) *Regressor {
	r := &Regressor{Net: NewNetwork(s, nil), Opt: NewOptimizer(f, s.Params()), fit: f, Data: Samples{Dim: s.In, Limit: limit}}
	if lags(s, f) {
		r.Opt.lag = &lagging{width: s.Hidden[0], last: make([]int, s.In)}
	}
	return r
}

// Snapshot returns a copy of the network that later trainings do not change.
func (r *Regressor) Snapshot() *Network {
	if r.frozen == nil {
		r.frozen = r.Net.Clone()
	}
	return r.frozen
}

// Train passes over all samples, each time in a new random order, until the fit's steps are used up
// or the mean loss of a pass is low enough. It reports whether the result was kept.
func (r *Regressor) Train(rng *rand.Rand) (kept bool) {
	if r.Data.Len() == 0 {
		return false
	}
	r.begin()
	for left := r.fit.Steps; left > 0; {
		steps, loss := r.Pass(rng, left)
		left -= steps
		if loss < r.fit.Stop {
			break
		}
	}
	return r.end()
}

// Epochs makes n full passes. It calls more after each, and ends when that is false.
func (r *Regressor) Epochs(ctx context.Context, rng *rand.Rand, n int, more func() bool) error {
	r.begin()
	defer r.end()
	for range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.Data.Len() > 0 {
			r.Pass(rng, r.Data.Len())
		}
		if !more() {
			break
		}
	}
	return nil
}

// Step makes one step on the mean loss of the newest n samples. It reports whether the result was
// kept.
func (r *Regressor) Step(n int) (kept bool) {
	if n = min(n, r.Data.Len()); n == 0 {
		return false
	}
	r.begin()
	r.run.order = r.run.order[:0]
	for i := r.Data.Len() - n; i < r.Data.Len(); i++ {
		r.run.order = append(r.run.order, i)
	}
	r.step(r.run.order)
	return r.end()
}

func (r *Regressor) begin() {
	r.frozen = nil
	r.run.before = append(r.run.before[:0], r.Net.Theta...)
	if r.fit.Fresh {
		r.Opt.forget()
	}
}

// end undoes a training that has led to weights that are not finite because its steps were too
// large for the data.
func (r *Regressor) end() (kept bool) {
	if r.Opt.lag != nil {
		r.Opt.catchUpAll(r.Net.Theta)
	}
	if Finite(r.Net.Theta...) && Finite(r.Opt.M...) && Finite(r.Opt.V...) {
		return true
	}
	copy(r.Net.Theta, r.run.before)
	r.Opt.forget()
	return false
}

// Pass makes a pass over the samples with at most limit steps. It returns the number of steps and
// the mean loss.
func (r *Regressor) Pass(rng *rand.Rand, limit int) (steps int, loss float64) {
	n := r.Data.Len()
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

// step makes one step on the mean loss of a batch. It returns the sum of the losses before the
// step.
func (r *Regressor) step(batch []int) (loss float64) {
	w := &r.run
	w.x, w.y = r.Data.Gather(batch, w.x, w.y)
	w.dout = w.dout[:0]
	if r.Opt.lag != nil {
		r.Opt.catchUpInputs(r.Net.Theta, w.x)
	}
	for i, f := range r.Net.Forward(&w.tape, w.x) {
		e := f - w.y[i]
		loss += float64(e*e) / 2
		w.dout = append(w.dout, e/float32(len(batch)))
	}
	r.Net.Backward(&w.tape, w.dout)
	r.Opt.step(r.Net, &w.tape)
	return loss
}

// Bytes returns the memory that the regressor takes.
func (r *Regressor) Bytes() int {
	return 4*(len(r.Net.Theta)+len(r.Opt.M)+len(r.Opt.V)) + r.Data.Bytes()
}

// Check reports an error for decoded values that a regressor cannot have.
func (r *Regressor) Check() error {
	if r.Opt.Steps < 0 {
		return fmt.Errorf("an optimiser after %d steps", r.Opt.Steps)
	}
	return r.Data.Check()
}
