package db_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"kith/db"
	"kith/model"
)

// feedOptions are those of a database that others follow.
func feedOptions(c *clock) *db.Options {
	o := c.options()
	o.InMemory, o.ChangeBytes, o.NoRefresh = false, 512<<20, true
	return o
}

// followOptions are those of a follower that others can follow, with everything read on demand if
// paged is set.
func followOptions(paged bool) *db.Options {
	o := &db.Options{Memory: 64 << 20, Follower: true, ChangeBytes: 512 << 20, ObservationBytes: 16 << 10}
	if paged {
		db.Paged(o)
	}
	return o
}

// follower returns a path with a backup of g.
func follower(t testing.TB, g *db.DB) string {
	t.Helper()
	var b bytes.Buffer
	_, err := g.WriteTo(context.Background(), &b)
	path := place(t)
	must(t, err, restore(path, b.Bytes()))
	return path
}

// changes returns the changes after a version, after a round trip through their binary form.
func changes(t testing.TB, g *db.DB, since uint64) (all []db.Change) {
	t.Helper()
	view(t, g, func(tx *db.Tx) error {
		for c, err := range tx.Changes(since) {
			must(t, err)
			b, err := c.MarshalBinary()
			must(t, err)
			var read db.Change
			must(t, read.UnmarshalBinary(b))
			if got, want := asJSON(t, read), asJSON(t, c); got != want {
				t.Fatalf("read back\n%s, was\n%s", got, want)
			}
			all = append(all, read)
		}
		return nil
	})
	return all
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	must(t, err)
	return string(b)
}

func version(t testing.TB, g *db.DB) uint64 {
	t.Helper()
	s, err := g.Stats()
	must(t, err)
	return s.Version
}

// everything returns all that a reader can learn of a database, except from caches and from the log
// of observations, of which each database keeps as much as it wants. Answers are those of all
// versions of all models.
func everything(t testing.TB, g *db.DB) string {
	t.Helper()
	ctx := context.Background()
	var b strings.Builder
	view(t, g, func(tx *db.Tx) error {
		s := tx.Stats()
		fmt.Fprintln(&b, s.Version, s.Nodes, s.Edges, s.Loops, s.Labels, s.Decisions)
		for n := range tx.Nodes() {
			fmt.Fprintln(&b, asJSON(t, n))
		}
		for e := range tx.Edges() {
			fmt.Fprintln(&b, asJSON(t, e))
		}
		for v, err := range tx.Variables() {
			must(t, err)
			fmt.Fprintln(&b, asJSON(t, v))
		}
		for d, err := range tx.Decisions() {
			must(t, err)
			fmt.Fprintln(&b, asJSON(t, d))
		}
		ask := func(p db.PredictOptions) {
			if !tx.Has(db.Int(3)) {
				return
			}
			p.For, p.Among, p.NoCache, p.Top = 3, db.All(), true, -1
			r, err := tx.Predict(ctx, p)
			must(t, err)
			fmt.Fprintln(&b, text(t, r))
		}
		ask(db.PredictOptions{})
		ask(db.PredictOptions{Model: "adamic_adar"})
		for _, m := range tx.Models() {
			fmt.Fprintln(&b, asJSON(t, m))
			all, err := tx.Model(m.Name).Versions(ctx)
			must(t, err)
			for _, v := range all {
				fmt.Fprintln(&b, asJSON(t, v))
				ask(db.PredictOptions{Model: m.Name, Version: v.Number})
			}
		}
		return nil
	})
	return b.String()
}

// alike fails t unless two databases are at the same version and know the same.
func alike(t testing.TB, what string, g, h *db.DB) {
	t.Helper()
	if got, want := everything(t, h), everything(t, g); got != want {
		a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Fatalf("%s: line %d of the follower is\n%s, want\n%s", what, i, a[i], b[i])
			}
		}
		t.Fatalf("%s: the follower has %d lines, want %d", what, len(a), len(b))
	}
}

