package model

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/nn"
)

// eventList is the training example of an event: its pair, together with alternatives that did not
// occur.
type eventList struct {
	x          blas32.General // time columns, one row per pair; row 0 is the event
	sourceRows int            // number of leading rows with the source of the event
	log        []float64      // logarithm of the number of pairs that each row represents
}

// Number of alternatives in the list of an event.
const (
	listPartners = 12 // nodes of the newest edges out of the source
	listSources  = 6  // nodes of the newest edges into the source, if edges have a direction
	listNewest   = 8  // targets of the newest events
	listTargets  = 16 // random targets of earlier events
	listUntried  = 8  // nodes that were never a target and may become one
	listOthers   = 8  // pairs of other sources
)

// othersCount is the weight of a pair with a different source. A higher weight improves the
// comparison of sources and worsens the comparison of targets.
const othersCount = 0.25

// listBatch is the number of events per step.
const listBatch = 8

// draw draws the list of event e. Other events of the same moment are not used as alternatives.
func (f *forecast) draw(rng *rand.Rand, w World, e Pair, moment map[Pair]bool) eventList {
	g, m := w.Graph.(Timed), &f.Memory
	d := listDraw{nodes: ID(g.NumNodes()), used: map[Pair]bool{}, moment: moment, pairs: []Pair{e}, log: []float64{0}}
	d.newest(outRow(g, e.Source), w.Now, e.Source, listPartners)
	if g.Directed() {
		d.newest(inRow(g, e.Source), w.Now, e.Source, listSources)
	}
	for _, t := range m.Newest {
		d.add(Pair{Source: e.Source, Target: t}, 0)
	}
	d.any(e.Source, len(m.Targets)-len(d.pairs), listTargets, func() (ID, bool) { return m.Targets[rng.IntN(len(m.Targets))], true })
	untried, is := m.untried(g)
	d.any(e.Source, untried, listUntried, func() (ID, bool) {
		u := ID(rng.IntN(g.NumNodes()))
		return u, is(u)
	})
	l := eventList{sourceRows: len(d.pairs)}
	for i := range min(listOthers, listOthers*len(m.Pairs)) { // alternately a past source with a random target, and a past pair
		p := m.Pairs[rng.IntN(len(m.Pairs))]
		if i%2 == 0 {
			p[1] = m.Targets[rng.IntN(len(m.Targets))]
		}
		d.add(Pair{Source: p[0], Target: p[1]}, math.Log(othersCount))
	}
	l.log, l.x = d.log, nn.Resize(l.x, len(d.pairs), timeLen)
	f.scratch.history.columns(w, d.pairs, l.x, 0)
	return l
}

// listDraw collects distinct pairs.
type listDraw struct {
	nodes ID // number of nodes of the graph; the memory may come from a larger one
	pairs []Pair
	log   []float64 // logarithm of the number of pairs that each represents
	used  map[Pair]bool

	moment map[Pair]bool // pairs that are not used as alternatives
}

// add adds a pair unless it is already there, is not used as an alternative, or has a node that the
// graph lacks.
func (d *listDraw) add(p Pair, log float64) {
	if !d.used[p] && !d.moment[p] && p.Source < d.nodes && p.Target < d.nodes {
		d.used[p] = true
		d.pairs, d.log = append(d.pairs, p), append(d.log, log)
	}
}

// any adds up to most pairs of a source with targets of a pool of the given size, which they
// represent together.
func (d *listDraw) any(source ID, pool, most int, draw func() (ID, bool)) {
	before := len(d.pairs)
	for tries := 0; tries < 2*most && pool > 0 && len(d.pairs)-before < most; tries++ {
		if u, is := draw(); is {
			d.add(Pair{Source: source, Target: u}, 0)
		}
	}
	drawn := d.log[before:]
	for i := range drawn {
		drawn[i] = math.Log(max(float64(pool)/float64(len(drawn)), 1))
	}
}

// newest adds up to most pairs of a source with the nodes of the newest entries of its row.
func (d *listDraw) newest(r timedRow, now int64, source ID, most int) {
	at := newest(nil, r, now)
	for _, i := range at[:min(len(at), most)] {
		d.add(Pair{Source: source, Target: r.to[i]}, 0)
	}
}

// learn learns a list. After each listBatch lists it makes a step at the given rate.
func (f *forecast) learn(l eventList, rate float64) {
	f.scratch.times = nn.Resize(f.scratch.times, l.x.Rows, timeLen)
	copy(f.scratch.times.Data, l.x.Data)
	f.Columns.normalize(f.scratch.times)
	f.scratch.scores = slices.Grow(f.scratch.scores[:0], l.x.Rows)[:l.x.Rows]
	f.Trainee.now.scores(&f.scratch.net, f.scratch.times, f.scratch.scores)
	f.choose(l)
	f.Trainee.now.addGradient(&f.scratch.net, f.dout, f.Trainee.Opt.Grad)
	f.moveShift(l)
	if f.Waiting++; f.Waiting == listBatch {
		f.Trainee.step(rate)
		f.Waiting, f.snapshot = 0, nil
	}
}

// choose stores the derivatives of the loss of a conditional logit, divided by the batch length.
// The row of the event is the chosen one. A row that represents n pairs counts n times.
func (f *forecast) choose(l eventList) {
	f.dout = f.dout[:0]
	sum := f.logSum(l, l.x.Rows)
	for i, s := range f.scratch.scores {
		f.dout = append(f.dout, float32(math.Exp(s+l.log[i]-sum)/listBatch))
	}
	f.dout[0] -= 1. / listBatch
}

