package trial

import (
	"context"
	"fmt"
	"slices"

	"kith/model"
)

// rival is a policy of the PRB paper that kith does not have: one of kith's for classes, without
// its walk, with links that it knows at the start, or with a bonus, or a walk without a bandit.
type rival struct {
	name, policy string
	still        bool    // without a walk: alpha is 0
	known        float64 // share of the true links that its players know at the start
	even         bool    // the walk starts with the same mass at every candidate, and nothing is learned
	bonus        bool    // see neuralPlayer
	classifies   bool    // it predicts the classes of nodes
}

// rivals lists the policies of the paper that kith does not have: PRB-N, EE-Net (Ban et al., ICLR
// 2022), NeuralGreedy, PRB with prior edges (section 5.4), NeuralUCB, NeuralTS, and EvePPR, whose
// start values the paper does not define.
func rivals() []rival {
	return []rival{
		{name: "prb_n", policy: "prb", classifies: true},
		{name: "ee_net", policy: "prb", still: true},
		{name: "neural_greedy", policy: "prb_greedy", still: true},
		{name: "prb_prior", policy: "prb", known: 0.1},
		{name: "neural_ucb", policy: "prb_greedy", still: true, bonus: true},
		{name: "neural_ts", policy: "prb_greedy", still: true, bonus: true},
		{name: "eve_ppr", policy: "ppr", even: true},
	}
}

// rivalOf returns the rival with a name, or a rival that is the policy of kith itself.
func rivalOf(name string) rival {
	for _, r := range rivals() {
		if r.name == name {
			return r
		}
	}
	return rival{name: name, policy: name}
}

// Policies returns the names of the policies that can play, in the order of tables.
func Policies() []string {
	all := model.Policies()
	at := slices.Index(all, "prb_greedy") + 1
	for i, r := range rivals() {
		all = slices.Insert(all, at+i, r.name)
	}
	return all
}

// Online reports whether a policy can only be played round by round.
func Online(policy string) bool {
	r := rivalOf(policy)
	return r.even || r.bonus
}

// Classifies reports whether a policy only predicts the classes of nodes.
func Classifies(policy string) bool { return rivalOf(policy).classifies }

// KnownEdges returns the share of the true links that the players of a policy know at the start:
// 0.1 for prb_prior, 0 for any other.
func KnownEdges(policy string) float64 { return rivalOf(policy).known }

// Base returns the spec of the model that plays a policy: spec itself for kith's own policies.
func Base(spec model.Spec) (model.Spec, error) {
	r := rivalOf(spec.Policy)
	spec.Policy = r.policy
	switch {
	case r.still:
		return spec, spec.Set("alpha", 0)
	case r.even:
		return spec, spec.Set("norm", "row")
	}
	return spec, nil
}

// NewModel makes the model that plays a policy.
func NewModel(spec model.Spec) (*model.Model, error) {
	spec, err := Base(spec)
	if err != nil {
		return nil, err
	}
	return model.New(spec)
}

// evenPlayer plays EvePPR: the walk of PRB (NeurIPS 2024, section 4) with the same start value at
// all candidates, independent of the outcomes, and 0 elsewhere.
type evenPlayer struct{ *modelPlayer }

func (p evenPlayer) Choose(ctx context.Context, arms []Pair) (int, error) {
	defer p.networks()()
	var at []ID
	for _, a := range arms {
		at = append(at, a.Target)
	}
	h := model.Start{Node: slices.Compact(slices.Sorted(slices.Values(at)))}
	h.Value = slices.Repeat([]float64{1}, len(h.Node))
	v, _, err := p.walk.Propagate(ctx, p.model.Scorer().Walk(), h, at)
	if err != nil {
		return 0, fmt.Errorf("trial: walk: %w", err)
	}
	best := 0
	for i, x := range v {
		if x > v[best] {
			best = i
		}
	}
	return best, nil
}
