package dbtest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"kith/db"
)

// Camps returns a database of 120 people, 0 to 119, in four camps, in which follows predicts likes:
// people follow others of their camp and like its posts.
func Camps(t testing.TB) *db.DB {
	t.Helper()
	g := Open(t, &db.Options{InMemory: true, Seed: 2})
	err := g.Update(context.Background(), func(tx *db.Tx) error {
		err := errors.Join(
			tx.AddRelation(db.Relation{Name: "follows", Directed: true}), tx.AddRelation(db.Relation{Name: "likes", Directed: true}),
		)
		for u := range 120 {
			camp, place := u%4, u/4
			for k := range 4 {
				err = errors.Join(err, tx.PutEdge(u, camp+4*((place+1+k*k)%30), db.Via("follows")),
					tx.PutEdge(u, fmt.Sprint("post ", camp, " ", (place+3*k)%10), db.Via("likes")))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}