// logSum returns the logarithm of the sum of exp(score + log) over the first rows.
func (f *forecast) logSum(l eventList, rows int) float64 {
	top, sum := f.scratch.scores[0], 0.0
	for i, s := range f.scratch.scores[:rows] {
		top = max(top, s+l.log[i])
	}
	for i, s := range f.scratch.scores[:rows] {
		sum += math.Exp(s + l.log[i] - top)
	}
	return top + math.Log(sum)
}

// moveShift moves the shift so that the probabilities of the targets of a source sum to 1 on
// average.
func (f *forecast) moveShift(l eventList) {
	f.Trainee.mean.scores(&f.scratch.net, f.scratch.times, f.scratch.scores)
	f.Shift -= f.Trainee.newest() / listBatch * (f.logSum(l, l.sourceRows) + f.Shift)
}

// follow learns events that occur in world w. It returns their lists.
func (f *forecast) follow(ctx context.Context, rng *rand.Rand, w World, events []Pair) (lists []eventList, err error) {
	moment := make(map[Pair]bool, len(events))
	for _, e := range events {
		moment[e] = true
	}
	for _, e := range events {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l := f.draw(rng, w, e, moment)
		f.learnNew(l)
		lists = append(lists, l)
	}
	f.Memory.add(rng, w.Graph, events)
	return lists, nil
}

// learnNew learns a list for the first time.
func (f *forecast) learnNew(l eventList) {
	f.Columns.add(l.x)
	f.learn(l, forecastRate)
	f.Events++
}

// again learns lists the given number of times more, in random order, at a rate that decreases to
// 0.
func (f *forecast) again(ctx context.Context, rng *rand.Rand, lists []eventList, passes int, to *Meter) error {
	for i := range passes * len(lists) {
		if err := ctx.Err(); err != nil {
			return err
		}
		k := i % len(lists)
		if k == 0 {
			rng.Shuffle(len(lists), func(i, j int) { lists[i], lists[j] = lists[j], lists[i] })
		}
		done := max(float64(i)/float64(passes*len(lists)), to.Spent())
		if done >= 1 {
			break
		}
		f.learn(lists[k], forecastRate*(1-done))
		to.Step(1)
	}
	return nil
}

// Moment holds the links that occur at one time, World.Now. World is the state before them.
type Moment struct {
	World World
	Links []Pair
}

// Follow learns the links of a moment by comparison with links that could have occurred instead:
// other targets of the same source and other sources. The graph must be Timed. Follow returns an
// error for a model that reads no times.
func (m *Model) Follow(ctx context.Context, now Moment) error {
	if err := m.follows(now); err != nil {
		return err
	}
	if m.forecast == nil {
		m.forecast = newForecast(&m.config)
	}
	m.scorer, m.trained = nil, true
	_, err := m.forecast.follow(ctx, rand.New(m.source), now.World, now.Links)
	return err
}

// follows reports an error if the model cannot learn the moment.
func (m *Model) follows(now Moment) error {
	if !m.Forecasts() {
		return fmt.Errorf("%w from times: %s", errNotLearning, m.policy.name)
	}
	if _, timed := now.World.Graph.(Timed); !timed || now.World.Now == 0 {
		return fmt.Errorf("%w: a moment without a time", ErrInput)
	}
	return checkPairs(now.World, now.Links)
}

// TrainEvents learns the newest keptEvents events keptPasses times more.
const (
	keptEvents = 4096
	keptPasses = 3
)

// TrainEvents replaces what the model learned by Follow. It learns the newest moments of a graph
// from scratch, in order of time, and then how much weight the forecast has next to the ranker, by
// the answers to questions about hidden links. TrainEvents follows TrainEdges of the same graph.
// The worlds of moments and of without must have a walker. The model is unchanged until everything
// is learned. Without moments the resulting model has no forecast.
func (m *Model) TrainEvents(
	ctx context.Context, g Graph, plan EdgePlan, without Without, moments iter.Seq2[Moment, error],
) error {
	if !m.Forecasts() {
		return fmt.Errorf("%w from times: %s", errNotLearning, m.policy.name)
	}
	a, err := m.newGateAsker(g, moments)
	if err != nil {
		return err
	}
	f, err := m.learnMoments(ctx, a.rng, moments, plan.Progress, a.hear)
	if err != nil {
		return err
	}
	if err := a.learnGate(ctx, f, plan, without); err != nil {
		return err
	}
	m.scorer, m.forecast = nil, nil
	if f.Events > 0 {
		m.forecast, m.trained = f, true
	}
	return nil
}

// learnMoments returns a forecast that has learned the moments. It passes the lists of the events
// of each moment to hear.
func (m *Model) learnMoments(
	ctx context.Context, rng *rand.Rand, moments iter.Seq2[Moment, error], to *Meter, hear func(Moment, []eventList),
) (*forecast, error) {
	to.Begin(phaseReplaying)
	f := newForecast(&m.config)
	f.scratch.history.keepRows()
	var kept []eventList
	for now, err := range moments {
		if err == nil {
			err = m.follows(now)
		}
		if err == nil && !to.Fits() { // the newest moments count most
			hear(now, nil)
			to.Step(len(now.Links))
			continue
		}
		var lists []eventList
		if err == nil {
			lists, err = f.follow(ctx, rng, now.World, now.Links)
		}
		if err != nil {
			return nil, err
		}
		hear(now, lists)
		kept = newestLists(append(kept, lists...))
		to.Step(len(now.Links))
	}
	f.scratch.history = history{}
	to.Finish(phaseReplaying)
	to.Begin(phaseTimes)
	if err := f.again(ctx, rng, kept, keptPasses, to); err != nil {
		return nil, err
	}
	to.Finish(phaseTimes)
	return f, nil
}

// newestLists returns the lists that are learned more than once.
func newestLists(lists []eventList) []eventList { return lists[max(0, len(lists)-keptEvents):] }
