package scale

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the expected table")

// invented returns measurements of four sizes that follow the laws, the last of them within 10 % of
// 10^8 edges.
func invented(t *testing.T) []Measurement {
	t.Helper()
	r, err := Open(filepath.Join(t.TempDir(), "none"))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []float64{1e6, 4e6, 16e6, 95e6} {
		values := map[string]float64{
			Nodes: n / 12, Disk: 1e6 + 3.5*n, Graph: 8 * n, Load: n * math.Log2(n) / 1e7, LoadPeak: 4e8, CPU: 1,
			Restore: n / 4e7, Backup: n / 1e8, BackupBytes: 4 * n, Commits: 9000, ChangeBytes: 230, Applied: 20000,
			ScoreSimple: 1e-4, ScoreDefault: 1e-6 * math.Sqrt(n), Train: 40 + n/1e6, Check: n / 2e7,
		}
		for phase, figures := range map[string][]string{
			"load": {Nodes, Disk, Graph, Load, LoadPeak, CPU}, "check": {Check}, "train": {Train}, "score": {ScoreSimple, ScoreDefault},
			"copy": {Restore, Backup, BackupBytes, Commits, ChangeBytes, Applied},
		} {
			m := Measurement{Asked: int64(n), Edges: int64(n), Phase: phase, Figures: map[string]float64{}}
			for _, f := range figures {
				m.Figures[f] = values[f]
			}
			if err := r.Add(m); err != nil {
				t.Fatal(err)
			}
		}
	}
	return r.All
}

// TestTable compares the table of invented measurements with testdata/table.txt.
func TestTable(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	c := Cluster{Machines: 16, Cores: 16, Memory: 128 << 30}
	if err := NewTable(invented(t), c).Write(&got, "> "); err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/table.txt"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestMarks verifies which cells count as measured: those of a size within a tenth, of figures that
// were measured.
func TestMarks(t *testing.T) {
	t.Parallel()
	table := NewTable(invented(t), Cluster{Machines: 2, Cores: 4})
	for _, c := range []struct {
		key      string
		n        float64
		value    float64
		measured bool
	}{
		{Disk, 1e6, 4.5e6, true}, {Disk, 1e8, 1e6 + 3.5*95e6, true}, {Disk, 1e9, 3.501e9, false}, {Disk, 1.2e6, 5.2e6, false},
		{ScoreSimple, 1e10, 1e-4, false},
	} {
		got, measured := table.value(c.key, c.n)
		if math.Abs(got/c.value-1) > 1e-9 || measured != c.measured {
			t.Errorf("%s for %v: %v, %v, want %v, %v", c.key, c.n, got, measured, c.value, c.measured)
		}
	}
	if got, _ := table.value(Near, 1e9); !math.IsNaN(got) {
		t.Errorf("a figure that was not measured is %v", got)
	}
	for want, f := range map[string]figure{"4.5 MB": {key: Disk, unit: inBytes}, "~9 MB": {derive: multiple(Disk, 2), unit: inBytes}} {
		if got := table.cell(f, 1e6); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	all := scoreAll(ScoreSimple, false)(table.at(4e6), table.cluster)
	if want := 4e6/12*1e-4/8 + 0.1; math.Abs(all/want-1) > 1e-9 {
		t.Errorf("two machines score all in %v s, want %v", all, want)
	}
}

// TestResults verifies that measurements are kept in a file, one of each phase, and that a damaged
// file is named.
func TestResults(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "scale.jsonl")
	s := Setting{Build: "b", Cores: 2}
	for _, seconds := range []float64{1, 2} {
		r, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Add(Measurement{Setting: s, Asked: 10, Edges: 9, Phase: "load", Figures: map[string]float64{Load: seconds}}); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Open(name)
	if err != nil || len(r.All) != 1 || r.All[0].Figures[Load] != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	other := s
	other.Memory = 1 << 30
	if !r.Has(s, 10, "load") || r.Has(s, 10, "check") || r.Has(s, 11, "load") || r.Has(other, 10, "load") || len(r.Of(other)) > 0 {
		t.Error("another measurement counts as this one")
	}
	for text, want := range map[string]string{"{\n": "line 1", "{}\n": "line 1: not a measurement"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(name); err == nil || !strings.Contains(err.Error(), name+": "+want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
