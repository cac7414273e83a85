package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"kith/cmd/prbench/internal/trial"
)

// smallExperiment returns an experiment on a small graph, in two arenas.
func smallExperiment(t *testing.T, policies ...string) *experiment {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "small")
	if err := writeLinks(folder); err != nil {
		t.Fatal(err)
	}
	x := &experiment{
		folders: []string{folder}, protocols: []string{"released", "fresh"}, features: []string{"svd"}, policies: policies, preset: "paper",
		rounds: 60, seeds: 2, firstSeed: 1, workers: 1, out: filepath.Join(t.TempDir(), "out"), log: new(bytes.Buffer),
	}
	if err := x.check(); err != nil {
		t.Fatal(err)
	}
	if err := x.read(); err != nil {
		t.Fatal(err)
	}
	return x
}

// kept returns the stored runs of an experiment, without their times.
func kept(t *testing.T, x *experiment) map[string]regretRun {
	t.Helper()
	all, err := x.shelf("runs").runs(settings.data)
	if err != nil {
		t.Fatal(err)
	}
	byName := make(map[string]regretRun)
	for _, r := range all {
		r.Result.Time, r.Result.Parts = 0, trial.Parts{}
		var err error
		if r.Sum, err = r.checksum(); err != nil {
			t.Fatal(err)
		}
		byName[r.Settings.name()] = *r
	}
	return byName
}

func perLive(c trial.Curve) float64 { return float64(c.Final()) / float64(max(c.Live, 1)) }

func same(a, b map[string]regretRun) bool {
	for name, r := range a {
		if b[name].Sum != r.Sum {
			return false
		}
	}
	return len(a) == len(b)
}

// An experiment that is interrupted and continued has the same result as one that is not, with any
// number of workers. Stored runs are not played again.
func TestResume(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	x := smallExperiment(t, "prb", "neural_greedy", "random")
	if err := x.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	want := kept(t, x)
	if len(want) != 12 {
		t.Errorf("%d runs, want 2 arenas x 3 policies x 2 seeds", len(want))
	}

	x.out, x.workers = filepath.Join(t.TempDir(), "out"), 3
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	x.log = writer(func(line string) { stop() }) // after the first run
	if err := x.run(ctx); err == nil {
		t.Error("an interrupted experiment ends well")
	}
	some := len(kept(t, x))
	if some == 0 || some == 12 {
		t.Fatalf("%d runs are kept of an interrupted experiment", some)
	}
	played := 0
	x.log = writer(func(string) { played++ })
	if err := x.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := kept(t, x); !same(got, want) || played != 12-some {
		t.Errorf("%d of %d runs, %d of %d missing ones played", len(got), len(want), played, 12-some)
	}
}

// writer is an io.Writer that calls itself for each write.
type writer func(string)

func (w writer) Write(b []byte) (int, error) {
	w(string(b))
	return len(b), nil
}

// The grid is played on a seed of its own, and the runs use its best options.
func TestSearchGrid(t *testing.T) {
	x := smallExperiment(t, "prb_greedy", "random")
	x.arenas, x.seeds, x.grid = x.arenas[:1], 1, true
	if err := x.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	searched, err := x.shelf("grid").runs(settings.data)
	if err != nil || len(searched) != 4 {
		t.Fatalf("%d runs in search of 4, %v", len(searched), err)
	}
	best := searched[0]
	for _, r := range searched {
		if r.Settings.Seed != gridSeed || r.Settings.Rounds != 60 {
			t.Errorf("searched %+v", r.Settings)
		}
		if perLive(r.Result) < perLive(best.Result) {
			best = r
		}
	}
	for _, r := range kept(t, x) {
		s := r.Settings
		if s.Policy == "random" && !s.Grid && len(s.Options) == 0 {
			continue
		}
		var of *regretRun
		for _, r := range searched {
			if r.Settings.Options["exploit_rate"] == s.Options["exploit_rate"] {
				of = r
			}
		}
		if !s.Grid || of == nil || perLive(of.Result) != perLive(best.Result) {
			t.Errorf("played with %v, best is %v", s.Options, best.Settings.Options)
		}
	}
	x.log = writer(func(line string) { t.Errorf("played again: %s", line) })
	if err := x.run(context.Background()); err != nil {
		t.Error(err)
	}
}

// The grid of neural_ucb is played with the rate that is best for neural_greedy, whose grid is
// played first.
func TestSearchGridAfterGreedy(t *testing.T) {
	x := smallExperiment(t, "neural_ucb")
	x.arenas, x.seeds, x.grid, x.rounds = x.arenas[:1], 1, true, 55
	if err := x.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	searched, err := x.shelf("grid").runs(settings.data)
	if err != nil {
		t.Fatal(err)
	}
	var greedy, ucb []settings
	runs := make(map[string]*regretRun)
	regret := make(map[string]float64) // of neural_greedy by its rate
	for _, r := range searched {
		runs[r.Settings.name()] = r
		switch r.Settings.Policy {
		case "neural_greedy":
			greedy = append(greedy, r.Settings)
			regret[r.Settings.Options["exploit_rate"]] = perLive(r.Result)
		case "neural_ucb":
			ucb = append(ucb, r.Settings)
		}
	}
	if len(greedy) != 4 || len(ucb) != 12 || len(searched) != 16 {
		t.Fatalf("%d runs of neural_greedy, %d of neural_ucb, %d in all", len(greedy), len(ucb), len(searched))
	}
	// Several rates may have equal regrets: the chosen one is as good as the best.
	least := regret[best(greedy, runs)["exploit_rate"]]
	for _, s := range ucb {
		o := s.Options
		if v, known := regret[o["exploit_rate"]]; !known || v != least || o["nu"] == "" || o["lambda"] == "" {
			t.Errorf("searched %v", o)
		}
	}
	for _, r := range kept(t, x) {
		if o := r.Settings.Options; len(o) != 3 || !r.Settings.Grid {
			t.Errorf("played with %v", o)
		}
	}
}

// The best point of a grid has the least regret per live round.
func TestBestOfGrid(t *testing.T) {
	var points []settings
	runs := make(map[string]*regretRun)
	for i, c := range []struct{ regret, live int }{{50, 60}, {40, 50}, {40, 60}, {40, 60}} {
		s := settings{variant: variant{Policy: "prb", Options: map[string]string{"width": []string{"1", "2", "3", "4"}[i]}}}
		points = append(points, s)
		runs[s.name()] = &regretRun{Result: trial.Curve{Regret: []int{c.regret}, Live: c.live}}
	}
	if best := best(points, runs); best["width"] != "3" {
		t.Errorf("best: %v", best)
	}
}

// A run that cannot be played is reported before any run is played.
func TestCheckBeforePlaying(t *testing.T) {
	x := smallExperiment(t, "random", "prb")
	x.options = map[string]string{"blocks": "structural", "width": "0"}
	err := x.run(context.Background())
	if err == nil || !strings.Contains(err.Error(), "width") {
		t.Errorf("%v", err)
	}
	if got := kept(t, x); len(got) > 0 {
		t.Errorf("%d runs were played", len(got))
	}
}

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

// An experiment has a job for every policy, seed and arena. Features and classes are those of the
// arena, and only for policies that learn.
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
