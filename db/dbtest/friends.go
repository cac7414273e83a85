package dbtest

import (
	"context"
	"errors"
	"testing"

	"kith/db"
)

// Friends returns a database in memory with keys of both kinds, a label, features and a model.
func Friends(t testing.TB) *db.DB {
	t.Helper()
	g, ctx := Open(t, &db.Options{InMemory: true, Memory: 64 << 20}), context.Background()
	err := g.Update(ctx, func(tx *db.Tx) error {
		return errors.Join(
			tx.PutEdge("ann", "bob"), tx.PutEdge("ann", "cid"), tx.PutEdge("bob", "dan"), tx.PutEdge("cid", "dan", db.Weight(0.5)),
			tx.PutEdge("dan", 7), tx.PutEdge(7, 8), tx.PutEdge("bob", "7"),
		)
	})
	if err == nil {
		err = g.Update(ctx, func(tx *db.Tx) error {
			return tx.PutNode(db.Node{Key: db.Str("dan"), Label: "person", Features: []float32{1, -2.5}})
		})
	}
	if err == nil {
		err = g.Model("m").Create(ctx, db.ModelSpec{Policy: "adamic_adar"})
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}
