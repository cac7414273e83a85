package model

import (
	"slices"

	"kith/model/nn"
)

// policy describes what a model does with the contexts of a round. The fields are independent of
// one another.
type policy struct {
	name       string
	about      string        // what it ranks by; at most 43 characters, so that a table of policies fits 80 columns
	learns     bool          // f1 estimates the reward of a context
	believes   bool          // f1 is a belief, not a network
	explores   bool          // f2 estimates the residual of f1
	propagates bool          // the estimates are start values of a walk
	overlap    *overlap      // formula of a policy that counts common neighbours
	rank       ranking       // formula of another policy that does not learn; nil if only the walk ranks
	adjust     func(*config) // changes the values of a preset; nil: no changes
}

// policies are the policies that CREATE MODEL ... USING accepts.
var policies = [...]policy{
	{name: "default", about: "learns from edges and from each outcome", learns: true, believes: true, propagates: true, adjust: adjustDefault},
	{name: "prb", about: "PageRank Bandits: two networks and the walk", learns: true, explores: true, propagates: true},
	{name: "prb_greedy", about: "prb without exploring", learns: true, propagates: true},
	{name: "common_neighbors", about: "the number of common neighbours", overlap: &overlap{number: one}},
	{name: "adamic_adar", about: "common neighbours, each by 1 / log degree", overlap: &overlap{number: adamicAdar}},
	{name: "resource_allocation", about: "common neighbours, each by 1 / degree", overlap: &overlap{number: resourceAllocation}},
	{name: "preferential_attachment", about: "the product of the numbers of neighbours", rank: perPair(preferentialAttachment)},
	{name: "jaccard", about: "the share of neighbours that are common", overlap: &overlap{one, jaccard}},
	{name: "katz", about: "walks up to length, beta for each edge", rank: katz, adjust: adjustKatz},
	{name: "ppr", about: "personalised PageRank from the source", propagates: true, adjust: adjustPageRank},
	{name: "random", about: "a random order", rank: perPair(uniform)},
}

// heuristics are the names of the policies that do not learn. The slice has no spare capacity.
var heuristics = slices.Clip(namesOf(func(p policy) bool { return !p.learns }))

// Policies returns the names that Spec.Policy accepts.
func Policies() []string { return namesOf(func(policy) bool { return true }) }

// Heuristics returns the names of the policies that do not learn. New accepts them for any graph.
// The caller must not modify the slice.
func Heuristics() []string { return heuristics }

func namesOf(keep func(policy) bool) (names []string) {
	for _, p := range policies {
		if keep(p) {
			names = append(names, p.name)
		}
	}
	return names
}

// PolicyInfo describes a policy.
type PolicyInfo struct {
	Name    string `json:"policy"`
	Learns  bool   `json:"learns"` // the policy learns from outcomes and by TRAIN
	Summary string `json:"summary"`
}

// DescribePolicies returns the policies that Spec.Policy accepts, each with a one-line summary.
func DescribePolicies() (all []PolicyInfo) {
	for _, p := range policies {
		all = append(all, PolicyInfo{p.name, p.learns, p.about})
	}
	return all
}

// reads reports whether a policy uses an option.
func (p policy) reads(option string) bool {
	if option == "preset" {
		return p.learns
	}
	o, err := findOption(option, optionNames())
	return err == nil && o.readBy(p)
}

func policyOf(name string) (policy, error) {
	for _, p := range policies {
		if p.name == name {
			return p, nil
		}
	}
	return policy{}, &NameError{"policy", name, Policies()}
}

// config is a resolved spec. A document stores the spec, which is resolved again when it is
// decoded.
type config struct {
	Policy, Preset string
	FeatureLen     int
	Words          bool // content has words, too
	Seed           uint64

	Blocks    blocks
	Normalize string // normalizeNone, normalizeFeatures or normalizeContext
	Prior     bool   // f1 estimates the residual of the structural prior, which is used alone until the first training
	Replay    int    // number of samples kept for each network or belief; 0 means all

	networkConfig
	beliefConfig
	walkConfig
	katzConfig
}

// The values of option normalize.
const (
	normalizeNone     = "none"
	normalizeFeatures = "features" // each node's feature vector has mean square 1
	normalizeContext  = "unit"     // the whole context has unit length
)

// networkConfig configures f1 and f2 as networks.
type networkConfig struct {
	Layers, Width int  // layers of both networks (hidden and output), width of the hidden ones
	Uniform       bool // biases, and uniform ±1/sqrt(fan-in) initialisation; otherwise no biases and normal initialisation
	Pool          int  // number of gradient entries that are pooled to one number of φ

	Exploit, Explore nn.Fit
	Schedule         schedule
	EachRound        bool    // a step on the newest sample after each round, as in algorithm 1, instead of the schedule
	EarlyStop        bool    // a training ends when the mean loss of a pass is small: Exploit.Stop, Explore.Stop
	Weight           float64 // weight of f2 in the score
}

