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
			tx.AddEdge("ann", "bob", 1), tx.AddEdge("ann", "cid", 1), tx.AddEdge("bob", "dan", 1), tx.AddEdge("cid", "dan", 0.5),
			tx.AddEdge("dan", 7, 1), tx.AddEdge(7, 8, 1), tx.AddEdge("bob", "7", 1),
		)
	})
	if err == nil {
		err = g.Update(ctx, func(tx *db.Tx) error {
			return tx.PutNode(db.Node{Key: db.Str("dan"), Label: "person", Features: []float32{1, -2.5}})
		})
	}
	if err == nil {
		err = g.CreateModel(ctx, "m", db.ModelSpec{Policy: "adamic_adar"})
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}
