package model

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/internal/column"
	"kith/model/internal/spectral"
	"kith/model/nn"
)

// belief is Bayesian logistic regression, updated after each outcome by the formulas of the package
// comment. The input z consists of the context, the history of the target, a constant and the
// log-odds of a ranker, each scaled. The samples are kept so that they can be learned again
// together with edges.
type belief struct {
	config        *config
	scale         []float32         // scale of each of the d inputs
	ranker        *ranker           // its log-odds are an input; nil: that input is absent
	vectors       *spectral.Vectors // read by contexts; nil: none
	relational    *relational       // answers about links of one relation; nil: the ranker does
	leftOut       int64             // see Model.VectorsLeftOut
	rankerTrained bool              // the ranker was trained on edges of this graph
	doubtful      bool              // the prior ignores the ranker
	prior         []float64         // mean before the first outcome
	spread        []float64         // variance of each weight before the first outcome
	mean          []float64
	cov           []float64  // d x d
	data          nn.Samples // contexts and histories
	memory        memory

	frozen *posterior // shared with scorers; nil after a change of the belief
	z, t   []float64
	input  blas32.General // scratch of the ranker
	tape   nn.Tape
}

// posterior is a snapshot of a belief in float32, the precision of the kernels.
type posterior struct {
	scale, mean []float32
	ranker      *ranker
	vectors     *spectral.Vectors
	relational  *relational
	cov         blas32.General
	memory      memory
	learned     bool // at least one sample was learned
}

// maxBelief is the largest number of inputs. The covariance takes its square.
const maxBelief = 1024

func newBelief(c *config) *belief {
	d := c.beliefLen()
	b := &belief{
		config: c, scale: c.scales(), data: nn.Samples{Dim: c.width() + historyLen, Limit: c.Replay},
		z: make([]float64, d), t: make([]float64, d),
	}
	var r *ranker
	if c.rankLen() > 0 {
		r = startRanker(c)
	}
	b.setRanker(r, false)
	return b
}

// setRanker sets the ranker and resets the belief. trained reports whether the ranker was trained
// on edges of this graph.
func (b *belief) setRanker(r *ranker, trained bool) {
	b.ranker, b.rankerTrained = r, trained
	b.setPrior(false)
}

// setPrior sets the prior and resets the belief.
func (b *belief) setPrior(doubtful bool) {
	b.doubtful = doubtful
	b.prior, b.spread = b.config.beliefPrior(b.scale, b.ranker != nil && !doubtful)
	b.reset()
}

// beliefPrior returns the mean and the variance of each weight before the first outcome. A trusting
// prior expects that the log-odds of the ranker are right and that other inputs matter little. A
// prior that is not trusting gives the ranker no weight.
func (c *config) beliefPrior(scale []float32, trusting bool) (mean, variance []float64) {
	usual := 1 / c.Lambda
	if trusting {
		usual *= trustingVariance
	}
	d, history := c.beliefLen(), c.width()
	mean, variance = make([]float64, d), slices.Repeat([]float64{usual}, d)
	mean[history+colTargetRate], variance[history+colTargetRate] = 1, 0.1 // the observed rate is nearly the true rate
	if col := c.timeCol(); col >= 0 {
		mean[col], variance[col] = 1/timeScale, 0.02/(timeScale*timeScale)
	}
	constant, ranked := history+historyLen, history+historyLen+1
	if trusting {
		variance[constant] = 0.5 // one link is weak evidence that links are common
		mean[ranked], variance[ranked] = 1, 0.02
		return mean, variance
	}
	mean[constant], variance[constant] = -2, 4 // links are rare
	mean[history+colOffered] = 1               // the odds are proportional to the rate of offers
	if c.rankLen() > 0 {
		variance[ranked] = 0
	}
	if c.Prior {
		first := c.width() - column.StructuralLen
		for col := range column.StructuralLen {
			mean[first+col] = 2 * priorWeights[col] / float64(scale[first+col])
		}
	}
	return mean, variance
}

// timeScale is the scale of the forecast's column. The log-odds of a target among many are far from
// 0.
const timeScale = 0.25

// trustingVariance is the factor of the variance of most weights in a trusting prior.
const trustingVariance = 0.02

// beliefLen is d, the number of inputs: context, history, constant, and the log-odds of a ranker if
// there is one.
func (c *config) beliefLen() int {
	d := c.width() + historyLen + 1
	if c.rankLen() > 0 {
		d++
	}
	return d
}

// reset forgets all outcomes, but keeps the samples and the memory.
func (b *belief) reset() {
	d := len(b.prior)
	b.mean, b.cov = slices.Clone(b.prior), make([]float64, d*d)
	for i, v := range b.spread {
		b.cov[i*d+i] = v
	}
	b.frozen = nil
}

