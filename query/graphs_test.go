package query_test

import (
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
)

// friends returns a database with keys of both kinds, a label, features and a model.
func friends(t testing.TB) *db.DB {
	t.Helper()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	for _, text := range []string{
		"INSERT EDGES 'ann' -> 'bob', 'ann' -> 'cid', 'bob' -> 'dan', 'cid' -> 'dan' WEIGHT 0.5, 'dan' -> 7, 7 -> 8, 'bob' -> '7'",
		"MERGE NODE 'dan' LABEL person FEATURES (1, -2.5)", "CREATE MODEL m USING adamic_adar",
	} {
		if _, err := query.Run(t.Context(), g, text); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// communities returns a graph that policies can be played on.
func communities(t testing.TB) *db.DB {
	t.Helper()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	err := g.Update(t.Context(), func(tx *db.Tx) error {
		for u := range 100 {
			for d := 1; d <= 3; d++ {
				if err := tx.AddEdge(u, (u+d*d)%100, 1); err != nil {
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
