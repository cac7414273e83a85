package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"kith/cmd/prbench/internal/trial"
)

// The parts of every run are measured, and their sum is at most the whole. The regret equals that
// of the stored run.
func TestCosts(t *testing.T) {
	x := smallExperiment(t, "prb/released", "prb_greedy", "random")
	x.seeds = 1
	costs, err := x.costs(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := x.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	regrets := make(map[string]int)
	for _, r := range kept(t, x) {
		regrets[r.Settings.Protocol+r.Settings.title()] = r.Result.Final()
	}
	if len(costs) != 6 {
		t.Fatalf("%d costs, want 2 arenas x 3 policies", len(costs))
	}
	for _, c := range costs {
		s, p := c.Settings, c.Result.Parts
		learns := s.Policy != "random"
		if c.Result.Time <= 0 || p.Networks+p.Walk+p.Train > c.Result.Time || learns != (p.Walk > 0) || learns && (p.Networks <= 0 || p.Train <= 0) {
			t.Errorf("%+v", c)
		}
		if want := regrets[s.Protocol+s.title()]; c.Result.Final() != want {
			t.Errorf("%s, %s: regret %d, that of the kept run is %d", s.Protocol, s.title(), c.Result.Final(), want)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := x.costs(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func TestCostTable(t *testing.T) {
	t.Parallel()
	c := &regretRun{
		Settings: settings{
			place: place{Data: "grqc", Protocol: "paper", Features: "svd"}, variant: variant{Policy: "prb", Preset: "released"}, Rounds: 2,
		},
		Result: trial.Curve{
			Regret: []int{1, 2}, Time: 10 * time.Second,
			Parts: trial.Parts{Networks: time.Second, Walk: 2 * time.Second, Train: 3 * time.Second},
		},
	}
	text := costTable([]*regretRun{c})
	if want := "| prb/released | grqc | paper | svd | 2 | 2 | 10.00 | 1.00 | 2.00 | 3.00 | 4.00 |\n"; !strings.HasSuffix(text, want) {
		t.Errorf("%q does not end in %q", text, want)
	}
}

// The profile is closed even if the work fails.
func TestProfiled(t *testing.T) {
	t.Parallel()
	name, broken := filepath.Join(t.TempDir(), "cpu.out"), errors.New("broken")
	for range 2 {
		if err := profiled(name, func() error { return broken }); !errors.Is(err, broken) {
			t.Errorf("%v", err)
		}
	}
	if info, err := os.Stat(name); err != nil || info.Size() == 0 {
		t.Errorf("the profile: %v", err)
	}
	if err := profiled("", func() error { return nil }); err != nil {
		t.Error(err)
	}
	if err := profiled(t.TempDir(), func() error { t.Error("worked without a profile"); return nil }); err == nil {
		t.Error("a folder became a profile")
	}
}

// Measuring does not change the number of threads.
func TestCostIsOneThread(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	folder := filepath.Join(t.TempDir(), "small")
	if err := writeLinks(folder); err != nil {
		t.Fatal(err)
	}
	root := newRoot()
	root.SetArgs([]string{"cost", "--data", folder, "--rounds", "3", "--policies", "random"})
	root.SetOut(new(bytes.Buffer))
	root.SetErr(writer(func(string) { t.Error("a bar where there is no terminal") }))
	if err := root.ExecuteContext(context.Background()); err != nil {
		t.Fatal(err)
	}
	if n := runtime.GOMAXPROCS(0); n != 3 {
		t.Errorf("%d threads", n)
	}
}
