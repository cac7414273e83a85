package main

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"kith/model"
)

// temporalProtocol determines which candidates an event is ranked among.
type temporalProtocol struct {
	name      string
	precision bool // average precision against one negative for each event; otherwise the mean reciprocal rank
	sampled   bool // questions are a sample of the events
	negatives func(d *negativeSampler, e event) []model.Pair
}

func temporalProtocols() []temporalProtocol {
	return []temporalProtocol{
		{"all", false, false, (*negativeSampler).all},
		{"random", false, true, func(d *negativeSampler, e event) []model.Pair { return d.otherTargets(e, 0) }},
		{"historical", false, true, func(d *negativeSampler, e event) []model.Pair { return d.otherTargets(e, 50) }},
		{"ap-random", true, false, func(d *negativeSampler, e event) []model.Pair { return []model.Pair{d.random(e.Source)} }},
		{"ap-historical", true, false, func(d *negativeSampler, e event) []model.Pair { return []model.Pair{d.edge(e, 0)} }},
		{"ap-inductive", true, false, func(d *negativeSampler, e event) []model.Pair { return []model.Pair{d.edge(e, d.trained)} }},
	}
}

func (p temporalProtocol) title() string { return p.name }

// The novelty of an event.
const (
	seenPair  = iota // the pair had an event before
	newPair          // the source had one, the pair did not
	newSource        // the source had no events
	kinds
)

// temporalScore is the result of a match.
type temporalScore struct {
	Value  float64        // mean reciprocal rank, or the mean of the batches' average precision
	ByKind [kinds]float64 // mean reciprocal rank by novelty; 0 for precision
	Events [kinds]int
	Rounds float64 // questions per second, including learning
}

// play shows all events of the stream to the forecaster, in order. Before it shows events of the
// part, it asks about them.
func (s temporalSettings) play(ctx context.Context, of *stream, f forecaster, progress func(done int)) (temporalScore, error) {
	protocol, _ := rowOf(temporalProtocols(), s.Protocol) // check has found it
	from, to := of.span(s.Part)
	if protocol.sampled {
		from = to - (to-of.until(0))*15/100
	}
	j := scorer{protocol: protocol}
	d := newNegativeSampler(of, of.until(0.70), s.Seed)
	asked := s.questions(protocol, from, to)
	var began time.Time
	for i := 0; i < to; {
		end := of.moment(i)
		if l, learns := f.(*learner); i >= from && began.IsZero() {
			if learns {
				if err := l.begin(ctx); err != nil {
					return j.score, err
				}
			}
			began = time.Now()
		}
		for k := i; k < end; k++ {
			if !asked(k) {
				continue
			}
			if err := j.ask(ctx, f, d, of.events[k], of.events[i:end]); err != nil {
				return j.score, err
			}
		}
		if err := f.see(ctx, of.events[i:end]); err != nil {
			return j.score, err
		}
		d.see(of.events[i:end])
		i = end
		progress(i)
		if ctx.Err() != nil {
			return j.score, ctx.Err()
		}
	}
	return j.verdict(time.Since(began)), nil
}

// questions returns a function that reports whether an event, by its number, is a question.
func (s temporalSettings) questions(protocol temporalProtocol, from, to int) func(i int) bool {
	if !protocol.sampled || s.Sample >= to-from {
		return func(i int) bool { return from <= i && i < to }
	}
	is := make(map[int]bool, s.Sample)
	for _, i := range rand.New(rand.NewPCG(s.Seed, 1)).Perm(to - from)[:s.Sample] {
		is[from+i] = true
	}
	return func(i int) bool { return is[i] }
}

// scorer scores the answers of a match.
type scorer struct {
	protocol temporalProtocol
	score    temporalScore
	batch    []judged // answers of the current batch, for average precision
	batches  int

	targets []model.ID
	values  []float64
}

type judged struct {
	value float64
	link  bool
}

// ask asks about an event of a moment. Other links of the same source and moment are not
// candidates.
func (j *scorer) ask(ctx context.Context, f forecaster, d *negativeSampler, e event, moment []event) error {
	if d.asked%batchLen == 0 {
		d.startBatch()
	}
	d.asked++
	d.moment = moment
	negatives := j.protocol.negatives(d, e)
	if j.protocol.precision {
		return j.precision(ctx, f, e, negatives[0])
	}
	j.targets = append(j.targets[:0], e.Target)
	for _, n := range negatives {
		j.targets = append(j.targets, n.Target)
	}
	j.values = slices.Grow(j.values[:0], len(j.targets))[:len(j.targets)]
	if err := f.score(ctx, e.Source, e.time, j.targets, j.values); err != nil {
		return err
	}
	rank := 1.0
	for _, v := range j.values[1:] {
		switch {
		case v > j.values[0]:
			rank++
		case v == j.values[0]:
			rank += 0.5
		}
	}
	kind := d.kind(e.Pair)
	j.score.ByKind[kind] += 1 / rank
	j.score.Events[kind]++
	return nil
}

// precision asks about an event and a pair that did not happen, which may have another source.
func (j *scorer) precision(ctx context.Context, f forecaster, e event, negative model.Pair) error {
	value := make([]float64, 2)
	if err := f.score(ctx, e.Source, e.time, []model.ID{e.Target}, value[:1]); err != nil {
		return err
	}
	if err := f.score(ctx, negative.Source, e.time, []model.ID{negative.Target}, value[1:]); err != nil {
		return err
	}
	j.batch = append(j.batch, judged{value[0], true}, judged{value[1], false})
	if len(j.batch) == 2*batchLen {
		j.endBatch()
	}
	return nil
}

func (j *scorer) endBatch() {
	j.score.Value += averagePrecision(j.batch)
	j.score.Events[seenPair] += len(j.batch) / 2
	j.batches++
	j.batch = j.batch[:0]
}

// verdict returns the final score.
func (j *scorer) verdict(took time.Duration) temporalScore {
	if len(j.batch) > 0 {
		j.endBatch()
	}
	s := j.score
	n := 0
	for k := range kinds {
		n += s.Events[k]
		s.Value += s.ByKind[k]
		s.ByKind[k] /= float64(max(s.Events[k], 1))
	}
	if j.protocol.precision {
		s.Value /= float64(max(j.batches, 1))
	} else {
		s.Value /= float64(max(n, 1))
	}
	s.Rounds = float64(n) / took.Seconds()
	return s
}

// averagePrecision returns the sum of the precision at each value times the increase in recall, as
// scikit-learn does.
func averagePrecision(all []judged) float64 {
	slices.SortFunc(all, func(a, b judged) int { return cmp.Compare(b.value, a.value) })
	links, found, sum := 0, 0, 0.0
	for _, a := range all {
		if a.link {
			links++
		}
	}
	for i := 0; i < len(all); {
		before := found
		end := i
		for ; end < len(all) && all[end].value == all[i].value; end++ {
			if all[end].link {
				found++
			}
		}
		sum += float64(found-before) * float64(found) / float64(end)
		i = end
	}
	return sum / float64(max(links, 1))
}
