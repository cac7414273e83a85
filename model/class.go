package model

import (
	"slices"
)

// byClass sets up contexts of node classification (PRB, section 4, "PRB for node classification"). The candidates are
// the class nodes. The context of the i-th has one block per class: the serving node's features in the i-th block and
// zeros elsewhere. Without feature vectors, contexts are the same as for other policies.
func byClass(c *config) {
	if c.FeatureLen > 0 {
		c.Blocks = c.Blocks&blockStructural | blockClass
	}
}

// class fills the class block of a pair, whose target is a class node.
func (c *config) class(w World, p Pair, x []float32) error {
	i, _ := slices.BinarySearch(c.Classes, p.Target)
	clear(x)
	return c.vector(w, p.Source, x[i*c.FeatureLen:(i+1)*c.FeatureLen])
}

// classified reports an error if the model has classes and a pair's target is not one of them.
func (c *config) classified(pairs []Pair) error {
	if len(c.Classes) == 0 {
		return nil
	}
	for _, p := range pairs {
		if _, ok := slices.BinarySearch(c.Classes, p.Target); !ok {
			return &ClassError{p.Target}
		}
	}
	return nil
}

// Classes returns the class nodes of the model in ascending order, nil if there are none. The caller must not modify
// the slice.
func (s *Scorer) Classes() []ID { return s.config.Classes }

// checkClasses reports an error if the classes do not fit the policy.
func (c *config) checkClasses(p policy) error {
	switch {
	case p.classifies && len(c.Classes) < 2:
		return optionf("policy %s wants 2 classes or more, not %d (see option classes)", p.name, len(c.Classes))
	case len(c.Classes) == 1 || !p.learns && len(c.Classes) > 0:
		return optionf("policy %s has classes: %d (accepted: none, or 2 and more by policies that learn)", p.name, len(c.Classes))
	case c.ClassLabel != "" && len(c.Classes) == 0:
		return optionf("classes = %s without such nodes", c.ClassLabel)
	}
	for i, u := range c.Classes {
		if i > 0 && c.Classes[i-1] >= u {
			return optionf("class nodes %d and %d (accepted: ascending)", c.Classes[i-1], u)
		}
	}
	return nil
}
