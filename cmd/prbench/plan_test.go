package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

func TestPlanChecks(t *testing.T) {
	t.Parallel()
	good := plan{data: []string{"d"}, policies: []string{"prb"}, preset: "paper", rounds: 1, seeds: 1, firstSeed: 1, workers: 1, out: "o"}
	if err := good.checkKept(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*plan){
		"--data DIR":                          func(p *plan) { p.data = nil },
		"--out DIR":                           func(p *plan) { p.out = "" },
		"--rounds must be at least 1, got 0":  func(p *plan) { p.rounds = 0 },
		"--seeds must be at least 1, got -1":  func(p *plan) { p.seeds = -1 },
		"--workers must be at least 1, got 0": func(p *plan) { p.workers = 0 },
		"grid searches":                       func(p *plan) { p.firstSeed, p.seeds = gridSeed-9, 10 },
		`policy "prp"`:                        func(p *plan) { p.policies = []string{"prb", "prp"} },
		`preset "papre"`:                      func(p *plan) { p.preset = "papre" },
		"accepted: name=":                     func(p *plan) { p.set = []string{"alpha"} },
	} {
		p := good
		change(&p)
		if err := p.checkKept(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	good.firstSeed, good.seeds = gridSeed-10, 10
	if err := good.checkKept(); err != nil {
		t.Errorf("seeds up to that of grid searches: %v", err)
	}
}

// An experiment has a job for every policy, seed and arena. Features and classes are those of the arena, and only for
// policies that learn.
func TestJobs(t *testing.T) {
	t.Parallel()
	links, topics := filepath.Join(t.TempDir(), "small"), filepath.Join(t.TempDir(), "topics")
	if err := writeLinks(links); err != nil {
		t.Fatal(err)
	}
	if err := writeClasses(topics); err != nil {
		t.Fatal(err)
	}
	p := plan{
		data: []string{links}, protocols: []string{"paper", "fresh"}, features: []string{"svd", "none"},
		policies: []string{"default", "ppr"}, preset: "paper", set: []string{"alpha=0.5"}, rounds: 7, seeds: 2, firstSeed: 5,
	}
	got := jobTitles(t, p, p.linkArenas)
	want := []string{
		"paper svd 3 0 default, alpha 0.5 7 5", "paper svd 3 0 default, alpha 0.5 7 6", "paper svd 3 0 ppr, alpha 0.5 7 5", "paper svd 3 0 ppr, alpha 0.5 7 6",
		"paper none 0 0 default, alpha 0.5 7 5",
	}
	if len(got) != 16 || strings.Join(got[:5], ";") != strings.Join(want, ";") {
		t.Errorf("%d jobs: %q", len(got), got)
	}
	p.data, p.features, p.classify, p.policies, p.seeds = []string{topics}, []string{"attributes"}, true, []string{"prb_n", "ppr"}, 1
	got = jobTitles(t, p, func() ([]arena, error) { return p.classArenas(true) })
	if want := "classify attributes 4 3 prb_n/paper, alpha 0.5 7 5;classify attributes 4 0 ppr, alpha 0.5 7 5"; strings.Join(got, ";") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func jobTitles(t *testing.T, p plan, arenas func() ([]arena, error)) (titles []string) {
	t.Helper()
	x, err := p.experiment(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if x.arenas, err = arenas(); err != nil {
		t.Fatal(err)
	}
	for _, j := range x.jobs(nil) {
		s := j.settings
		titles = append(titles, fmt.Sprint(s.Protocol, " ", s.Features, " ", s.FeatureLen, " ", len(s.Classes), " ", s.title(), " ", s.Rounds, " ", s.Seed))
	}
	return titles
}
