package main

import (
	"bytes"
	"regexp"
	"testing"
	"time"
)

func TestBenchPredict(t *testing.T) {
	var out bytes.Buffer
	b := predictBench{
		edges: []string{writeList(t, "friends.txt", 150, 600)}, warmed: 120, queries: 20, readers: 2, seed: 1,
		span: 100 * time.Millisecond, stdout: &out,
	}
	if err := b.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`Predict/graph=friends/api=go\t20\t.* ns/op\t.* median-ns/op\t.* p99-ns/op`,
		`Predict/graph=friends/api=query\t20\t.* ns/op\t.* median-ns/op\t.* p99-ns/op`,
		`Holdout/graph=friends/of=holdout\t20\t.* ns/op\t.* median-ns/op\t.* hide-ns`,
		`Holdout/graph=friends/of=predict\t20\t.* ns/op\t.* median-ns/op`,
		`Heuristic/graph=friends/policy=adamic_adar\t\d+\t.* ns/op\t.* median-ns/op\t.* p99-ns/op`,
		`Readers/graph=friends/writer=no\t\d+\t.* ns/op\t.* median-ns/op\t.* predictions/s`,
		`Readers/graph=friends/writer=yes\t\d+\t.* ns/op\t.* median-ns/op\t.* edges/s\t.* lost-%\t.* predictions/s`,
	} {
		if !regexp.MustCompile(`(?m)^Benchmark` + line + `$`).MatchString(out.String()) {
			t.Errorf("no line %s in:\n%s", line, out.String())
		}
	}
	b.edges = []string{writeList(t, "few.txt", 20, 30)}
	if err := b.run(t.Context()); err == nil {
		t.Error("a graph of less nodes than candidates was measured")
	}
}