// forecast reports whether a context has the answer of a forecast alone. Where a forecast is added
// to the ranker, the source has edges.
func (c *config) forecast(x []float32) bool {
	col := c.timeCol()
	return col >= 0 && x[col] != 0 && x[c.width()-column.StructuralLen+column.ColSource] == 0
}

// rankInput copies the columns of a context that a ranker reads to z, scaled.
func (c *config) rankInput(x, scale, z []float32) {
	first := c.width() - len(z)
	for i := range z {
		z[i] = scaled(x[first+i], scale[first+i])
	}
}

// observe learns the outcome of a pair with context x, whose target was chosen from offer. If x
// is nil, observe only records the outcome in the memory.
func (b *belief) observe(p Pair, x []float32, reward float64, offer []ID) {
	if x != nil {
		full := append(slices.Clone(x), make([]float32, historyLen)...)
		b.memory.history(p, full[len(x):])
		before := b.data.Len()
		b.data.Add(full, reward)
		b.learn(full, reward)
		if n := b.data.Len(); n > before && n <= lastJudged && n&(n-1) == 0 {
			b.choosePrior()
		}
	}
	b.memory = b.memory.remember(p, reward, offer)
	b.frozen = nil
}

// unseen returns samples of contexts extended with the history of nodes that were never tried.
func (b *belief) unseen(contexts nn.Samples) nn.Samples {
	out := nn.Samples{Dim: b.data.Dim}
	blank := make([]float32, historyLen)
	for i := range contexts.Len() {
		out.Add(append(slices.Clone(contexts.Row(i)), blank...), float64(contexts.Y[i]))
	}
	return out
}

// The prior is chosen by the first outcomes, each time that their number is a power of two from
// firstJudged to lastJudged. At first it trusts the ranker.
const (
	firstJudged = 8
	lastJudged  = 128
)

// leastGain returns the gain of log-likelihood above which the first n samples replace the prior.
// It is large if most of their sources had edges, which the ranker reads. Otherwise the ranker
// guesses, and at lastJudged any gain is enough.
func (b *belief) leastGain(n int) float64 {
	degree := b.config.width() - column.StructuralLen + column.ColSource
	linked := 0
	for i := range n {
		if b.data.Row(i)[degree] > 0 {
			linked++
		}
	}
	switch {
	case 2*linked > n:
		return 9
	case n < lastJudged:
		return 3
	}
	return 0
}

// choosePrior chooses the prior and learns the samples that decide about it again. Each is
// predicted before it is learned. It returns their number, which is 0 if there is no choice.
func (b *belief) choosePrior() (judged int) {
	if b.ranker == nil || b.data.Len() < firstJudged {
		return 0
	}
	judged = min(b.data.Len(), lastJudged)
	learn := func(doubtful bool) (logLikelihoods []float64) { // of the first samples, as many as there are judged at a time
		b.setPrior(doubtful)
		sum, next := 0.0, firstJudged
		for i := range judged {
			sum += b.learn(b.data.Row(i), float64(b.data.Y[i]))
			if i+1 == next {
				logLikelihoods, next = append(logLikelihoods, sum), 2*next
			}
		}
		return logLikelihoods
	}
	likely := learn(false)
	trusting, doubtful := *b, false
	for i, l := range learn(true) {
		if gain := l - likely[i]; math.Abs(gain) > trusting.leastGain(firstJudged<<i) {
			doubtful = gain > 0
		}
	}
	if !doubtful {
		*b = trusting
	}
	return judged
}

// refit chooses the prior and learns all samples again. If ctx ends first, the belief is unchanged.
func (b *belief) refit(ctx context.Context) error {
	before := *b
	b.reset()
	for i := b.choosePrior(); i < b.data.Len() && ctx.Err() == nil; i++ {
		b.learn(b.data.Row(i), float64(b.data.Y[i]))
	}
	if err := ctx.Err(); err != nil {
		*b = before
		return err
	}
	return nil
}

// learn makes one step and returns the log-likelihood of the reward before it. The reward is
// clamped to [0, 1].
func (b *belief) learn(x []float32, reward float64) (logLikelihood float64) {
	d := len(b.mean)
	for i, v := range x {
		b.z[i] = float64(scaled(v, b.scale[i]))
	}
	b.z[len(x)] = 1
	switch {
	case b.ranker == nil:
	case b.config.forecast(x):
		b.z[d-1] = 0 // the forecast replaces the ranker
	default:
		b.input = nn.Resize(b.input, 1, b.config.rankLen())
		b.config.rankInput(x, b.scale, b.input.Data)
		b.ranker.logOdds(&b.tape, b.input, b.z[d-1:])
	}
	v := 0.0
	for i := range d {
		b.t[i] = nn.Dot64(b.cov[i*d:(i+1)*d], b.z)
		v += b.t[i] * b.z[i]
	}
	v = max(v, 0)
	p := nn.Sigmoid(nn.Dot64(b.mean, b.z) / math.Sqrt(1+math.Pi*v/8))
	q := max(p*(1-p), 1e-4)
	k := 1 / (1 + q*v)
	reward = min(max(reward, 0), 1)
	gain := k * (reward - p)
	for i := range d {
		b.mean[i] += gain * b.t[i]
		by := q * k * b.t[i]
		for j, t := range b.t {
			b.cov[i*d+j] -= by * t
		}
	}
	return reward*math.Log(max(p, leastOdds)) + (1-reward)*math.Log(max(1-p, leastOdds))
}

