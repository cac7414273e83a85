package model

import (
	"fmt"
	"iter"
	"slices"
)

// walkOptions are the options that matter only when scores are spread: one answer may depart from the model's.
func walkOptions() []string { return []string{"alpha", "norm", "seed_weight", "center"} }

// With returns a scorer that departs from s in one option of its walk: alpha, norm, seed_weight or center. Another name,
// a value that the option does not accept, and a policy without a walk are ErrOption.
func (s *Scorer) With(name string, value any) (*Scorer, error) {
	if !s.Walks() {
		return nil, fmt.Errorf("%w: %s = %v: policy %s has no walk", ErrOption, name, value, s.policy.name)
	}
	for _, o := range options() {
		if o.name != name || !slices.Contains(walkOptions(), name) {
			continue
		}
		c, other := *s.config, *s
		if err := o.set(&c, value); err != nil {
			return nil, err
		}
		other.config = &c
		return &other, nil
	}
	return nil, fmt.Errorf("%w: unknown option %q (accepted: %s)", ErrOption, name, list(walkOptions()))
}

// Options yields every option with its value, preset and seed first.
func (s *Scorer) Options() iter.Seq2[string, any] { return s.config.all() }

// Walks reports whether the scores are spread over the graph.
func (s *Scorer) Walks() bool { return s.policy.propagates }
