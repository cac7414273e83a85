package model

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"reflect"
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
	Words      bool   `msgpack:",omitempty"` // nodes have words, World.Words; policy default learns from them
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
	o, err := findOption(name, optionNames())
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

// optionNames returns the names of the options that Spec.Set accepts.
func optionNames() (names []string) {
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
	c.Policy, c.Words, c.Seed = p.name, s.Words, s.Seed
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
	if c.Blocks&blockStructural == 0 || c.Normalize == normalizeContext {
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

// Limits of the configuration.
const (
	maxFeatures = 1 << 16
	maxContext  = 1 << 18
	maxWidth    = 1 << 12
	maxLayers   = 8
	maxWalk     = 20    // edges of a walk; counts of longer walks could overflow in some graphs
	maxAlpha    = 0.999 // the time of a solve is proportional to 1/(1-α)
)

// option is one named setting of a configuration.
type option struct {
	name    string
	accepts string            // the accepted values; if they are words, all of them: "off or on"
	readBy  func(policy) bool // whether a policy uses the option
	get     func(*config) any
	set     func(*config, any) error
}

// options lists every option except preset and seed, in the order of DESCRIBE MODEL.
func options() []option {
	learns := func(p policy) bool { return p.learns }
	networks := func(p policy) bool { return p.learns && !p.believes }
	believes := func(p policy) bool { return p.believes }
	explores := func(p policy) bool { return p.explores }
	walks := func(p policy) bool { return p.propagates }
	only := func(name string) func(policy) bool { return func(p policy) bool { return p.name == name } }
	return []option{
		blocksOption(learns),
		normalizeOption(learns),
		switchOption("prior", learns, func(c *config) *bool { return &c.Prior }, "off", "on"),
		numberOption("layers", networks, 2, maxLayers, func(c *config) *int { return &c.Layers }),
		numberOption("width", networks, 1, maxWidth, func(c *config) *int { return &c.Width }),
		numberOption("pool", explores, 1, 1<<20, func(c *config) *int { return &c.Pool }),
		numberOption("exploit_rate", networks, 0, 1e6, func(c *config) *float64 { return &c.Exploit.Rate }),
		numberOption("explore_rate", explores, 0, 1e6, func(c *config) *float64 { return &c.Explore.Rate }),
		numberOption("batch", networks, 1, 1<<16,
			func(c *config) *int { return &c.Exploit.Batch }, func(c *config) *int { return &c.Explore.Batch }),
		numberOption("steps", networks, 0, 1<<24,
			func(c *config) *int { return &c.Exploit.Steps }, func(c *config) *int { return &c.Explore.Steps }),
		switchOption("step", networks, func(c *config) *bool { return &c.EachRound }, "schedule", "round"),
		switchOption("early_stop", networks, func(c *config) *bool { return &c.EarlyStop }, "off", "on"),
		switchOption("moments", explores, func(c *config) *bool { return &c.Explore.Fresh }, "kept", "reset"),
		numberOption("replay", learns, 0, math.MaxInt32, func(c *config) *int { return &c.Replay }),
		numberOption("explore_weight", explores, 0, 1e6, func(c *config) *float64 { return &c.Weight }),
		numberOption("nu", believes, 0, 1e6, func(c *config) *float64 { return &c.Nu }),
		numberOption("lambda", believes, 1e-6, 1e6, func(c *config) *float64 { return &c.Lambda }),
		numberOption("alpha", walks, 0, maxAlpha, func(c *config) *float64 { return &c.Alpha }), // 0: no walk
		switchOption("norm", walks, func(c *config) *bool { return &c.Column }, "row", "column"),
		numberOption("seed_weight", walks, 0, 1e6, func(c *config) *float64 { return &c.SeedWeight }),
		switchOption("pin", believes, func(c *config) *bool { return &c.Pin }, "off", "on"),
		switchOption("offers", believes, func(c *config) *bool { return &c.Offers }, "off", "on"),
		switchOption("center", walks, func(c *config) *bool { return &c.Center }, "off", "on"),
		numberOption("beta", only("katz"), 0, 1, func(c *config) *float64 { return &c.Beta }),
		numberOption("length", only("katz"), 0, maxWalk, func(c *config) *int { return &c.Length }),
	}
}

// findOption returns the option with a name. accepted lists the names of an error.
func findOption(name string, accepted []string) (option, error) {
	for _, o := range options() {
		if o.name == name && slices.Contains(accepted, name) {
			return o, nil
		}
	}
	return option{}, &NameError{"option", name, accepted}
}

func refuse(name string, value any, accepted string) error {
	return optionf("%s = %v (accepted: %s)", name, value, accepted)
}

// numberOption accepts the numbers from low to high, and sets all fields to it.
func numberOption[T int | float64](name string, readBy func(policy) bool, low, high T, fields ...func(*config) *T) option {
	kind := "a number"
	if _, whole := any(low).(int); whole {
		kind = "an integer"
	}
	accepts := fmt.Sprintf("%s from %v to %v", kind, low, high)
	return option{
		name: name, accepts: accepts, readBy: readBy,
		get: func(c *config) any { return *fields[0](c) },
		set: func(c *config, value any) error {
			n, ok := number(value)
			if !ok || n < float64(low) || n > float64(high) || float64(T(n)) != n {
				return refuse(name, value, accepts)
			}
			for _, field := range fields {
				*field(c) = T(n)
			}
			return nil
		},
	}
}

// switchOption accepts two names for the values of a bool.
func switchOption(name string, readBy func(policy) bool, field func(*config) *bool, no, yes string) option {
	accepts := no + " or " + yes
	return option{
		name: name, accepts: accepts, readBy: readBy,
		get: func(c *config) any {
			if *field(c) {
				return yes
			}
			return no
		},
		set: func(c *config, value any) error {
			switch value {
			case yes:
				*field(c) = true
			case no:
				*field(c) = false
			default:
				b, ok := value.(bool)
				if !ok || yes != "on" {
					return refuse(name, value, accepts)
				}
				*field(c) = b
			}
			return nil
		},
	}
}

func blocksOption(readBy func(policy) bool) option {
	accepts := "some of " + strings.ReplaceAll((^blocks(0)).String(), " ", ", ") + ", separated by spaces"
	return option{
		name: "blocks", accepts: accepts, readBy: readBy,
		get: func(c *config) any { return c.Blocks.String() },
		set: func(c *config, value any) error {
			text, _ := value.(string)
			b, ok := parseBlocks(text)
			if !ok {
				return refuse("blocks", value, accepts)
			}
			c.Blocks = b
			return nil
		},
	}
}

func normalizeOption(readBy func(policy) bool) option {
	accepts := fmt.Sprintf("%s, %s or %s", normalizeNone, normalizeFeatures, normalizeContext)
	return option{
		name: "normalize", accepts: accepts, readBy: readBy,
		get: func(c *config) any { return c.Normalize },
		set: func(c *config, value any) error {
			if value != normalizeNone && value != normalizeFeatures && value != normalizeContext {
				return refuse("normalize", value, accepts)
			}
			c.Normalize = value.(string)
			return nil
		},
	}
}

// number converts a finite number of any numeric Go type.
func number(value any) (float64, bool) {
	v := reflect.ValueOf(value)
	var n float64
	switch {
	case v.CanInt():
		n = float64(v.Int())
	case v.CanUint():
		n = float64(v.Uint())
	case v.CanFloat():
		n = v.Float()
	default:
		return 0, false
	}
	return n, !math.IsNaN(n) && !math.IsInf(n, 0)
}

// natural converts a non-negative integer of any numeric Go type without loss.
func natural(value any) (uint64, bool) {
	v := reflect.ValueOf(value)
	switch {
	case v.CanInt():
		return uint64(v.Int()), v.Int() >= 0
	case v.CanUint():
		return v.Uint(), true
	case v.CanFloat():
		n := v.Float()
		return uint64(n), n >= 0 && n <= 1<<53 && n == math.Trunc(n)
	}
	return 0, false
}
