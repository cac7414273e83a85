package model

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
)

// ranker is what the default learns from edges: a network of one hidden layer that scores a pair by what the graph and the
// feature vectors say of it. Its outputs are trained to put links before other candidates of the same source, and then
// brought to log-odds. It does not change once it is made.
type ranker struct {
	net   *network // of the columns in their scale
	level level
}

// level turns a score into the log-odds of a link: slope·score + degree·log1p(neighbours out of the source) + shift.
type level struct{ slope, degree, shift float64 }

func (l level) of(score, source float64) float64 { return l.slope*score + l.degree*source + l.shift }

const rankerWidth = 48

// rankLen is the number of columns that a ranker reads, the last of a context; 0: there is no ranker.
func (c *config) rankLen() int {
	if c.Blocks&blockGraph != blockGraph || c.Unit {
		return 0
	}
	n := c.vectorsLen() + topologyLen + structuralLen
	if c.Blocks&blockSimilarity != 0 && c.FeatureLen > 0 {
		n += similarityLen
	}
	return n
}

func (c *config) rankerShape() shape {
	return shape{In: c.rankLen(), Hidden: []int{rankerWidth}, Bias: true}
}

// logOdds returns those of the rows of z, the columns of pairs in their scale.
func (r *ranker) logOdds(t *tape, z blas32.General, odds []float64) {
	source := z.Cols - structuralLen + colSource
	for i, f := range r.net.forward(t, z) {
		odds[i] = r.level.of(float64(f), float64(row(z, i)[source]))
	}
}

// slopes returns the derivatives of the log-odds of a row by its columns.
func (r *ranker) slopes(t *tape, z blas32.General) []float64 {
	r.net.forward(t, z)
	r.net.backward(t, t.repeatOne(1))
	first := r.net.dense[0]
	w, trans := first.weights(first.w)
	dx := resize(blas32.General{}, 1, z.Cols)
	multiply(t.delta[0], w, opposite(trans), 0, dx)
	slopes := make([]float64, z.Cols)
	for i, v := range dx.Data {
		slopes[i] = r.level.slope * float64(v)
	}
	slopes[z.Cols-structuralLen+colSource] += r.level.degree
	return slopes
}

// choice is a link of a source, beside candidates that are none: what a ranker learns from.
type choice struct {
	x        *blas32.General // a row for each pair that was read: its columns in their scale
	link     int             // row of the link
	from, to int             // rows of the others: from, from+1, ..., to-1
	stands   float64         // pairs of the graph that one of them stands for, for each link that is missing; 0: unknown
}

// choiceLearner fits a network to choices: AdamW over the mean of -log of the probability of the link, which is that of a
// conditional logit (McFadden, 1974) with the network's outputs for utilities.
type choiceLearner struct {
	net   *network
	opt   optimizer
	parts [shards]shard
}

const (
	choiceBatch = 32
	choiceDecay = 1e-4
)

// fitRanker returns the ranker that a number of passes over the choices make of another one, or of the pass between that had
// the least loss on the choices of valid.
func fitRanker(ctx context.Context, rng *rand.Rand, from *ranker, train, valid []choice, passes int, rate float64, step func()) (*ranker, error) {
	l := &choiceLearner{net: from.net.clone(), opt: newOptimizer(fit{Adam: true, Rate: rate}, len(from.net.theta))}
	best, least := from.net, meanLoss(from.net, valid)
	order := make([]int, len(train))
	steps, total := 0, passes*((len(order)+choiceBatch-1)/choiceBatch)
	for range passes {
		for i := range order {
			order[i] = i
		}
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for batch := range slices.Chunk(order, choiceBatch) {
			steps++
			l.opt.rate = rate * (0.05 + 0.95*(1+math.Cos(math.Pi*float64(steps)/float64(total)))/2)
			if err := l.learn(ctx, train, batch); err != nil {
				return nil, err
			}
		}
		if loss := meanLoss(l.net, valid); loss < least {
			best, least = l.net.clone(), loss
		}
		step()
	}
	if !finite32(best.theta) {
		return nil, errors.New("a ranker is not finite")
	}
	return &ranker{net: best, level: from.level}, nil
}

// learn makes one step.
func (l *choiceLearner) learn(ctx context.Context, all []choice, batch []int) error {
	err := parallel(ctx, shards, func(i int) {
		p := &l.parts[i]
		if p.grad == nil {
			p.grad = make([]float32, len(l.net.theta))
		}
		clear(p.grad)
		for _, k := range batch[i*len(batch)/shards : (i+1)*len(batch)/shards] {
			p.addChoice(l.net, &all[k], 1/float32(len(batch)))
		}
	})
	if err != nil {
		return err
	}
	clear(l.opt.grad)
	for i := range l.parts {
		addTo(l.opt.grad, l.parts[i].grad)
	}
	l.opt.decoupled(l.net.theta, choiceDecay)
	return nil
}

