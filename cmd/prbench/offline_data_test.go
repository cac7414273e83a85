package main

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"
)

// csv returns a gzipped table.
func csv(t testing.TB, s string) *fstest.MapFile {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return &fstest.MapFile{Data: b.Bytes()}
}

func TestReadOGB(t *testing.T) {
	t.Parallel()
	folder := fstest.MapFS{
		"raw/num-node-list.csv.gz": csv(t, "3\n"), "raw/edge.csv.gz": csv(t, "0,1\n1,2\n"),
		"raw/node-feat.csv.gz": csv(t, "1,0\n0.5,2\n0,0\n"), "raw/node-label.csv.gz": csv(t, "1\n0\n2\n"),
	}
	g, err := readOGB(folder)
	if err != nil {
		t.Fatal(err)
	}
	if g.nodes != 3 || !slices.Equal(g.edges, [][2]uint32{{0, 1}, {1, 2}}) || !slices.Equal(g.labels, []int{1, 0, 2}) {
		t.Errorf("read %+v", g)
	}
	if len(g.features) != 3 || g.features[1][0] != 0.5 || g.features[1][1] != 2 {
		t.Errorf("features %v", g.features)
	}
	for name, bad := range map[string]string{
		"raw/num-node-list.csv.gz": "3\n4\n", "raw/edge.csv.gz": "0,3\n", "raw/node-feat.csv.gz": "1,2\n3\n4,5\n",
		"raw/node-label.csv.gz": "1\n2\n",
	} {
		was := folder[name]
		folder[name] = csv(t, bad)
		if g, err := readOGB(folder); err == nil {
			t.Errorf("%s with %q: read %+v", name, bad, g)
		}
		folder[name] = was
	}
	delete(folder, "raw/edge.csv.gz")
	if _, err := readOGB(folder); err == nil {
		t.Error("a folder without edges was read")
	}
}

// TestReadPublishedOGB verifies that the published graphs have what their descriptions say.
func TestReadPublishedOGB(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		folder           string
		nodes, edges     int
		features, labels bool
	}{
		{"cora", 2708, 5278, true, true},
		{"citeseer", 3327, 4552, true, true},
		{"ogbl_ddi", 4267, 1067911, false, false},
	} {
		if !*long && c.folder != "cora" {
			continue
		}
		folder := os.DirFS(filepath.Join("..", "..", "..", "shared", "data", c.folder))
		if _, err := fs.Stat(folder, "raw"); err != nil {
			t.Skipf("shared/data is not there: %v", err)
		}
		g, err := readOGB(folder)
		if err != nil {
			t.Fatal(err)
		}
		if g.nodes != c.nodes || len(g.edges) != c.edges || g.features != nil != c.features || g.labels != nil != c.labels {
			t.Errorf("%s: %d nodes, %d edges", c.folder, g.nodes, len(g.edges))
		}
	}
}
