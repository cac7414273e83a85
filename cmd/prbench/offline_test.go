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

	"kith/cmd/internal/ogb"
	"kith/model"
	"kith/model/trial"
)

// community returns a benchmark made from a graph of communities: every tenth link is held out, and as many unlinked
// pairs.
func community(t *testing.T) *heldOut {
	t.Helper()
	data, err := trial.Generate(trial.Communities{Nodes: scaled(60, 120), Groups: 4, Degree: 12, Inside: 0.9, FeatureLen: 8, Noise: 0.5}, 3)
	if err != nil {
		t.Fatal(err)
	}
	d := &heldOut{nodes: data.Nodes, features: data.Features}
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
			into := map[int]*ogb.Part{0: &d.valid, 5: &d.test}[n%10]
			if into == nil {
				d.train = append(d.train, [2]model.ID{model.ID(u), v})
				continue
			}
			into.Links = append(into.Links, [2]model.ID{model.ID(u), v})
			into.Others = append(into.Others, stranger)
		}
	}
	return d
}

// Every kind of policy can be trained and evaluated, and beats chance, except prb, which learns little in 20 rounds.
func TestOfflineRuns(t *testing.T) {
	d := community(t)
	p := offlinePlan{rounds: 20, validEdges: true}
	policies := []string{"common_neighbors", "ppr", "ease", "prb"}
	if !testing.Short() {
		policies = append(policies, "default", "pair_net")
	}
	for _, policy := range policies {
		r, err := p.one(context.Background(), d, policy, 1)
		if err != nil {
			t.Fatalf("%s: %v", policy, err)
		}
		least := 0.55
		if policy == "prb" {
			least = 0.3
		}
		if r.Test.AUC < least || r.Valid.AUC < least || r.Policy != policy || r.Seed != 1 {
			t.Errorf("%s: %+v", policy, r)
		}
	}
}

// With validation edges as input, the test part is evaluated on the larger graph, and the validation part is not.
func TestOfflineValidEdges(t *testing.T) {
	t.Parallel()
	d := community(t)
	without, err := new(offlinePlan).one(context.Background(), d, "adamic_adar", 1)
	if err != nil {
		t.Fatal(err)
	}
	with, err := (&offlinePlan{validEdges: true}).one(context.Background(), d, "adamic_adar", 1)
	if err != nil {
		t.Fatal(err)
	}
	if with.Valid.AUC != without.Valid.AUC || with.Test.AUC == without.Test.AUC {
		t.Errorf("validation %v and %v, test %v and %v", without.Valid.AUC, with.Valid.AUC, without.Test.AUC, with.Test.AUC)
	}
}

func TestOfflineTable(t *testing.T) {
	t.Parallel()
	r := offlineResults{Dataset: "cora", K: 100, ValidEdges: true}
	for i, hits := range []float64{0.4, 0.5} {
		score := offlineScore{Hits: map[int]float64{100: hits, 20: 0.1, 50: 0.2}}
		r.Runs = append(r.Runs, offlineRun{Policy: "prb", Split: i, Test: score, Valid: score})
	}
	table := r.table()
	for _, want := range []string{"| cora | test Hits@100 | valid Hits@100 | test Hits@20 |", "45.00 ± 7.07", "| yes |", "| 2 | 92.33 |"} {
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

// Common neighbours and Adamic-Adar on ogbl-ddi have the Hits@20 that the PRB paper prints, in all digits.
func TestOfflineReproduces(t *testing.T) {
	folder := filepath.Join("..", "..", "..", "shared", "data", "ogbl_ddi")
	if _, err := fs.Stat(os.DirFS(folder), "raw"); err != nil {
		t.Skipf("shared/data is not there: %v", err)
	}
	slow(t)
	b, _ := rowOf(benchmarks(), "ogbl_ddi")
	d, err := b.load(os.DirFS(folder), 0)
	if err != nil {
		t.Fatal(err)
	}
	for policy, want := range map[string]float64{"common_neighbors": 17.73, "adamic_adar": 18.61, "resource_allocation": 6.23} {
		r, err := new(offlinePlan).one(context.Background(), d, policy, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := 100 * r.Test.Hits[20]; math.Abs(got-want) > 0.005 {
			t.Errorf("%s: Hits@20 = %.4f, want %v", policy, got, want)
		}
	}
}