// historyStep makes step i of a random history, which has all kinds of writes except loads.
func historyStep(g *db.DB, now *clock, i int) error {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(uint64(i), 77))
	now.now = now.now.Add(time.Duration(rng.IntN(1000)) * time.Second)
	name := []string{"m", "belief", "default"}[rng.IntN(3)]
	anyOf := func(errs ...error) error {
		err := errors.Join(errs...)
		for _, ok := range []error{db.ErrExists, db.ErrNoModel, db.ErrInput, db.ErrNotFound} {
			if errors.Is(err, ok) {
				return nil
			}
		}
		return err
	}
	switch rng.IntN(16) {
	case 0:
		return anyOf(g.Model(name).Create(ctx, map[string]db.ModelSpec{"m": {Policy: "prb"}, "belief": {}}[name]))
	case 1, 2:
		t := db.TrainOptions{Log: rng.IntN(2) == 0, Deploy: deploying(rng.IntN(2) == 0), Plan: model.EdgePlan{Samples: 20, Epochs: 1}}
		_, err := g.Model(name).Train(ctx, t)
		return anyOf(err)
	case 3:
		_, err := g.Model(name).Rollback(ctx)
		return anyOf(err, freeze(g.Model(name), rng.IntN(3) == 0))
	case 4:
		return anyOf(g.Model(name).Deploy(ctx, rng.IntN(5)))
	case 5:
		var b bytes.Buffer
		if err := g.Model(name).Export(ctx, &b, 0); err != nil {
			return anyOf(err)
		}
		_, err := g.Model(name).Import(ctx, &b)
		return anyOf(err)
	case 6:
		if rng.IntN(3) == 0 {
			return anyOf(g.Model(name).Drop(ctx))
		}
		return g.Compact(ctx)
	case 7, 8, 9:
		return anyOf(g.Update(ctx, func(tx *db.Tx) error { return learnRandomly(tx, rng, name) }))
	}
	return anyOf(g.Update(ctx, func(tx *db.Tx) error {
		for range 1 + rng.IntN(8) {
			if err := writeRandomly(tx, rng); err != nil && !errors.Is(err, db.ErrNotFound) && !errors.Is(err, db.ErrInput) {
				return err
			}
		}
		if rng.IntN(10) == 0 {
			return fmt.Errorf("%w: this update fails", db.ErrInput)
		}
		return nil
	}))
}

// learnRandomly observes, chooses and rewards, and changes the graph between.
func learnRandomly(tx *db.Tx, rng *rand.Rand, name string) error {
	ctx := context.Background()
	for range 1 + rng.IntN(5) {
		if rng.IntN(4) == 0 {
			name = ""
		}
		o := db.ObserveOptions{
			Source: rng.IntN(12), Target: rng.IntN(12), Model: name, Reward: float64(rng.IntN(2)), Insert: rng.IntN(2) == 0,
			NoCache: rng.IntN(2) == 0,
		}
		if rng.IntN(2) == 0 {
			o.Among = db.Keys(3, 5)
		}
		if rng.IntN(2) == 0 {
			o.ID = fmt.Sprint("outcome ", rng.IntN(30))
		}
		d, err := tx.Choose(ctx, db.ChooseOptions{For: rng.IntN(12), Among: db.All(), Places: rng.IntN(4), Model: name, TTL: time.Duration(1+rng.IntN(5000)) * time.Second})
		if err == nil && rng.IntN(2) == 0 {
			err = tx.RewardPlaces(context.Background(), d.ID-uint64(rng.IntN(2)), map[int]float64{1: float64(rng.IntN(2))}, db.ExaminedAll)
		}
		if err != nil && !errors.Is(err, db.ErrExpired) && !errors.Is(err, db.ErrNoDecision) && !errors.Is(err, db.ErrRewarded) {
			return err
		}
		if err := errors.Join(tx.Observe(ctx, o), writeRandomly(tx, rng)); err != nil {
			return err
		}
	}
	return nil
}

// writeRandomly changes the graph.
func writeRandomly(tx *db.Tx, rng *rand.Rand) error {
	key := func() db.Key {
		if i := rng.IntN(16); i < 12 {
			return db.Int(int64(i))
		}
		return db.Str(fmt.Sprint("s", rng.IntN(40)))
	}
	label := func() string { return []string{"", "a", "b", fmt.Sprint("l", rng.IntN(30))}[rng.IntN(4)] }
	if rng.IntN(8) == 0 {
		return tx.Set(label()+"v", []byte(label()))
	}
	switch rng.IntN(10) {
	case 9:
		return tx.SetProperties(key(), map[string]any{"price": rng.IntN(3), "tags": []string{label() + "t"}, "lang": nil})
	case 0:
		if rng.IntN(2) == 0 {
			return tx.Erase(key())
		}
		return tx.DeleteNode(key())
	case 1:
		return tx.DeleteEdge(key(), key())
	case 2:
		return tx.PutNode(db.Node{Key: key(), Label: label()})
	case 3:
		return tx.PutNode(db.Node{Key: key(), Label: label(), Features: []float32{rng.Float32(), 1}})
	case 4:
		return tx.SetFeatures(key(), nil)
	case 5: // comes and goes
		k := key()
		return errors.Join(tx.PutEdge(k, key(), db.Weight(2)), tx.DeleteNode(k))
	case 6:
		return tx.Savepoint(func() error {
			err := errors.Join(writeRandomly(tx, rng), writeRandomly(tx, rng), tx.PutNode(db.Node{Key: key(), Label: label()}))
			if rng.IntN(2) == 0 {
				return fmt.Errorf("%w: undone", db.ErrInput)
			}
			return err
		})
	}
	e := db.Edge{Src: key(), Dst: key(), Weight: []float32{1, 1, 0.5, 3}[rng.IntN(4)]}
	if rng.IntN(2) == 0 {
		e.Time = time.Unix(1_600_000_000+rng.Int64N(1000), 0)
	}
	return tx.PutEdge(e.Src, e.Dst, db.Weight(e.Weight), db.At(e.Time))
}
