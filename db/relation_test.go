package db_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"kith/db"
	"kith/db/dbtest"
)

// social writes people who follow and like each other.
func social(tx *db.Tx) error {
	return errors.Join(
		tx.AddRelation(db.Relation{Name: "follows", Directed: true}),
		tx.AddEdge("ann", "bob", db.Via("follows")),
		tx.AddEdge("bob", "ann", db.Via("follows"), db.Weight(2)),
		tx.AddEdge("ann", "cat", db.Via("follows")),
		tx.AddEdge("ann", "bob", db.Via("likes"), db.Weight(3)),
		tx.AddEdge("ann", "bob"),
	)
}

// stats returns the figures of a database.
func stats(t *testing.T, g *db.DB) db.Stats {
	t.Helper()
	s, err := g.Stats()
	must(t, err)
	return s
}

// neighbors returns the edges of a node as text.
func neighbors(t *testing.T, g *db.DB, node string, opts ...db.EdgeOption) (all []string) {
	t.Helper()
	must(t, g.View(context.Background(), func(tx *db.Tx) error {
		for e, err := range tx.Neighbors(node, opts...) {
			if err != nil {
				return err
			}
			all = append(all, fmt.Sprintf("%s %s %v", e.Relation, e.Dst, e.Weight))
		}
		return nil
	}))
	return all
}

// Two nodes may be joined by an edge of each relation. What an edge is said to be, it is in every
// reader: at once, after the database was opened again, in a backup, and in a follower.
func TestRelations(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path, copied := place(t), place(t)
	g := open(t, path, &db.Options{ChangeBytes: 1 << 20})
	must(t, g.Update(ctx, social))
	saved, _ := backup(t, g, nil)
	must(t, restore(copied, saved))
	must(t, g.Update(ctx, func(tx *db.Tx) error {
		return errors.Join(tx.DeleteEdge("bob", "ann", db.Via("follows")), tx.PutEdge("ann", "cat", db.Via("likes")))
	}))
	follower := open(t, copied, &db.Options{Follower: true})
	defer func() { must(t, follower.Close()) }()
	for c, err := range g.Changes(ctx, stats(t, follower).Version) {
		must(t, err)
		b, err := c.MarshalBinary()
		must(t, err)
		var sent db.Change
		must(t, sent.UnmarshalBinary(b))
		must(t, follower.Apply(ctx, sent))
		for _, e := range sent.Edges {
			if want := map[bool]string{true: "follows", false: "likes"}[e.Deleted]; e.Relation != want {
				t.Errorf("a change of %+v, want relation %s", e, want)
			}
		}
		break
	}
	must(t, g.Close())
	g = dbtest.Reopen(t, path, nil)
	defer func() { must(t, g.Close()) }()
	for name, g := range map[string]*db.DB{"reopened": g, "followed": follower} {
		for _, c := range []struct {
			node string
			via  []db.EdgeOption
			want []string
		}{
			{"ann", nil, []string{" bob 1", "follows bob 1", "likes bob 3", "follows cat 1", "likes cat 1"}},
			{"ann", []db.EdgeOption{db.Via("follows")}, []string{"follows bob 1", "follows cat 1"}},
			{"bob", []db.EdgeOption{db.Via("follows")}, nil},
			{"bob", []db.EdgeOption{db.Via("likes", "")}, []string{" ann 1", "likes ann 3"}},
		} {
			if got := neighbors(t, g, c.node, c.via...); !slices.Equal(got, c.want) {
				t.Errorf("%s: neighbors of %s are %q, want %q", name, c.node, got, c.want)
			}
		}
		must(t, g.View(ctx, func(tx *db.Tx) error {
			all, err := tx.Relations()
			want := []db.Relation{{Edges: 1}, {Name: "follows", Directed: true, Edges: 2}, {Name: "likes", Edges: 2}}
			if !slices.Equal(all, want) {
				t.Errorf("%s: %+v, want %+v", name, all, want)
			}
			e, err2 := tx.Edge("ann", "bob", db.Via("likes"))
			if e.Weight != 3 || e.Relation != "likes" {
				t.Errorf("%s: the edge is %+v", name, e)
			}
			return errors.Join(err, err2)
		}))
		must(t, g.Check(ctx))
	}
}

// A mistake in a relation is an error that names it, and changes nothing.
func TestRelationErrors(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := open(t, "", &db.Options{InMemory: true})
	defer func() { must(t, g.Close()) }()
	must(t, g.Update(ctx, social))
	for name, c := range map[string]struct {
		f    func(tx *db.Tx) error
		want error
		mean string // db.Error.DidYouMean
	}{
		"an unknown relation":     {func(tx *db.Tx) error { _, err := tx.Edge("ann", "bob", db.Via("folows")); return err }, db.ErrNotFound, "follows"},
		"no edge of the relation": {func(tx *db.Tx) error { return tx.DeleteEdge("cat", "ann", db.Via("follows")) }, db.ErrNotFound, ""},
		"an edge twice":           {func(tx *db.Tx) error { return tx.AddEdge("ann", "bob", db.Via("likes")) }, db.ErrExists, ""},
		"a relation twice":        {func(tx *db.Tx) error { return tx.AddRelation(db.Relation{Name: "likes"}) }, db.ErrExists, ""},
		"two relations":           {func(tx *db.Tx) error { return tx.AddEdge("ann", "dan", db.Via("likes", "follows")) }, db.ErrInput, ""},
		"a name that is none":     {func(tx *db.Tx) error { return tx.AddEdge("ann", "dan", db.Via("a\x00b")) }, db.ErrInput, ""},
	} {
		before := stats(t, g)
		err := g.Update(ctx, c.f)
		wantError(t, name, err, c.want)
		var e *db.Error
		if errors.As(err, &e); c.mean != "" && (e == nil || e.DidYouMean != c.mean) {
			t.Errorf("%s: %v does not mean %s", name, err, c.mean)
		}
		if after := stats(t, g); after.Nodes != before.Nodes || after.Edges != before.Edges {
			t.Errorf("%s: %d nodes and %d edges, want %d and %d", name, after.Nodes, after.Edges, before.Nodes, before.Edges)
		}
	}
}
