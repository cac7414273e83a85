package main

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeOGB writes the tables of a graph in the layout of the Open Graph Benchmark.
func writeOGB(folder string, tables map[string]string) error {
	if err := os.MkdirAll(filepath.Join(folder, "raw"), 0o755); err != nil {
		return err
	}
	for name, text := range tables {
		f, err := os.Create(filepath.Join(folder, "raw", name+".csv.gz"))
		if err != nil {
			return err
		}
		z := gzip.NewWriter(f)
		if _, err := z.Write([]byte(text)); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// writeClasses writes 60 nodes of 3 classes that their features determine.
func writeClasses(folder string) error {
	var features, labels strings.Builder
	for u := range 60 {
		features.WriteString([]string{"1,0,0,0.5\n", "0,1,0,0.5\n", "0,0,1,0.5\n"}[u%3])
		labels.WriteString([]string{"0\n", "1\n", "2\n"}[u%3])
	}
	return writeOGB(folder, map[string]string{
		"num-node-list": "60\n", "num-edge-list": "1\n", "edge": "0,1\n", "node-feat": features.String(), "node-label": labels.String(),
	})
}

func TestReadClasses(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "topics")
	if err := writeClasses(folder); err != nil {
		t.Fatal(err)
	}
	s, err := readData(folder, readClasses)
	if err != nil {
		t.Fatal(err)
	}
	d := s.data
	if s.name != "topics" || s.featureLen != 4 || len(s.sum) != 16 || len(s.classes) != 3 || s.classes[0] != 60 ||
		d.Nodes != 63 || !d.Linked(5, 62) || d.Linked(0, 1) || len(d.Served) != 60 {
		t.Errorf("%s: %d nodes, classes %v, %d served", s.name, d.Nodes, s.classes, len(d.Served))
	}
}

func TestReadClassesRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tables map[string]string
		want   string
	}{
		"no labels":      {map[string]string{"node-feat": "1\n2\n"}, "no labels"},
		"no features":    {map[string]string{"node-label": "0\n1\n"}, "no features"},
		"one class":      {map[string]string{"node-feat": "1\n2\n", "node-label": "0\n0\n"}, "1 classes"},
		"a wild label":   {map[string]string{"node-feat": "1\n2\n", "node-label": "0\n99\n"}, "label 99"},
		"half the nodes": {map[string]string{"node-feat": "1\n", "node-label": "0\n1\n"}, "features of 1"},
	} {
		folder := t.TempDir()
		c.tables["num-node-list"], c.tables["num-edge-list"], c.tables["edge"] = "2\n", "1\n", "0,1\n"
		if err := writeOGB(folder, c.tables); err != nil {
			t.Fatal(err)
		}
		if _, err := readData(folder, readClasses); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), folder) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if _, err := readData(filepath.Join(t.TempDir(), "nowhere"), readClasses); err == nil {
		t.Error("a folder that is not there passes")
	}
}

// The citation graphs of the paper can be read.
func TestCitations(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][3]int{"cora": {2708, 1433, 7}, "citeseer": {3327, 3703, 6}} {
		folder := filepath.Join("..", "..", "..", "shared", "data", name)
		if !*long && name == "cora" {
			continue // TestReadPublishedOGB reads this folder
		}
		if testing.Short() {
			t.Skip("reads a large table")
		}
		if _, err := os.Stat(folder); err != nil {
			t.Skipf("shared/data is not there: %v", err)
		}
		s, err := readData(folder, readClasses)
		if err != nil {
			t.Fatal(err)
		}
		if got := [3]int{s.data.Nodes - len(s.classes), s.featureLen, len(s.classes)}; got != want || len(s.data.Served) != want[0] {
			t.Errorf("%s: %v, %d served, want %v", name, got, len(s.data.Served), want)
		}
	}
}
