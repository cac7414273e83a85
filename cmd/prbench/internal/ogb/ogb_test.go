package ogb

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

func TestRead(t *testing.T) {
	t.Parallel()
	folder := fstest.MapFS{
		"raw/num-node-list.csv.gz": csv(t, "3\n"), "raw/edge.csv.gz": csv(t, "0,1\n1,2\n"),
		"raw/node-feat.csv.gz": csv(t, "1,0\n0.5,2\n0,0\n"), "raw/node-label.csv.gz": csv(t, "1\n0\n2\n"),
	}
	g, err := Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	if g.Nodes != 3 || !slices.Equal(g.Edges, [][2]uint32{{0, 1}, {1, 2}}) || !slices.Equal(g.Labels, []int{1, 0, 2}) {
		t.Errorf("read %+v", g)
	}
	if len(g.Features) != 3 || g.Features[1][0] != 0.5 || g.Features[1][1] != 2 {
		t.Errorf("features %v", g.Features)
	}
	for name, bad := range map[string]string{
		"raw/num-node-list.csv.gz": "3\n4\n", "raw/edge.csv.gz": "0,3\n", "raw/node-feat.csv.gz": "1,2\n3\n4,5\n",
		"raw/node-label.csv.gz": "1\n2\n",
	} {
		was := folder[name]
		folder[name] = csv(t, bad)
		if g, err := Read(folder); err == nil {
			t.Errorf("%s with %q: read %+v", name, bad, g)
		}
		folder[name] = was
	}
	delete(folder, "raw/edge.csv.gz")
	if _, err := Read(folder); err == nil {
		t.Error("a folder without edges was read")
	}
}

// TestReadPublished verifies that the published graphs have what their descriptions say.
func TestReadPublished(t *testing.T) {
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
		if testing.Short() && c.folder != "cora" {
			continue
		}
		folder := os.DirFS(filepath.Join("..", "..", "..", "..", "..", "shared", "data", c.folder))
		if _, err := fs.Stat(folder, "raw"); err != nil {
			t.Skipf("shared/data is not there: %v", err)
		}
		g, err := Read(folder)
		if err != nil {
			t.Fatal(err)
		}
		if g.Nodes != c.nodes || len(g.Edges) != c.edges || g.Features != nil != c.features || g.Labels != nil != c.labels {
			t.Errorf("%s: %d nodes, %d edges", c.folder, g.Nodes, len(g.Edges))
		}
	}
}

// A graph without a file of training edges is its own training part. A part without pairs is an
// error that names the file.
func TestSplit(t *testing.T) {
	t.Parallel()
	g := &Graph{Nodes: 3, Edges: [][2]uint32{{0, 1}}}
	_, err := g.Split(fstest.MapFS{"split/a/train.pt": {Data: nil}}, "split/a")
	if err == nil || !strings.Contains(err.Error(), "split/a/train.pt") {
		t.Errorf("an empty part: %v", err)
	}
	_, err = g.Split(fstest.MapFS{}, "split/a")
	if err == nil || !strings.Contains(err.Error(), "split/a/valid.pt") {
		t.Errorf("only training edges: %v", err)
	}
	root := os.DirFS(filepath.Join("..", "..", "..", "..", "..", "shared", "data", "cora"))
	if g, err = Read(root); err != nil {
		t.Skipf("shared/data is not there: %v", err)
	}
	s, err := g.Split(root, "split/random0")
	if err != nil {
		t.Fatal(err)
	}
	got := []int{len(s.Train), len(s.Valid.Links), len(s.Valid.Others), len(s.Test.Links), len(s.Test.Others)}
	if want := []int{3696, 527, 527, 1055, 1055}; !slices.Equal(got, want) {
		t.Errorf("%d pairs, want %d", got, want)
	}
}

// A data set that has HeaRT's split is read with it for heart, unless that split has a node that
// the graph has not.
func TestReadBenchmark(t *testing.T) {
	t.Parallel()
	root := fstest.MapFS{
		"x/raw/edge.csv.gz": csv(t, "0,1\n1,2\n"), "x/raw/num-node-list.csv.gz": csv(t, "3\n"), "x/raw/num-edge-list.csv.gz": csv(t, "2\n"),
	}
	for name, pair := range map[string]string{"train_pos": "0 1", "valid_pos": "1 2", "valid_neg": "0 2", "test_pos": "1 2", "test_neg": "2 0"} {
		root["heart/x/"+name+".txt"] = &fstest.MapFile{Data: []byte(pair + "\n")}
	}
	g, s, err := ReadBenchmark(root, "x", "split/random0", true)
	if err != nil || g.Nodes != 3 || len(s.Train) != 1 || !HasHeart(root, "x") {
		t.Fatalf("%+v, %+v, %v", g, s, err)
	}
	if _, _, err := ReadBenchmark(root, "x", "split/random0", false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its own split, which is missing: %v", err)
	}
	root["heart/x/test_neg.txt"] = &fstest.MapFile{Data: []byte("2 3\n")}
	if _, _, err := ReadBenchmark(root, "x", "split/random0", true); err == nil || !strings.Contains(err.Error(), "heart/x has 4 nodes, x has 3") {
		t.Errorf("a node that the graph has not: %v", err)
	}
}
