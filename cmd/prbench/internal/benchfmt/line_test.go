package benchfmt

import (
	"bytes"
	"testing"
	"time"
)

func TestLine(t *testing.T) {
	t.Parallel()
	l := New("X", Graph("a/my graph.txt.gz"), "k=1")
	l.Per = 10
	l.Took = []time.Duration{400, 90 * time.Microsecond, 300}
	l.Add(0.00012345, "bound")
	l.Add(123456.7, "B")
	var out bytes.Buffer
	if err := l.Write(&out); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "BenchmarkX/graph=my_graph/k=1\t30\t3023 ns/op\t40 median-ns/op\t0.0001234 bound\t123457 B\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
