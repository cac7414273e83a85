package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"kith/model/internal/column"
	"kith/model/internal/spectral"
	"kith/model/nn"
)

// Default plan of a ranker's training.
const (
	leastSamples = 5000
	mostSamples  = 8000
	rankerMemory = 512 << 20
	leastPasses  = 6 // of each member
	mostPasses   = 12
	rankerRate   = 1e-2
	againPart    = 8 // of a training that continues from the last one: the part of the links, one in 8, that it reads
	againPasses  = 3
	againRate    = 1e-3
	rankerFolds  = 10 // folds at most
	heldOut      = 10 // the part of the choices, one in 10, that measures the passes of a training and is not learned
)

// samplesFor returns the number of links that a training reads of a graph: a hundredth, but within
// bounds. Of a large graph fewer are a loss.
func samplesFor(edges int) int { return min(max(edges/100, leastSamples), mostSamples) }

// passesFor returns the number of passes over a number of links, more if these are few.
func passesFor(links int) int {
	return min(max(leastPasses*leastSamples/max(links, 1), leastPasses), mostPasses)
}

// rankerPlan sets the zero fields of a plan to train a ranker on a graph. The columns of the
// samples take what the vectors of the nodes leave of the memory, but at most three quarters: the
// worlds without edges hold changed rows.
func (c *config) rankerPlan(g Graph, p *EdgePlan) error {
	if err := p.check(g); err != nil {
		return err
	}
	p.Memory = cmp.Or(p.Memory, rankerMemory)
	others := p.Memory / 4
	if rank, _ := c.vectorRank(g.NumNodes(), p.Memory); rank > 0 {
		others = max(others, spectral.Bytes(g.NumNodes(), rank))
	}
	memory := p.Memory - others
	arcs := countArcs(g)
	edges := arcs
	if !g.Directed() {
		edges /= 2
	}
	by := EdgePlan{Samples: samplesFor(edges), Negatives: choiceLen, Folds: rankerFolds}
	if p.Again {
		by.Samples /= againPart
	}
	each := 4 * int64(c.rankLen()) * int64(1+choiceKinds*cmp.Or(p.Negatives, by.Negatives)) // bytes per sample
	each += each * newcomerLinks / newcomerEvery
	by.Samples = int(min(int64(by.Samples), max(memory/each, 1)))
	by.Epochs = passesFor(min(cmp.Or(p.Samples, by.Samples), arcs))
	folds, least := 10*cmp.Or(p.Samples, by.Samples)/max(edges, 1), 2 // of a tenth of the edges
	if p.Again {
		by.Epochs = againPasses
		folds, least = folds+1, 1 // the vectors of a fold take as long as its links
	}
	by.Folds = min(max(folds, least), by.Folds)
	p.fill(by)
	return nil
}

// trainRanker is TrainEdges for the default: it trains a new ranker and learns the outcomes again
// on top of it.
func (m *Model) trainRanker(ctx context.Context, g Graph, plan EdgePlan, without Without) error {
	plan.Again = plan.Again && m.belief.rankerTrained
	if err := m.config.rankerPlan(g, &plan); err != nil {
		return err
	}
	rng := rand.New(m.source)
	folds, err := drawFolds(rng, g, plan)
	if err != nil {
		return err
	}
	whole, err := without(nil)
	if err != nil {
		return err
	}
	nodes, leftOut, err := m.config.planVectors(ctx, whole, plan.Memory)
	if err != nil {
		return err
	}
	if plan.Again {
		nodes = nodes.Again(nil)
	}
	all, last, err := m.drawChoices(ctx, rng, g, folds, plan, nodes, without)
	if err != nil {
		return err
	}
	train, valid := all, all
	if held := len(all) / heldOut; held > 0 {
		train, valid = all[:len(all)-held], all[len(all)-held:]
	}
	scale := scaleOf(train)
	scale.leaveOut(column.Rivals, m.config.rankColumns())
	plan.Progress.Begin(phaseLearning)
	from, rate := []*nn.Network{startRanker(&m.config).net}, rankerRate
	if plan.Again {
		from, rate = membersOf(m.belief.ranker.net), againRate
	}
	net, err := fitMembers(ctx, rng, from, scale, train, valid, plan.Epochs, rate, plan.Progress)
	if err != nil {
		return err
	}
	if plan.Again {
		nodes = nodes.Again(last)
	}
	r := &ranker{net, levelOf(net, all)}
	b := *m.belief
	if b.vectors, err = vectorsIn(ctx, rng, nodes, whole, plan.Progress); err != nil {
		return err
	}
	b.leftOut, b.relational = leftOut, nil
	b.setRanker(r, true)
	if err := b.refit(ctx); err != nil {
		return err
	}
	m.belief, m.scorer, m.trained = &b, nil, true
	return nil
}

