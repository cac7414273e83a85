package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kith/cmd/prbench/internal/trial"
)

// records returns runs with the given regrets, with seeds from 1.
func records(t *testing.T, s settings, regrets ...int) (all []*regretRun) {
	t.Helper()
	for i, regret := range regrets {
		s.Seed = uint64(i + 1)
		curve := make([]int, s.Rounds)
		for j := range curve {
			curve[j] = regret * (j + 1) / s.Rounds
		}
		r, err := newRun(s, trial.Curve{Regret: curve, Live: s.Rounds, Time: 1e6}.Thin(samples))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

func TestReport(t *testing.T) {
	t.Parallel()
	base := settings{place: place{Data: "grqc", Protocol: "paper", Features: "svd"}, FeatureLen: 2, variant: variant{Policy: "prb", Preset: "paper"}, Rounds: paperRounds}
	fresh, greedy, random := base, base, base
	fresh.Protocol = "fresh"
	greedy.Policy, greedy.Options, greedy.Grid = "prb_greedy", map[string]string{"exploit_rate": "0.01"}, true
	random.Policy, random.Preset = "random", ""
	var all []*regretRun
	all = append(all, records(t, random, 9000)...)
	all = append(all, records(t, fresh, 8000, 8200)...)
	all = append(all, records(t, greedy, 7000)...)
	all = append(all, records(t, base, 3000, 3010, 3020)...)
	r := newReport(all)
	text := r.markdown()
	for _, want := range []string{
		"- Runs by build of the tool: unknown revision (7).\n",
		"## grqc, protocol fresh, features svd, 10000 rounds\n",
		"| prb/paper | 8100 | 141 | 2 | 0.810 | 0.00 |  |  |\n",
		"## grqc, protocol paper, features svd, 10000 rounds\n",
		"| prb/paper | 3010 | 10 | 3 | 0.301 | 0.00 |  | 3236 |\n" +
			"| prb_greedy/paper | 7000 | 0 | 1 | 0.700 | 0.00 | exploit_rate 0.01 (grid) | 3332 |\n" +
			"| random | 9000 | 0 | 1 | 0.900 | 0.00 |  |  |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	out := t.TempDir()
	if err := r.draw(out); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"grqc-paper-svd-10000.svg", "grqc-fresh-svd-10000.svg"} {
		if info, err := os.Stat(filepath.Join(out, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A picture names a player without its options, unless they distinguish it from another.
func TestPictureNames(t *testing.T) {
	t.Parallel()
	base := settings{place: place{Data: "grqc", Protocol: "paper", Features: "svd"}, FeatureLen: 2, variant: variant{Policy: "prb", Preset: "paper"}, Rounds: 10}
	narrow := base.with(map[string]string{"width": "10"})
	greedy := narrow
	greedy.Policy = "prb_greedy"
	var all []*regretRun
	for _, s := range []settings{base, narrow, greedy} {
		all = append(all, records(t, s, 5, 6)...)
	}
	r := newReport(all)
	var got []string
	for _, c := range r.Tables[0].curves().Curves {
		got = append(got, c.Name)
	}
	want := []string{"prb/paper", "prb/paper", "prb/paper, width 10", "prb/paper, width 10", "prb_greedy/paper", "prb_greedy/paper"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestPaperFigure(t *testing.T) {
	t.Parallel()
	s := settings{place: place{Data: "amazon", Protocol: "released"}, variant: variant{Policy: "neural_ts", Preset: "released"}, Rounds: paperRounds}
	if f, ok := paperFigure(s.place, s.variant, s.Rounds); !ok || f != (spread{2055, 21.9}) {
		t.Errorf("%v", f)
	}
	for name, change := range map[string]func(*settings){
		"fresh":      func(s *settings) { s.Protocol = "fresh" },
		"our preset": func(s *settings) { s.Preset = "default" },
		"our policy": func(s *settings) { s.Policy = "default" },
		"yelp":       func(s *settings) { s.Data = "yelp" },
		"short":      func(s *settings) { s.Rounds = 2000 },
	} {
		other := s
		change(&other)
		if f, ok := paperFigure(other.place, other.variant, other.Rounds); ok {
			t.Errorf("%s: the paper prints %v", name, f)
		}
	}
}
