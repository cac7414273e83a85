package model

import (
	"iter"
	"slices"
)

// WalkOptions returns the names that Scorer.With accepts.
func WalkOptions() []string {
	return []string{"alpha", "norm", "seed_weight", "center", "beta", "length"}
}

// CheckWalk returns ErrOption for an option of Scorer.With whose name or value is invalid for every policy.
func CheckWalk(name string, value any) error {
	var scratch config
	return scratch.setWalk(name, value)
}

// setWalk sets an option of the walk.
func (c *config) setWalk(name string, value any) error {
	for _, o := range options() {
		if o.name == name && slices.Contains(WalkOptions(), name) {
			return o.set(c, value)
		}
	}
	return &NameError{"option", name, WalkOptions()}
}

// With returns a scorer that differs from s in one option of its walk: alpha, norm, seed_weight or center for policies
// that spread scores, beta or length for katz. It returns ErrOption for another name, for a value that the option does
// not accept, and for a policy that does not use the option.
func (s *Scorer) With(name string, value any) (*Scorer, error) {
	c, other := *s.config, *s
	if err := c.setWalk(name, value); err != nil {
		return nil, err
	}
	if !s.policy.reads(name) {
		return nil, optionf("%s = %v: policy %s has no use for it", name, value, s.policy.name)
	}
	other.config = &c
	return &other, nil
}

// Options yields every option with its value. Preset and seed come first.
func (s *Scorer) Options() iter.Seq2[string, any] { return s.config.all() }

// Walks reports whether a walk spreads the scores over the graph.
func (s *Scorer) Walks() bool { return s.policy.propagates && s.config.Alpha > 0 }