// fitMembers trains networks one after the other, and returns their mean. A network goes on from
// the last one, with a rate that is high again, unless it has a network of its own in from.
// Networks that a training passes through like this differ as much as networks of several trainings
// (snapshot ensembles: Huang et al., ICLR 2017, section 3), and their mean depends less on the
// order of the choices than one network does.
func fitMembers(
	ctx context.Context, rng *rand.Rand, from []*nn.Network, scale *columnScale, train, valid []choice, passes int, rate float64, to *Meter,
) (*nn.Network, error) {
	members := make([]*nn.Network, rankerMembers)
	net := from[0]
	for i := range members {
		if i < len(from) {
			net = from[i]
		}
		var err error
		if net, err = fitNetwork(ctx, rng, net, scale, train, valid, passes, rate, pace{to, i, len(members)}); err != nil {
			return nil, err
		}
		members[i] = net
	}
	return meanNetwork(members), nil
}

// levelOf fits a level to the scores of a network that reads the columns of a ranker.
func levelOf(n *nn.Network, all []choice) level {
	return fitLevel(all, n.Shape.In-column.StructuralLen+column.ColSource, func(p *choiceShard, c *choice) []float64 {
		p.forward(n, nil, []choice{*c}, []int{0})
		return p.score
	})
}

// fitLevel fits a level to scores of choices, the link first, by logistic regression of links and
// of the candidates, weighted by the number of pairs they represent. Column source has the
// logarithm of the links of the source. The prior is slope 1 and 0 for the rest; it counts as much
// as one link.
func fitLevel(all []choice, source int, scores func(*choiceShard, *choice) []float64) level {
	var r calibration
	p := new(choiceShard)
	for i := range all {
		c := &all[i]
		if c.pairsPerCandidate == 0 {
			continue
		}
		links := float64(nn.Row(*c.x, c.link)[source])
		for k, f := range scores(p, c) {
			e := example{[3]float64{f, links, 1}, 0, c.pairsPerCandidate}
			if k == 0 {
				e.y, e.weight = 1, 1
			}
			r.examples = append(r.examples, e)
		}
	}
	r.before, r.precision = [3]float64{1, 0, 0}, [3]float64{1, 1, 0.01}
	w := r.fit()
	return level{rounded(max(w[0], 1e-3)), rounded(w[1]), rounded(w[2])}
}

// calibration is a logistic regression with three weights. Each has a normal prior with mean before
// and the given precision.
type calibration struct {
	examples          []example
	before, precision [3]float64
}

type example struct {
	z         [3]float64 // score, out-neighbours of the source, 1
	y, weight float64
}

// fit returns the weights with the least loss.
func (r *calibration) fit() (w [3]float64) {
	copy(w[:], newton(r.before[:],
		func(w []float64) float64 { return r.loss([3]float64(w)) },
		func(w []float64) ([]float64, bool) { return r.step([3]float64(w)) }))
	return w
}

// newton returns the weights with the least loss, a convex function, by Newton's method with step
// halving from the given weights. step returns Newton's step, or false if there is none.
func newton(from []float64, loss func(w []float64) float64, step func(w []float64) ([]float64, bool)) []float64 {
	w, next := slices.Clone(from), slices.Clone(from)
	least := loss(w)
	for range 50 {
		d, ok := step(w)
		if !ok {
			break
		}
		now := least
		for by := 1.0; by > 1e-6; by /= 2 {
			for a := range w {
				next[a] = w[a] + by*d[a]
			}
			if now = loss(next); now < least {
				break
			}
		}
		if !(now < least-1e-9*math.Abs(least)) {
			break
		}
		w, next, least = next, w, now
	}
	return w
}

// loss is the negative log-likelihood and log-prior, up to a constant.
func (r *calibration) loss(w [3]float64) (sum float64) {
	for a := range w {
		sum += r.precision[a] * (w[a] - r.before[a]) * (w[a] - r.before[a]) / 2
	}
	for i := range r.examples {
		e := &r.examples[i]
		f := e.z[0]*w[0] + e.z[1]*w[1] + e.z[2]*w[2]
		sum += e.weight * (max(f, 0) + math.Log1p(math.Exp(-math.Abs(f))) - e.y*f)
	}
	return sum
}