// beliefConfig configures f1 as a belief.
type beliefConfig struct {
	Pin        bool    // the pair's own outcomes count for more than the inferred estimate
	Offers     bool    // the history of a node includes how often it was on offer
	Nu, Lambda float64 // standard deviations of a bonus, and inverse prior variance
}

// walkConfig configures the walk that spreads estimates over the graph. Alpha is the damping of the
// other walks too.
type walkConfig struct {
	Walk
	SeedWeight float64 // start value of the serving node
	Center     bool    // start values are relative to the candidates' mean, so that other nodes count as average
}

// katzConfig configures policy katz.
type katzConfig struct {
	Beta   float64 // factor of each edge of a walk
	Length int     // number of edges of the longest walks
}

// Presets returns the names that Spec.Preset accepts.
func Presets() []string { return []string{"default", "paper"} }

// preset returns the values of a preset for models with feature vectors of the given length (0:
// none). Contexts are the features if there are any, otherwise the structural block. Preset default
// uses both.
func preset(name string, features int) (config, error) {
	c := config{FeatureLen: features, Blocks: blockSource | blockTarget, Normalize: normalizeNone}
	c.Layers, c.Width, c.Pool, c.Weight = 2, 100, 50, 1
	c.Alpha, c.Nu, c.Lambda = 0.85, 0.1, 0.1
	if features == 0 {
		c.Blocks = blockStructural
	}
	switch name {
	case "default":
		c.presetDefault()
	case "paper":
		c.presetPaper()
	default:
		return c, &NameError{"preset", name, Presets()}
	}
	c.Preset = name
	return c, nil
}

// presetPaper sets the values of PRB, NeurIPS 2024, section 5.1. What the text leaves open is as in
// the authors' program: φ is pooled, a training passes over all samples one by one, for at most
// 2,000 steps, it ends when the mean loss of a pass is small, and Adam's moments start from zero in
// each training. Options step, early_stop and moments choose what the text says instead: algorithm
// 1 has a step each round and no threshold, and an optimiser keeps its moments.
func (c *config) presetPaper() {
	c.Normalize, c.EarlyStop = normalizeContext, true
	c.Exploit = nn.Fit{Rate: 0.01, Batch: 1, Steps: 2000, Stop: 1e-3}
	c.Explore = nn.Fit{Adam: true, Rate: 0.001, Batch: 1, Steps: 2000, Stop: 2e-3, Fresh: true}
	c.Schedule = schedule{{2000, 50}, {0, 100}}
}

// presetDefault sets the values of kith's own preset.
func (c *config) presetDefault() {
	c.Blocks = blockStructural
	if c.FeatureLen > 0 {
		c.Blocks |= blockSource | blockTarget | blockProduct
	}
	c.Normalize, c.Prior, c.Uniform = normalizeFeatures, true, true
	c.Width, c.Pool = 64, 50
	c.Exploit = nn.Fit{Adam: true, Rate: 0.003, Decay: 0.003, Batch: 32, Steps: 100}
	c.Explore = nn.Fit{Adam: true, Rate: 0.003, Decay: 1e-4, Batch: 32, Steps: 100}
	c.Schedule = schedule{{500, 10}, {0, 50}}
	c.Replay = 20000
	c.Alpha, c.SeedWeight, c.Center = 0.3, 1, true
}

// adjustDefault changes the values of a preset for policy default.
func adjustDefault(c *config) {
	c.Pin, c.Offers = true, true
	c.Nu, c.Lambda = 0.5, 1
	if c.Preset != "default" {
		return
	}
	c.Blocks |= blockTopology | blockVectors | blockTime
	c.Alpha = 0
	if !c.hasContent() {
		return
	}
	c.Blocks |= blockSimilarity | blockDifference
	if c.FeatureLen > perEntry {
		c.Blocks &^= blockSource | blockTarget | blockProduct | blockDifference
	}
}

// perEntry is the length of the longest feature vector whose entries are separate inputs of a
// belief. The covariance takes the square of their number.
const perEntry = 32

// phase trains every Every rounds up to and including round Until. The last phase of a schedule has
// Until 0, which means no end.
type phase struct {
	Until, Every int
}

// schedule lists the rounds after which a model trains.
type schedule []phase

// due reports whether the model trains after its round t, counted from 1.
func (s schedule) due(t int) bool {
	for _, p := range s {
		if p.Until == 0 || t <= p.Until {
			return t%p.Every == 0
		}
	}
	return false
}
