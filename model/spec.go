package model

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"kith/model/nn"
)

// Spec describes the model to create. The zero value is policy default with preset default, without
// features.
type Spec struct {
	Policy     string // one of Policies; empty: default
	Preset     string // one of Presets; empty: default
	FeatureLen int    // length of the nodes' feature vectors; 0 means none
	Seed       uint64 // seed of the initial weights and of the training order

	set []setting
}

// setting is an option with a value that departs from the preset.
type setting struct {
	option option
	value  any
}

// Set sets one option to a value that departs from the preset, as WITH (name = value) does. The
// value is a string, a bool, or a number of any Go type; on and off stand for true and false. Set
// returns ErrOption for an unknown name or a value that the option does not accept.
func (s *Spec) Set(name string, value any) error {
	switch name {
	case "preset":
		text, _ := value.(string)
		if _, err := preset(text, 0); err != nil {
			return err
		}
		s.Preset = text
		return nil
	case "seed":
		n, ok := natural(value)
		if !ok {
			return refuse(name, value, acceptedSeed)
		}
		s.Seed = n
		return nil
	}
	o, err := findOption(name, Options())
	if err != nil {
		return err
	}
	if err := o.set(new(config), value); err != nil {
		return err
	}
	s.set = append(s.set[:len(s.set):len(s.set)], setting{o, value})
	return nil
}

// acceptedSeed is what Set accepts for the option seed.
const acceptedSeed = "a non-negative integer"

// OptionInfo describes an option that Spec.Set accepts.
type OptionInfo struct {
	Name    string
	Accepts string // the accepted values; if they are words, all of them: "off or on"
}

// DescribeOptions returns the options that Spec.Set accepts.
func DescribeOptions() []OptionInfo {
	presets := Presets()
	last := len(presets) - 1
	all := []OptionInfo{
		{"preset", strings.Join(presets[:last], ", ") + " or " + presets[last]}, {"seed", acceptedSeed},
	}
	for _, o := range options() {
		all = append(all, OptionInfo{o.name, o.accepts})
	}
	return all
}

// Options returns the names of the options that Spec.Set accepts.
func Options() (names []string) {
	for _, o := range DescribeOptions() {
		names = append(names, o.Name)
	}
	return names
}

// Validate returns the error that New would return.
func (s Spec) Validate() error {
	_, err := s.resolve()
	return err
}

// Unused returns the options that were set but that the policy does not use. New ignores them.
func (s Spec) Unused() (names []string) {
	p, err := policyOf(cmp.Or(s.Policy, "default"))
	if err != nil {
		return nil
	}
	if s.Preset != "" && !p.learns {
		names = append(names, "preset")
	}
	for _, o := range s.set {
		if name := o.option.name; !o.option.readBy(p) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func (s Spec) resolve() (config, error) {
	p, err := policyOf(cmp.Or(s.Policy, "default"))
	if err != nil {
		return config{}, err
	}
	if s.FeatureLen < 0 || s.FeatureLen > maxFeatures {
		return config{}, optionf("feature vectors of length %d (accepted: 0 to %d)", s.FeatureLen, maxFeatures)
	}
	c, err := preset(cmp.Or(s.Preset, "default"), s.FeatureLen)
	if err != nil {
		return config{}, err
	}
	c.Policy, c.Seed = p.name, s.Seed
	if p.adjust != nil {
		p.adjust(&c)
	}
	for _, o := range s.set {
		if err := o.option.set(&c, o.value); err != nil {
			return config{}, err
		}
	}
	return c, c.complete(p)
}

// complete derives settings from the options and reports incompatible options.
func (c *config) complete(p policy) error {
	if c.Blocks&blockStructural == 0 || c.Unit {
		c.Prior = false // the prior reads unscaled structural columns
	}
	if !c.EarlyStop {
		c.Exploit.Stop, c.Explore.Stop = 0, 0
	}
	c.Explore.Fresh = c.Explore.Fresh && !c.EachRound // a single step has no use for moments that start from zero
	switch n := c.width(); {
	case n == 0:
		return optionf("blocks = %v is empty without feature vectors (add structural)", c.Blocks)
	case n > maxContext:
		return optionf("contexts of %d numbers (accepted: up to %d)", n, maxContext)
	case p.believes && c.beliefLen() > maxBelief:
		return optionf("policy %s has %d inputs (accepted: up to %d; leave blocks out)", p.name, c.beliefLen(), maxBelief)
	}
	return nil
}

func (c *config) hidden() []int { return slices.Repeat([]int{c.Width}, c.Layers-1) }

func (c *config) exploitShape() nn.Shape {
	return nn.Shape{In: c.width(), Hidden: c.hidden(), Bias: c.Uniform}
}

func (c *config) exploreShape() nn.Shape {
	return nn.Shape{In: nn.PhiLen(c.exploitShape(), c.Pool), Hidden: c.hidden(), Bias: c.Uniform}
}

// all yields the resolved options for display.
func (c *config) all() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		if !yield("preset", c.Preset) || !yield("seed", c.Seed) {
			return
		}
		for _, o := range options() {
			if !yield(o.name, o.get(c)) {
				return
			}
		}
	}
}

func list(names []string) string { return strings.Join(names, ", ") }
