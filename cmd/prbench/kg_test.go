package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kith/cmd/internal/cli"
)

// writeCamps writes a knowledge graph of people who know people of their camp and like things of
// it.
func writeCamps(t *testing.T, seed uint64) string {
	t.Helper()
	dir, rng := filepath.Join(t.TempDir(), "camps"), rand.New(rand.NewPCG(seed, 4))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	parts := map[string]*bytes.Buffer{"train": {}, "valid": {}, "test": {}}
	seen := map[string]bool{}
	for u := range 150 {
		camp := u % 5
		for range 5 {
			seen[fmt.Sprintf("p%d\tknows\tp%d", u, camp+5*rng.IntN(30))] = true
			line := fmt.Sprintf("p%d\tlikes\tt%d", u, camp+5*rng.IntN(12))
			if seen[line] {
				continue
			}
			seen[line] = true
			part := "train"
			switch rng.IntN(10) {
			case 0:
				part = "valid"
			case 1:
				part = "test"
			}
			fmt.Fprintln(parts[part], line)
		}
	}
	for line := range seen {
		if strings.Contains(line, "knows") {
			fmt.Fprintln(parts["train"], line)
		}
	}
	for name, b := range parts {
		if err := os.WriteFile(filepath.Join(dir, name+".tsv"), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// mrrs runs kg on camps, and returns MRR by policy. Each policy answers 80 questions.
func mrrs(t *testing.T, args ...string) map[string]float64 {
	t.Helper()
	var out, log bytes.Buffer
	if code := cli.Run(newRoot(), append([]string{"kg", "--sample", "40"}, args...), nil, &out, &log); code != 0 {
		t.Fatalf("exit code %d: %s", code, log.String())
	}
	mrr := map[string]float64{}
	for line := range strings.Lines(log.String()) {
		f := strings.Fields(line)
		var v float64
		if _, err := fmt.Sscan(f[3], &v); err != nil || f[0] != "camps" || f[2] != "80" {
			t.Fatalf("line %q", line)
		}
		mrr[f[1]] = v
	}
	if !strings.Contains(out.String(), "| camps") {
		t.Errorf("the table is\n%s", out.String())
	}
	return mrr
}

// A trained model finds missing triples that other relations show, and frequencies do not.
func TestKnowledge(t *testing.T) {
	t.Parallel()
	dir := writeCamps(t, 4)
	if mrr := mrrs(t, "--data", dir, "--policies", "default,rules,frequency,ppr"); len(mrr) != 4 || min(mrr["default"], mrr["rules"]) < 1.5*mrr["frequency"] {
		t.Errorf("mrr %v", mrr)
	}
	for _, args := range [][]string{
		{"kg"}, {"kg", "--data", dir, "--split", "train"}, {"kg", "--data", t.TempDir()}, {"kg", "--data", dir, "--taught", dir + "," + dir},
		{"kg", "--data", dir, "--others", "-1"},
	} {
		var out, log bytes.Buffer
		if code := cli.Run(newRoot(), args, nil, &out, &log); code == 0 {
			t.Errorf("%q is accepted", args)
		}
	}
}

// A model answers about another graph than it has learned.
func TestKnowledgeTaught(t *testing.T) {
	t.Parallel()
	mrr := mrrs(t, "--data", writeCamps(t, 4), "--taught", writeCamps(t, 5), "--others", "20", "--policies", "default,rules,frequency")
	if len(mrr) != 3 || min(mrr["default"], mrr["rules"]) < 1.5*mrr["frequency"] {
		t.Errorf("mrr %v", mrr)
	}
}

// Ranks leave other answers out, and share places.
func TestKnowledgeRank(t *testing.T) {
	t.Parallel()
	k := &knowledge{entities: map[string]bool{}, answers: map[triple][]string{{"x", "r", ""}: {"a", "b"}}}
	for _, e := range []string{"x", "a", "b", "c", "d", "e"} {
		k.entities[e] = true
	}
	q := kgQuestion{triple: triple{"x", "r", "a"}}
	for _, c := range []struct {
		scores map[string]float64
		among  []string
		want   float64
	}{
		{map[string]float64{"a": 1, "b": 2, "c": 0.5}, nil, 1},
		{map[string]float64{"a": 1, "b": 2, "c": 3, "d": 1}, nil, 2.5},
		{map[string]float64{"b": 2, "c": 3}, nil, 3.5}, // among a, d, e and x after c
		{nil, nil, 3},
		{map[string]float64{"a": 1, "c": 3, "d": 2, "e": 1}, []string{"d", "e"}, 2.5},
		{map[string]float64{"c": 3, "d": 2}, []string{"d", "e"}, 2.5}, // among a and e after d
	} {
		q.among = c.among
		if got := k.rank(q, c.scores); got != c.want {
			t.Errorf("%v: rank %v, want %v", c.scores, got, c.want)
		}
	}
}

// Weights that are learned from graphs are the same when they are learned again, and the file names
// the graphs.
func TestLearnRelations(t *testing.T) {
	t.Parallel()
	dirs := []string{writeCamps(t, 4), writeCamps(t, 5), writeCamps(t, 6)}
	learn := func(args ...string) (file string, code int) {
		out := filepath.Join(t.TempDir(), "weights.txt")
		var log bytes.Buffer
		args = append([]string{"learn-relations", "--passes", "1", "--out", out, "--data"}, args...)
		if code = cli.Run(newRoot(), args, nil, &log, &log); code != 0 {
			return log.String(), code
		}
		content, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return string(content), code
	}
	all := strings.Join(dirs, ",")
	first, code := learn(all, "--date", "2026-11-29")
	if code != 0 {
		t.Fatal(first)
	}
	if again, _ := learn(all, "--date", "2026-11-29"); again != first {
		t.Error("learned again, the weights differ")
	}
	if other, _ := learn(all, "--seed", "2"); other == first {
		t.Error("the seed changes nothing")
	}
	for _, want := range []string{"prbench learn-relations --passes 1", "on 2026-11-29", "#\tcamps, "} {
		if !strings.Contains(first, want) {
			t.Errorf("the file does not say %q:\n%.400s", want, first)
		}
	}
	for _, args := range [][]string{{dirs[0]}, {all, "--leave-out", "wn18rr"}, {all, "--leave-out", "camps"}, {all, "--passes", "0"}, {all, "--drop", "1"}, {t.TempDir()}} {
		if said, code := learn(args...); code == 0 {
			t.Errorf("%q is accepted: %s", args, said)
		}
	}
}
