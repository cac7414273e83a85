package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/xitongsys/parquet-go/reader"
	xitongsys "github.com/xitongsys/parquet-go/source"

	"kith/cmd/internal/score"
	"kith/db"
	"kith/db/dbtest"
	"kith/db/edgelist"
	"kith/db/edgelist/parquet"
)

// memoryFile is a file of xitongsys/parquet-go, the library of Beam's parquetio. It is independent
// of the one that kith uses.
type memoryFile struct {
	*bytes.Reader
	content []byte
}

func (f memoryFile) Open(string) (xitongsys.ParquetFile, error) {
	return memoryFile{bytes.NewReader(f.content), f.content}, nil
}
func (f memoryFile) Create(string) (xitongsys.ParquetFile, error) { return nil, io.ErrClosedPipe }
func (f memoryFile) Write([]byte) (int, error)                    { return 0, io.ErrClosedPipe }
func (f memoryFile) Close() error                                 { return nil }

// foreign reads a Parquet file with that library. It returns the names of the columns and the rows,
// a line each.
func foreign(t *testing.T, file []byte) (lines []string) {
	t.Helper()
	r, err := reader.NewParquetReader(memoryFile{bytes.NewReader(file), file}, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.ReadStop()
	rows, err := r.ReadByNumber(int(r.GetNumRows()))
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		v := reflect.ValueOf(row)
		var names, values []string
		for field := range v.NumField() {
			names = append(names, strings.ToLower(v.Type().Field(field).Name))
			values = append(values, fmt.Sprint(reflect.Indirect(v.Field(field))))
		}
		if i == 0 {
			lines = append(lines, strings.Join(names, ","))
		}
		lines = append(lines, strings.Join(values, ","))
	}
	return lines
}

// export returns what that library reads of a list that a database writes.
func export(t *testing.T, g *db.DB, write func(*db.Tx, context.Context, io.Writer, db.ListOptions) (db.ListReport, error)) []string {
	t.Helper()
	var file bytes.Buffer
	err := g.View(t.Context(), func(tx *db.Tx) error {
		_, err := write(tx, t.Context(), &file, db.ListOptions{Format: edgelist.Parquet, Tables: parquet.Format{}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return foreign(t, file.Bytes())
}

// same compares lines after the first, whatever their order.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	slices.Sort(got[1:])
	want = slices.Clone(want)
	slices.Sort(want[1:])
	if !slices.Equal(got, want) {
		t.Errorf("%s: another library reads\n%q\nwant\n%q", what, got, want)
	}
}

func key(t *testing.T, v any) db.Key {
	t.Helper()
	k, err := db.KeyOf(v)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Another library reads every kind of file that kith writes: the edges, nodes and features of
// EXPORT and the links of kith score, with integers, strings or both as keys.
func TestForeignReader(t *testing.T) {
	const null = "<invalid reflect.Value>"
	for name, c := range map[string]struct {
		a, b, c                       any
		edges, nodes, features, links []string
	}{
		"integers": {1, 2, -3,
			[]string{"source,target,weight,time", "1,2,0.5,1700000000000", "1,-3,2.25,1700000009000", "2,-3,1," + null},
			[]string{"node,label", "1,user", "2," + null, "-3,item"},
			[]string{"node,features", "1,[0.5 2]", "-3,[1 -3e-05]"},
			[]string{"source,target,rank,score", "1,-3,1,1", "-3,1,1,1"}},
		"strings": {"ann", "bob", "ünï \"x\",",
			[]string{"source,target,weight,time", "ann,bob,0.5,1700000000000", "ann,ünï \"x\",,2.25,1700000009000", "bob,ünï \"x\",,1," + null},
			[]string{"node,label", "ann,user", "bob," + null, "ünï \"x\",,item"},
			[]string{"node,features", "ann,[0.5 2]", "ünï \"x\",,[1 -3e-05]"},
			[]string{"source,target,rank,score", "ann,ünï \"x\",,1,1", "ünï \"x\",,ann,1,1"}},
		"both": {"ann", 7, "7",
			[]string{"source,target,weight,time", "ann,7,0.5,1700000000000", "ann,'7',2.25,1700000009000", "7,'7',1," + null},
			[]string{"node,label", "ann,user", "7," + null, "'7',item"},
			[]string{"node,features", "ann,[0.5 2]", "'7',[1 -3e-05]"},
			[]string{"source,target,rank,score", "ann,'7',1,1", "'7',ann,1,1"}},
	} {
		g := dbtest.Open(t, &db.Options{InMemory: true, Memory: memory})
		err := g.Update(t.Context(), func(tx *db.Tx) error {
			for _, e := range []db.Edge{
				{Src: key(t, c.a), Dst: key(t, c.b), Weight: 0.5, Time: time.Unix(1_700_000_000, 0)}, {Src: key(t, c.b), Dst: key(t, c.c), Weight: 1},
				{Src: key(t, c.c), Dst: key(t, c.a), Weight: 2.25, Time: time.Unix(1_700_000_009, 0)},
			} {
				if err := tx.PutEdge(e.Src, e.Dst, db.Weight(e.Weight), db.At(e.Time)); err != nil {
					return err
				}
			}
			if err := tx.PutNode(db.Node{Key: key(t, c.a), Label: "user", Features: []float32{0.5, 2}}); err != nil {
				return err
			}
			return tx.PutNode(db.Node{Key: key(t, c.c), Label: "item", Features: []float32{1, -3e-5}})
		})
		if err != nil {
			t.Fatal(err)
		}
		same(t, name+": edges", export(t, g, (*db.Tx).WriteEdges), c.edges)
		same(t, name+": nodes", export(t, g, (*db.Tx).WriteNodes), c.nodes)
		same(t, name+": features", export(t, g, (*db.Tx).WriteFeatures), c.features)
		path := dbtest.Open(t, &db.Options{InMemory: true, Memory: memory})
		if err := path.Update(t.Context(), func(tx *db.Tx) error { return cmp.Or(tx.PutEdge(c.a, c.b), tx.PutEdge(c.b, c.c)) }); err != nil {
			t.Fatal(err)
		}
		question := score.Options{Among: "ALL", Using: "preferential_attachment"}
		same(t, name+": links", foreign(t, []byte(single(t, path, "parquet", question))), c.links)
	}
}
