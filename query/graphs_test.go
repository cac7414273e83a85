package query_test

import (
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
)

// communities returns a graph that policies can be played on.
func communities(t testing.TB) *db.DB {
	t.Helper()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	err := g.Update(t.Context(), func(tx *db.Tx) error {
		for u := range 100 {
			for d := 1; d <= 3; d++ {
				if err := tx.PutEdge(u, (u+d*d)%100); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// endless returns a statement that takes too long to wait for.
func endless() string {
	return "PREDICT LINKS FOR " + strings.Repeat("1, ", 300_000) + "1 AMONG ALL TOP 1"
}
