package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sbinet/npyio"
	"gonum.org/v1/gonum/mat"

	"kith/cmd/prbench/internal/trial"
)

// saveMatrix writes rows of equal length as .npy.
func saveMatrix(name string, rows [][]float64) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	m := mat.NewDense(len(rows), len(rows[0]), slices.Concat(rows...))
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return npyio.Write(f, m)
}

// writeLinks writes a graph of 60 nodes in 4 groups, with all unlinked pairs of a sample of pairs.
func writeLinks(folder string) error {
	d, err := trial.Generate(trial.Communities{Nodes: 60, Groups: 4, Degree: 8, Inside: 0.9, FeatureLen: 3, Noise: 0.5}, 1)
	if err != nil {
		return err
	}
	var entries, features [][]float64
	for u, row := range d.Links {
		for v := range trial.ID(d.Nodes) {
			switch {
			case slices.Contains(row, v):
				entries = append(entries, []float64{float64(u), float64(v), 1})
			case (u+int(v))%7 == 0:
				entries = append(entries, []float64{float64(u), float64(v), -1})
			}
		}
		f := make([]float64, 3)
		for i, x := range d.Features[u] {
			f[i] = float64(x)
		}
		features = append(features, f)
	}
	if err := saveMatrix(filepath.Join(folder, "entry.npy"), entries); err != nil {
		return err
	}
	return saveMatrix(filepath.Join(folder, "features.npy"), features)
}

// writeBipartite writes 3 users and 4 items. User u is linked to item u, and not to the next one.
func writeBipartite(folder string) error {
	var entries [][]float64
	for u := range 3 {
		entries = append(entries, []float64{float64(u), float64(u), 1}, []float64{float64(u), float64(u + 1), -1})
	}
	if err := saveMatrix(filepath.Join(folder, "entry.npy"), entries); err != nil {
		return err
	}
	if err := saveMatrix(filepath.Join(folder, "user_features.npy"), [][]float64{{0, 1}, {2, 3}, {4, 5}}); err != nil {
		return err
	}
	return saveMatrix(filepath.Join(folder, "item_features.npy"), [][]float64{{6, 7}, {8, 9}, {10, 11}, {12, 13}})
}

func TestReadLinks(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "small")
	if err := writeLinks(folder); err != nil {
		t.Fatal(err)
	}
	s, err := readData(folder, readLinks)
	if err != nil {
		t.Fatal(err)
	}
	d := s.data
	if s.name != "small" || len(s.sum) != 16 || s.featureLen != 3 || d.Nodes != 60 || d.Offered != nil || len(d.Features[59]) != 3 {
		t.Errorf("%s, sum %s, %d nodes with %d numbers", s.name, s.sum, d.Nodes, s.featureLen)
	}
	for _, p := range d.Positives {
		if !d.Linked(p.Source, p.Target) {
			t.Errorf("%v is listed and not linked", p)
		}
	}
	for _, p := range d.Negatives {
		if p.Source == p.Target || d.Linked(p.Source, p.Target) {
			t.Errorf("%v is listed as not linked", p)
		}
	}
	if err := saveMatrix(filepath.Join(folder, "entry.npy"), [][]float64{{0, 1, 1}, {2, 2, 1}, {1, 0, -1}}); err != nil {
		t.Fatal(err)
	}
	other, err := readData(folder, readLinks)
	if err != nil || other.sum == s.sum || len(other.data.Positives) != 1 || len(other.data.Negatives) != 1 {
		t.Errorf("other entries: %+v, %v", other, err)
	}
}

// Items are numbered after users. Users are served, and items are candidates.
func TestReadBipartite(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "shop")
	if err := writeBipartite(folder); err != nil {
		t.Fatal(err)
	}
	s, err := readData(folder, readLinks)
	if err != nil {
		t.Fatal(err)
	}
	d := s.data
	if d.Nodes != 7 || !slices.Equal(d.Served, []trial.ID{0, 1, 2}) || !slices.Equal(d.Offered, []trial.ID{3, 4, 5, 6}) ||
		!d.Linked(1, 4) || d.Linked(1, 5) || d.Negatives[2] != (trial.Pair{Source: 2, Target: 6}) || d.Features[3][0] != 6 {
		t.Errorf("%+v", d)
	}
}

func TestReadLinksRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		entries [][]float64
		want    string
	}{
		"a node too many":  {[][]float64{{0, 7, 1}}, "row 0 is 0, 7, 1"},
		"half a node":      {[][]float64{{0, 1, 1}, {0.5, 1, 1}}, "row 1 is 0.5"},
		"a negative node":  {[][]float64{{-1, 1, 1}}, "row 0"},
		"no mark":          {[][]float64{{0, 1, 0}}, "1 or -1"},
		"too many columns": {[][]float64{{0, 1, 1, 1}}, "3 columns, got 4"},
	} {
		folder := t.TempDir()
		for file, rows := range map[string][][]float64{"entry.npy": c.entries, "features.npy": {{1}, {2}}} {
			if err := saveMatrix(filepath.Join(folder, file), rows); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := readData(folder, readLinks); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), folder) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if _, err := readData(t.TempDir(), readLinks); err == nil || !strings.Contains(err.Error(), "user_features.npy") {
		t.Errorf("an empty folder: %v", err)
	}
}

// The data sets that the authors published can be read.
func TestPublished(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][4]int{ // nodes, served, listed links, listed others
		"grqc": {5242, 5241, 28968, 21020}, "facebook": {4039, 4039, 88234, 31766},
		"amazon": {8000, 3058, 3679, 6321}, "yelp": {12000, 2000, 106583, 11324},
	} {
		folder := filepath.Join("..", "..", "..", "shared", "data", "prb", name)
		if _, err := os.Stat(folder); err != nil {
			t.Skipf("shared/data is not there: %v", err)
		}
		s, err := readData(folder, readLinks)
		if err != nil {
			t.Fatal(err)
		}
		d := s.data
		if got := [4]int{d.Nodes, len(d.Served), len(d.Positives), len(d.Negatives)}; got != want || s.featureLen != 10 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
