package db_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kith/db"
	"kith/db/dbtest"
	"kith/db/edgelist"
	"kith/db/edgelist/parquet"
)

// contents returns what lists can hold: nodes with labels and features, and edges with relations,
// weights and times.
func contents(tx *db.Tx) (all []string) {
	for n := range tx.Nodes() {
		all = append(all, fmt.Sprintf("%v %q %v", n.Key.Literal(), n.Label, n.Features))
	}
	directed := map[string]bool{}
	relations, _ := tx.Relations()
	for _, r := range relations {
		directed[r.Name] = r.Directed
	}
	for e := range tx.Edges() {
		if !directed[e.Relation] && e.Src.Compare(e.Dst) > 0 {
			e.Src, e.Dst = e.Dst, e.Src
		}
		all = append(all, fmt.Sprintf("%q %s", e.Relation, edgeString(e)))
	}
	slices.Sort(all)
	return all
}

// copyLists writes the three lists of g and loads them into h.
func copyLists(g, h *db.DB, f edgelist.Format, packing string) error {
	ctx := context.Background()
	write := func(list func(*db.Tx, io.Writer) (db.ListReport, error)) (r db.ListReport, b bytes.Buffer, err error) {
		err = g.View(ctx, func(tx *db.Tx) error {
			w, err := edgelist.Compress(&b, packing)
			if err != nil {
				return err
			}
			r, err = list(tx, w)
			return errors.Join(err, w.Close())
		})
		return r, b, err
	}
	o := db.ListOptions{Format: f, Tables: parquet.Format{}}
	edges := o
	r, b, err := write(func(tx *db.Tx, w io.Writer) (db.ListReport, error) { return tx.WriteNodes(ctx, w, o) })
	if err == nil {
		_, err = h.LoadNodes(ctx, &b, db.LoadNodesOptions{Format: r.Format, Tables: o.Tables})
	}
	if err != nil {
		return err
	}
	r, b, err = write(func(tx *db.Tx, w io.Writer) (db.ListReport, error) { return tx.WriteFeatures(ctx, w, o) })
	if err == nil {
		_, err = h.LoadFeatures(ctx, &b, db.LoadNodesOptions{Format: r.Format, Tables: o.Tables})
	}
	if err != nil {
		return err
	}
	r, b, err = write(func(tx *db.Tx, w io.Writer) (db.ListReport, error) { return tx.WriteEdges(ctx, w, edges) })
	if err != nil {
		return err
	}
	load := db.LoadOptions{Format: r.Format, Times: edgelist.Seconds, Tables: o.Tables}
	if f == edgelist.Parquet {
		load.Times = edgelist.AnyTime
	}
	if err = load.SetColumns(r.Columns); err == nil {
		_, err = h.Load(ctx, &b, load)
	}
	return err
}

