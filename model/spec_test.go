package model_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"kith/model"
)

func TestSetRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		value any
		want  string // part of the message
	}{
		{"widht", 3, `unknown option "widht"`},
		{"widht", 3, "layers, width"},
		{"width", 0, "width = 0 (accepted: an integer from 1 to"},
		{"width", 1.5, "an integer"},
		{"width", "wide", "an integer"},
		{"layers", 1, "from 2 to"},
		{"alpha", 1, "to 0.999"},
		{"alpha", -0.1, "to 0.999"},
		{"alpha", math.NaN(), "to 0.999"},
		{"seed_weight", -1, "from 0 to"},
		{"explore_weight", math.Inf(1), "from 0 to"},
		{"lambda", 0, "from 1e-06 to 1e+06"},
		{"nu", -1, "from 0 to"},
		{"norm", "diagonal", "row or column"},
		{"norm", true, "row or column"},
		{"prior", "maybe", "off or on"},
		{"blocks", "source colour", "source, target, product, difference, time, vectors, similarity, topology, structural"},
		{"blocks", "", "source, target, product, difference, time, vectors, similarity, topology, structural"},
		{"blocks", 7, "source, target, product, difference, time, vectors, similarity, topology, structural"},
		{"normalize", "max", "none, features"},
		{"preset", "best", "default, paper"},
		{"seed", -1, "non-negative"},
		{"seed", 0.5, "non-negative"},
		{"seed", "x", "non-negative"},
	} {
		var s model.Spec
		err := s.Set(c.name, c.value)
		if !errors.Is(err, model.ErrOption) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Set(%s, %v) = %v, want ErrOption with %q", c.name, c.value, err, c.want)
		}
	}
}

func TestValidateRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range []model.Spec{
		{Policy: "prp"},
		{Preset: "best"},
		{FeatureLen: -1},
		{FeatureLen: 1 << 20},
	} {
		if err := s.Validate(); !errors.Is(err, model.ErrOption) {
			t.Errorf("%+v: %v, want ErrOption", s, err)
		}
	}
	var s model.Spec
	if err := s.Set("blocks", "source"); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(); !errors.Is(err, model.ErrOption) {
		t.Errorf("contexts of no numbers: %v, want ErrOption", err)
	}
	s = model.Spec{Policy: "prb", FeatureLen: 1 << 16}
	if err := s.Set("blocks", "source target product difference structural"); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(); !errors.Is(err, model.ErrOption) {
		t.Errorf("contexts of 2^18 + 10 numbers: %v, want ErrOption", err)
	}
}

// Options yields what was set, converted to the type of the option.
func TestOptionsShowWhatWasSet(t *testing.T) {
	t.Parallel()
	s := model.Spec{Policy: "prb", FeatureLen: 4}
	set := map[string]any{
		"preset": "paper", "seed": int64(math.MaxInt64), "width": int64(12), "layers": 3.0, "alpha": 0.5, "norm": "column",
		"seed_weight": 2, "prior": false, "pin": true, "offers": true, "center": "on", "blocks": "structural+target", "normalize": "none", "pool": uint8(1),
		"batch": 4, "steps": 10, "nu": 0.01, "lambda": 1, "beta": 0.5, "length": 3,
		"exploit_rate": float32(0.5), "explore_rate": 0.25, "explore_weight": 3, "replay": 100,
		"step": "round", "early_stop": "on", "moments": "reset",
	}
	for name, value := range set {
		if err := s.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	m, err := model.New(s)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"preset": "paper", "seed": uint64(math.MaxInt64), "width": 12, "layers": 3, "alpha": 0.5, "norm": "column",
		"seed_weight": 2.0, "prior": "off", "pin": "on", "offers": "on", "center": "on", "blocks": "target structural", "normalize": "none", "pool": 1,
		"batch": 4, "steps": 10, "nu": 0.01, "lambda": 1.0, "beta": 0.5, "length": 3,
		"exploit_rate": 0.5, "explore_rate": 0.25, "explore_weight": 3.0, "replay": 100,
		"step": "round", "early_stop": "on", "moments": "kept", // a step a round has no use for moments that start from zero
	}
	seen := 0
	for name, value := range m.Options() {
		seen++
		if value != want[name] {
			t.Errorf("%s = %v, want %v", name, value, want[name])
		}
	}
	if seen != len(want) || seen != len(model.DescribeOptions()) {
		t.Errorf("%d options shown, %d set, %d accepted", seen, len(want), len(model.DescribeOptions()))
	}
}

