package model

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/nn"
)

// forecast is the part of the default that learns from events: links that occur at known times. It
// predicts the next targets of a source from the time columns.
type forecast struct {
	Columns  norms
	Trainee  trainee
	Shift    float64 // added to scores to get log-probabilities
	Events   int     // number of events learned
	Waiting  int     // how many of them have gradients that wait for a step
	Gate     gate
	Memory   eventMemory
	scratch  timeScratch
	dout     []float32
	snapshot *forecastSnapshot // shared with scorers; nil after a change of the forecast
}

// forecastSnapshot is a snapshot of a forecast.
type forecastSnapshot struct {
	columns norms
	net     skipNet
	shift   float64
	gate    gate
}

// timeScratch is the working memory of a forecast.
type timeScratch struct {
	history history
	net     nn.Tape
	times   blas32.General // time columns
	scores  []float64
	odds    []float32
	shares  []share // of the forecast in each pair
}

// forecastWidth is the number of hidden units.
const forecastWidth = 32

// readyEvents is the smallest number of events with which a forecast is better than none.
const readyEvents = 256

// newForecast returns a forecast that has learned nothing.
func newForecast(c *config) *forecast {
	return &forecast{Trainee: newTrainee(c.Seed), Gate: openGate(), Memory: eventMemory{roles: map[ID]role{}}}
}

// current returns the current forecast, or nil if it has learned too little.
func (f *forecast) current() *forecastSnapshot {
	if f == nil || f.Events < readyEvents {
		return nil
	}
	if f.snapshot == nil {
		f.snapshot = &forecastSnapshot{f.Columns, f.Trainee.mean.clone(), f.Shift, f.Gate}
	}
	return f.snapshot
}

// reads reports whether the forecast may answer in this world: the graph is Timed and Now is set.
func (o *forecastSnapshot) reads(w World) bool {
	_, timed := w.Graph.(Timed)
	return o != nil && timed && w.Now != 0
}

// logOdds returns the log-odds of the pairs. It replaces 0 by 1e-6, because 0 means that there is
// no forecast.
func (o *forecastSnapshot) logOdds(t *timeScratch, w World, pairs []Pair) []float32 {
	t.times = nn.Resize(t.times, len(pairs), timeLen)
	t.history.columns(w, pairs, t.times, 0)
	o.columns.normalize(t.times)
	t.scores = slices.Grow(t.scores[:0], len(pairs))[:len(pairs)]
	o.net.scores(&t.net, t.times, t.scores)
	t.odds = t.odds[:0]
	for _, s := range t.scores {
		odds := float32(logOddsOf(s + o.shift))
		if odds == 0 {
			odds = 1e-6
		}
		t.odds = append(t.odds, odds)
	}
	return t.odds
}

// logOddsOf returns the log-odds of a probability, given its logarithm. From 0.95 on they grow only
// with the logarithm.
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

// skipNet is a network with one hidden layer plus a linear function of its inputs, which are time
// columns.
type skipNet struct {
	net   *nn.Network
	skip  []float32
	theta []float32 // all weights, the weights of net first
}

func newSkipNet(theta []float32) skipNet {
	s := nn.Shape{In: timeLen, Hidden: []int{forecastWidth}, Bias: true}
	n := len(theta) - timeLen
	return skipNet{nn.NewNetwork(s, theta[:n]), theta[n:], theta}
}

func (n *skipNet) clone() skipNet { return newSkipNet(slices.Clone(n.theta)) }

// scores computes the outputs of all rows.
func (n *skipNet) scores(t *nn.Tape, x blas32.General, out []float64) {
	for i, f := range n.net.Forward(t, x) {
		out[i] = float64(f) + nn.Dot64(n.skip, nn.Row(x, i))
	}
}

// addGradient adds the gradient of a loss to grad, given its derivative with respect to each
// output. It must follow scores. The constant of the output gets no gradient: choices do not depend
// on it, and Adam would amplify rounding errors.
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

// trainee is a skipNet in training by Adam. The running mean of its weights makes the predictions.
type trainee struct {
	now, mean skipNet
	Opt       nn.Optimizer
}

// Rate of Adam, and weight of the newest step in the running mean.
const (
	forecastRate = 2e-3
	forecastMean = 1e-3
)

func newTrainee(seed uint64) trainee {
	params := (timeLen+1)*forecastWidth + forecastWidth + 1 + timeLen // hidden layer, output, linear function
	p := trainee{now: newSkipNet(make([]float32, params)), Opt: nn.NewOptimizer(nn.Fit{Adam: true, Rate: forecastRate, Decay: 1e-5}, params)}
	p.now.net.InitNormal(rand.New(rand.NewPCG(seed, 9)))
	p.mean = p.now.clone()
	return p
}

// step moves the weights against the accumulated gradient.
func (p *trainee) step(rate float64) {
	p.Opt.Rate = rate
	p.Opt.AdamStep(p.now.theta)
	clear(p.Opt.Grad)
	by := float32(p.newest())
	for i, v := range p.now.theta {
		p.mean.theta[i] += by * (v - p.mean.theta[i])
	}
}

