package main

import (
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"kith/cmd/prbench/internal/ogb"
	"kith/cmd/prbench/internal/trial"
)

// TestPaperReport compares the sections of a report with testdata/report.md; -update rewrites it.
func TestPaperReport(t *testing.T) {
	t.Parallel()
	at := place{Data: "grqc", Protocol: "paper", Features: "svd"}
	var runs []*regretRun
	for i, policy := range []string{"prb", "prb", "neural_ts", "default"} {
		preset := map[bool]string{true: "default", false: "paper"}[policy == "default"]
		c := trial.Curve{Regret: []int{3000 + 100*i}, Live: paperRounds, Time: 20 * time.Second}
		c.Parts = trial.Parts{Networks: 2 * time.Second, Walk: time.Second, Train: 16 * time.Second}
		s := settings{place: at, variant: variant{Policy: policy, Preset: preset, Options: map[string]string{"alpha": "0.5"}}, Rounds: paperRounds, Seed: uint64(i)}
		runs = append(runs, &regretRun{Settings: s, Result: c})
	}
	r := paperReport{rivals: rivalRows([]ogb.Result{
		{Data: "cora", Protocol: "ogb", Method: "gcn", Metric: "Hits@100", Value: 0.66, Seconds: 9, Note: "a note"},
		{Data: "cora", Protocol: "heart", Method: "gcn", Metric: "mrr", Value: 0.16}, {Data: "cora", Protocol: "heart", Method: "gcn", Metric: "hits@10", Value: 0.3},
	})}
	tables := newReport(runs).Tables
	r.regrets("online", &tables[0])
	r.alphas(tables)
	r.times(tables)
	score := ogb.Measures{Hits: map[int]float64{10: 0.2, 100: 0.9}, MRR: 0.25}
	var held []*offlineRun
	for _, negatives := range []string{"own", "heart"} {
		for _, policy := range []string{"default", "adamic_adar"} {
			s := offlineSettings{Data: "cora", Negatives: negatives, variant: variant{Policy: policy}}
			held = append(held, &offlineRun{Settings: s, Result: offlineResult{Test: score, Train: 3, Score: 0.5}})
		}
	}
	for _, table := range newOfflineReport(held).Tables {
		r.heldOut(map[string]string{"own": "offline", "heart": "heart"}[table.Negatives], table)
	}
	r.differences()
	golden := filepath.Join("testdata", "report.md")
	if *update {
		if err := os.WriteFile(golden, []byte(r.text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if r.text.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", r.text.String(), want)
	}
}

// Every row of a reason belongs to a stage, and a row without one says so.
func TestReasons(t *testing.T) {
	t.Parallel()
	for _, r := range reasons() {
		if r.text == "" || r.stage != "online" && r.stage != "classify" && r.stage != "offline" && r.stage != "heart" {
			t.Errorf("%+v", r)
		}
	}
	for _, method := range slices.Sorted(maps.Keys(benchmarks()[0].paper)) {
		for _, data := range []string{"cora", "citeseer"} {
			if got := reasonFor("offline", data, method); got == "not explained" {
				t.Errorf("%s on %s: %s", method, data, got)
			}
		}
	}
	if got := reasonFor("heart", "cora", "ncn"); got != "not explained" {
		t.Error(got)
	}
	if got := reasonFor("offline", "ogbl_ddi", "resource_allocation"); !strings.Contains(got, "6.23") {
		t.Error(got)
	}
}

// The plan counts units of progress: with several workers they take less time, unless runs are
// played one by one.
func TestStageSeconds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		alone bool
		want  float64
	}{{false, 10}, {true, 20}} {
		if got := (stage{secs: 0.02, alone: c.alone}).seconds(tally{all: 9, kept: 4, left: 1000}, 2); got != c.want {
			t.Errorf("alone %v: %v seconds, want %v", c.alone, got, c.want)
		}
	}
}

// A plan of held-out links names the runs without drawing the negatives of HeaRT, which takes long.
func TestPlanDrawsNoNegatives(t *testing.T) {
	t.Parallel()
	d := community(t)
	own := d.Split
	p := offlinePlan{negatives: "heart", policies: []string{"adamic_adar"}, seeds: 1}
	if err := p.parse(); err != nil {
		t.Fatal(err)
	}
	jobs := p.jobs(d, 0)
	var count tally
	s := session[offlineSettings, offlineResult]{workers: 1, log: io.Discard, tally: &count}
	if _, err := s.play(t.Context(), jobs); err != nil || count.all != 1 || count.kept != 0 || d.Split != own {
		t.Fatalf("%+v, %v", count, err)
	}
	for range 2 {
		if _, err := jobs[0].play(t.Context(), jobs[0].settings, func(int) {}); err != nil || d.Split == own || d.Test.Each != 500 {
			t.Fatalf("%d negatives of each link, %v", d.Test.Each, err)
		}
	}
}

// Ratings of 4 and 5 are links, 1 and 2 are listed as none, and the features are singular vectors
// of all ratings.
func TestReadRatings(t *testing.T) {
	t.Parallel()
	d, err := readRatings(fstest.MapFS{"u.data": {Data: []byte("1\t1\t5\t9\n1\t2\t4\t9\n2\t1\t1\t9\n2\t3\t3\t9\n")}})
	if err != nil {
		t.Fatal(err)
	}
	if d.Nodes != 5 || len(d.Positives) != 2 || len(d.Negatives) != 1 || !d.Linked(0, 2) || !d.Linked(0, 3) || d.Linked(1, 4) || len(d.Served) != 1 {
		t.Errorf("%+v", d)
	}
	sum := 0.0
	for _, row := range d.Features[:2] {
		for _, v := range row {
			sum += float64(v) * float64(v)
		}
	}
	if math.Abs(sum-2) > 1e-5 {
		t.Errorf("the rows of the users have the squares %v", sum)
	}
	if _, err := readRatings(fstest.MapFS{"u.data": {Data: []byte("1 2 9 3\n")}}); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a rating of 9: %v", err)
	}
}