func TestUnused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy string
		set    []string
		want   string
	}{
		{"", []string{"width", "pin", "nu", "pool", "width"}, "width pool"},
		{"prb", []string{"pin", "offers", "beta", "nu", "width", "alpha"}, "pin offers beta nu"},
		{"prb_greedy", []string{"explore_rate", "exploit_rate"}, "explore_rate"},
		{"common_neighbors", []string{"seed", "blocks"}, "blocks"},
		{"ppr", []string{"alpha", "norm", "prior"}, "prior"},
		{"nobody", []string{"beta"}, ""},
	} {
		s := model.Spec{Policy: c.policy}
		for _, name := range c.set {
			if err := s.Set(name, optionValues()[name]); err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.Join(s.Unused(), " "); got != c.want {
			t.Errorf("%s has no use for %q, want %q", c.policy, got, c.want)
		}
	}
	if got := (model.Spec{Policy: "random", Preset: "paper"}).Unused(); len(got) != 1 || got[0] != "preset" {
		t.Errorf("random has no use for %v", got)
	}
}

// A model reads the options that its policy uses, and none that do not exist.
func TestReads(t *testing.T) {
	t.Parallel()
	m, err := model.New(model.Spec{Policy: "katz"})
	if err != nil {
		t.Fatal(err)
	}
	for option, want := range map[string]bool{"beta": true, "nu": false, "preset": false, "colour": false} {
		if got := m.Reads(option); got != want {
			t.Errorf("katz reads %s: %v, want %v", option, got, want)
		}
	}
}

// Options that a policy does not use do not change its scores.
func TestUnusedChangesNothing(t *testing.T) {
	t.Parallel()
	for _, policy := range model.Policies() {
		for name, value := range optionValues() {
			plain := model.Spec{Policy: policy, FeatureLen: 3}
			other := plain
			if err := other.Set(name, value); err != nil {
				t.Fatal(err)
			}
			if len(other.Unused()) == 0 {
				continue
			}
			if a, b := taught(t, plain), taught(t, other); !slices.Equal(a, b) {
				t.Errorf("%s, %s = %v: %v, else %v", policy, name, value, b, a)
			}
		}
	}
}

// optionValues holds a value of every option except preset. No preset has these values.
func optionValues() map[string]any {
	return map[string]any{
		"seed": 7, "blocks": "target structural", "normalize": "unit", "prior": "off", "layers": 3, "width": 5, "pool": 3,
		"exploit_rate": 0.02, "explore_rate": 0.02, "batch": 2, "steps": 3, "replay": 4, "explore_weight": 2, "nu": 0.7,
		"lambda": 0.3, "alpha": 0.6, "norm": "column", "seed_weight": 3, "pin": "on", "offers": "on",
		"center": "on", "beta": 0.1, "length": 2,
	}
}

// taught returns the scores of a model after twelve outcomes.
func taught(t *testing.T, spec model.Spec) []model.Score {
	t.Helper()
	ctx := context.Background()
	m, err := model.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	w := model.SmallWorld(6, [][2]model.ID{{0, 4}, {4, 1}, {1, 5}, {5, 2}, {2, 3}}...)
	w.Features = func(u model.ID) []float32 { return []float32{1, float32(u), float32(u * u % 5)} }
	targets := []model.ID{1, 2, 3}
	pairs := model.Pairs(0, targets)
	for round := range 12 {
		x, err := m.Scorer().Contexts(ctx, w, pairs)
		if err != nil {
			t.Fatal(err)
		}
		chosen := round % len(pairs)
		o := model.Outcome{Pair: pairs[chosen], Contexts: x, Chosen: chosen, Reward: float64(round % 2), Offered: targets}
		if _, err := m.Observe(o); err != nil {
			t.Fatal(err)
		}
	}
	scores, err := m.Scorer().Score(ctx, w, pairs)
	if err != nil {
		t.Fatal(err)
	}
	return scores
}

// A copy of a spec does not share options that are set later.
func TestSpecCopies(t *testing.T) {
	t.Parallel()
	a := model.Spec{Policy: "prb"}
	if err := a.Set("width", 10); err != nil {
		t.Fatal(err)
	}
	b := a
	for spec, width := range map[*model.Spec]int{&a: 20, &b: 30} {
		if err := spec.Set("width", width); err != nil {
			t.Fatal(err)
		}
	}
	for spec, want := range map[*model.Spec]int{&a: 20, &b: 30} {
		m, err := model.New(*spec)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range m.Options() {
			if name == "width" && value != want {
				t.Errorf("width %v, want %d", value, want)
			}
		}
	}
}
