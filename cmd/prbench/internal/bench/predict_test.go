package bench

import (
	"bytes"
	"regexp"
	"testing"
	"time"

	"kith/cmd/internal/clitest"
)

func TestBenchPredict(t *testing.T) {
	if testing.Short() {
		t.Skip("trains a model")
	}
	var out bytes.Buffer
	b := predictBench{
		edges: []string{clitest.WriteList(t, "friends.txt", 110, 250)}, warmed: 101, queries: 10, readers: 2, seed: 1,
		span: 50 * time.Millisecond, stdout: &out,
	}
	if err := b.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`Predict/graph=friends/api=go\t10\t.* ns/op\t.* median-ns/op\t100 hit-%\t.* p99-ns/op`,
		`Predict/graph=friends/api=go/after=insert\t10\t.* ns/op\t.* median-ns/op\t.* p99-ns/op`,
		`Predict/graph=friends/api=query\t10\t.* ns/op\t.* median-ns/op\t.* p99-ns/op`,
		`Holdout/graph=friends/of=holdout\t9\t.* ns/op\t.* median-ns/op\t.* hide-ns`,
		`Holdout/graph=friends/of=predict\t10\t.* ns/op\t.* median-ns/op`,
		`Heuristic/graph=friends/policy=adamic_adar\t\d+\t.* ns/op\t.* median-ns/op\t.* p99-ns/op`,
		`Readers/graph=friends/writer=no\t\d+\t.* ns/op\t.* median-ns/op\t.* predictions/s`,
		`Readers/graph=friends/writer=yes\t\d+\t.* ns/op\t.* median-ns/op\t.* edges/s\t.* lost-%\t.* predictions/s`,
	} {
		if !regexp.MustCompile(`(?m)^Benchmark` + line + `$`).MatchString(out.String()) {
			t.Errorf("no line %s in:\n%s", line, out.String())
		}
	}
	b.edges = []string{clitest.WriteList(t, "few.txt", 20, 30)}
	if err := b.run(t.Context()); err == nil {
		t.Error("a graph of less nodes than candidates was measured")
	}
}
