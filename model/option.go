package model

import (
	"fmt"
	"math"
	"reflect"
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
	name string
	get  func(*config) any
	set  func(*config, any) error
}

// options lists every option except preset and seed, in the order of DESCRIBE MODEL.
func options() []option {
	return []option{
		blocksOption(),
		normalizeOption(),
		switchOption("prior", func(c *config) *bool { return &c.Prior }, "off", "on"),
		intOption("layers", 2, maxLayers, func(c *config) *int { return &c.Layers }),
		intOption("width", 1, maxWidth, func(c *config) *int { return &c.Width }),
		intOption("pool", 1, 1<<20, func(c *config) *int { return &c.Pool }),
		floatOption("exploit_rate", func(c *config) *float64 { return &c.Exploit.Rate }),
		floatOption("explore_rate", func(c *config) *float64 { return &c.Explore.Rate }),
		pairOption("batch", 1, 1<<16, func(c *config) (a, b *int) { return &c.Exploit.Batch, &c.Explore.Batch }),
		pairOption("steps", 0, 1<<24, func(c *config) (a, b *int) { return &c.Exploit.Steps, &c.Explore.Steps }),
		intOption("replay", 0, math.MaxInt32, func(c *config) *int { return &c.Replay }),
		floatOption("explore_weight", func(c *config) *float64 { return &c.Weight }),
		floatOption("nu", func(c *config) *float64 { return &c.Nu }),
		aboveOption("lambda", 1e-6, 1e6, func(c *config) *float64 { return &c.Lambda }),
		alphaOption(),
		switchOption("norm", func(c *config) *bool { return &c.Column }, "row", "column"),
		switchOption("propagation", func(c *config) *bool { return &c.OneWay }, "undirected", "released"),
		floatOption("seed_weight", func(c *config) *float64 { return &c.SeedWeight }),
		switchOption("pin", func(c *config) *bool { return &c.Pin }, "off", "on"),
		switchOption("offers", func(c *config) *bool { return &c.Offers }, "off", "on"),
		switchOption("center", func(c *config) *bool { return &c.Center }, "off", "on"),
		shareOption("mix", func(c *config) *float64 { return &c.Mix }),
		shareOption("beta", func(c *config) *float64 { return &c.Beta }),
		intOption("length", 0, maxWalk, func(c *config) *int { return &c.Length }),
	}
}

func refuse(name string, value any, accepted string) error {
	return optionf("%s = %v (accepted: %s)", name, value, accepted)
}

func intOption(name string, low, high int, field func(*config) *int) option {
	return pairOption(name, low, high, func(c *config) (a, b *int) { return field(c), field(c) })
}

// pairOption sets two fields at once.
func pairOption(name string, low, high int, fields func(*config) (a, b *int)) option {
	return option{
		name: name,
		get:  func(c *config) any { a, _ := fields(c); return *a },
		set: func(c *config, value any) error {
			n, ok := number(value)
			if !ok || n != math.Trunc(n) || n < float64(low) || n > float64(high) {
				return refuse(name, value, fmt.Sprintf("an integer from %d to %d", low, high))
			}
			a, b := fields(c)
			*a, *b = int(n), int(n)
			return nil
		},
	}
}

func floatOption(name string, field func(*config) *float64) option {
	return option{
		name: name,
		get:  func(c *config) any { return *field(c) },
		set: func(c *config, value any) error {
			n, ok := number(value)
			if !ok || n < 0 || n > 1e6 {
				return refuse(name, value, "a number from 0 to 1e6")
			}
			*field(c) = n
			return nil
		},
	}
}

// alphaOption accepts the damping of a walk; 0 means no walk.
func alphaOption() option {
	o := floatOption("alpha", func(c *config) *float64 { return &c.Alpha })
	o.set = func(c *config, value any) error {
		n, ok := number(value)
		if !ok || n < 0 || n > maxAlpha {
			return refuse("alpha", value, fmt.Sprintf("a number from 0 to %v", maxAlpha))
		}
		c.Alpha = n
		return nil
	}
	return o
}

// shareOption accepts a number from 0 to 1.
func shareOption(name string, field func(*config) *float64) option {
	o := floatOption(name, field)
	o.set = func(c *config, value any) error {
		n, ok := number(value)
		if !ok || n < 0 || n > 1 {
			return refuse(name, value, "a number from 0 to 1")
		}
		*field(c) = n
		return nil
	}
	return o
}

// aboveOption accepts a number greater than low and at most high.
func aboveOption(name string, low, high float64, field func(*config) *float64) option {
	o := floatOption(name, field)
	o.set = func(c *config, value any) error {
		n, ok := number(value)
		if !ok || n <= low || n > high {
			return refuse(name, value, fmt.Sprintf("a number above %v, up to %v", low, high))
		}
		*field(c) = n
		return nil
	}
	return o
}

// switchOption accepts two names for the values of a bool.
func switchOption(name string, field func(*config) *bool, no, yes string) option {
	return option{
		name: name,
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
					return refuse(name, value, no+" or "+yes)
				}
				*field(c) = b
			}
			return nil
		},
	}
}

func blocksOption() option {
	return option{
		name: "blocks",
		get:  func(c *config) any { return c.Blocks.String() },
		set: func(c *config, value any) error {
			text, _ := value.(string)
			b, ok := parseBlocks(text)
			if !ok {
				return refuse("blocks", value, "some of "+list(blockNames[:])+", separated by spaces")
			}
			c.Blocks = b
			return nil
		},
	}
}

func normalizeOption() option {
	return option{
		name: "normalize",
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
				return refuse("normalize", value, "none, features (each node's vector has mean square 1) or unit (the whole context has length 1)")
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
