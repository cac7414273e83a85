package db

import (
	"context"
	"errors"
	"hash/crc32"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"kith/db/internal/record"
	"kith/index"
	"kith/model"
)

// A database can be opened after another version of kith stored its model with other columns and
// was killed after some outcomes. The model is untrained and says so, remembers what was observed,
// and can be trained.
func TestOpenModelOfOtherColumns(t *testing.T) {
	t.Parallel()
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "g")
	open := func() *DB {
		g, err := Open(path, &Options{NoSync: true})
		must(t, err)
		return g
	}
	g := open()
	spec := model.Spec{FeatureLen: 3}
	must(t, spec.Set("blocks", "structural")) // other contexts than the model has later
	_, err := g.Load(ctx, strings.NewReader("0 1\n1 2\n2 3\n3 4\n4 0\n0 5\n5 6\n6 7\n7 8\n8 0\n1 5\n"), LoadOptions{})
	must(t, err, g.Model("m").Create(ctx, spec), g.Model("other").Create(ctx, model.Spec{Policy: "prb"}))
	for i := range 5 {
		must(t, g.Observe(ctx, ObserveOptions{Source: i, Target: 8 - i, Reward: 1, Model: "m"}))
	}
	d, err := g.Choose(ctx, ChooseOptions{For: 2, Among: Keys(6, 7), Model: "m"})
	must(t, err, g.Model("m").Deploy(ctx, 1))
	replaceDocument(t, g, "m", withOtherColumns(t))
	must(t, g.store.Close()) // as after a kill

	for range 2 { // the second time after a Close
		g = open()
		m := modelOf(t, g, "m")
		if !m.Outdated || m.Trained || m.Rounds != 12+5 {
			t.Errorf("outdated %v, trained %v, %d rounds", m.Outdated, m.Trained, m.Rounds)
		}
		r, err := g.Predict(ctx, PredictOptions{For: 0, Among: All(), Model: "m"})
		must(t, err)
		if !strings.Contains(r.AnsweredBy, "TRAIN MODEL") || len(r.Links) == 0 {
			t.Errorf("answered by %s: %d links", r.AnsweredBy, len(r.Links))
		}
		if r, err = g.Predict(ctx, PredictOptions{For: 0, Among: All()}); err != nil || !strings.Contains(r.AnsweredBy, "TRAIN MODEL") {
			t.Errorf("no model named: answered by %s, %v", r.AnsweredBy, err)
		}
		must(t, g.Check(ctx), g.Close())
	}
	g = open()
	must(t, g.Reward(ctx, d.ID, 1), g.Observe(ctx, ObserveOptions{Source: 1, Target: 8, Reward: 0, Model: "m"}))
	if m := modelOf(t, g, "m"); m.Rounds != 12+7 || !m.Outdated || !m.Trained {
		t.Errorf("after more outcomes: %d rounds, outdated %v, trained %v", m.Rounds, m.Outdated, m.Trained)
	}
	if _, err := g.Model("m").Train(ctx, TrainOptions{Plan: model.EdgePlan{Samples: 10, Epochs: 1}}); err != nil {
		t.Fatal(err)
	}
	if m := modelOf(t, g, "m"); m.Outdated || m.Rounds != 12+7 || m.Version != 2 {
		t.Errorf("after a training: version %d, outdated %v, %d rounds", m.Version, m.Outdated, m.Rounds)
	}
	must(t, g.Check(ctx), g.Close())
}

// withOtherColumns returns the document of a default model that has observed 12 outcomes, as if it
// had other columns.
func withOtherColumns(t *testing.T) []byte {
	t.Helper()
	ctx := context.Background()
	g, err := Open("", &Options{InMemory: true, Memory: 64 << 20})
	must(t, err, g.Model("m").Create(ctx, model.Spec{FeatureLen: 3}))
	_, err = g.Load(ctx, strings.NewReader("0 1\n1 2\n2 3\n3 4\n4 0\n0 5\n"), LoadOptions{})
	must(t, err)
	for i := range 12 {
		must(t, g.Observe(ctx, ObserveOptions{Source: i % 5, Target: (i + 2) % 5, Reward: float64(i % 2), Model: "m"}))
	}
	b, err := g.learners["m"].Model.MarshalBinary()
	must(t, err, g.Close())
	var outer struct { // as in package model
		Magic   string
		Version int
		Sum     uint32
		Body    []byte
	}
	must(t, msgpack.Unmarshal(b, &outer))
	body := map[string]msgpack.RawMessage{}
	must(t, msgpack.Unmarshal(outer.Body, &body))
	if len(body["Columns"]) == 0 {
		t.Fatal("the document names no columns")
	}
	body["Columns"], err = msgpack.Marshal("structural/0:9")
	must(t, err)
	outer.Body, err = msgpack.Marshal(body)
	must(t, err)
	outer.Sum = crc32.Checksum(outer.Body, crc32.MakeTable(crc32.Castagnoli))
	b, err = msgpack.Marshal(&outer)
	must(t, err)
	return b
}

func modelOf(t *testing.T, g *DB, name string) (m ModelInfo) {
	t.Helper()
	must(t, g.View(context.Background(), func(tx *Tx) (err error) {
		m, err = tx.Model(name).Info(t.Context())
		return err
	}))
	return m
}

// replaceDocument replaces the document of the deployed version of a model.
func replaceDocument(t *testing.T, g *DB, name string, doc []byte) {
	t.Helper()
	l, s := g.learners[name], g.now.Load()
	b, err := msgpack.Marshal(&record.Document{Name: name, Version: l.Version, Document: doc})
	must(t, err, g.store.Commit(s.ts+1, func(w index.Writer) error {
		return errors.Join(index.WriteDocument(w, name, l.Stored.Serial, b), s.WriteMeta(w))
	}))
}
