package pagerank

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kith/cmd/internal/clitest"
	"kith/index"
	"kith/ppr"
)

// benchLines runs the benchmark and parses its output.
func benchLines(t *testing.T, b bench) map[string]map[string]float64 {
	t.Helper()
	var out bytes.Buffer
	b.stdout = &out
	if err := b.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines := map[string]map[string]float64{}
	for line := range strings.Lines(out.String()) {
		f := strings.Fields(line)
		if !strings.HasPrefix(line, "Benchmark") {
			continue
		}
		if len(f) < 6 || len(f)%2 != 0 || f[3] != "ns/op" || f[5] != "median-ns/op" {
			t.Fatalf("no benchmark line: %q", line)
		}
		if regexp.MustCompile(`-\d+$`).MatchString(f[0]) {
			t.Errorf("the name %q ends as if with a number of processors", f[0])
		}
		if n, err := strconv.Atoi(f[1]); err != nil || n < 1 {
			t.Errorf("%q: %v operations", f[0], f[1])
		}
		if lines[f[0]] != nil {
			t.Errorf("%q stands twice", f[0])
		}
		lines[f[0]] = map[string]float64{}
		for i := 2; i < len(f); i += 2 {
			x, err := strconv.ParseFloat(f[i], 64)
			if err != nil {
				t.Errorf("%q: %v", f[0], err)
			}
			lines[f[0]][f[i+1]] = x
		}
	}
	return lines
}

// count returns the number of lines whose names begin with prefix.
func count(lines map[string]map[string]float64, prefix string) (n int) {
	for name := range lines {
		if strings.HasPrefix(name, prefix) {
			n++
		}
	}
	return n
}

func TestBenchPPR(t *testing.T) {
	t.Parallel()
	b := bench{
		edges: []string{clitest.WriteList(t, "friends.txt", 150, 500)}, arcs: []string{clitest.WriteList(t, "links.txt.old", 100, 500)},
		match: regexp.MustCompile(""), seed: 1, queries: 2,
	}
	lines := benchLines(t, b)
	for prefix, want := range map[string]int{
		"BenchmarkRead/graph=friends": 1, "BenchmarkRead/graph=links": 1,
		"BenchmarkCold/graph=friends": 6, "BenchmarkCold/graph=links": 6,
		"BenchmarkLocal/graph=friends": 3, "BenchmarkLocal/graph=links": 3,
		"BenchmarkValues/graph=friends": 36, "BenchmarkValues/graph=links": 9,
		"BenchmarkInsert/graph=friends": 6, "BenchmarkInsert/graph=links": 6,
	} {
		if got := count(lines, prefix); got != want {
			t.Errorf("%d lines of %s, want %d", got, prefix, want)
		}
	}
	for _, name := range []string{
		"BenchmarkCatchUp/graph=friends/kind=delete/at=anywhere/edges=1",
		"BenchmarkCatchUp/graph=friends/kind=insert/at=source/edges=1",
		"BenchmarkCatchUp/graph=links/kind=insert/at=top-50/edges=1",
	} {
		if lines[name] == nil {
			t.Errorf("no line %s", name)
		}
	}
	for name, l := range lines {
		e, has := l["true-err"]
		if bound := l["bound"]; has && e > bound+1e-12 {
			t.Errorf("%s: error %v, bound %v", name, e, bound)
		}
		if want := strings.Contains(name, "Cold") || strings.Contains(name, "CatchUp"); want && !has {
			t.Errorf("%s: no true error", name)
		}
	}
}

// Leaving out lines with --run changes only the times of the other lines.
func TestBenchPPRRun(t *testing.T) {
	t.Parallel()
	b := bench{edges: []string{clitest.WriteList(t, "g.txt", 100, 300)}, match: regexp.MustCompile("Cold.*k=10/|Local"), seed: 7, queries: 2}
	some := benchLines(t, b)
	b.match = regexp.MustCompile("")
	all := benchLines(t, b)
	if len(some) != 4 || len(all) <= len(some) {
		t.Errorf("%d lines of %d", len(some), len(all))
	}
	for name, l := range some {
		for _, unit := range []string{"true-err", "bound", "edge-ops/op", "state-B"} {
			if l[unit] != all[name][unit] {
				t.Errorf("%s: %v %s, among all lines %v", name, l[unit], unit, all[name][unit])
			}
		}
	}
}

func TestBenchPPRInterrupted(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	b := bench{edges: []string{clitest.WriteList(t, "g.txt", 100, 300)}, match: regexp.MustCompile(""), queries: 1, stdout: &bytes.Buffer{}}
	if err := b.run(ctx); err == nil {
		t.Error("no error")
	}
}

// A wrong answer ends the benchmark.
func TestTruthNoticesWrongCertificates(t *testing.T) {
	t.Parallel()
	b := bench{match: regexp.MustCompile("no line"), stdout: &bytes.Buffer{}}
	s, err := b.subject(t.Context(), clitest.WriteList(t, "g.txt", 100, 300), false)
	if err != nil {
		t.Fatal(err)
	}
	g, h := s.snap.Graph, indicator(5)
	exact, err := s.exact(t.Context(), g, ppr.Column, h)
	if err != nil {
		t.Fatal(err)
	}
	v, _ := exact.Value(g, 5)
	for _, c := range []struct {
		off, bound float64
		ok         bool
	}{{0, 0, true}, {1e-3, 2e-3, true}, {-1e-3, 2e-3, true}, {1e-3, 9e-4, false}, {-1e-3, 9e-4, false}, {1e-11, 0, false}} {
		tr := truth{subject: s}
		err := tr.values(t.Context(), g, ppr.Column, h, []index.ID{5}, []float64{v + c.off}, []float64{c.bound})
		if (err == nil) != c.ok {
			t.Errorf("off by %v, certified %v: error %v", c.off, c.bound, err)
		}
	}
}

// Edits change edges at the given place, and do not change the graph that they start from.
func TestBenchChanges(t *testing.T) {
	t.Parallel()
	b := bench{match: regexp.MustCompile("no line"), stdout: &bytes.Buffer{}}
	s, err := b.subject(t.Context(), clitest.WriteList(t, "g.txt", 200, 800), false)
	if err != nil {
		t.Fatal(err)
	}
	before := s.snap.Graph.NumEdges()
	for _, c := range []change{
		{"insert", 100, anywhere}, {"delete", 100, anywhere}, {"insert", 1, atSource}, {"delete", 1, atSource},
		{"insert", 5, atNeighbor}, {"delete", 5, within3}, {"insert", 1, top50},
	} {
		u := s.draw(s.random())
		near, err := s.nodes(t.Context(), c.at, u)
		if err != nil {
			t.Fatal(err)
		}
		next, done, err := s.apply(s.random(), c, near)
		if err != nil {
			t.Fatal(err)
		}
		want := before + int64(done)
		if c.kind == "delete" {
			want = before - int64(done)
		}
		if done != c.edges || next.Graph.NumEdges() != want || s.snap.Graph.NumEdges() != before {
			t.Errorf("%v: %d done, %d edges of %d", c, done, next.Graph.NumEdges(), before)
		}
		for one, other := range map[*index.Graph]*index.Graph{s.snap.Graph: next.Graph, next.Graph: s.snap.Graph} {
			for e := range one.Edges() {
				if now, _ := other.EdgeOf(e); now != e && near != nil && !slices.Contains(near, e.U) && !slices.Contains(near, e.V) {
					t.Errorf("%v: an edge %d-%d", c, e.U, e.V)
				}
			}
		}
	}
}
