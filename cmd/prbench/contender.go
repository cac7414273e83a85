package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"strings"

	"kith/cmd/prbench/internal/fitted"
	"kith/cmd/prbench/internal/trial"
	"kith/model"
)

// contender is a policy with a preset. The preset is empty if the policy does not learn.
type contender struct{ policy, preset string }

// parseContender parses "policy" or "policy/preset". The policy default has preset default, others
// the given one. Some policies can only classify.
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
	if fitted.Is(policy) {
		c.preset = ""
		return c, nil
	}
	spec, err := trial.WithPreset(model.Spec{Policy: c.policy}, c.preset)
	if err != nil {
		return c, err
	}
	m, err := trial.NewModel(spec)
	if err == nil && trial.Classifies(policy) && !classify {
		err = fmt.Errorf("policy %s predicts classes (see prbench classify)", policy)
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

// axes returns the axes of the paper's grid search. neural_ucb and neural_ts are searched with the
// exploit_rate that is best for neural_greedy.
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

// afterGreedy reports whether the contender's grid search comes after the grid search of
// neural_greedy.
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
				next := maps.Clone(point)
				next[a.option] = v
				more = append(more, next)
			}
		}
		all = more
	}
	return all
}

// A grid search plays gridRounds rounds of a seed that no reported run has.
const (
	gridRounds = 2000
	gridSeed   = 1_000_003
)

// cell is a contender in an arena.
type cell struct {
	place
	contender
}

// searchGrid returns the best point of the grid for each cell that has one. Contenders that are
// searched after neural_greedy use its rate.
func (x *experiment) searchGrid(ctx context.Context) (map[cell]map[string]string, error) {
	found := make(map[cell]map[string]string)
	for _, second := range []bool{false, true} {
		var searched []contender
		for _, c := range x.contenders {
			switch {
			case c.afterGreedy() && !second:
				searched = append(searched, greedy(c)) // a run that occurs twice is played once
			case c.afterGreedy() == second && len(c.axes()) > 0:
				searched = append(searched, c)
			}
		}
		if err := x.searchCells(ctx, searched, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// greedy returns the contender whose rate is used for those searched after it.
func greedy(c contender) contender { return contender{"neural_greedy", c.preset} }

// searchCells plays the grids of contenders in all arenas and adds the best options to found.
func (x *experiment) searchCells(ctx context.Context, contenders []contender, found map[cell]map[string]string) error {
	grids := make(map[cell][]settings)
	var all []regretJob
	for _, a := range x.arenas {
		for _, c := range contenders {
			base := x.settings(a, c, min(gridRounds, x.rounds), gridSeed)
			if c.afterGreedy() {
				base = base.with(found[cell{base.place, greedy(c)}])
			}
			at := cell{base.place, c}
			grids[at] = nil
			for _, point := range grid(c.axes(), base.Options) {
				s := base.with(point)
				grids[at] = append(grids[at], s)
				all = append(all, x.job("grid", a, s))
			}
		}
	}
	runs, err := x.play(ctx, "grid", "grid", all)
	if err != nil {
		return err
	}
	for at, of := range grids {
		found[at] = best(of, runs)
	}
	return nil
}

// best returns the options with the least regret per live round, the first ones among equals.
func best(of []settings, runs map[string]*regretRun) (options map[string]string) {
	least := math.Inf(1)
	for _, s := range of {
		run := runs[s.name()]
		if run == nil { // not played yet
			continue
		}
		c := run.Result
		if v := float64(c.Final()) / float64(max(c.Live, 1)); v < least {
			options, least = s.Options, v
		}
	}
	return options
}
