package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kith/cmd/prbench/internal/fitted"
	"kith/cmd/prbench/internal/trial"
	"kith/model"
)

// settings are all parameters that determine the result of a run that is played round by round.
type settings struct {
	place
	FeatureLen int        `json:"feature_len"`
	Classes    []model.ID `json:"classes,omitempty"` // nodes that represent classes, for a policy that learns
	variant
	Rounds int    `json:"rounds"`
	Seed   uint64 `json:"seed"`
}

// place is what a run is played on. Regrets of different places are not comparable.
type place struct {
	Data     string `json:"data"`
	DataSum  string `json:"data_sum"`
	Protocol string `json:"protocol"`
	Features string `json:"features"`
}

// variant is a policy with its options.
type variant struct {
	Policy  string            `json:"policy"`
	Preset  string            `json:"preset,omitempty"`  // of a policy that learns
	Options map[string]string `json:"options,omitempty"` // options that differ from the preset
	Grid    bool              `json:"grid,omitempty"`    // some options are the best of a grid search
	Walks   string            `json:"walks,omitempty"`   // repaired: from round to round; "": solved from scratch each round
}

// spec returns the specification of the model.
func (s settings) spec() (model.Spec, error) {
	spec, err := trial.WithPreset(model.Spec{Policy: s.Policy, FeatureLen: s.FeatureLen, Seed: s.Seed}, s.Preset)
	if err != nil {
		return spec, err
	}
	if len(s.Classes) > 0 {
		if spec, err = trial.Classifying(spec, len(s.Classes)); err != nil {
			return spec, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Options)) {
		var value any = s.Options[name]
		if n, err := strconv.ParseFloat(s.Options[name], 64); err == nil {
			value = n
		}
		if name == propagation {
			name, value = "norm", "column"
		}
		if err := spec.Set(name, value); err != nil {
			return spec, err
		}
	}
	base, err := trial.Base(spec)
	if err != nil {
		return spec, err
	}
	return spec, base.Validate()
}

// entry returns how the policy plays.
func (s settings) entry() (trial.Entry, error) {
	spec, err := s.spec()
	return trial.Entry{
		Spec: spec, Repaired: s.Walks == "repaired", OneWay: s.Options[propagation] != "", Released: s.Preset == "released",
	}, err
}

// propagation is the option whose value released selects the walk of the authors' program.
const propagation = "propagation"

func (s settings) data() (name, sum string) { return s.Data, s.DataSum }

// model returns a new model.
func (s settings) model() (*model.Model, error) {
	spec, err := s.spec()
	if err != nil {
		return nil, err
	}
	return trial.NewModel(spec)
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

func (s settings) name() string {
	parts := []string{s.Data, s.Protocol, s.Features, s.Policy}
	if s.Preset != "" {
		parts = append(parts, s.Preset)
	}
	return runName(s, append(parts, fmt.Sprintf("s%d", s.Seed))...)
}

// with returns the settings with further options.
func (s settings) with(options map[string]string) settings {
	s.variant = s.variant.with(options)
	return s
}

// with returns the variant with further options.
func (v variant) with(options map[string]string) variant {
	all := maps.Clone(v.Options)
	if all == nil && len(options) > 0 {
		all = make(map[string]string)
	}
	maps.Copy(all, options)
	v.Options = all
	return v
}

// player returns the policy with its preset.
func (v variant) player() string {
	if v.Preset == "" || v.Policy == v.Preset {
		return v.Policy
	}
	return v.Policy + "/" + v.Preset
}

// choices returns the options that differ from the preset.
func (v variant) choices() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(v.Options)) {
		parts = append(parts, name+" "+v.Options[name])
	}
	if v.Walks != "" {
		parts = append(parts, "walks "+v.Walks)
	}
	text := strings.Join(parts, ", ")
	if v.Grid {
		text += " (grid)"
	}
	return text
}

// title returns the player with the options that differ from its preset.
func (v variant) title() string {
	if c := v.choices(); c != "" {
		return v.player() + ", " + c
	}
	return v.player()
}

// parseSet parses options of the form name=value. presets says that preset is accepted: the command
// has no flag for it.
func parseSet(texts []string, presets bool) (map[string]string, error) {
	set, options := make(map[string]string), []string{}
	for _, o := range model.DescribeOptions() {
		options = append(options, o.Name)
	}
	options = append(append(options, fitted.Options()...), propagation)
	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		switch {
		case !ok || name == "" || value == "":
			return nil, fmt.Errorf("--set %q (accepted: name=value)", text)
		case name == "seed" || name == "preset" && !presets:
			return nil, fmt.Errorf("--set %s: see --first-seed and --preset", name)
		case !slices.Contains(options, name):
			return nil, fmt.Errorf("--set %s: unknown option (accepted: %s)", name, strings.Join(options, ", "))
		}
		if name == propagation && value != "released" {
			return nil, fmt.Errorf("--set %s: the only accepted value is released", text)
		}
		set[name] = value
	}
	return set, nil
}
