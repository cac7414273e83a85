package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func TestPlanChecks(t *testing.T) {
	t.Parallel()
	good := experiment{folders: []string{"d"}, policies: []string{"prb"}, preset: "paper", rounds: 1, seeds: 1, firstSeed: 1, workers: 1, out: "o"}
	if err := good.checkKept(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*experiment){
		"--data DIR":                          func(p *experiment) { p.folders = nil },
		"--out DIR":                           func(p *experiment) { p.out = "" },
		"--rounds must be at least 1, got 0":  func(p *experiment) { p.rounds = 0 },
		"--seeds must be at least 1, got -1":  func(p *experiment) { p.seeds = -1 },
		"--workers must be at least 1, got 0": func(p *experiment) { p.workers = 0 },
		"grid searches":                       func(p *experiment) { p.firstSeed, p.seeds = gridSeed-9, 10 },
		`policy "prp"`:                        func(p *experiment) { p.policies = []string{"prb", "prp"} },
		`preset "papre"`:                      func(p *experiment) { p.preset = "papre" },
		"accepted: name=":                     func(p *experiment) { p.set = []string{"alpha"} },
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
	x := experiment{
		folders: []string{links}, protocols: []string{"paper", "fresh"}, features: []string{"svd", "none"},
		policies: []string{"default", "ppr"}, preset: "paper", set: []string{"alpha=0.5"}, rounds: 7, seeds: 2, firstSeed: 5,
	}
	got := jobTitles(t, x)
	want := []string{
		"paper svd 3 0 default, alpha 0.5 7 5", "paper svd 3 0 default, alpha 0.5 7 6", "paper svd 3 0 ppr, alpha 0.5 7 5", "paper svd 3 0 ppr, alpha 0.5 7 6",
		"paper none 0 0 default, alpha 0.5 7 5",
	}
	if len(got) != 16 || strings.Join(got[:5], ";") != strings.Join(want, ";") {
		t.Errorf("%d jobs: %q", len(got), got)
	}
	x.folders, x.protocols, x.features = []string{topics}, []string{"classify"}, []string{"attributes"}
	x.classify, x.reveal, x.policies, x.seeds = true, true, []string{"prb_n", "ppr"}, 1
	got = jobTitles(t, x)
	if want := "classify attributes 4 3 prb_n/paper, alpha 0.5 7 5;classify attributes 4 0 ppr, alpha 0.5 7 5"; strings.Join(got, ";") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func jobTitles(t *testing.T, x experiment) (titles []string) {
	t.Helper()
	if err := x.check(); err != nil {
		t.Fatal(err)
	}
	if err := x.read(); err != nil {
		t.Fatal(err)
	}
	for _, j := range x.jobs("", nil) {
		s := j.settings[0]
		titles = append(titles, fmt.Sprint(s.Protocol, " ", s.Features, " ", s.FeatureLen, " ", len(s.Classes), " ", s.title(), " ", s.Rounds, " ", s.Seed))
	}
	return titles
}
