package model

import "fmt"

// policy says what a model does with the contexts of a round; the fields are independent of one another.
type policy struct {
	name       string
	learns     bool      // f1 estimates the reward of a context
	explores   bool      // f2 estimates what f1 underrates
	propagates bool      // the estimates are start values of a walk
	rank       heuristic // what a policy that does not learn ranks by; nil if the walk alone does
}

// policies lists what CREATE MODEL ... USING accepts.
func policies() []policy {
	return []policy{
		{name: "default", learns: true, propagates: true},
		{name: "prb", learns: true, explores: true, propagates: true},
		{name: "prb_greedy", learns: true, propagates: true},
		{name: "ee_net", learns: true, explores: true},
		{name: "neural_greedy", learns: true},
		{name: "common_neighbors", rank: commonNeighbors},
		{name: "adamic_adar", rank: adamicAdar},
		{name: "resource_allocation", rank: resourceAllocation},
		{name: "ppr", propagates: true},
		{name: "random", rank: uniform},
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

func policyOf(name string) (policy, error) {
	for _, p := range policies() {
		if p.name == name {
			return p, nil
		}
	}
	return policy{}, fmt.Errorf("%w: policy %q (accepted: %s)", ErrOption, name, list(Policies()))
}
