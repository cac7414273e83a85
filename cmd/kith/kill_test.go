package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kith/db"
)

// long is set by .ci/run.
var long = flag.Bool("long", false, "run the tests that take minutes, and the others at full size")

// slow skips a test that takes too long unless -long is given.
func slow(t *testing.T) {
	t.Helper()
	if !*long || raceDetector {
		t.Skip("slow: run with -long and without -race")
	}
}

// notShort skips a test that takes long if -short is given.
func notShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes seconds")
	}
}

// If backup, compact or restore is killed at any time, the database that it started from is
// unharmed, and the file or database that it was to make is complete or does not exist.
func TestKilled(t *testing.T) {
	notShort(t)
	kills, edges := 9, 20_000
	if *long {
		kills, edges = 30, 60_000
	}
	dir := t.TempDir()
	path, saved := filepath.Join(dir, "g.kith"), filepath.Join(dir, "g.kbk")
	var list strings.Builder
	for i := range edges {
		fmt.Fprintln(&list, i%7001, i*i%9001)
	}
	k := killer{t: t, rng: rand.New(rand.NewPCG(9, 9))}
	k.run(strings.NewReader(list.String()), "load", path, "-")
	k.run(nil, "backup", path, saved)
	want := k.digest(path)
	for i := range kills {
		switch i % 3 {
		case 0:
			k.run(strings.NewReader(fmt.Sprintf("1 x%d\n", i)), "load", path, "-") // a change to compact
			want = k.digest(path)
			k.kill("compact", path)
		case 1:
			k.kill("backup", path, saved)
		case 2:
			copied := filepath.Join(dir, fmt.Sprint(i, ".kith"))
			k.kill("restore", saved, copied)
			if _, err := os.Stat(copied); err == nil {
				k.digest(copied)
			}
			k.run(nil, "restore", saved, filepath.Join(dir, fmt.Sprint(i, "-again.kith")))
			_ = os.RemoveAll(copied)
			k.run(nil, "restore", saved, copied) // even if a killed restore left files behind
			k.digest(copied)
		}
		if got := k.digest(path); got != want {
			t.Fatalf("kill %d: the database is %s, was %s", i, got, want)
		}
	}
	t.Logf("%d kills, %d of them in time", kills, k.hit)
}

// However often score is killed, its file has the bytes of a run that is not, and is never there in
// part.
func TestScoreKilled(t *testing.T) {
	slow(t)
	dir := t.TempDir()
	path, whole, out := filepath.Join(dir, "g.kith"), filepath.Join(dir, "whole.csv"), filepath.Join(dir, "links.csv")
	var list strings.Builder
	for i := range 30_000 {
		fmt.Fprintln(&list, i%7001, i*i%9001)
	}
	k := killer{t: t, rng: rand.New(rand.NewPCG(9, 9))}
	k.run(strings.NewReader(list.String()), "load", path, "-")
	k.run(nil, "score", path, "--out", whole, "--among", "NEIGHBORS(3)")
	k.took /= 3 // so that a run is likely to be killed
	want, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	for kills := 0; ; kills++ {
		if got, err := os.ReadFile(out); err == nil {
			if string(got) != string(want) {
				t.Error("the file differs from that of a single run")
			}
			t.Logf("%d runs, %d of them killed in time, of %v", kills, k.hit, k.took)
			return
		}
		k.kill("score", path, "--out", out, "--among", "NEIGHBORS(3)")
	}
}

// killer runs the tool and kills it.
type killer struct {
	t    *testing.T
	rng  *rand.Rand
	took time.Duration // duration of the last completed run
	hit  int
}

func (k *killer) run(in *strings.Reader, args ...string) {
	k.t.Helper()
	cmd := exec.Command("kith", args...)
	if in != nil {
		cmd.Stdin = in
	}
	start := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		k.t.Fatalf("kith %v: %v\n%s", args, err, out)
	}
	k.took = time.Since(start)
}

// kill runs a command and kills it after a random time.
func (k *killer) kill(args ...string) {
	k.t.Helper()
	cmd := exec.Command("kith", args...)
	var out strings.Builder
	cmd.Stderr = &out
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	timer := time.AfterFunc(time.Duration(k.rng.Int64N(int64(k.took)+1)), func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Wait()
	var exit *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &exit) && !exit.Exited():
		k.hit++
	default:
		k.t.Fatalf("kith %v ended by itself: %v\n%s", args, err, out.String())
	}
}

// digest checks a database and returns a description of its contents.
func (k *killer) digest(path string) (text string) {
	k.t.Helper()
	ctx := context.Background()
	err := with(path, nil, func(g *db.DB) error {
		s, err := g.Stats()
		text = fmt.Sprintf("%d, %s", s.Version, describeSize(&s))
		return errors.Join(err, g.Check(ctx))
	})
	if err != nil {
		k.t.Fatalf("%s: %v", path, err)
	}
	return text
}
