package db_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
)

// remake re-creates the databases in testdata in the present format:
//
//	go test ./db -run TestFormat -remake
//
// An existing file of a format is what later code must be able to open. It may be re-created only
// while there are no other databases of that format.
var remake = flag.Bool("remake", false, "make the database in testdata anew")

const (
	formatFiles  = "testdata/format7.zip" // the files of a closed database
	formatBackup = "testdata/format7.kbk" // a backup of it
)

// fixture makes a database with records of all kinds, in two sessions. It depends on nothing else.
func fixture(g *db.DB, sitting int) error {
	ctx := context.Background()
	if sitting == 0 {
		err := g.Update(ctx, func(tx *db.Tx) error {
			return errors.Join(
				tx.AddRelation(db.Relation{Name: "likes", Directed: true, SourceLabel: "person", TargetLabel: "thing"}),
				tx.AddRelation(db.Relation{Name: "blocks", Exclude: true}), tx.PutEdge("Cid", "cake", db.Via("likes"), db.Weight(3)),
				tx.PutNode(db.Node{Key: db.Str("cake"), Properties: map[string]any{"price": 1.5, "stock": 7, "fresh": true, "tags": []string{"sweet"}}}),
				tx.PutNode(db.Node{Key: db.Int(7), Properties: map[string]any{"lang": "en", "since": time.Unix(1_000_000_000, 5000)}}),
			)
		})
		if err != nil {
			return err
		}
		if _, err := g.Load(ctx, strings.NewReader(wheel(2000)), db.LoadOptions{}); err != nil {
			return err
		}
		return errors.Join(g.Model("m").Create(ctx, model.Spec{Policy: "prb"}), g.Model("gone").Create(ctx, model.Spec{Policy: "prb"}))
	}
	for i := range 70 { // enough for a checkpoint
		o := db.ObserveOptions{Source: i % 3, Target: i + 20, Reward: float64(i % 2), Among: db.Keys(3, 5), Insert: true, Model: "m"}
		if err := g.Observe(ctx, o); err != nil {
			return err
		}
	}
	err := g.Update(ctx, func(tx *db.Tx) error {
		at := time.Unix(1_000_000_000, 0)
		return errors.Join(
			tx.PutNode(db.Node{Key: db.Str("Ada"), Label: "person", Features: []float32{1, -2.5}}),
			tx.PutNode(db.Node{Key: db.Str("Bob"), Label: "person"}), tx.SetFeatures("Bob", []float32{0.5, 3}),
			tx.PutEdge(db.Str("Ada"), db.Str("Bob"), db.Weight(2), db.At(at)),
			tx.PutEdge("Ada", 7, db.Weight(0.25)), tx.PutEdge(7, 7), tx.PutEdge("42", 42),
			tx.PutEdge("Ada", "cake", db.Via("likes")), tx.PutEdge("Ada", "Bob", db.Via("blocks")), tx.PutEdge("Cid", "Bob", db.Via("blocks")),
			tx.SetProperties("cake", map[string]any{"price": nil, "stock": 7.5, "lang": "fr"}),
			tx.DeleteEdge(0, 1), tx.DeleteNode(10),
		)
	})
	warm := func(tx *db.Tx) error { return tx.Warm(ctx, 0, 5) }
	return errors.Join(err, g.Model("gone").Drop(ctx), g.View(ctx, warm))
}

// A database of an older version of kith reads back unchanged, and so does its backup.
func TestFormat(t *testing.T) {
	t.Parallel()
	if *remake {
		remakeFormat(t)
	}
	want := open(t, "", &db.Options{InMemory: true, Memory: 64 << 20})
	defer func() { must(t, want.Close()) }()
	must(t, fixture(want, 0), fixture(want, 1))
	files, err := zip.OpenReader(formatFiles)
	must(t, err)
	defer files.Close()
	path, restored := place(t), place(t)
	must(t, os.CopyFS(path, files))
	saved, err := os.ReadFile(formatBackup)
	must(t, err, restore(restored, saved))
	for _, p := range []string{path, restored} {
		g := dbtest.Reopen(t, p, nil)
		equalDumps(t, graphDump(t, g), graphDump(t, want))
		_, err := g.Predict(context.Background(), db.PredictOptions{For: 3, Model: "m"})
		must(t, err, g.Observe(context.Background(), db.ObserveOptions{Source: 3, Target: 9, Model: "m", Reward: 1, Insert: true}))
	}
}

// graphDump returns a dump without predictions.
func graphDump(t testing.TB, g *db.DB) (lines []string) {
	for _, line := range dump(t, g) {
		if !strings.Contains(line, "{Links:") {
			lines = append(lines, line)
		}
	}
	return lines
}

func remakeFormat(t *testing.T) {
	t.Helper()
	path := place(t)
	for sitting := range 2 {
		g := open(t, path, &db.Options{Memory: 64 << 20})
		must(t, fixture(g, sitting), g.Close())
	}
	g := open(t, path, &db.Options{ReadOnly: true})
	b, _ := backup(t, g, nil)
	must(t, g.Close(), os.MkdirAll("testdata", 0o777), os.WriteFile(formatBackup, b, 0o666))
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	names, err := filepath.Glob(filepath.Join(path, "*"))
	must(t, err)
	for _, name := range names {
		f, err := os.Open(name)
		must(t, err)
		w, err := z.Create(filepath.Base(name))
		must(t, err)
		_, err = io.Copy(w, f)
		must(t, err, f.Close())
	}
	must(t, z.Close(), os.WriteFile(formatFiles, out.Bytes(), 0o666))
}