// newest is the weight of the newest step in a running mean. Early steps fade (Shamir and Zhang,
// ICML 2013).
func (p *trainee) newest() float64 { return max(forecastMean, 8/float64(p.Opt.Steps+7)) }

// restore completes a decoded forecast. It returns an error for values that a forecast cannot have.
func (f *forecast) restore() error {
	if f == nil {
		return nil
	}
	n, m := &f.Columns, &f.Memory
	switch {
	case f.Events < 0 || f.Waiting < 0 || f.Waiting >= listBatch || m.Seen < len(m.Pairs) || f.Trainee.Opt.Steps < 0:
		return fmt.Errorf("a forecast of %d events and %d steps, %d events waiting", f.Events, f.Trainee.Opt.Steps, f.Waiting)
	case n.Rows < 0 || !nn.Finite(n.Rows, f.Shift) || !nn.Finite(n.Sum[:]...) || !nn.Finite(n.Square[:]...):
		return errors.New("the norms of a forecast are not finite")
	}
	m.index()
	return f.Gate.check()
}

// index sets the roles of the nodes and drops duplicates.
func (m *eventMemory) index() {
	m.roles = map[ID]role{}
	targets, sources := m.Targets, m.Sources
	m.Targets, m.Sources = nil, nil
	for _, u := range targets {
		m.Targets = m.enter(m.Targets, u, asTarget)
	}
	for _, u := range sources {
		m.Sources = m.enter(m.Sources, u, asSource)
	}
}

// rename gives the nodes other ids. Nodes without an id there are dropped.
func (m *eventMemory) rename(to func(ID) (ID, bool)) {
	for _, nodes := range []*[]ID{&m.Newest, &m.Targets, &m.Sources} {
		all := *nodes
		*nodes = nil
		for _, u := range all {
			if v, ok := to(u); ok {
				*nodes = append(*nodes, v)
			}
		}
	}
	m.index()
	pairs := m.Pairs
	m.Pairs = nil
	for _, p := range pairs {
		source, ok := to(p[0])
		if target, also := to(p[1]); ok && also {
			m.Pairs = append(m.Pairs, [2]ID{source, target})
		}
	}
}

// nodes returns all nodes in the memory, possibly with duplicates.
func (m *eventMemory) nodes() (all []ID) {
	all = append(append(all, m.Sources...), m.Targets...) // they include the newest
	for _, p := range m.Pairs {
		all = append(all, p[:]...)
	}
	return all
}

// bytes is the memory that the forecast takes.
func (f *forecast) bytes() int {
	if f == nil {
		return 0
	}
	return 6*4*len(f.Trainee.now.theta) + 20*len(f.Memory.roles) + 8*len(f.Memory.Pairs)
}

// Forecasts reports whether the model learns from Follow.
func (m *Model) Forecasts() bool { return m.config.timeLen() > 0 }

// eventMemory holds the nodes and pairs of past events, from which lists are drawn.
type eventMemory struct {
	Newest  []ID        // targets of the newest events
	Targets []ID        // distinct targets of all events
	Sources []ID        // distinct sources of all events
	roles   map[ID]role // roles of all targets and sources
	Pairs   [][2]ID     // uniform sample of the distinct pairs of events
	Seen    int         // number of pairs that the sample was drawn from
}

// role is a set of the roles that a node had in events.
type role uint8

const (
	asTarget role = 1 << iota
	asSource
)

// samplePairs is the size of the sample of pairs.
const samplePairs = 4096

// add records events. g is the graph before them.
func (m *eventMemory) add(rng *rand.Rand, g Graph, events []Pair) {
	for _, e := range events {
		m.Newest = append(m.Newest, e.Target)
		m.Targets = m.enter(m.Targets, e.Target, asTarget)
		m.Sources = m.enter(m.Sources, e.Source, asSource)
		if !linked(g, e.Source, e.Target) {
			m.addPair(rng, [2]ID{e.Source, e.Target})
		}
	}
	m.Newest = slices.Clone(m.Newest[max(0, len(m.Newest)-listNewest):])
}

// enter appends a node to the list of its role, if it is new there.
func (m *eventMemory) enter(list []ID, u ID, r role) []ID {
	if m.roles[u]&r != 0 {
		return list
	}
	m.roles[u] |= r
	return append(list, u)
}

// untried returns the number of nodes that were never a target and may become one, and a function
// that reports whether a node is one of them. Without edge directions, nodes that were only sources
// are taken for nodes of a different kind, which do not become targets.
func (m *eventMemory) untried(g Graph) (n int, is func(ID) bool) {
	if g.Directed() {
		return g.NumNodes() - len(m.Targets), func(u ID) bool { return m.roles[u]&asTarget == 0 }
	}
	return g.NumNodes() - len(m.roles), func(u ID) bool { return m.roles[u] == 0 }
}

// addPair keeps the sample of pairs uniform (Vitter's algorithm R, ACM TOMS 11, 1985).
func (m *eventMemory) addPair(rng *rand.Rand, p [2]ID) {
	m.Seen++
	if len(m.Pairs) < samplePairs {
		m.Pairs = append(m.Pairs, p)
		return
	}
	if i := rng.IntN(m.Seen); i < samplePairs {
		m.Pairs[i] = p
	}
}
