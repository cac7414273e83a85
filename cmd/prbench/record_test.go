package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"kith/model/trial"
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

// A file that was changed, or holds another run or one of other models, is an error that names the file.
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
