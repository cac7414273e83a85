package main

import (
	"math/rand/v2"
	"slices"
	"sort"

	"kith/model"
)

// negativeSampler draws negatives: pairs without an event. It is a function of the stream and the
// seed.
type negativeSampler struct {
	stream   *stream
	rng      *rand.Rand
	trained  int                     // number of events whose pairs are not inductive negatives
	partners map[model.ID][]model.ID // partners of each source, each once, in order of appearance
	first    map[model.Pair]int      // index of the pair's first event
	order    []model.Pair            // pairs sorted by first
	shown    int                     // number of events shown
	asked    int                     // number of questions asked
	moment   []event                 // events of the moment of the question
	batch    map[model.Pair]bool     // pairs of the current batch of questions
	known    int                     // number of pairs in order when the batch began
}

func newNegativeSampler(s *stream, trained int, seed uint64) *negativeSampler {
	return &negativeSampler{
		stream: s, rng: rand.New(rand.NewPCG(seed, 2)), trained: trained,
		partners: make(map[model.ID][]model.ID), first: make(map[model.Pair]int),
	}
}

// see records the events of a moment.
func (d *negativeSampler) see(events []event) {
	for i, e := range events {
		if _, seen := d.first[e.Pair]; !seen {
			d.first[e.Pair] = d.shown + i
			d.order = append(d.order, e.Pair)
			d.partners[e.Source] = append(d.partners[e.Source], e.Target)
		}
	}
	d.shown += len(events)
}

// startBatch begins a batch of questions, which contains the next batchLen events.
func (d *negativeSampler) startBatch() {
	d.known = len(d.order)
	d.batch = make(map[model.Pair]bool)
	for _, e := range d.stream.events[d.shown:min(d.shown+batchLen, len(d.stream.events))] {
		d.batch[e.Pair] = true
	}
}

// kind returns the novelty of an event of the pair.
func (d *negativeSampler) kind(p model.Pair) int {
	if _, seen := d.first[p]; seen {
		return seenPair
	}
	if len(d.partners[p.Source]) > 0 {
		return newPair
	}
	return newSource
}

// happens reports whether the pair has an event at the moment of the question.
func (d *negativeSampler) happens(p model.Pair) bool {
	return slices.ContainsFunc(d.moment, func(e event) bool { return e.Pair == p })
}

// all returns the pairs of the source with all targets, except for pairs with an event at the
// moment.
func (d *negativeSampler) all(e event) (pairs []model.Pair) {
	for _, t := range d.stream.targets {
		if p := (model.Pair{Source: e.Source, Target: t}); !d.happens(p) {
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// otherTargets returns up to 99 different other targets for the source of an event: first up to
// partners earlier partners, then random targets. Some may have an event at the same moment.
func (d *negativeSampler) otherTargets(e event, partners int) (pairs []model.Pair) {
	used := map[model.ID]bool{e.Target: true}
	add := func(from []model.ID, most int) {
		for _, i := range d.rng.Perm(len(from)) {
			if len(pairs) == most {
				return
			}
			p := model.Pair{Source: e.Source, Target: from[i]}
			if !used[p.Target] {
				used[p.Target] = true
				pairs = append(pairs, p)
			}
		}
	}
	add(d.partners[e.Source], partners)
	add(d.stream.targets, 99)
	return pairs
}

// random returns a pair of the source with a random target.
func (d *negativeSampler) random(source model.ID) model.Pair {
	return model.Pair{Source: source, Target: d.stream.targets[d.rng.IntN(len(d.stream.targets))]}
}

// edge draws a pair whose first event has at least the given number and precedes the batch of
// questions, and that has no event in the batch. If there is no such pair, it draws a random target
// for the source of e. DyGLib draws historical negatives (from 0) and inductive ones (from the
// number of training events) like this.
func (d *negativeSampler) edge(e event, from int) model.Pair {
	lo := sort.Search(d.known, func(i int) bool { return d.first[d.order[i]] >= from })
	for range 1000 {
		if lo == d.known {
			break
		}
		if p := d.order[lo+d.rng.IntN(d.known-lo)]; !d.batch[p] {
			return p
		}
	}
	return d.random(e.Source)
}
