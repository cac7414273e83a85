package main

import (
	"fmt"
	"slices"
	"strings"

	"kith/model"
)

// contender is a policy with a preset. The preset is empty if the policy does not learn.
type contender struct{ policy, preset string }

// parseContender parses "policy" or "policy/preset". The policy default has preset default, others the given one. Some
// policies can only classify.
func parseContender(text, preset string, classify bool) (contender, error) {
	policy, own, isOwn := strings.Cut(text, "/")
	c := contender{policy, preset}
	switch {
	case policy == "" || isOwn && own == "":
		return c, fmt.Errorf("policy %q (accepted: policy or policy/preset)", text)
	case isOwn:
		c.preset = own
	case policy == "default":
		c.preset = policy
	}
	m, err := model.New(model.Spec{Policy: c.policy, Preset: c.preset})
	if err != nil && classify {
		m, err = model.New(model.Spec{Policy: c.policy, Preset: c.preset, Classes: []model.ID{0, 1}})
	}
	if err != nil {
		return c, err
	}
	if !m.Learns() {
		c.preset = ""
	}
	return c, nil
}

// axis is an option that a grid search varies, with its values.
type axis struct {
	option string
	values []string
}

// rates returns the learning rates of the paper's grid.
func rates() []string { return []string{"0.01", "0.001", "0.0005", "0.0001"} }

// axes returns the axes of the paper's grid search. neural_ucb and neural_ts are searched with the exploit_rate that
// is best for neural_greedy.
func (c contender) axes() []axis {
	if c.preset != "paper" {
		return nil
	}
	switch c.policy {
	case "neural_greedy", "prb_greedy":
		return []axis{{"exploit_rate", rates()}}
	case "neural_ucb", "neural_ts":
		return []axis{{"nu", []string{"0.001", "0.01", "0.1", "1"}}, {"lambda", []string{"0.01", "0.1", "1"}}}
	case "prb", "prb_prior", "prb_n", "ee_net":
		return []axis{{"exploit_rate", rates()}, {"explore_rate", rates()}}
	}
	return nil
}

// afterGreedy reports whether the contender's grid search comes after that of neural_greedy.
func (c contender) afterGreedy() bool {
	return c.preset == "paper" && (c.policy == "neural_ucb" || c.policy == "neural_ts")
}

// grid returns every combination of the axes' values, except for options in set.
func grid(axes []axis, set map[string]string) []map[string]string {
	all := []map[string]string{{}}
	for _, a := range axes {
		if _, isSet := set[a.option]; isSet {
			continue
		}
		var more []map[string]string
		for _, point := range all {
			for _, v := range a.values {
				next := map[string]string{a.option: v}
				for option, value := range point {
					next[option] = value
				}
				more = append(more, next)
			}
		}
		all = more
	}
	return all
}

// parseSet parses options of the form name=value.
func parseSet(texts []string) (map[string]string, error) {
	set := make(map[string]string)
	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		switch {
		case !ok || name == "" || value == "":
			return nil, fmt.Errorf("--set %q (accepted: name=value)", text)
		case name == "seed" || name == "preset":
			return nil, fmt.Errorf("--set %s: see --first-seed and --preset", name)
		case name == "classes":
			return nil, fmt.Errorf("--set %s: see classify", name)
		case !slices.Contains(model.Options(), name):
			return nil, fmt.Errorf("--set %s: unknown option (accepted: %s)", name, strings.Join(model.Options(), ", "))
		}
		set[name] = value
	}
	return set, nil
}
