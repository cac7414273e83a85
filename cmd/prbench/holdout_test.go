package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kith/query"
)

// writeRing writes the edges of a ring of n nodes in which nearby nodes are linked.
func writeRing(name string, n int) error {
	var list strings.Builder
	for u := range n {
		for _, step := range []int{1, 2, 3, 7} {
			fmt.Fprintln(&list, u, (u+step)%n)
		}
	}
	return os.WriteFile(name, []byte(list.String()), 0o600)
}

// ringPlan returns the plan of a small holdout.
func ringPlan(t *testing.T) *holdoutPlan {
	t.Helper()
	name := filepath.Join(t.TempDir(), "ring.txt")
	if err := writeRing(name, scaled(30, 60)); err != nil {
		t.Fatal(err)
	}
	p := &holdoutPlan{
		data: []string{name}, among: []string{"NEIGHBORS(2)", "all"}, policies: []string{"prior", "common_neighbors", "default"},
		question: holdoutQuestion{Share: 0.1, Sample: 8}, seeds: 2, firstSeed: 1, workers: 2, out: t.TempDir(), log: new(bytes.Buffer),
	}
	if err := p.check(); err != nil {
		t.Fatal(err)
	}
	return p
}

// played plays the missing runs. It returns all stored runs without their times, and the number of
// runs played.
func played(t *testing.T, p *holdoutPlan) (all []holdoutRun, n int) {
	t.Helper()
	log := new(bytes.Buffer)
	p.log = log
	if err := p.play(context.Background()); err != nil {
		t.Fatal(err)
	}
	runs, err := p.shelf().runs(holdoutSettings.data)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		r.Result.Train, r.Result.Question, r.Sum = 0, 0, ""
		all = append(all, *r)
	}
	return all, strings.Count(log.String(), "\n")
}

// A holdout continues after an interruption. Its result does not depend on the runs stored before
// or on the number of workers.
func TestHoldoutResumes(t *testing.T) {
	t.Parallel()
	p := ringPlan(t)
	p.policies[2] = "ease"
	whole, n := played(t, p)
	if n != 12 || len(whole) != 12 {
		t.Fatalf("%d runs are kept, %d were played", len(whole), n)
	}
	if _, n := played(t, p); n != 0 {
		t.Errorf("%d runs were played again", n)
	}
	for _, r := range whole[3:8] {
		if err := os.Remove(filepath.Join(p.out, "runs", r.Settings.name())); err != nil {
			t.Fatal(err)
		}
	}
	p.workers = 1
	if again, n := played(t, p); n != 5 || !reflect.DeepEqual(again, whole) {
		t.Errorf("%d runs were played to replace 5:\n%v\n%v", n, again, whole)
	}
	p.policies = append(p.policies, "ppr")
	if more, n := played(t, p); n != 4 || len(more) != 16 {
		t.Errorf("one more policy: %d runs were played, %d are kept", n, len(more))
	}
}

