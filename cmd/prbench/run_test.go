package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"kith/cmd/internal/cli"
	"kith/cmd/prbench/internal/trial"
)

// sample returns a run of prb/paper with a number of rounds.
func sample(t *testing.T, rounds int) *regretRun {
	t.Helper()
	c := trial.Curve{Live: rounds, Time: time.Second, Parts: trial.Parts{Walk: time.Millisecond}}
	for i := range rounds {
		c.Regret = append(c.Regret, i/2)
	}
	r, err := newRun(settings{
		place:   place{Data: "small", Protocol: "paper", Features: "none"},
		variant: variant{Policy: "prb", Preset: "paper", Options: map[string]string{"width": "20", "alpha": "0.5"}},
		Rounds:  rounds, Seed: 3,
	}, c.Thin(samples))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestShelf(t *testing.T) {
	s, r := regretShelf(filepath.Join(t.TempDir(), "runs")), sample(t, 1000)
	if all, err := s.runs(settings.data); err != nil || len(all) != 0 {
		t.Errorf("an empty shelf: %v, %v", all, err)
	}
	if got, err := s.run(r.Settings.name()); got != nil || err != nil {
		t.Errorf("before it is kept: %v, %v", got, err)
	}
	if err := s.keep(r); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(string(s), ".new-1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := s.run(r.Settings.name())
	if err != nil || !reflect.DeepEqual(got, r) {
		t.Errorf("%+v, %v", got, err)
	}
	if all, err := s.runs(settings.data); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
	if c := got.Result; len(c.Regret) != samples || c.Final() != 499 || c.Time != time.Second || perLive(c) != 0.499 {
		t.Errorf("curve %+v", c)
	}
	if r.Resolved["width"] != "20" || r.Resolved["preset"] != "paper" || r.Resolved["seed"] != "" {
		t.Errorf("resolved: %v", r.Resolved)
	}
}

// A file that was changed, or holds another run or one of other models, is an error that names the
// file.
func TestShelfRefuses(t *testing.T) {
	t.Parallel()
	changed := func(change func(*regretRun)) string {
		r := sample(t, 20)
		change(r)
		var err error
		if r.Sum, err = r.checksum(); err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	good := changed(func(*regretRun) {})
	s, of := regretShelf(t.TempDir()), sample(t, 20).Settings
	name := filepath.Join(string(s), of.name())
	for _, c := range []struct{ content, want string }{
		{good, ""},
		{strings.Replace(good, `"Live":20`, `"Live":21`, 1), "damaged: its checksum is wrong"},
		{`{"settings":{},"colour":"red"}`, "not a kept run"},
		{good + good, "more than one run"},
		{good[:len(good)/2], "unexpected EOF"},
		{"", "EOF"},
		{changed(func(r *regretRun) { r.Resolved["width"] = "10" }), `width was "10" and is "20"`},
		{changed(func(r *regretRun) { delete(r.Resolved, "width") }), `there was no width, which is "20"`},
		{changed(func(r *regretRun) { delete(r.Resolved, "pin") }), ""}, // prb does not read this option
		{changed(func(r *regretRun) { r.Settings.Seed++ }), "holds the run small-paper-none-prb-paper-s4-"},
	} {
		if err := os.WriteFile(name, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := s.run(of.name())
		_, errAll := s.runs(settings.data)
		for _, err := range []error{err, errAll} {
			if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), name)) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		}
	}
	gone := sample(t, 20)
	gone.Settings.Policy = "prbx"
	if err := gone.current(); err == nil || !strings.Contains(err.Error(), "of another version") {
		t.Errorf("a policy that is gone: %v", err)
	}
}

// Any file is either an error or the run that its name says.
func FuzzReadRecord(f *testing.F) {
	c := trial.Curve{Regret: []int{1, 1, 2}, Live: 3}
	r, err := newRun(settings{place: place{Data: "d", Protocol: "fresh", Features: "none"}, variant: variant{Policy: "random"}, Rounds: 3, Seed: 1}, c)
	if err != nil {
		f.Fatal(err)
	}
	b, err := json.Marshal(r)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:len(b)/2])
	f.Add([]byte(`{"settings":{"rounds":-1}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, content []byte) {
		s, name := regretShelf(t.TempDir()), r.Settings.name()
		if err := os.WriteFile(filepath.Join(string(s), name), content, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := s.run(name)
		if err == nil && (got.Settings.name() != name || len(got.Result.Regret) != 3) {
			t.Errorf("%s: %+v", content, got)
		}
	})
}

// Playing stops when a run cannot be stored.
func TestRunsThatCannotBeKept(t *testing.T) {
	x := smallExperiment(t, "random")
	if err := os.WriteFile(x.out, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := x.run(context.Background()); err == nil || !strings.Contains(err.Error(), x.out) {
		t.Errorf("a file in the place of --out: %v", err)
	}
	x.log = writer(func(line string) { t.Errorf("said of a run that is not kept: %s", line) })
	if _, err := x.play(context.Background(), "runs", "playing", x.jobs("playing", nil)[:1]); err == nil || !strings.Contains(err.Error(), x.out) {
		t.Errorf("%v", err)
	}
}

// A damaged run of the grid search is an error that names it, like one of the experiment.
func TestDamagedSearch(t *testing.T) {
	x := smallExperiment(t, "prb_greedy")
	x.arenas, x.seeds, x.grid = x.arenas[:1], 1, true
	if err := x.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(string(x.shelf("grid")), "*.json"))
	if err != nil || len(names) != 4 {
		t.Fatal(names, err)
	}
	if err := os.WriteFile(names[2], []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := x.run(context.Background()); err == nil || !strings.Contains(err.Error(), names[2]) {
		t.Errorf("%v", err)
	}
}

// Runs completed before an interruption are in the tables.
func TestInterruptedReport(t *testing.T) {
	x := smallExperiment(t, "random", "prb")
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	x.log = writer(func(string) { stop() })
	stdout := writer(func(string) { t.Error("an interrupted experiment prints tables") })
	if err := x.write(stdout, x.run(ctx)); err == nil {
		t.Error("an interrupted experiment ends well")
	}
	b, err := os.ReadFile(filepath.Join(x.out, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Tables) != 1 || len(r.Tables[0].Rows) != 1 || r.Tables[0].Rows[0].Policy != "random" || r.Tables[0].Rounds != 60 {
		t.Errorf("%s", b)
	}
}

// Ctrl-C ends an experiment. Completed runs are kept, and the next command plays the others.
func TestCtrlC(t *testing.T) {
	pressed := make(chan os.Signal, 1)
	signal.Notify(pressed, os.Interrupt)
	defer signal.Stop(pressed)
	x := smallExperiment(t, "random", "prb")
	var first, again []string
	x.log = writer(func(line string) {
		if first = append(first, line); len(first) == 1 {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Signal(os.Interrupt)
			}
			if err != nil {
				t.Fatal(err)
			}
			<-pressed
		}
	})
	ctx, stop := cli.Interruptible(t.Context())
	defer stop()
	if err := x.write(io.Discard, x.run(ctx)); !errors.Is(err, context.Canceled) {
		t.Fatalf("an interrupted experiment: %v", err)
	}
	if n := len(kept(t, x)); n != len(first) || n == 8 {
		t.Errorf("%d runs are kept, %d were finished", n, len(first))
	}
	x.log = writer(func(line string) { again = append(again, line) })
	if err := x.write(io.Discard, x.run(t.Context())); err != nil || len(first)+len(again) != 8 || len(kept(t, x)) != 8 {
		t.Errorf("%d runs, then %d, %d are kept: %v", len(first), len(again), len(kept(t, x)), err)
	}
}

// An experiment prints the table that it writes.
func TestReportOfExperiment(t *testing.T) {
	x := smallExperiment(t, "random", "common_neighbors")
	var stdout bytes.Buffer
	if err := x.write(&stdout, x.run(t.Context())); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(filepath.Join(x.out, "table.md"))
	if err != nil || stdout.String() != string(written) || strings.Count(stdout.String(), "\n| random |") != 2 {
		t.Errorf("printed %q, wrote %q, %v", stdout.String(), written, err)
	}
}

// lister is a player that counts the listed links among its arms.
type lister struct {
	links map[trial.Pair]bool
	t     *testing.T
}

func (l *lister) Choose(_ context.Context, arms []trial.Pair) (int, error) {
	links, at := 0, 0
	for i, a := range arms {
		if l.links[a] {
			links, at = links+1, i
		}
	}
	if len(arms) != 10 || links != 1 {
		l.t.Errorf("%d arms, %d of them listed as links", len(arms), links)
	}
	return at, nil
}

func (l *lister) Learn(_ context.Context, _ []trial.Pair, _ int, reward float64) error {
	if reward != 1 {
		l.t.Errorf("a listed link is worth %v", reward)
	}
	return nil
}

// On the data that the paper's authors published, one of ten arms is listed as a link, and has
// reward 1.
func TestReleasedOnPublished(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"grqc", "facebook", "amazon", "yelp"} {
		folder := filepath.Join("..", "..", "..", "shared", "data", "prb", name)
		if _, err := os.Stat(folder); err != nil {
			t.Skipf("shared/data is not there: %v", err)
		}
		s, err := readData(folder, readLinks)
		if err != nil {
			t.Fatal(err)
		}
		l := &lister{make(map[trial.Pair]bool), t}
		for _, p := range s.data.Positives {
			l.links[p] = true
		}
		tr := trial.Trial{Data: s.data, Protocol: trial.Released(), Rounds: 500}
		r, err := tr.Play(context.Background(), []trial.Entrant{{
			Name: "lister", New: func(uint64, []trial.Pair) (trial.Player, error) { return l, nil },
		}}, 1)
		if err != nil || r.Curves[0].Final() != 0 || r.Curves[0].Live != 500 {
			t.Errorf("%s: regret %v, %v", name, r.Curves, err)
		}
	}
}
