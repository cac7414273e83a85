package model

import "kith/model/internal/column"

// policy describes what a model does with the contexts of a round. The fields are independent of
// one another.
type policy struct {
	name       string
	about      string        // what it ranks by; at most 43 characters, so that a table of policies fits 80 columns
	learns     bool          // f1 estimates the reward of a context
	believes   bool          // f1 is a belief, not a network
	explores   bool          // f2 estimates the residual of f1
	propagates bool          // the estimates are start values of a walk
	rank       ranking       // formula of a policy that does not learn; nil if only the walk ranks
	adjust     func(*config) // changes the values of a preset; nil: no changes
}

// policies lists the policies that CREATE MODEL ... USING accepts.
func policies() []policy {
	common := overlap(func(o column.Overlap) float64 { return o.Common })
	adamic := overlap(func(o column.Overlap) float64 { return o.Adamic })
	resource := overlap(func(o column.Overlap) float64 { return o.Resource })
	return []policy{
		{name: "default", about: "learns from edges and from each outcome", learns: true, believes: true, propagates: true, adjust: adjustDefault},
		{name: "prb", about: "PageRank Bandits: two networks and the walk", learns: true, explores: true, propagates: true},
		{name: "prb_greedy", about: "prb without exploring", learns: true, propagates: true},
		{name: "common_neighbors", about: "the number of common neighbours", rank: common},
		{name: "adamic_adar", about: "common neighbours, each by 1 / log degree", rank: adamic},
		{name: "resource_allocation", about: "common neighbours, each by 1 / degree", rank: resource},
		{name: "preferential_attachment", about: "the product of the numbers of neighbours", rank: perPair(preferentialAttachment)},
		{name: "jaccard", about: "the share of neighbours that are common", rank: perPair(jaccard)},
		{name: "katz", about: "walks up to length, beta for each edge", rank: katz, adjust: adjustKatz},
		{name: "ppr", about: "personalised PageRank from the source", propagates: true, adjust: adjustPageRank},
		{name: "random", about: "a random order", rank: perPair(uniform)},
	}
}

// Policies returns the names that Spec.Policy accepts.
func Policies() []string { return namesOf(func(policy) bool { return true }) }

// Heuristics returns the names of the policies that do not learn. New accepts them for any graph.
func Heuristics() []string {
	return namesOf(func(p policy) bool { return !p.learns })
}

func namesOf(keep func(policy) bool) (names []string) {
	for _, p := range policies() {
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
	for _, p := range policies() {
		all = append(all, PolicyInfo{p.name, p.learns, p.about})
	}
	return all
}

// reads reports whether a policy uses an option.
func (p policy) reads(option string) bool {
	if option == "preset" {
		return p.learns
	}
	o, err := findOption(option, Options())
	return err == nil && o.readBy(p)
}

func policyOf(name string) (policy, error) {
	for _, p := range policies() {
		if p.name == name {
			return p, nil
		}
	}
	return policy{}, &NameError{"policy", name, Policies()}
}
