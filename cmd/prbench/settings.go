package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kith/model"
)

// settings is all that decides what a run comes to, and the name that it is kept under.
type settings struct {
	Data       string            `json:"data"`
	DataSum    string            `json:"data_sum"`
	Protocol   string            `json:"protocol"`
	Features   string            `json:"features"`
	FeatureLen int               `json:"feature_len"`
	Classes    []model.ID        `json:"classes,omitempty"` // nodes that stand for classes, for a policy that learns
	Policy     string            `json:"policy"`
	Preset     string            `json:"preset,omitempty"`  // of a policy that learns
	Options    map[string]string `json:"options,omitempty"` // that depart from the preset
	Grid       bool              `json:"grid,omitempty"`    // some options are the best of a grid search
	Rounds     int               `json:"rounds"`
	Seed       uint64            `json:"seed"`
}

// spec is the model that plays.
func (s settings) spec() (model.Spec, error) {
	spec := model.Spec{Policy: s.Policy, Preset: s.Preset, FeatureLen: s.FeatureLen, Classes: s.Classes, Seed: s.Seed}
	for _, name := range slices.Sorted(maps.Keys(s.Options)) {
		if err := spec.Set(name, optionValue(s.Options[name])); err != nil {
			return spec, err
		}
	}
	return spec, spec.Validate()
}

// model is a new one.
func (s settings) model() (*model.Model, error) {
	spec, err := s.spec()
	if err != nil {
		return nil, err
	}
	return model.New(spec)
}

// resolved is every option of the model with its value, but for the seed.
func (s settings) resolved() (map[string]string, error) {
	m, err := s.model()
	if err != nil {
		return nil, err
	}
	return resolved(m), nil
}

func resolved(m *model.Model) map[string]string {
	all := make(map[string]string)
	for name, value := range m.Options() {
		if name != "seed" {
			all[name] = fmt.Sprint(value)
		}
	}
	return all
}

// optionValue is a number where the text is one.
func optionValue(text string) any {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return n
	}
	return text
}

// player names the policy with its preset.
func (s settings) player() string {
	if s.Preset == "" || s.Policy == s.Preset {
		return s.Policy
	}
	return s.Policy + "/" + s.Preset
}

// choices names the options that depart from the preset.
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

// title names the player and what it departs in.
func (s settings) title() string {
	if c := s.choices(); c != "" {
		return s.player() + ", " + c
	}
	return s.player()
}

// name is a file name: what people look for, and a sum of everything.
func (s settings) name() string {
	b, err := json.Marshal(s) // the keys of a map are sorted
	if err != nil {
		panic("prbench: settings: " + err.Error())
	}
	sum := sha256.Sum256(b)
	parts := []string{s.Data, s.Protocol, s.Features, s.Policy}
	if s.Preset != "" {
		parts = append(parts, s.Preset)
	}
	return fmt.Sprintf("%s-s%d-%s.json", strings.Join(parts, "-"), s.Seed, hex.EncodeToString(sum[:6]))
}

// with departs in options as well.
func (s settings) with(options map[string]string) settings {
	all := maps.Clone(s.Options)
	if all == nil && len(options) > 0 {
		all = make(map[string]string)
	}
	maps.Copy(all, options)
	s.Options = all
	return s
}
