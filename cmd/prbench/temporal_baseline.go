package main

import (
	"context"

	"kith/model"
)

// forecaster scores the candidate links of a source at a time. It sees the events of each moment
// after the questions about them.
type forecaster interface {
	score(ctx context.Context, source model.ID, time int64, targets []model.ID, scores []float64) error
	see(ctx context.Context, events []event) error
}

// baseline is a policy of this experiment that does not learn.
type baseline struct {
	name string
	make func(s *stream) forecaster
}

func baselines() []baseline {
	rank := func(value func(r *recency, p model.Pair) float64) func(*stream) forecaster {
		return func(s *stream) forecaster { return newRecency(s, value) }
	}
	return []baseline{
		{"edgebank", func(*stream) forecaster { return &edgeBank{seen: make(map[model.Pair]bool)} }},
		{"pair_recency", rank(func(r *recency, p model.Pair) float64 { return r.pair[p] })},
		{"pair_node_recency", rank(func(r *recency, p model.Pair) float64 { return r.first(r.pair[p], r.target[p.Target]) })},
		{"node_recency", rank(func(r *recency, p model.Pair) float64 { return r.target[p.Target] })},
		{"pair_or_reverse_recency", rank(func(r *recency, p model.Pair) float64 {
			both := max(r.pair[p], r.pair[model.Pair{Source: p.Target, Target: p.Source}])
			return r.first(both, r.target[p.Target])
		})},
	}
}

func (b baseline) title() string { return b.name }

// edgeBank scores a pair 1 if it was seen before (Poursafaei et al., NeurIPS 2022). It is updated
// by batches, as in the benchmarks: a pair counts if it came before the current batch of questions.
type edgeBank struct {
	seen    map[model.Pair]bool
	waiting []event
	asked   int
}

// batchLen is the number of questions in a batch of the benchmarks.
const batchLen = 200

func (b *edgeBank) score(_ context.Context, source model.ID, _ int64, targets []model.ID, scores []float64) error {
	if b.asked%batchLen == 0 {
		for _, e := range b.waiting {
			b.seen[e.Pair] = true
		}
		b.waiting = b.waiting[:0]
	}
	b.asked++
	for i, t := range targets {
		scores[i] = 0
		if b.seen[model.Pair{Source: source, Target: t}] {
			scores[i] = 1
		}
	}
	return nil
}

func (b *edgeBank) see(_ context.Context, events []event) error {
	b.waiting = append(b.waiting, events...)
	return nil
}

// recency ranks by the times of last events; 0 is the time of a pair or node without events.
type recency struct {
	pair   map[model.Pair]float64
	target []float64 // time of the last event that led to the node
	end    float64   // later than all events
	value  func(r *recency, p model.Pair) float64
}

func newRecency(s *stream, value func(r *recency, p model.Pair) float64) *recency {
	end := float64(s.events[len(s.events)-1].time) + 1
	return &recency{pair: make(map[model.Pair]float64), target: make([]float64, s.nodes), end: end, value: value}
}

// first ranks by a, and below all others by b where a is 0.
func (r *recency) first(a, b float64) float64 {
	if a > 0 {
		return r.end + a
	}
	return b
}

func (r *recency) score(_ context.Context, source model.ID, _ int64, targets []model.ID, scores []float64) error {
	for i, t := range targets {
		scores[i] = r.value(r, model.Pair{Source: source, Target: t})
	}
	return nil
}

func (r *recency) see(_ context.Context, events []event) error {
	for _, e := range events {
		r.pair[e.Pair], r.target[e.Target] = float64(e.time), float64(e.time)
	}
	return nil
}
