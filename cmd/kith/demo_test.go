package main

import (
	"bytes"
	"regexp"
	"strconv"
	"testing"
)

// The demo learns online. From a list it learns at least nearly as well as resource allocation predicts.
func TestDemo(t *testing.T) {
	slow(t)
	var out bytes.Buffer
	cmd := newDemo()
	cmd.SetArgs([]string{"--rounds", "20", "--out", t.TempDir()})
	cmd.SetOut(&out)
	cmd.SetErr(new(bytes.Buffer))
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	counts := regexp.MustCompile(`(\S+) has (\d+) of the (\d+)`).FindAllStringSubmatch(out.String(), -1)
	if len(counts) != 2 || counts[0][1] != demoModel {
		t.Fatalf("counts %q in\n%s", counts, out.String())
	}
	own, _ := strconv.Atoi(counts[0][2])
	other, _ := strconv.Atoi(counts[1][2])
	if own < 10 || float64(own) < 0.9*float64(other) {
		t.Errorf("the model finds %d links, resource allocation %d", own, other)
	}
	if !bytes.Contains(out.Bytes(), []byte("rounds won")) {
		t.Errorf("no table of the rounds in\n%s", out.String())
	}
}