// addChoice adds to the gradient that of a choice's loss, as a share of the batch.
func (p *shard) addChoice(n *network, c *choice, share float32) {
	p.dout = p.dout[:0]
	for _, v := range p.softmax(n, c) {
		p.dout = append(p.dout, share*float32(v))
	}
	p.dout[0] -= share
	n.backward(&p.tape, p.dout)
	n.addGradient(&p.tape, 1, p.grad)
}

// scores returns the outputs of a network for the link and the other candidates.
func (p *shard) scores(n *network, c *choice) []float64 {
	cols := c.x.Cols
	p.dx = resize(p.dx, 1+c.to-c.from, cols)
	copy(row(p.dx, 0), row(*c.x, c.link))
	copy(p.dx.Data[cols:], c.x.Data[c.from*cols:c.to*cols])
	p.odds = p.odds[:0]
	for _, f := range n.forward(&p.tape, p.dx) {
		p.odds = append(p.odds, float64(f))
	}
	return p.odds
}

// softmax returns the probability of the link, and of each of the other candidates, to be the one that is chosen.
func (p *shard) softmax(n *network, c *choice) []float64 {
	v := p.scores(n, c)
	top, sum := slices.Max(v), 0.0
	for i, f := range v {
		v[i] = math.Exp(f - top)
		sum += v[i]
	}
	for i := range v {
		v[i] /= sum
	}
	return v
}

// meanLoss is the mean of -log of the probability of the links.
func meanLoss(n *network, all []choice) (loss float64) {
	p := new(shard)
	for i := range all {
		loss -= math.Log(max(p.softmax(n, &all[i])[0], 1e-30))
	}
	return loss / float64(max(1, len(all)))
}

// rounded is a number as a document keeps it.
func rounded(v float64) float64 { return float64(float32(v)) }

// unpackRanker reads what pack wrote.
func (c *config) unpackRanker(b []byte) (*ranker, error) {
	if c.rankLen() == 0 {
		return nil, nil
	}
	s := c.rankerShape()
	all := make([]float32, s.params()+3)
	if len(b) != 4*len(all) {
		return nil, fmt.Errorf("a ranker of %d bytes, want %d", len(b), 4*len(all))
	}
	if !unpackFloats(all, b) {
		return nil, errors.New("a ranker is not finite")
	}
	l := all[s.params():]
	return &ranker{newNetwork(s, all[:s.params()]), level{float64(l[0]), float64(l[1]), float64(l[2])}}, nil
}

// Rates of the passes over lists, from nothing and from weights that were learned on other graphs.
const (
	rankerPasses = 8
	rankerRate   = 3e-3
)

// rankerPlan is how a ranker is trained on a graph where a plan does not say it: a fold is up to a tenth of the edges.
func rankerPlan(g Graph) EdgePlan {
	p := EdgePlan{Samples: 2000, Negatives: choiceLen, Epochs: rankerPasses}
	arcs := 0
	for u := range ID(g.NumNodes()) {
		out, _ := g.Out(u)
		arcs += len(out)
	}
	if !g.Directed() {
		arcs /= 2
	}
	p.Folds = min(max(10*p.Samples/max(arcs, 1), 2), 5)
	return p
}

// trainRanker is TrainEdges of the default: a new ranker, and the outcomes learned again beside it.
func (m *Model) trainRanker(ctx context.Context, g Graph, plan EdgePlan, without Without) error {
	if err := plan.fill(rankerPlan(g)); err != nil {
		return err
	}
	rng := rand.New(m.source)
	edges := drawEdges(rng, g, plan.Samples)
	if len(edges) == 0 {
		return fmt.Errorf("%w: the graph has no edges to train on", ErrInput)
	}
	plan.Folds = min(plan.Folds, len(edges))
	c := counter{tell: plan.Progress, total: 1 + plan.Epochs}
	whole, err := without(nil)
	if err != nil {
		return err
	}
	var content *content
	if m.config.vectorsLen() > 0 {
		if content, err = contentOf(ctx, &m.config, whole, topicsFor(g.NumNodes(), vectorBudget)); err != nil {
			return err
		}
	}
	parts, err := m.drawChoices(ctx, rng, g, edges, plan.Folds, plan.Negatives, content, without, &c)
	if err != nil {
		return err
	}
	all := slices.Concat(parts...)
	train, valid := all, all
	if n := len(parts); n > 1 {
		train, valid = slices.Concat(parts[:n-1]...), parts[n-1]
	}
	r, err := fitRanker(ctx, rng, startRanker(&m.config), train, valid, plan.Epochs, rankerRate, c.step)
	if err != nil {
		return err
	}
	r.level = levelOf(r.net, all)
	b := *m.belief
	if b.vectors, err = m.vectorsIn(ctx, rng, content, whole); err != nil {
		return err
	}
	b.restOn(r, true)
	if err := b.refit(ctx); err != nil {
		return err
	}
	m.belief, m.scorer, m.trained = &b, nil, true
	return nil
}
