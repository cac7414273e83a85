package model

import "fmt"

// config is a spec with everything resolved: what a stored model keeps.
type config struct {
	Policy, Preset string
	Set            []string // options that depart from the preset
	FeatureLen     int
	Seed           uint64
	Classes        []ID   // nodes that stand for classes, ascending
	ClassLabel     string // what they have in common, for people to read

	Blocks       blocks
	Unit         bool // the whole context has unit length
	UnitFeatures bool // each node's feature vector has unit length
	Prior        bool // f1 estimates what the structural prior leaves over; the prior serves until the first training

	Layers, Width  int     // layers of both networks (hidden and output), width of the hidden ones
	Uniform        bool    // biases, and uniform ±1/sqrt(fan-in) initialisation; else none, and normal initialisation
	Optimism       float64 // initial value of f1's output bias: what is believed of a pair until pairs like it were tried
	Pool           int     // run of the gradient that becomes one number of φ
	Kernel, Stride int     // f2's convolution over φ; Kernel 0: none

	Exploit, Explore fit
	Shift            float64 // added to f2's targets, taken off its outputs
	ExtraRounds      int     // up to this round a failure teaches f2 that the candidates not chosen deserve ExtraTarget
	ExtraTarget      float64
	DecayAfter       int // from this round on f2 counts 1/sqrt(round); 0: never
	Schedule         schedule
	Replay           int // samples kept for each network, 0: all

	Weight     float64 // weight of f2 in the score
	Pin        bool    // what became of the pair itself counts for more than what is inferred of it
	Offers     bool    // how often a node was on offer is part of its history
	Nu, Lambda float64 // of a confidence bonus: its factor, and what Z starts from; Lambda of EASE too
	Alpha      float64 // damping of all walks
	Column     bool    // normalisation of the policy's own walk
	OneWay     bool    // that walk as the authors' program has it: column form, along the edges as they were added
	SeedWeight float64 // start value of the serving node
	Mix        float64 // share of embedding in pair_mix
	Beta       float64 // what each edge of a walk counts in katz
	Length     int     // of the longest walks that count there
	Center     bool    // start values are relative to the candidates' mean, so that other nodes count as average
}

// Presets returns the names that Spec.Preset accepts.
func Presets() []string { return []string{"default", "paper", "released"} }

// preset returns the values of a preset for models with feature vectors of the given length (0: none). Contexts are
// features where there are any, else the structural block; preset default takes both.
func preset(name string, features int) (config, error) {
	c := config{FeatureLen: features, Blocks: blockSource | blockTarget, Layers: 2, Width: 100, Pool: 50, Weight: 1}
	c.Alpha, c.Nu, c.Lambda = 0.85, 0.1, 0.1
	if features == 0 {
		c.Blocks = blockStructural
	}
	switch name {
	case "default":
		c.balanced()
	case "paper":
		c.paper()
	case "released":
		c.released()
	default:
		return c, fmt.Errorf("%w: unknown preset %q (accepted: %s)", ErrOption, name, list(Presets()))
	}
	c.Preset = name
	return c, nil
}

// paper: PRB, NeurIPS 2024, algorithm 1 and section 5.1. What the text leaves open: φ is pooled as in the released
// code, and a training passes over all samples, one a step, at most 2,000 steps.
func (c *config) paper() {
	c.Unit = true
	c.Exploit = fit{Rate: 0.01, Batch: 1, Steps: 2000, Stop: 1e-3}
	c.Explore = fit{Adam: true, Rate: 0.001, Batch: 1, Steps: 2000, Stop: 2e-3, Fresh: true}
	c.Schedule = schedule{{2000, 50}, {0, 100}}
}

// released: what the authors' published code does, which departs from the paper in most points.
func (c *config) released() {
	c.Uniform = true
	c.Kernel, c.Stride = 40, 50
	c.Exploit = fit{Rate: 0.1, Double: true, Batch: 1, Steps: 2000, Stop: 1e-3}
	c.Explore = fit{Adam: true, Rate: 0.01, Decay: 1e-4, Double: true, Batch: 1, Steps: 2000, Stop: 2e-3, Fresh: true}
	c.Shift = 1
	c.ExtraRounds, c.ExtraTarget = 1000, 1.2
	c.DecayAfter = 500
	c.Schedule = schedule{{1000, 10}, {0, 100}}
}

// balanced is kith's own preset.
func (c *config) balanced() {
	c.Blocks = blockStructural
	if c.FeatureLen > 0 {
		c.Blocks |= blockSource | blockTarget | blockProduct
	}
	c.UnitFeatures, c.Prior, c.Uniform = true, true, true
	c.Width, c.Pool = 64, 50
	c.Optimism = 1
	c.Exploit = fit{Adam: true, Rate: 0.003, Decay: 0.003, Batch: 32, Steps: 100}
	c.Explore = fit{Adam: true, Rate: 0.003, Decay: 1e-4, Batch: 32, Steps: 100}
	c.Schedule = schedule{{500, 10}, {0, 50}}
	c.Replay = 20000
	c.Alpha, c.SeedWeight, c.Center = 0.3, 1, true
}

// believing is what the policy default changes of a preset.
func believing(c *config) {
	c.Pin, c.Offers = true, true
	c.Nu, c.Lambda = 0.5, 1
	if c.Preset != "default" {
		return
	}
	c.Blocks |= blockTopology | blockVectors | blockTime
	c.Alpha = 0
	if c.FeatureLen == 0 {
		return
	}
	c.Blocks |= blockSimilarity
	if c.FeatureLen > perEntry {
		c.Blocks &^= blockSource | blockTarget | blockProduct
		return
	}
	c.Blocks |= blockDifference
}

// perEntry is the longest feature vector whose entries a belief takes one by one: the covariance has the square of their
// number.
const perEntry = 32
