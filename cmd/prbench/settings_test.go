package main

import (
	"strings"
	"testing"

	"kith/model"
)

// The name of a run depends on all settings that determine its result, and on nothing else.
func TestSettingsName(t *testing.T) {
	t.Parallel()
	base := settings{place: place{Data: "d", Protocol: "paper", Features: "svd"}, variant: variant{Policy: "prb", Preset: "paper"}, Rounds: 10, Seed: 1}
	names := map[string]bool{base.name(): true}
	for _, change := range []func(*settings){
		func(s *settings) { s.DataSum = "x" },
		func(s *settings) { s.Protocol = "fresh" },
		func(s *settings) { s.Features = "none" },
		func(s *settings) { s.FeatureLen = 3 },
		func(s *settings) { s.Policy = "ee_net" },
		func(s *settings) { s.Preset = "released" },
		func(s *settings) { s.Classes = []model.ID{1, 2} },
		func(s *settings) { s.Options = map[string]string{"width": "3"} },
		func(s *settings) { s.Options = map[string]string{"width": "4"} },
		func(s *settings) { s.Grid = true },
		func(s *settings) { s.Rounds = 11 },
		func(s *settings) { s.Seed = 2 },
	} {
		s := base
		change(&s)
		if names[s.name()] {
			t.Errorf("%+v is called as another", s)
		}
		names[s.name()] = true
	}
	a := base.with(map[string]string{"width": "3", "alpha": "0.5"})
	b := base.with(map[string]string{"alpha": "0.5"}).with(map[string]string{"width": "3"})
	if a.name() != b.name() || base.Options != nil || base.with(nil).name() != base.name() {
		t.Errorf("%s and %s", a.name(), b.name())
	}
	if !strings.HasPrefix(base.name(), "d-paper-svd-prb-paper-s1-") {
		t.Error(base.name())
	}
}

func TestSettingsTitle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		variant variant
		want    string
	}{
		{variant{Policy: "default", Preset: "default"}, "default"},
		{variant{Policy: "random"}, "random"},
		{variant{Policy: "prb", Preset: "paper"}, "prb/paper"},
		{variant{Policy: "prb", Preset: "paper", Options: map[string]string{"width": "3", "alpha": "1"}, Grid: true}, "prb/paper, alpha 1, width 3 (grid)"},
	} {
		if got := c.variant.title(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestSettingsModel(t *testing.T) {
	t.Parallel()
	s := settings{variant: variant{Policy: "prb", Preset: "paper", Options: map[string]string{"width": "20", "norm": "column", "center": "on"}}}
	m, err := s.model()
	if err != nil {
		t.Fatal(err)
	}
	if all := resolved(m); all["width"] != "20" || all["norm"] != "column" || all["center"] != "on" || all["layers"] != "2" {
		t.Errorf("%v", all)
	}
	s.Options = map[string]string{"norm": "diagonal"}
	if _, err := s.model(); err == nil {
		t.Error("an option that cannot be passes")
	}
}
