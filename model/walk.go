package model

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// combine computes the scores from the estimates.
func (s *Scorer) combine(ctx context.Context, t *scratch, w World, sources Start, targets []ID, scores []Score) error {
	if s.Walk().Alpha > 0 {
		return s.propagate(ctx, t, w, sources, targets, scores)
	}
	for i := range scores {
		scores[i].Score = scores[i].Exploit + scores[i].Explore
	}
	return nil
}

// propagate runs a walk whose start values are the estimates, plus the seed weight at each source,
// times the source's weight.
func (s *Scorer) propagate(ctx context.Context, t *scratch, w World, sources Start, targets []ID, scores []Score) error {
	walk := s.Walk()
	mean := s.startValues(t, sources, targets, scores)
	v, bound, err := w.Walk.Propagate(ctx, walk, t.start, targets)
	if err != nil {
		return err
	}
	if len(v) != len(targets) || len(bound) != len(targets) {
		return fmt.Errorf("%w: %d values and %d bounds of %d candidates", ErrInput, len(v), len(bound), len(targets))
	}
	estimated := func(s Score) bool { return s.Bound > 0 }
	if slices.ContainsFunc(scores, estimated) { // the effect of such errors on the walk has no known bound
		bound = slices.Repeat([]float64{math.Inf(1)}, len(scores))
	}
	for i := range scores {
		own := (1 - walk.Alpha) * (scores[i].Exploit + scores[i].Explore)
		scores[i].Score, scores[i].Bound = mean+v[i], bound[i]
		scores[i].PPR = scores[i].Score - own
	}
	return nil
}

// startValues stores h on the tape: the estimates at the candidates, plus the seed weight at each
// source, times its weight. Of equal targets the first one counts. If estimates are centred,
// startValues subtracts their mean and returns it; the caller adds it to every score.
func (s *Scorer) startValues(t *scratch, sources Start, targets []ID, scores []Score) (mean float64) {
	t.order = t.order[:0]
	for i, u := range targets {
		t.order = append(t.order, uint64(u)<<32|uint64(i))
	}
	slices.Sort(t.order)
	h := &t.start
	h.Node, h.Value = h.Node[:0], h.Value[:0]
	for _, o := range t.order {
		u, i := ID(o>>32), ID(o)
		if n := len(h.Node); n == 0 || h.Node[n-1] != u {
			h.Node = append(h.Node, u)
			h.Value = append(h.Value, scores[i].Exploit+scores[i].Explore)
		}
	}
	if s.config.Center {
		mean = center(h.Value)
	}
	for i, u := range sources.Node {
		at, found := slices.BinarySearch(h.Node, u)
		if !found {
			h.Node, h.Value = slices.Insert(h.Node, at, u), slices.Insert(h.Value, at, 0)
		}
		h.Value[at] += sources.Value[i] * s.config.SeedWeight
	}
	return mean
}

// center subtracts the mean of v and returns it.
func center(v []float64) (mean float64) {
	for _, x := range v {
		mean += x
	}
	mean /= float64(len(v))
	floats.AddConst(-mean, v)
	return mean
}

// walkOptions returns the names that Scorer.With accepts.
func walkOptions() []string {
	return []string{"alpha", "norm", "seed_weight", "center", "beta", "length"}
}

// CheckWalk returns ErrOption for an option of Scorer.With whose name or value is invalid for every
// policy.
func CheckWalk(name string, value any) error {
	o, err := findOption(name, walkOptions())
	if err != nil {
		return err
	}
	return o.set(new(config), value)
}

// With returns a scorer that differs from s in one option of its walk: alpha, norm, seed_weight or
// center for policies that spread scores, beta or length for katz. It returns ErrOption for another
// name, for a value that the option does not accept, and for a policy that does not use the option.
func (s *Scorer) With(name string, value any) (*Scorer, error) {
	o, err := findOption(name, walkOptions())
	if err != nil {
		return nil, err
	}
	c, other := *s.config, *s
	if err := o.set(&c, value); err != nil {
		return nil, err
	}
	if !o.readBy(s.policy) {
		return nil, optionf("%s = %v: policy %s has no use for it", name, value, s.policy.name)
	}
	other.config = &c
	return &other, nil
}

// Walk returns the parameters of the walk that spreads the scores over the graph. Alpha is 0
// without a walk.
func (s *Scorer) Walk() Walk {
	if !s.policy.propagates {
		return Walk{}
	}
	return s.config.Walk
}