// step returns Newton's step. It reports false if the Hessian is not positive definite.
func (r *calibration) step(w [3]float64) (d []float64, ok bool) {
	var g [3]float64
	h := mat.NewSymDense(3, nil)
	for a := range w {
		g[a] = r.precision[a] * (r.before[a] - w[a])
		h.SetSym(a, a, r.precision[a])
	}
	for i := range r.examples {
		e := &r.examples[i]
		q := nn.Sigmoid(e.z[0]*w[0] + e.z[1]*w[1] + e.z[2]*w[2])
		for a := range w {
			g[a] += e.weight * (e.y - q) * e.z[a]
			for b := a; b < len(w); b++ {
				h.SetSym(a, b, h.At(a, b)+e.weight*q*(1-q)*e.z[a]*e.z[b])
			}
		}
	}
	return solve(h, g[:])
}

// solve returns h⁻¹g. It reports false if h is not positive definite.
func solve(h *mat.SymDense, g []float64) (d []float64, ok bool) {
	var chol mat.Cholesky
	if !chol.Factorize(h) {
		return nil, false
	}
	d = make([]float64, len(g))
	err := chol.SolveVecTo(mat.NewVecDense(len(d), d), mat.NewVecDense(len(g), g))
	return d, err == nil
}

// StartLearner learns StartWeights from several graphs with equal weight.
type StartLearner struct {
	graphs [][]choice
}

// Add reads edges of a graph, as TrainEdges does, for models with feature vectors of the given
// length. A graph with feature vectors counts as two graphs, one with and one without them. A graph
// whose nodes are all linked adds nothing.
func (l *StartLearner) Add(ctx context.Context, g Graph, features int, seed uint64, plan EdgePlan, without Without) error {
	m, err := New(Spec{FeatureLen: features, Seed: seed})
	if err != nil {
		return err
	}
	m.config.Blocks &^= blockVectors
	plan.Negatives = cmp.Or(plan.Negatives, startNegatives)
	if err := m.config.rankerPlan(g, &plan); err != nil {
		return err
	}
	rng := rand.New(m.source)
	folds, err := drawFolds(rng, g, plan)
	if err != nil {
		return err
	}
	all, _, err := m.drawChoices(ctx, rng, g, folds, plan, nil, without)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return nil
	}
	if m.config.rankLen() == startShape().In {
		l.graphs = append(l.graphs, widened(all, column.SimilarityLen))
	}
	l.graphs = append(l.graphs, widened(all, 0))
	return nil
}

// widened returns choices with all columns. similarity is the number of similarity columns that are
// kept; the rest are 0.
func widened(all []choice, similarity int) []choice {
	n := startShape().In
	wide := map[*blas32.General]*blas32.General{} // choices share rows
	out := slices.Clone(all)
	for i, c := range out {
		if wide[c.x] == nil {
			x := nn.Resize(blas32.General{}, c.x.Rows, n)
			clear(x.Data)
			keep := min(c.x.Cols, n-column.SimilarityLen+similarity)
			for k := range x.Rows {
				copy(nn.Row(x, k)[n-keep:], nn.Row(*c.x, k)[c.x.Cols-keep:])
			}
			wide[c.x] = &x
		}
		out[i].x = wide[c.x]
	}
	return out
}

// StartPlan says how StartWeights are learned.
type StartPlan struct {
	Seed          uint64
	Passes        int     // number of passes over startChoices choices of each graph
	Rate          float64 // initial learning rate
	Drop          float64 // probability that a column of a choice is hidden, because the value of columns differs between graphs
	Decay         float64 // weight decay per unit of the rate
	ResourceShare float64 // share of resource allocation in the training target; it is a strong formula on unknown graphs
}

// A start is learned from startChoices choices of each graph in a pass, with startNegatives
// candidates that are no links in each.
const (
	startChoices   = 450
	startNegatives = 24
)

// startMembers is the number of independently trained networks that the start is distilled from.
const startMembers = 3

