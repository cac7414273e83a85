package db_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
)

// observed returns the ids of the observations that are kept, and the rounds of the model m.
func observed(t testing.TB, g *db.DB) (ids []string, rounds int) {
	t.Helper()
	view(t, g, func(tx *db.Tx) error {
		for o, err := range tx.Observations() {
			must(t, err)
			ids = append(ids, o.ID)
		}
		m, err := tx.Model("m").Info(context.Background())
		rounds = m.Rounds
		return err
	})
	return ids, rounds
}

// An outcome with an id counts once: in one transaction, in later ones, for any model, and after
// its nodes are gone. What a savepoint or a rollback undoes may come again.
func TestObserveOnce(t *testing.T) {
	t.Parallel()
	ctx, undone := context.Background(), errors.New("undone")
	g := dbtest.Open(t, inMemory)
	load(t, g, 40)
	must(t, g.Model("m").Create(ctx, db.ModelSpec{Policy: "prb"}))
	o := db.ObserveOptions{Source: 1, Target: 2, Reward: 1, Insert: true, Model: "m", ID: "click 17"}
	wantError(t, "a rollback", g.Update(ctx, func(tx *db.Tx) error { return errors.Join(tx.Observe(ctx, o), undone) }), undone)
	update(t, g, func(tx *db.Tx) error {
		wantError(t, "a savepoint", tx.Savepoint(func() error { return errors.Join(tx.Observe(ctx, o), undone) }), undone)
		if known, err := tx.Observed(o.ID); known || err != nil {
			t.Errorf("what was undone is observed: %v, %v", known, err)
		}
		must(t, tx.Observe(ctx, o), tx.Observe(ctx, o))
		known, err := tx.Observed(o.ID)
		if !known {
			t.Error("the transaction does not see its observation")
		}
		return err
	})
	update(t, g, func(tx *db.Tx) error { return tx.DeleteNode(2) })
	before, err := g.Stats()
	must(t, err)
	again := o
	again.Model, again.Reward = "", 0
	must(t, g.Observe(ctx, o), g.Observe(ctx, again))
	if s, err := g.Stats(); err != nil || s.Version != before.Version || s.Models != before.Models || s.Edges != before.Edges {
		t.Errorf("the same id again: %+v after %+v, %v", s, before, err)
	}
	if ids, rounds := observed(t, g); len(ids) != 1 || ids[0] != o.ID || rounds != 1 {
		t.Errorf("observations %q, %d rounds", ids, rounds)
	}
	for _, id := range []string{"a\x00b", "\xff", strings.Repeat("a", 1025)} {
		again.ID = id
		wantError(t, "the id "+id[:1], g.Observe(ctx, again), db.ErrInput)
	}
	must(t, g.Check(ctx))
}

// Ids are known after a reopen, in backups and in followers. They are forgotten with their
// observations, and then leave nothing behind.
func TestObserveOnceIsKept(t *testing.T) {
	t.Parallel()
	ctx, path := context.Background(), place(t)
	o := &db.Options{Memory: 64 << 20, NoSync: true, ObservationBytes: 2 << 10, ChangeBytes: 1 << 20}
	g := open(t, path, o)
	load(t, g, 40)
	must(t, g.Model("m").Create(ctx, db.ModelSpec{Policy: "prb"}))
	var backup, incremental bytes.Buffer
	_, err := g.WriteTo(ctx, &backup)
	must(t, err)
	at := version(t, g)
	outcome := func(i int) db.ObserveOptions {
		return db.ObserveOptions{Source: 1, Target: 2 + i%30, Reward: float64(i % 2), Model: "m", ID: fmt.Sprint("click ", i)}
	}
	for i := range 200 {
		must(t, g.Observe(ctx, outcome(i)))
	}
	_, err = g.WriteSince(ctx, &incremental, bytes.NewReader(backup.Bytes()))
	must(t, err)
	kept, rounds := observed(t, g)
	if len(kept) == 0 || len(kept) > 100 || rounds != 200 {
		t.Fatalf("%d observations are kept, %d rounds", len(kept), rounds)
	}
	follower := restoredFrom(t, backup.Bytes())
	h := open(t, follower, &db.Options{Memory: 64 << 20, NoSync: true, Follower: true})
	must(t, h.Apply(ctx, changes(t, g, at)...), h.Check(ctx), h.Close(), g.Close())
	for what, path := range map[string]string{
		"reopened": path, "restored": restoredFrom(t, backup.Bytes(), incremental.Bytes()), "the follower": follower,
	} {
		g := open(t, path, o)
		for i := 200 - len(kept); i < 200; i++ {
			must(t, g.Observe(ctx, outcome(i)))
		}
		if _, n := observed(t, g); n != rounds {
			t.Errorf("%s: %d rounds after the same outcomes, want %d", what, n, rounds)
		}
		must(t, g.Observe(ctx, outcome(0)), g.Check(ctx)) // forgotten, so it is new; the follower forgets by itself
		must(t, g.Close())
	}
}
