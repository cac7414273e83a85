package model

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"kith/model/internal/column"
	"kith/model/internal/spectral"
	"kith/model/nn"
)

// Default plan of a ranker's training.
const (
	rankerSamples = 8000
	rankerMemory  = 512 << 20
	rankerPasses  = 12
	rankerRate    = 3e-3
	rankerFolds   = 10 // folds at most
	heldOut       = 10 // the part of the choices, one in 10, that measures the passes of a training and is not learned
)

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
	by := EdgePlan{Samples: rankerSamples, Negatives: choiceLen, Epochs: rankerPasses, Folds: rankerFolds}
	each := 4 * int64(c.rankLen()) * int64(1+3*cmp.Or(p.Negatives, by.Negatives)) // bytes per sample
	each += each * newcomerLinks / newcomerEvery
	by.Samples = int(min(int64(by.Samples), max(memory/each, 1)))
	arcs := countArcs(g)
	if !g.Directed() {
		arcs /= 2
	}
	by.Folds = min(max(10*cmp.Or(p.Samples, by.Samples)/max(arcs, 1), 2), by.Folds)
	p.fill(by)
	return nil
}

// trainRanker is TrainEdges for the default: it trains a new ranker and learns the outcomes again
// on top of it.
func (m *Model) trainRanker(ctx context.Context, g Graph, plan EdgePlan, without Without) error {
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
	all, err := m.drawChoices(ctx, rng, g, folds, plan, nodes, without)
	if err != nil {
		return err
	}
	train, valid := all, all
	if held := len(all) / heldOut; held > 0 {
		train, valid = all[:len(all)-held], all[len(all)-held:]
	}
	scale := scaleOf(train)
	scale.leaveOut(column.Rivals, m.config.rankColumns())
	plan.Progress.Begin(Learning)
	net, err := fitMembers(ctx, rng, startRanker(&m.config), scale, train, valid, plan.Epochs, func() { plan.Progress.Step(1) })
	if err != nil {
		return err
	}
	r := &ranker{net, levelOf(net, all)}
	b := *m.belief
	if b.vectors, err = vectorsIn(ctx, rng, nodes, whole, plan.Progress); err != nil {
		return err
	}
	b.leftOut = leftOut
	b.setRanker(r, true)
	if err := b.refit(ctx); err != nil {
		return err
	}
	m.belief, m.scorer, m.trained = &b, nil, true
	return nil
}

// fitMembers trains networks that learn the choices in different orders, and returns their mean. The
// mean of several networks depends less on the order than one network does.
func fitMembers(ctx context.Context, rng *rand.Rand, from *ranker, scale *columnScale, train, valid []choice, passes int, step func()) (*nn.Network, error) {
	members := make([]*nn.Network, rankerMembers)
	for i := range members {
		r, err := fitRanker(ctx, rng, from, scale, train, valid, passes, rankerRate, step)
		if err != nil {
			return nil, err
		}
		members[i] = r.net
	}
	return meanNetwork(members), nil
}

// levelOf fits a level to the scores of a network by logistic regression of links and of the
// candidates, weighted by the number of pairs they represent. The prior is slope 1 and 0 for the
// rest; it counts as much as one link.
func levelOf(n *nn.Network, all []choice) level {
	var r calibration
	p := new(choiceShard)
	for i := range all {
		c := &all[i]
		if c.pairsPerCandidate == 0 {
			continue
		}
		p.forward(n, nil, all, []int{i})
		source := float64(nn.Row(*c.x, c.link)[c.x.Cols-column.StructuralLen+column.ColSource])
		for k, f := range p.score {
			e := example{[3]float64{f, source, 1}, 0, c.pairsPerCandidate}
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

// fit returns the weights with the least loss by Newton's method with step halving.
func (r *calibration) fit() [3]float64 {
	w := r.before
	loss := r.loss(w)
	for range 50 {
		d, ok := r.step(w)
		if !ok {
			break
		}
		next, now := w, loss
		for by := 1.0; by > 1e-6; by /= 2 {
			for a := range w {
				next[a] = w[a] + by*d[a]
			}
			if now = r.loss(next); now < loss {
				break
			}
		}
		if !(now < loss-1e-9*math.Abs(loss)) {
			break
		}
		w, loss = next, now
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
func (r *calibration) step(w [3]float64) (d [3]float64, ok bool) {
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
	var chol mat.Cholesky
	if !chol.Factorize(h) {
		return d, false
	}
	err := chol.SolveVecTo(mat.NewVecDense(3, d[:]), mat.NewVecDense(3, g[:]))
	return d, err == nil
}
