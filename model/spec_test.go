package model_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"kith/model"
)

func TestSetRefuses(t *testing.T) {
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
		{"alpha", 1, "up to 0.999"},
		{"alpha", 0, "up to 0.999"},
		{"alpha", math.NaN(), "up to 0.999"},
		{"seed_weight", -1, "from 0 to"},
		{"explore_weight", math.Inf(1), "from 0 to"},
		{"lambda", 0, "up to 1e+06"},
		{"nu", -1, "from 0 to"},
		{"classes", "", "the label"},
		{"norm", "diagonal", "row or column"},
		{"norm", true, "row or column"},
		{"prior", "maybe", "off or on"},
		{"blocks", "source colour", "source, target, product, difference, similarity, structural"},
		{"blocks", "", "source, target, product, difference, similarity, structural"},
		{"blocks", 7, "source, target, product, difference, similarity, structural"},
		{"normalize", "max", "none, features"},
		{"preset", "best", "default, paper, released"},
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
	for _, s := range []model.Spec{
		{Policy: "prp"},
		{Preset: "best"},
		{FeatureLen: -1},
		{FeatureLen: 1 << 20},
		{Policy: "prb_n"},
		{Policy: "prb_n", Classes: []model.ID{4}},
		{Policy: "prb", Classes: []model.ID{4}},
		{Policy: "prb_n", Classes: []model.ID{4, 3}},
		{Policy: "prb_n", Classes: []model.ID{4, 4}},
		{Policy: "prb_n", Classes: make([]model.ID, 10), FeatureLen: 1 << 16},
		{Policy: "common_neighbors", Classes: []model.ID{3, 4}},
		{Policy: "prb", ClassLabel: "topic"},
		{Policy: "embedding"},
		{Policy: "pair_mix"},
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
}

// What is set is what DESCRIBE shows, whatever the type it came in.
func TestOptionsShowWhatWasSet(t *testing.T) {
	s := model.Spec{Policy: "prb_n", FeatureLen: 4, Classes: []model.ID{1, 2}}
	set := map[string]any{
		"preset": "paper", "seed": int64(math.MaxInt64), "width": int64(12), "layers": 3.0, "alpha": 0.5, "norm": "column",
		"seed_weight": 2, "propagation": "released", "prior": false, "pin": true, "offers": true, "center": "on", "blocks": "structural+target", "normalize": "none", "pool": uint8(1),
		"batch": 4, "steps": 10, "nu": 0.01, "lambda": 1, "mix": 1, "classes": "topic",
		"exploit_rate": float32(0.5), "explore_rate": 0.25, "explore_weight": 3, "replay": 100,
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
		"seed_weight": 2.0, "propagation": "released", "prior": "off", "pin": "on", "offers": "on", "center": "on", "blocks": "target structural", "normalize": "none", "pool": 1,
		"batch": 4, "steps": 10, "nu": 0.01, "lambda": 1.0, "mix": 1.0, "classes": "topic",
		"exploit_rate": 0.5, "explore_rate": 0.25, "explore_weight": 3.0, "replay": 100,
	}
	seen := 0
	for name, value := range m.Options() {
		seen++
		if value != want[name] {
			t.Errorf("%s = %v, want %v", name, value, want[name])
		}
	}
	if seen != len(want) || seen != len(model.Options()) {
		t.Errorf("%d options shown, %d set, %d accepted", seen, len(want), len(model.Options()))
	}
}

// A copied spec does not share what is set later.
func TestSpecCopies(t *testing.T) {
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
