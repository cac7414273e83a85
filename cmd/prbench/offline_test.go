package main

import (
	"context"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kith/cmd/prbench/internal/ogb"
	"kith/cmd/prbench/internal/trial"
	"kith/model"
)

// community returns a benchmark made from a graph of communities: every tenth link is held out, and
// as many unlinked pairs.
func community(t *testing.T) *heldOut {
	t.Helper()
	data, err := trial.Generate(trial.Communities{Nodes: scaled(60, 120), Groups: 4, Degree: 12, Inside: 0.9, FeatureLen: 8, Noise: 0.5}, 3)
	if err != nil {
		t.Fatal(err)
	}
	d := &heldOut{nodes: data.Nodes, features: data.Features, Split: &ogb.Split{}}
	n := 0
	for u, row := range data.Links {
		for _, v := range row {
			if v < model.ID(u) {
				continue
			}
			n++
			stranger := [2]model.ID{model.ID(u), model.ID((u*7 + n*13) % data.Nodes)}
			for data.Linked(stranger[0], stranger[1]) || stranger[0] == stranger[1] {
				stranger[1] = (stranger[1] + 1) % model.ID(data.Nodes)
			}
			into := map[int]*ogb.Part{0: &d.Valid, 5: &d.Test}[n%10]
			if into == nil {
				d.Train = append(d.Train, [2]model.ID{model.ID(u), v})
				continue
			}
			into.Links = append(into.Links, [2]model.ID{model.ID(u), v})
			into.Others = append(into.Others, stranger)
		}
	}
	return d
}

// playOffline plays a policy with the plan's options.
func playOffline(t *testing.T, p offlinePlan, d *heldOut, policy string, seed uint64) offlineResult {
	t.Helper()
	p.policies = []string{policy}
	if err := p.parse(); err != nil {
		t.Fatal(err)
	}
	r, err := p.settings(d, p.contenders[0], 0, seed).play(context.Background(), d)
	if err != nil {
		t.Fatalf("%s: %v", policy, err)
	}
	return r
}

// Every kind of policy can be trained and evaluated, and beats chance, except prb, which learns
// little in 20 rounds.
func TestOfflineRuns(t *testing.T) {
	d := community(t)
	p := offlinePlan{rounds: 20, validEdges: true}
	policies := []string{"common_neighbors", "ppr", "ease", "prb"}
	if !testing.Short() {
		policies = append(policies, "default", "pair_net")
	}
	for _, policy := range policies {
		r := playOffline(t, p, d, policy, 1)
		least := 0.55
		if policy == "prb" {
			least = 0.3
		}
		if r.Test.AUC < least || r.Valid.AUC < least {
			t.Errorf("%s: %+v", policy, r)
		}
	}
}

// More rounds do not make a policy worse that reads the structure of the graph. They did when links
// that were won left the rounds, so that the close pairs that remained were those without a link.
func TestOfflineRoundsDoNotMislead(t *testing.T) {
	t.Parallel()
	d := community(t)
	rounds := scaled(1000, 3000)
	r := playOffline(t, offlinePlan{rounds: rounds}, d, "neural_greedy", 1)
	if mean := (r.Test.AUC + r.Valid.AUC) / 2; mean < 0.5 {
		t.Errorf("AUC %.3f after %d rounds", mean, rounds)
	}
}

// Passes over the training edges teach prb what links them.
func TestOfflineEdges(t *testing.T) {
	t.Parallel()
	d := community(t)
	r := playOffline(t, offlinePlan{training: "edges", epochs: 30}, d, "prb", 1)
	if r.Test.AUC < 0.7 || r.Valid.AUC < 0.6 {
		t.Errorf("AUC %.3f, validation %.3f", r.Test.AUC, r.Valid.AUC)
	}
}

// Options that a policy does not read make no other run of it.
func TestOfflineSettings(t *testing.T) {
	t.Parallel()
	p := offlinePlan{set: []string{"width=500", "preset=paper"}, policies: []string{"prb", "common_neighbors"}, training: "edges", epochs: 7, rounds: 9}
	if err := p.parse(); err != nil {
		t.Fatal(err)
	}
	prb, plain := p.settings(&heldOut{}, p.contenders[0], 0, 1), p.settings(&heldOut{}, p.contenders[1], 0, 1)
	if prb.title() != "prb/paper, width 500, 7 epochs" || prb.Rounds != 0 {
		t.Errorf("%q, %+v", prb.title(), prb)
	}
	if plain.title() != "common_neighbors" || plain.Epochs != 0 {
		t.Errorf("%q, %+v", plain.title(), plain)
	}
}

// With validation edges as input, the test part is evaluated on the larger graph, and the
// validation part is not.
func TestOfflineValidEdges(t *testing.T) {
	t.Parallel()
	d := community(t)
	without := playOffline(t, offlinePlan{}, d, "adamic_adar", 1)
	with := playOffline(t, offlinePlan{validEdges: true}, d, "adamic_adar", 1)
	if with.Valid.AUC != without.Valid.AUC || with.Test.AUC == without.Test.AUC {
		t.Errorf("validation %v and %v, test %v and %v", without.Valid.AUC, with.Valid.AUC, without.Test.AUC, with.Test.AUC)
	}
}

func TestOfflineTable(t *testing.T) {
	t.Parallel()
	var runs []*offlineRun
	for i, hits := range []float64{0.4, 0.5} {
		score := ogb.Measures{Hits: map[int]float64{100: hits, 20: 0.1, 50: 0.2}}
		s := offlineSettings{Data: "cora", Negatives: "own", Split: i, ValidEdges: true, variant: variant{Policy: "prb", Preset: "paper"}, Rounds: 5}
		runs = append(runs, &offlineRun{Settings: s, Result: offlineResult{Test: score, Valid: score}})
	}
	table := newOfflineReport(runs).markdown()
	for _, want := range []string{
		"| cora, negatives own | test Hits@100 | valid Hits@100 | test Hits@10 |", "45.00 ± 7.07", "| yes |", "| 2 | 92.33 |", "| prb/paper, 5 rounds |",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
}

func TestParseRange(t *testing.T) {
	t.Parallel()
	for s, want := range map[string][]int{"": {0, 1, 2}, "1": {1}, "0..1": {0, 1}, "3": nil, "2..1": nil, "a": nil, "0..9": nil} {
		got, err := parseRange(s, 3)
		if !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q: %v, %v, want %v", s, got, err, want)
		}
	}
}

// Common neighbours and Adamic-Adar on ogbl-ddi have the Hits@20 that the PRB paper prints, in all
// digits.
func TestOfflineReproduces(t *testing.T) {
	folder := filepath.Join("..", "..", "..", "shared", "data", "ogbl_ddi")
	if _, err := fs.Stat(os.DirFS(folder), "raw"); err != nil {
		t.Skipf("shared/data is not there: %v", err)
	}
	slow(t)
	b, _ := rowOf(benchmarks(), "ogbl_ddi")
	d, err := b.load(os.DirFS(filepath.Dir(folder)), 0, false)
	if err != nil {
		t.Fatal(err)
	}
	for policy, want := range map[string]float64{"common_neighbors": 17.73, "adamic_adar": 18.61, "resource_allocation": 6.23} {
		r := playOffline(t, offlinePlan{}, d, policy, 1)
		if got := 100 * r.Test.Hits[20]; math.Abs(got-want) > 0.005 {
			t.Errorf("%s: Hits@20 = %.4f, want %v", policy, got, want)
		}
	}
}
