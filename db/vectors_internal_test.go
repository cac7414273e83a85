package db

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"kith/index"
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
	train := func() { trainBriefly(t, g) }
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

// trainBriefly trains model m.
func trainBriefly(t *testing.T, g *DB) {
	t.Helper()
	_, err := g.Model("m").Train(context.Background(), TrainOptions{Deploy: DeployAlways, Plan: model.EdgePlan{Samples: 20, Epochs: 1}})
	must(t, err)
}

// trainedRing makes a database with a trained model m of 200 nodes, and closes it.
func trainedRing(t *testing.T) (path string) {
	t.Helper()
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "g")
	g := openTest(t, path)
	var edges strings.Builder
	for i := range 200 {
		fmt.Fprintf(&edges, "%d %d\n%d %d\n", i, (i+1)%200, i, (i*i+3)%200)
	}
	_, err := g.Load(ctx, strings.NewReader(edges.String()), LoadOptions{})
	must(t, err, g.Model("m").Create(ctx, model.Spec{}))
	trainBriefly(t, g)
	must(t, g.Close())
	return path
}

// ranked returns the links of a node to some others by model m.
func ranked(ctx context.Context, p interface {
	Predict(context.Context, PredictOptions) (*Prediction, error)
}, source any, among Candidates) (string, error) {
	r, err := p.Predict(ctx, PredictOptions{For: source, Among: among, NoCache: true, Top: -1, Model: "m"})
	if err != nil {
		return "", err
	}
	return fmt.Sprint(r.Links), nil
}

// Readers that read the vectors of a stored model at the same time have the answers of the model in
// memory, also after a compaction, and after its version is gone.
func TestVectorsOnDemand(t *testing.T) {
	t.Parallel()
	ctx, path := context.Background(), trainedRing(t)
	answers := func(g *DB, p interface {
		Predict(context.Context, PredictOptions) (*Prediction, error)
	}) []string {
		all := make([]string, 20)
		var readers sync.WaitGroup
		for i := range all {
			readers.Go(func() {
				var err error
				if all[i], err = ranked(ctx, p, 10*i, Neighbors(3)); err != nil {
					t.Error(err)
				}
			})
		}
		readers.Wait()
		return all
	}
	g := openTest(t, path)
	must(t, g.learners["m"].Model.LoadVectors())
	g.now.Load().models["m"] = viewOf(g.learners["m"])
	want := answers(g, g)
	must(t, g.Close())

	g = openTest(t, path)
	if got := answers(g, g); !slices.Equal(got, want) {
		t.Error("with vectors on demand the answers are different")
	}
	must(t, g.Close())

	g = openTest(t, path)
	must(t, g.Update(ctx, func(tx *Tx) error { return tx.Set("cursor", []byte("1")) }), g.Compact(ctx))
	if got := answers(g, g); !slices.Equal(got, want) {
		t.Error("with vectors on demand the answers are different after a compaction")
	}
	must(t, g.Close())

	g = openTest(t, path)
	must(t, g.View(ctx, func(tx *Tx) error {
		trainBriefly(t, g)
		must(t, g.Model("m").Drop(ctx), g.Compact(ctx))
		for i, w := range want {
			if got, err := ranked(ctx, tx, 10*i, Neighbors(3)); err != nil || got != w {
				t.Errorf("after the model was dropped, a reader from before has another answer about %d (%v)", 10*i, err)
			}
		}
		return nil
	}), g.Close())
}

// A damaged page of vectors is an error of the first answer that needs it, and of a check.
func TestDamagedVectors(t *testing.T) {
	t.Parallel()
	ctx, path := context.Background(), trainedRing(t)
	st := openStoreUnchecked(t, path)
	r := st.Read(st.Newest())
	var key, value []byte
	for e, err := range r.Scan([]byte{'v'}, nil) {
		must(t, err)
		key, value = bytes.Clone(e.Key), bytes.Clone(e.Value) // the last part of the vectors
	}
	r.Close()
	value[len(value)-1] ^= 1
	must(t, st.Commit(st.Newest()+1, func(w index.Writer) error { return w.Set(key, value) }), st.Close())

	g := openTest(t, path)
	if _, err := ranked(ctx, g, 3, Keys(4, 9)); err != nil {
		t.Errorf("nodes whose page is whole: %v", err)
	}
	if err := g.Check(ctx); !errors.Is(err, ErrCorrupt) {
		t.Errorf("check: %v", err)
	}
	if _, err := ranked(ctx, g, 3, Keys(4, 199)); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), `model "m": vectors of the nodes from 192 on`) {
		t.Errorf("a node whose page is damaged: %v", err)
	}
	if err := g.Observe(ctx, ObserveOptions{Source: 3, Target: 199, Reward: 1, Model: "m"}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("an outcome: %v", err)
	}
	_ = g.Close() // an outcome was not learned
}
