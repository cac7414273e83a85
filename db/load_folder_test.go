package db_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"kith/db"
	"kith/db/dbtest"
	"kith/db/edgelist"
)

// A folder provides nodes, labels and features, and the edges of raw or of the parts of a split.
func TestLoadFolder(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, c := range []struct {
		split, want string
		files       int
	}{
		{"", "0-1 1-2 2-3 3-4", 4},
		{"a/train", "0-1 1-2", 4},
		{"a/valid,test", "2-3 3-4", 5},
		{"a/all", "0-1 1-2 2-3 3-4", 6},
		{"b/train", "3-4", 4},
	} {
		g := dbtest.Open(t, inMemory)
		reports, err := g.LoadFolder(ctx, dbtest.Folder(t), db.LoadOptions{Split: c.split})
		must(t, err)
		if len(reports) != c.files || reports[0].Nodes != 6 {
			t.Errorf("split %q: %+v", c.split, reports)
		}
		if got := strings.ReplaceAll(strings.Join(edges(t, g), " "), ":1@0", ""); got != c.want {
			t.Errorf("split %q: edges %s, want %s", c.split, got, c.want)
		}
		view(t, g, func(tx *db.Tx) error {
			if n, err := tx.Node(4); err != nil || n.Label != "1" || !slices.Equal(n.Features, []float32{2, 1}) {
				t.Errorf("split %q: %+v, %v", c.split, n, err)
			}
			return nil
		})
	}
}

func TestLoadFolderRefuses(t *testing.T) {
	t.Parallel()
	folder := dbtest.Folder(t)
	for _, c := range []struct {
		o    db.LoadOptions
		want string
	}{
		{db.LoadOptions{Split: "train"}, "there are: a, b"},
		{db.LoadOptions{Split: "c/train"}, "there are: a, b"},
		{db.LoadOptions{Split: "b/test"}, "split/b/test.pt is not there (there are: train.pt)"},
		{db.LoadOptions{Split: "b/all"}, "split/b/valid.pt is not there"},
		{db.LoadOptions{Split: "a/tests"}, "accepted: train, valid, test, all"},
		{db.LoadOptions{Split: "a/train,all"}, "accepted: train, valid, test, all"},
		{db.LoadOptions{Split: "../a/train"}, "there are: a, b"},
		{db.LoadOptions{Split: "../raw/train"}, "there are: a, b"},
		{db.LoadOptions{Split: "/train"}, "there are: a, b"},
		{db.LoadOptions{Format: edgelist.CSV}, "a folder is read as ogb"},
		{db.LoadOptions{TargetLabel: "item"}, "a folder says itself"},
	} {
		g := dbtest.Open(t, inMemory)
		_, err := g.LoadFolder(context.Background(), folder, c.o)
		wantError(t, c.want, err, db.ErrInput)
		if err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.o, err, c.want)
		}
		view(t, g, func(tx *db.Tx) error {
			if nodes, edges := tx.Counts(); nodes+edges > 0 {
				t.Errorf("%+v: %d nodes, %d edges", c.o, nodes, edges)
			}
			return nil
		})
	}
	dir := t.TempDir()
	labels, err := fs.ReadFile(folder, "raw/node-label.csv.gz")
	must(t, err, os.CopyFS(dir, folder), os.WriteFile(filepath.Join(dir, "split/a/train.pt"), labels, 0o666))
	reports, err := dbtest.Open(t, inMemory).LoadFolder(context.Background(), os.DirFS(dir), db.LoadOptions{Split: "a/train"})
	if err == nil || !strings.HasPrefix(err.Error(), "split/a/train.pt: ") || len(reports) != 3 {
		t.Errorf("%v, %d reports", err, len(reports))
	}
	_, err = dbtest.Open(t, inMemory).Load(context.Background(), strings.NewReader("1 2\n"), db.LoadOptions{Format: edgelist.Folder})
	if err == nil || !strings.Contains(err.Error(), "this is a file") {
		t.Error(err)
	}
}