// Lists are read back unchanged, or writing is rejected with the key that cannot be written.
func TestListsComeBack(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	key := rapid.Custom(func(t *rapid.T) db.Key {
		if rapid.Bool().Draw(t, "integer") {
			return db.Int(rapid.Int64Range(-3, 9).Draw(t, "key"))
		}
		return db.Str(rapid.StringOfN(rapid.SampledFrom([]rune("ab7-#%,;| \t\r\"'é\u2028")), 1, 3, -1).Draw(t, "key"))
	})
	rapid.Check(t, func(t *rapid.T) {
		direction := rapid.SampledFrom([]db.Direction{db.Directed, db.Undirected}).Draw(t, "direction")
		g, h := openMemory(t, direction), openMemory(t, direction)
		defer g.Close()
		defer h.Close()
		plain := rapid.Bool().Draw(t, "plain")
		relations := []string{"", "likes", "7", "two words", "a,\"b", "#x", "é"}[:rapid.IntRange(1, 7).Draw(t, "relations")]
		for _, name := range relations[1:] { // lists do not hold directions
			r := db.Relation{Name: name, Directed: rapid.Bool().Draw(t, "directed")}
			for _, g := range []*db.DB{g, h} {
				if err := g.Update(ctx, func(tx *db.Tx) error { return tx.AddRelation(r) }); err != nil {
					t.Fatal(err)
				}
			}
		}
		err := g.Update(ctx, func(tx *db.Tx) error {
			for range rapid.IntRange(0, 8).Draw(t, "edges") {
				e := db.Edge{Src: key.Draw(t, "src"), Dst: key.Draw(t, "dst"), Weight: 1}
				if !plain {
					e.Weight = rapid.SampledFrom([]float32{1, 0.1, 1e-12, 3e9}).Draw(t, "weight")
					e.Time = time.Unix(rapid.SampledFrom([]int64{0, -5, 7, 253402300799}).Draw(t, "time"), 0)
				}
				relation := rapid.SampledFrom(relations).Draw(t, "relation")
				if err := tx.PutEdge(e.Src, e.Dst, db.Via(relation), db.Weight(e.Weight), db.At(e.Time)); err != nil {
					return err
				}
			}
			for i := range rapid.IntRange(0, 4).Draw(t, "nodes") {
				n := db.Node{Key: key.Draw(t, "node"), Label: rapid.SampledFrom([]string{"", "l", "two words", "#,\""}).Draw(t, "label")}
				if err := tx.PutNode(n); err != nil {
					return err
				}
				if i%2 == 0 {
					_ = tx.SetFeatures(n.Key, []float32{float32(i) / 3, -1e30}) // fails if another node of the label has a vector of another length
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		f := rapid.SampledFrom([]edgelist.Format{edgelist.CSV, edgelist.TSV, edgelist.SNAP, edgelist.JSONLines, edgelist.Parquet}).Draw(t, "format")
		packing := rapid.SampledFrom([]string{"", ".gz", ".zst"}).Draw(t, "packing")
		if f == edgelist.Parquet {
			packing = ""
		}
		err = copyLists(g, h, f, packing)
		if errors.Is(err, db.ErrInput) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		var want, got []string
		if err := g.View(ctx, func(tx *db.Tx) error { want = contents(tx); return nil }); err != nil {
			t.Fatal(err)
		}
		if err := h.View(ctx, func(tx *db.Tx) error { got = contents(tx); return nil }); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v came back as\n%q\nwant\n%q", f, got, want)
		}
	})
}

func openMemory(t *rapid.T, d db.Direction) *db.DB {
	g, err := db.Open("", &db.Options{InMemory: true, Memory: 64 << 20, Direction: d})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestListsRefuse(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, c := range []struct {
		key  string
		f    edgelist.Format
		want string // expected error; "" means none
	}{
		{"two words", edgelist.CSV, ""},
		{"two words", edgelist.SNAP, `line 2: edgelist: "two words" cannot stand between blanks; .csv and .tsv have quotes; a backup keeps everything`},
		{"#1", edgelist.SNAP, `"#1" cannot stand between blanks`},
		{"42", edgelist.CSV, `the string "42" would be read as an integer`},
		{"042", edgelist.CSV, ""},
		{"a\nb", edgelist.TSV, `"a\nb" holds the end of a line`},
		{"a", edgelist.NPY, "lists are not written as npy"},
	} {
		g := dbtest.Open(t, inMemory)
		update(t, g, func(tx *db.Tx) error { return tx.PutEdge(c.key, c.key) })
		view(t, g, func(tx *db.Tx) error {
			for _, write := range []func(context.Context, io.Writer, db.ListOptions) (db.ListReport, error){tx.WriteEdges, tx.WriteNodes} {
				_, err := write(ctx, io.Discard, db.ListOptions{Format: c.f})
				if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, db.ErrInput) || !strings.Contains(err.Error(), c.want)) {
					t.Errorf("%q as %v: %v, want %s", c.key, c.f, err, c.want)
				}
			}
			return nil
		})
	}
}

// Writing a long list can be canceled and reports its progress.
func TestListsStop(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, inMemory)
	_, err := g.Load(context.Background(), strings.NewReader(wheel(40_000)), db.LoadOptions{})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	told := 0
	o := db.ListOptions{Progress: func(n int64) {
		if told++; told == 2 {
			cancel()
		}
	}}
	view(t, g, func(tx *db.Tx) error {
		r, err := tx.WriteEdges(ctx, io.Discard, o)
		wantError(t, "edges", err, context.Canceled)
		if told != 2 || r.Lines == 0 {
			t.Errorf("told %d times, stopped after %d lines", told, r.Lines)
		}
		_, err = tx.WriteNodes(ctx, io.Discard, o)
		wantError(t, "nodes", err, context.Canceled)
		return nil
	})
}

// Write the edges as a table.
func ExampleTx_WriteEdges() {
	ctx := context.Background()
	g, err := db.Open("", &db.Options{InMemory: true, Memory: 64 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	err = g.Update(ctx, func(tx *db.Tx) error {
		if err := tx.PutEdge("ann", "bob"); err != nil {
			return err
		}
		if err := tx.PutEdge("bob", 7, db.Weight(0.5)); err != nil {
			return err
		}
		_, err := tx.WriteEdges(ctx, os.Stdout, db.ListOptions{})
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// source,target,weight
	// ann,bob,1
	// bob,7,0.5
}
