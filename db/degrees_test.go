package db_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kith/db"
	"kith/db/dbtest"
)

// star returns a graph of n nodes in which node 0 has an edge to every tenth node, and node 1 was
// deleted.
func star(t *testing.T, n int) *db.DB {
	t.Helper()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	err := g.Update(t.Context(), func(tx *db.Tx) error {
		for i := range n {
			if err := tx.PutNode(db.Node{Key: db.Int(int64(i))}); err != nil {
				return err
			}
			if i > 0 && i%10 == 0 {
				if err := tx.PutEdge(0, i); err != nil {
					return err
				}
			}
		}
		return tx.DeleteNode(1)
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestDegrees(t *testing.T) {
	t.Parallel()
	const n = 9000
	err := star(t, n).View(t.Context(), func(tx *db.Tx) error {
		got, err := tx.Degrees(t.Context(), 0)
		want := db.Degrees{Nodes: n - 1, Counts: []db.DegreeCount{{0, n - n/10 - 1}, {1, n/10 - 1}, {n/10 - 1, 1}}}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v, (-want +got):\n%s", err, diff)
		}
		sample, err := tx.Degrees(t.Context(), 5000)
		if err != nil || !sample.Sampled || sample.Nodes < 4000 || sample.Nodes > 5000 || sample.Counts[0].Edges != 0 {
			t.Errorf("a sample: %+v, error %v", sample, err)
		}
		if _, err := tx.Degrees(t.Context(), -1); !errors.Is(err, db.ErrInput) {
			t.Errorf("below 0: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := tx.Degrees(ctx, 0); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
