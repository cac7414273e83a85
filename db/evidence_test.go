package db_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kith/db"
	"kith/db/dbtest"
)

// Evidence counts the nodes between the ends of a link, in the direction of the edges, for single
// nodes and for sets.
func TestEvidence(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, direction := range []db.Direction{db.Undirected, db.Directed} {
		directed := direction == db.Directed
		g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20, Direction: direction})
		err := g.Update(ctx, func(tx *db.Tx) error {
			for _, e := range [][2]string{{"ann", "a"}, {"ann", "b"}, {"a", "dan"}, {"b", "dan"}, {"dan", "c"}, {"c", "ann"}, {"bob", "c"}, {"ann", "ann"}} {
				if err := tx.PutEdge(e[0], e[1]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		all, both := []db.Key{db.Str("a"), db.Str("b")}, []db.Key{db.Str("a"), db.Str("b")}
		if !directed {
			all, both = append(all, db.Str("c")), append(both, db.Str("c"))
		}
		set := db.Seeds{{Node: db.Str("ann"), Weight: 1}, {Node: db.Str("bob"), Weight: 1}}
		for _, c := range []struct {
			source any
			want   []db.Key
		}{{"ann", all}, {"bob", all[2:]}, {set, both}} {
			err := g.View(ctx, func(tx *db.Tx) error {
				e, err := tx.Evidence(ctx, db.PredictOptions{For: c.source}, "dan")
				if err != nil {
					return err
				}
				if want := (db.Common{Count: len(c.want), Nodes: append([]db.Key{}, c.want...), Directed: directed}); !cmp.Equal(e.Common, want, cmp.Comparer(func(a, b db.Key) bool { return a == b })) {
					t.Errorf("directed %v, %v -> dan: got %v, want %v", directed, c.source, e.Common, want)
				}
				why, err := tx.Why(ctx, db.PredictOptions{For: c.source}, "dan", 1)
				if err == nil && why.Common.Count != e.Common.Count {
					t.Errorf("directed %v, %v -> dan: Why counts %d nodes, Evidence %d", directed, c.source, why.Common.Count, e.Common.Count)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
		err = g.View(ctx, func(tx *db.Tx) error {
			_, err := tx.Evidence(ctx, db.PredictOptions{For: "ann"}, "nobody")
			return err
		})
		if !errors.Is(err, db.ErrNotFound) {
			t.Errorf("a missing target: %v", err)
		}
	}
}

// Of a node with very many edges a part is read, and the result says so.
func TestEvidenceIsLimited(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 256 << 20})
	err := g.Update(ctx, func(tx *db.Tx) error {
		for i := range 10001 {
			if err := errors.Join(tx.PutEdge("hub", i), tx.PutEdge("rim", i)); err != nil {
				return fmt.Errorf("edge %d: %w", i, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = g.View(ctx, func(tx *db.Tx) error {
		e, err := tx.Evidence(ctx, db.PredictOptions{For: "hub"}, "rim")
		if err == nil && (e.Common.Count != 10000 || !e.Common.More) {
			t.Errorf("got %d, more %v, want 10000 and more", e.Common.Count, e.Common.More)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