// Learn returns weights learned from the graphs. The result is deterministic for a plan and graphs.
// A single network depends more on its initial weights than on any part of the plan, but the mean
// of several networks does not. A last network is therefore trained to reproduce this mean's scores
// of the candidates.
func (l *StartLearner) Learn(ctx context.Context, plan StartPlan) (*StartWeights, error) {
	if len(l.graphs) == 0 {
		return nil, fmt.Errorf("%w: no graph to learn a start from", ErrInput)
	}
	rng := rand.New(rand.NewPCG(plan.Seed, 5))
	members := make([]*nn.Network, startMembers)
	for i := range members {
		var err error
		if members[i], err = l.member(ctx, rng, plan, guideByResource(plan.ResourceShare)); err != nil {
			return nil, err
		}
	}
	plan.Drop, plan.Decay = 0, choiceDecay
	net, err := l.member(ctx, rng, plan, guideByNetwork(meanNetwork(members)))
	if err != nil {
		return nil, err
	}
	return &StartWeights{&ranker{net, levelOf(net, slices.Concat(l.graphs...))}}, nil
}

// member trains one network.
func (l *StartLearner) member(ctx context.Context, rng *rand.Rand, plan StartPlan, by *guide) (*nn.Network, error) {
	net := nn.NewNetwork(startShape(), nil)
	net.InitUniform(rng)
	c := &choiceLearner{net: net, guide: by, decay: plan.Decay, opt: nn.NewOptimizer(nn.Fit{Adam: true, Rate: plan.Rate}, len(net.Theta))}
	batch, order := make([]choice, choiceBatch), nn.Numbers(choiceBatch)
	drawn := make([]blas32.General, choiceBatch) // copied rows of the batch
	steps := plan.Passes * startChoices * len(l.graphs) / choiceBatch
	for step := range steps {
		for i := range batch {
			all := l.graphs[(step*choiceBatch+i)%len(l.graphs)]
			batch[i] = dropped(rng, plan.Drop, all[rng.IntN(len(all))], &drawn[i])
		}
		c.opt.Rate = plan.Rate * (0.03 + 0.97*(1+math.Cos(math.Pi*float64(step)/float64(steps)))/2)
		if err := c.learn(ctx, batch, order); err != nil {
			return nil, err
		}
	}
	if !nn.Finite(net.Theta...) {
		return nil, errors.New("a start is not finite")
	}
	return net, nil
}

// meanNetwork returns a network whose output is the mean of the outputs of networks with one hidden
// layer. It contains all their hidden units.
func meanNetwork(members []*nn.Network) *nn.Network {
	s := members[0].Shape
	width, n := s.Hidden[0], float32(len(members))
	s.Hidden = []int{width * len(members)}
	mean := nn.NewNetwork(s, nil)
	first, last := mean.Dense[0], mean.Dense[1]
	for k, m := range members {
		for i := range s.In {
			copy(first.W[i*first.Out+k*width:], m.Dense[0].W[i*width:(i+1)*width])
		}
		copy(first.B[k*width:], m.Dense[0].B)
		for i, w := range m.Dense[1].W {
			last.W[k*width+i] = w / n
		}
		last.B[0] += m.Dense[1].B[0] / n
	}
	return mean
}

// membersOf returns networks of rankerWidth hidden units whose mean a network is.
func membersOf(mean *nn.Network) []*nn.Network {
	s := mean.Shape
	members := make([]*nn.Network, s.Hidden[0]/rankerWidth)
	s.Hidden = []int{rankerWidth}
	first, last := mean.Dense[0], mean.Dense[1]
	for k := range members {
		m := nn.NewNetwork(s, nil)
		for i := range s.In {
			copy(m.Dense[0].W[i*rankerWidth:(i+1)*rankerWidth], first.W[i*first.Out+k*rankerWidth:])
		}
		copy(m.Dense[0].B, first.B[k*rankerWidth:])
		for i := range m.Dense[1].W {
			m.Dense[1].W[i] = last.W[k*rankerWidth+i] * float32(len(members))
		}
		m.Dense[1].B[0] = last.B[0]
		members[k] = m
	}
	return members
}

// dropped copies a choice to x. With probability p, a column gets the value of the link in all
// rows, so that it does not distinguish the candidates.
func dropped(rng *rand.Rand, p float64, c choice, x *blas32.General) choice {
	*x = nn.Resize(*x, 1+c.to-c.from, c.x.Cols)
	copy(nn.Row(*x, 0), nn.Row(*c.x, c.link))
	copy(x.Data[x.Cols:], c.x.Data[c.from*x.Cols:c.to*x.Cols])
	for j := range x.Cols {
		if rng.Float64() >= p {
			continue
		}
		for i := range x.Rows {
			x.Data[i*x.Cols+j] = x.Data[j]
		}
	}
	return choice{x: x, from: 1, to: x.Rows, pairsPerCandidate: c.pairsPerCandidate, poolWeight: c.poolWeight}
}
