package bench

import (
	"bytes"
	"os"
	"regexp"
	"testing"
	"time"
)

func TestBenchCommit(t *testing.T) {
	var out bytes.Buffer
	b := commitBench{
		dir: t.TempDir(), writers: []int{1, 16}, delays: []time.Duration{0, time.Millisecond},
		span: 20 * time.Millisecond, stdout: &out,
	}
	if err := b.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^BenchmarkCommit/writers=\d+/delay=\d+m?s\t\d+\t.* ns/op\t.* median-ns/op\t.* commits/s\t.* syncs/commit$`)
	if n := len(lines.FindAllString(out.String(), -1)); n != 4 {
		t.Errorf("%d lines of 4:\n%s", n, out.String())
	}
	if left, err := os.ReadDir(b.dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
