package db

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"kith/model"
)

// The vectors of a trained model have a separate document, which checkpoints do not change and
// which is deleted with its version.
func TestVectorsApart(t *testing.T) {
	t.Parallel()
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "g")
	open := func() *DB {
		g, err := Open(path, &Options{NoSync: true})
		must(t, err)
		return g
	}
	var edges strings.Builder
	for i := range 60 {
		fmt.Fprintf(&edges, "%d %d\n%d %d\n", i, (i+1)%60, i, (i*i+3)%60)
	}
	g := open()
	_, err := g.Load(ctx, strings.NewReader(edges.String()), LoadOptions{})
	must(t, err, g.Model("m").Create(ctx, model.Spec{}))
	train := func() {
		t.Helper()
		_, err := g.Model("m").Train(ctx, TrainOptions{Deploy: DeployAlways, Plan: model.EdgePlan{Samples: 20, Epochs: 1}})
		must(t, err)
	}
	vectors := func() uint64 {
		l := g.learners["m"]
		v, _ := l.Find(l.Version)
		return v.Vectors
	}
	ranking := func() string {
		t.Helper()
		r, err := g.Predict(ctx, PredictOptions{For: 3, Among: All(), NoCache: true, Top: -1, Model: "m"})
		must(t, err)
		return fmt.Sprint(r.Links)
	}
	train()
	first, before := vectors(), ranking()
	if first == 0 {
		t.Fatal("no vectors are stored apart")
	}
	must(t, g.Close())
	g = open()
	if ranking() != before || vectors() != first {
		t.Error("after opening again it is another model")
	}
	must(t, g.Observe(ctx, ObserveOptions{Source: 1, Target: 9, Reward: 1, Model: "m"}), g.Close())
	g = open()
	if vectors() != first {
		t.Error("a checkpoint wrote the vectors again")
	}
	before = ranking()
	train()
	if vectors() == first {
		t.Error("two versions share vectors")
	}
	_, err = g.Model("m").Rollback(ctx)
	must(t, err, g.Check(ctx))
	if ranking() != before || vectors() != first {
		t.Error("rolled back it is another model")
	}

	var file, backup bytes.Buffer
	must(t, g.Model("m").Export(ctx, &file, 0))
	got, err := g.Model("n").Import(ctx, &file)
	must(t, err)
	if got.Forgotten != 0 || got.Known != 60 || !model.Same(g.learners["m"].Model.Scorer(), g.learners["n"].Model.Scorer()) {
		t.Errorf("imported: %+v, or another model", got)
	}
	_, err = g.WriteTo(ctx, &backup)
	copied := filepath.Join(t.TempDir(), "copy")
	must(t, err, Restore(ctx, copied, &Options{Memory: 64 << 20}, &backup))
	whole, own := g, g.learners["m"].Model.Scorer()
	path = copied
	g = open()
	if !model.Same(g.learners["m"].Model.Scorer(), own) || g.Check(ctx) != nil {
		t.Error("restored it is another model")
	}
	must(t, g.Close())
	g = whole
	must(t, g.Model("m").Drop(ctx), g.Model("n").Drop(ctx))
	r := g.store.Read(g.now.Load().ts)
	defer r.Close()
	for e, err := range r.Scan([]byte{'v'}, nil) {
		t.Errorf("after a drop there is a document %q (%v)", e.Key, err)
	}
	must(t, g.Close())
}