// The splits of Cora partition its edges.
func TestLoadFolderOfCora(t *testing.T) {
	t.Parallel()
	notShort(t)
	shared(t, "cora/raw/edge.csv.gz")
	counts := map[string]int64{"random0/train": 3696}
	if *long {
		counts[""], counts["random0/all"] = 5278, 5278
	}
	for split, want := range counts {
		g := dbtest.Open(t, inMemory)
		_, err := g.LoadFolder(context.Background(), os.DirFS("../../shared/data/cora"), db.LoadOptions{Split: split})
		must(t, err)
		view(t, g, func(tx *db.Tx) error {
			if nodes, edges := tx.Counts(); nodes != 2708 || edges != want {
				t.Errorf("split %q: %s, want %d edges", split, fmt.Sprint(nodes, edges), want)
			}
			return nil
		})
	}
}

// A folder of nodes of several types gives labels and relations, and a folder of numbered relations
// gives relations.
func TestLoadFolderOfRelations(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	typed := fstest.MapFS{}
	for name, text := range map[string]string{
		"raw/num-node-dict.csv.gz": "disease,drug\n2,2\n", "raw/relations/drug___treats___disease/edge.csv.gz": "0,1\n1,0\n",
		"raw/relations/drug___with___drug/edge.csv.gz": "0,1\n", "raw/node-feat/drug/node-feat.csv.gz": "1,2\n3,4\n",
	} {
		typed[name] = &fstest.MapFile{Data: []byte(text)}
	}
	g := dbtest.Open(t, &db.Options{InMemory: true, Direction: db.Directed})
	_, err := g.LoadFolder(ctx, typed, db.LoadOptions{})
	must(t, err)
	view(t, g, func(tx *db.Tx) error {
		want := []string{
			`"disease:0" "disease" []`, `"disease:1" "disease" []`, `"drug:0" "drug" [1 2]`, `"drug:1" "drug" [3 4]`,
			`"treats" 'drug:0'-'disease:1':1@0`, `"treats" 'drug:1'-'disease:0':1@0`, `"with" 'drug:0'-'drug:1':1@0`,
		}
		for i := range want[:4] {
			want[i] = strings.Replace(strings.Replace(want[i], `"`, "'", 1), `"`, "'", 1)
		}
		slices.Sort(want)
		if got := contents(tx); !slices.Equal(got, want) {
			t.Errorf("%q\nwant %q", got, want)
		}
		return nil
	})
	numbered := fstest.MapFS{"edge.csv": {}, "raw/edge.csv.gz": {Data: []byte("0,1\n1,2\n")}, "raw/edge_reltype.csv.gz": {Data: []byte("0\n3\n")}}
	h := dbtest.Open(t, inMemory)
	reports, err := h.LoadFolder(ctx, numbered, db.LoadOptions{Direction: db.Directed})
	if err != nil || len(reports) != 1 || reports[0].Relations != 2 || !reports[0].Directed {
		t.Errorf("%+v, %v", reports, err)
	}
	numbered["mapping/reltype2relid.csv.gz"] = &fstest.MapFile{Data: []byte("reltype,rel id\n0,P31\n3,P279\n")}
	numbered["mapping/nodeidx2entityid.csv.gz"] = &fstest.MapFile{Data: []byte("node idx,entity id\n0,Q1\n1,Q42\n2,Q7\n")}
	h = dbtest.Open(t, inMemory)
	_, err = h.LoadFolder(ctx, numbered, db.LoadOptions{Direction: db.Directed})
	must(t, err)
	view(t, h, func(tx *db.Tx) error {
		n, err := tx.Node(1)
		e, err2 := tx.Edge(1, 2, db.Via("P279"))
		if n.Properties["entity_id"] != "Q42" || n.Label != "" || e.Relation != "P279" {
			t.Errorf("%+v, %+v", n, e)
		}
		return errors.Join(err, err2)
	})
	delete(numbered, "mapping/nodeidx2entityid.csv.gz")
	h = dbtest.Open(t, inMemory)
	reports, err = h.LoadFolder(ctx, numbered, db.LoadOptions{Relation: "cites"})
	if err != nil || len(reports) != 1 || reports[0].Relations != 1 || reports[0].Edges != 2 {
		t.Errorf("%+v, %v", reports, err)
	}
}
