package model

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

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
	const accepts = "none, features or unit"
	return option{
		name: "normalize", accepts: accepts, readBy: readBy,
		get: func(c *config) any {
			switch {
			case c.Unit:
				return "unit"
			case c.UnitFeatures:
				return "features"
			}
			return "none"
		},
		set: func(c *config, value any) error {
			if value != "none" && value != "features" && value != "unit" {
				return refuse("normalize", value, accepts)
			}
			c.Unit, c.UnitFeatures = value == "unit", value == "features"
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