// A run has the results of EVALUATE.
func TestHoldoutIsEvaluate(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	p := ringPlan(t)
	p.seeds = 1
	runs, _ := played(t, p)
	g, err := p.graphs[0].load(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for _, r := range runs {
		using := " USING " + r.Settings.Policy
		if r.Settings.Policy == priorName {
			using = ""
		}
		rows, err := query.Run(ctx, g, "EVALUATE PREDICT LINKS FOR SAMPLE(8) AMONG "+r.Settings.Among+using+" ON HOLDOUT 0.1 WITH (seed = 1)")
		if err != nil {
			t.Fatal(err)
		}
		want := map[any]float64{"mrr": r.Result.MRR, "hits@10": r.Result.Hits}
		for _, row := range rows.Rows[:2] {
			if row[2] != want[row[1]] {
				t.Errorf("%v: EVALUATE has %v %v", r, row[1], row[2])
			}
		}
	}
}

// madeRun returns a run with the given results.
func madeRun(data, among, policy string, seed uint64, mrr, hits float64) *holdoutRun {
	return &holdoutRun{
		Settings: holdoutSettings{holdoutQuestion{Data: data, Kind: "directed", Among: among, Share: 0.1, Sample: 9}, policy, seed},
		Result:   holdoutResult{MRR: mrr, Hits: hits, Links: 10, Reached: 5, Train: 2, Question: 0.003},
	}
}

// The worst cell comes first, ratios are over the seeds that both rows have, and a policy that
// refused is not compared.
func TestHoldoutReport(t *testing.T) {
	t.Parallel()
	refused := madeRun("a", "ALL", "ease", 1, 0, 0)
	refused.Result.Refused = "too large"
	r := newHoldoutReport([]*holdoutRun{
		madeRun("a", "ALL", "default", 1, 0.6, 0.8), madeRun("a", "ALL", "ppr", 1, 0.3, 0.5), madeRun("a", "ALL", "prior", 1, 0.5, 0.7), refused,
		madeRun("b", "ALL", "default", 1, 0.2, 0.3), madeRun("b", "ALL", "default", 2, 0.4, 0.5),
		madeRun("b", "ALL", "ppr", 1, 0.25, 0.3), madeRun("b", "ALL", "adamic_adar", 2, 0.2, 0.2), madeRun("b", "ALL", "pair_net", 2, 0.4, 1),
		madeRun("c", "ALL", "default", 1, 0.1, 0.1), madeRun("c", "ALL", "common_neighbors", 1, 0, 0),
		madeRun("d", "ALL", "ppr", 1, 0.1, 0.1),
	})
	var order []string
	for _, c := range r.Cells {
		order = append(order, c.Data)
	}
	if want := []string{"b", "a", "c", "d"}; !slices.Equal(order, want) {
		t.Errorf("cells %v, want %v", order, want)
	}
	b, a := r.Cells[0], r.Cells[1]
	if want := (holdoutRatio{MRR: 0.8, MRRTo: "ppr", Hits: 0.5, HitsTo: "pair_net", OtherMRR: 0.25}); b.Best != want {
		t.Errorf("best other of b: %+v, want %+v", b.Best, want)
	}
	if want := (holdoutRatio{MRR: 0.8, MRRTo: "ppr", Hits: 1, HitsTo: "ppr", OtherMRR: 0.25}); b.Plain != want {
		t.Errorf("best heuristic of b: %+v, want %+v", b.Plain, want)
	}
	if a.Best.MRRTo != "prior" || a.Plain.MRR != 2 {
		t.Errorf("a: %+v, %+v", a.Best, a.Plain)
	}
	if math.Abs(b.row("default").MRR.SD-math.Sqrt(0.02)) > 1e-9 || a.row("default").MRR.SD != 0 {
		t.Errorf("deviations %v, %v", b.row("default").MRR, a.row("default").MRR)
	}
	text := r.markdown()
	for _, want := range []string{
		"| b | ALL | 2 | 0.3000 | 0.4000 | 0.2500 | ppr | 0.800 | 0.500 | 0.800 | 1.000 | ppr |\n| a | ALL | 1 | 0.6000",
		"| ease | 1 | refused |",
		"## b, directed, AMONG ALL, share 0.1, 9 nodes\n\n50 % of the hidden links are among the candidates.",
		"| default | 2 | 0.3000 | 0.1414 | 0.4000 | 0.1414 | 2.0 | 3.00 |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// A ratio to a policy that found nothing is undefined and left out of the mean.
func TestHoldoutMean(t *testing.T) {
	t.Parallel()
	r := newHoldoutReport([]*holdoutRun{
		madeRun("a", "ALL", "default", 1, 0.2, 0), madeRun("a", "ALL", "ppr", 1, 0.1, 0),
		madeRun("b", "ALL", "default", 1, 0.8, 0), madeRun("b", "ALL", "ppr", 1, 0.1, 0),
		madeRun("c", "ALL", "default", 1, 0.8, 0), madeRun("c", "ALL", "ppr", 1, 0, 0),
	})
	if math.Abs(r.Mean-4) > 1e-9 {
		t.Errorf("mean %v of 2 and 8", r.Mean)
	}
	if text := r.markdown(); !strings.Contains(text, "best plain heuristic: 4.000\n") || strings.Contains(text, "bipartite") {
		t.Error(text)
	}
	shop := []*holdoutRun{madeRun("d", "ALL", "default", 1, 0.5, 0), madeRun("d", "ALL", "ppr", 1, 0.1, 0)}
	for _, run := range shop {
		run.Settings.Kind = "bipartite"
	}
	r = newHoldoutReport(append(shop, madeRun("a", "ALL", "default", 1, 0.2, 0), madeRun("a", "ALL", "ppr", 1, 0.1, 0)))
	if !strings.Contains(r.markdown(), "Without bipartite graphs: 2.000\n") {
		t.Error(r.markdown())
	}
}

func TestParseGraphFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	list := filepath.Join(folder, "web.arcs.txt.gz")
	if err := os.WriteFile(list, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text, want string
	}{
		{list, "web.arcs undirected"},
		{list + ":directed", "web.arcs directed"},
		{list + ":bipartite", "web.arcs bipartite"},
		{list + ":bipartite+weight+time", "web.arcs bipartite weight time"},
		{list + ":directed+colour", "columns"},
		{folder + ":directed+time", "columns are of a file, not of a folder"},
		{folder + ":directed", filepath.Base(folder) + " directed"},
		{folder + ":bipartite", "the nodes of a folder are of one kind"},
		{list + ":dir", `unknown kind of graph "dir" (accepted: undirected, directed, bipartite)`},
		{list + "x", "no such file"},
	} {
		g, err := parseGraphFile(c.text)
		got := strings.Join(append([]string{g.name, g.kind}, g.columns...), " ")
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
}

// A stored run that was changed, or was played by another version of a model, is an error that
// names the file.
func TestHoldoutShelfRefuses(t *testing.T) {
	t.Parallel()
	s := holdoutShelf(t.TempDir())
	made := madeRun("a", "ALL", "default", 1, 0.5, 0.5)
	r, err := newRun(made.Settings, made.Result)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.keep(r); err != nil {
		t.Fatal(err)
	}
	if got, err := s.run(r.Settings.name()); err != nil || !reflect.DeepEqual(got, r) {
		t.Errorf("%+v, %v", got, err)
	}
	r.Result.MRR = 0.6
	if err := s.keep(r); err != nil {
		t.Fatal(err)
	}
	if _, err := s.run(r.Settings.name()); err == nil || !strings.Contains(err.Error(), r.Settings.name()+": damaged") {
		t.Errorf("a run that was changed: %v", err)
	}
	r.Resolved["alpha"] = "7"
	if r.Sum, err = r.checksum(); err != nil {
		t.Fatal(err)
	}
	if err := s.keep(r); err != nil {
		t.Fatal(err)
	}
	if _, err := s.runs(holdoutSettings.data); err == nil || !strings.Contains(err.Error(), `of another version: alpha was "7"`) {
		t.Errorf("another version: %v", err)
	}
	other := madeRun("a", "ALL", "ppr", 2, 1, 1)
	other.Settings.DataSum = "x"
	s = holdoutShelf(t.TempDir())
	for _, made := range []*holdoutRun{made, other} {
		r, err := newRun(made.Settings, made.Result)
		if err == nil {
			err = s.keep(r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.runs(holdoutSettings.data); err == nil || !strings.Contains(err.Error(), "two data sets that are called a") {
		t.Errorf("two graphs of one name: %v", err)
	}
}
