package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kith/model"
)

// settings are all parameters that determine the result of a run. They also determine its name.
type settings struct {
	Data       string            `json:"data"`
	DataSum    string            `json:"data_sum"`
	Protocol   string            `json:"protocol"`
	Features   string            `json:"features"`
	FeatureLen int               `json:"feature_len"`
	Classes    []model.ID        `json:"classes,omitempty"` // nodes that represent classes, for a policy that learns
	Policy     string            `json:"policy"`
	Preset     string            `json:"preset,omitempty"`  // preset of a policy that learns
	Options    map[string]string `json:"options,omitempty"` // options that differ from the preset
	Grid       bool              `json:"grid,omitempty"`    // some options are the best of a grid search
	Rounds     int               `json:"rounds"`
	Seed       uint64            `json:"seed"`
}

// spec returns the specification of the model.
func (s settings) spec() (model.Spec, error) {
	spec := model.Spec{Policy: s.Policy, Preset: s.Preset, FeatureLen: s.FeatureLen, Classes: s.Classes, Seed: s.Seed}
	for _, name := range slices.Sorted(maps.Keys(s.Options)) {
		if err := spec.Set(name, optionValue(s.Options[name])); err != nil {
			return spec, err
		}
	}
	return spec, spec.Validate()
}

// model returns a new model.
func (s settings) model() (*model.Model, error) {
	spec, err := s.spec()
	if err != nil {
		return nil, err
	}
	return model.New(spec)
}

// resolved returns the value of every option of a model except the seed.
func resolved(m *model.Model) map[string]string {
	all := make(map[string]string)
	for name, value := range m.Options() {
		if name != "seed" {
			all[name] = fmt.Sprint(value)
		}
	}
	return all
}

// optionValue returns text as a number if it is one.
func optionValue(text string) any {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return n
	}
	return text
}

// player returns the policy with its preset.
func (s settings) player() string {
	if s.Preset == "" || s.Policy == s.Preset {
		return s.Policy
	}
	return s.Policy + "/" + s.Preset
}

// choices returns the options that differ from the preset.
func (s settings) choices() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(s.Options)) {
		parts = append(parts, name+" "+s.Options[name])
	}
	text := strings.Join(parts, ", ")
	if s.Grid {
		text += " (grid)"
	}
	return text
}

// title returns the player with the options that differ from its preset.
func (s settings) title() string {
	if c := s.choices(); c != "" {
		return s.player() + ", " + c
	}
	return s.player()
}

func (s settings) name() string {
	parts := []string{s.Data, s.Protocol, s.Features, s.Policy}
	if s.Preset != "" {
		parts = append(parts, s.Preset)
	}
	return runName(s, append(parts, fmt.Sprintf("s%d", s.Seed))...)
}

// with returns the settings with further options.
func (s settings) with(options map[string]string) settings {
	all := maps.Clone(s.Options)
	if all == nil && len(options) > 0 {
		all = make(map[string]string)
	}
	maps.Copy(all, options)
	s.Options = all
	return s
}
