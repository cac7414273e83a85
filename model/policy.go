package model

import "fmt"

// policy says what a model does with the contexts of a round; the fields are independent of one another.
type policy struct {
	name       string
	learns     bool          // f1 estimates the reward of a context
	believes   bool          // f1 is a belief, not a network
	explores   bool          // f2 estimates what f1 underrates
	propagates bool          // the estimates are start values of a walk
	classifies bool          // there must be classes
	bonus      bonus         // what uncertainty about f1 adds; nil: nothing
	fitted     fitted        // what is fitted to a whole graph; nil: nothing is
	rank       heuristic     // what a policy that does not learn ranks by; nil if the walk alone does
	plan       func(*config) // what it changes of a preset; nil: nothing
	known      float64       // share of the true edges that it is meant to know at the start
}

// policies lists what CREATE MODEL ... USING accepts.
func policies() []policy {
	return []policy{
		{name: "default", learns: true, believes: true, propagates: true, plan: believing},
		{name: "prb", learns: true, explores: true, propagates: true},
		{name: "prb_greedy", learns: true, propagates: true},
		{name: "ee_net", learns: true, explores: true},
		{name: "neural_greedy", learns: true},
		{name: "prb_prior", learns: true, explores: true, propagates: true, known: 0.1},
		{name: "prb_n", learns: true, explores: true, propagates: true, classifies: true},
		{name: "neural_ucb", learns: true, bonus: upper},
		{name: "neural_ts", learns: true, bonus: sampled},
		{name: "common_neighbors", rank: commonNeighbors},
		{name: "adamic_adar", rank: adamicAdar},
		{name: "resource_allocation", rank: resourceAllocation},
		{name: "eve_ppr", propagates: true, rank: evenly, plan: unseeded},
		{name: "ppr", propagates: true, plan: seeded},
		{name: "random", rank: uniform},
		{name: "pair_net", fitted: pairNet{}},
		{name: "embedding", fitted: embedding{}},
		{name: "pair_mix", fitted: pairMix{}, plan: mostlyNear},
		{name: "ease", fitted: ease{}, plan: ridge},
	}
}

// Policies returns the names that Spec.Policy accepts.
func Policies() []string {
	var names []string
	for _, p := range policies() {
		names = append(names, p.name)
	}
	return names
}

// reads reports whether an option means anything to a policy.
func (p policy) reads(option string) bool {
	switch option {
	case "preset", "blocks", "normalize", "prior", "replay":
		return p.learns
	case "layers", "width", "exploit_rate", "batch", "steps":
		return p.learns && !p.believes
	case "pool", "explore_rate", "explore_weight":
		return p.explores
	case "nu":
		return p.believes || p.bonus != nil
	case "lambda":
		return p.believes || p.bonus != nil || p.fitted == ease{}
	case "pin", "offers":
		return p.believes
	case "alpha", "norm", "propagation", "seed_weight", "center":
		return p.propagates
	case "mix":
		return p.fitted == pairMix{}
	}
	return true
}

// Known returns the share of the true edges that a policy is meant to know before its first round: 0.1 for prb_prior (PRB,
// section 5.4), 0 for the others. The graph is the caller's, so it is the caller who puts them there.
func Known(name string) float64 {
	p, _ := policyOf(name)
	return p.known
}

func policyOf(name string) (policy, error) {
	for _, p := range policies() {
		if p.name == name {
			return p, nil
		}
	}
	return policy{}, fmt.Errorf("%w: unknown policy %q (accepted: %s)", ErrOption, name, list(Policies()))
}