// leastOdds limits what one outcome counts in the choice of a prior.
const leastOdds = 1e-6

// scaled returns x in its scale, clamped so that no single outcome can change the belief too much.
func scaled(x, by float32) float32 {
	switch x *= by; {
	case x > 10:
		return 10
	case x < -10:
		return -10
	}
	return x
}

// snapshot returns the current belief.
func (b *belief) snapshot() *posterior {
	if b.frozen == nil {
		d := len(b.mean)
		b.frozen = &posterior{scale: b.scale, mean: nn.Narrow(b.mean), ranker: b.ranker, vectors: b.vectors, relational: b.relational, memory: b.memory, learned: b.data.Len() > 0}
		b.frozen.cov = blas32.General{Rows: d, Cols: d, Stride: d, Data: nn.Narrow(b.cov)}
	}
	return b.frozen
}

// inputs fills the rows of z from the contexts of the pairs, which are on the tape.
func (p *posterior) inputs(c *config, t *scratch, pairs []Pair, z blas32.General) {
	var history [historyLen]float32
	x := t.x
	for i, pair := range pairs {
		to := nn.Row(z, i)
		for j, v := range nn.Row(x, i) {
			to[j] = scaled(v, p.scale[j])
		}
		p.memory.history(pair, history[:])
		for j, v := range history {
			to[x.Cols+j] = scaled(v, p.scale[x.Cols+j])
		}
		to[x.Cols+historyLen] = 1
	}
	if p.ranker == nil {
		return
	}
	answered := 0 // pairs that the forecast answers
	for i := range pairs {
		if c.forecast(nn.Row(x, i)) {
			answered++
		}
	}
	if answered == len(pairs) {
		for i := range pairs {
			nn.Row(z, i)[z.Cols-1] = 0 // the forecast replaces the ranker
		}
		return
	}
	n := c.rankLen()
	t.ranked = nn.Resize(t.ranked, len(pairs), n)
	for i := range pairs {
		copy(nn.Row(t.ranked, i), nn.Row(z, i)[x.Cols-n:])
	}
	t.forms = slices.Grow(t.forms[:0], len(pairs))[:len(pairs)]
	p.ranker.logOdds(&t.net, t.ranked, t.forms)
	for i, v := range t.forms {
		if answered > 0 && c.forecast(nn.Row(x, i)) {
			v = 0
		}
		nn.Row(z, i)[z.Cols-1] = float32(v)
	}
}

// pairWeight is the number of tries that the inferred estimate of a pair counts for, compared with
// the pair's own outcomes.
const pairWeight = 1e-3

// withOwnOutcomes returns the estimate of a pair given its own outcomes. An existing link counts as
// one success, except for a forecast, which predicts whether a link occurs once more.
func (b *posterior) withOwnOutcomes(w World, p Pair, timed bool, estimate float64) float64 {
	c := b.memory.of(p, w.Graph.Directed())
	if linked(w.Graph, p.Source, p.Target) {
		if timed {
			return estimate
		}
		c.add(1)
	}
	return c.rate(estimate, pairWeight)
}

// check reports an error for decoded values that a belief cannot have.
func (b *belief) check() error {
	if !nn.Finite(nn.Narrow(b.mean)...) || !nn.Finite(nn.Narrow(b.cov)...) {
		return errors.New("a belief is not finite in float32")
	}
	if b.ranker != nil && !nn.Finite(b.ranker.level.Slope, b.ranker.level.Degree, b.ranker.level.Shift) {
		return errors.New("the level of a ranker is not finite")
	}
	return b.data.Check()
}

func (b *belief) bytes() int {
	if b == nil {
		return 0
	}
	return 8*(len(b.cov)+len(b.mean)) + 4*len(b.cov) + b.data.Bytes() + b.memory.bytes() + b.vectors.Bytes() + b.relational.bytes()
}

// scales returns the factor that scales each input of a belief to about 1, because the prior treats
// all inputs alike.
func (c *config) scales() (all []float32) {
	for _, column := range append(c.contextColumns(), historyColumns()...)[:c.beliefLen()] {
		all = append(all, column.Scale)
	}
	return all
}
