package main

import (
	"context"
	"errors"
	"time"

	"kith/db"
)

// inMemory returns an in-memory database that load has filled.
func inMemory(directed bool, load func(store *db.DB) error) (*db.DB, error) {
	o := db.Options{InMemory: true}
	if directed {
		o.Direction = db.Directed
	}
	store, err := db.Open("", &o)
	if err != nil {
		return nil, err
	}
	if err := load(store); err != nil {
		store.Close() // the error of the load is more informative
		return nil, err
	}
	return store, nil
}

// trainDefault makes the model default and trains it with no options on the edges of a relation; ""
// means all relations together. It deploys the version and returns how long this took.
func trainDefault(
	ctx context.Context, store *db.DB, seed uint64, relation string,
) (time.Duration, error) {
	start, m := time.Now(), store.Model("default")
	if err := m.Create(ctx, db.ModelSpec{Seed: seed}); err != nil {
		return 0, err
	}
	_, err := m.Train(ctx, db.TrainOptions{Relation: relation, Deploy: db.DeployAlways})
	return time.Since(start), err
}

// predictEach asks n questions on all processors, and calls answered with the links of each in the
// order of the questions. A question about a node that is missing has no links.
func predictEach(
	ctx context.Context, store *db.DB, n int,
	question func(i int) db.PredictOptions, answered func(i int, links []db.Link),
) error {
	return store.View(ctx, func(tx *db.Tx) error {
		var known []int // questions about nodes that exist
		for i := range n {
			switch _, err := tx.Node(question(i).For); {
			case err == nil:
				known = append(known, i)
			case errors.Is(err, db.ErrNotFound):
				answered(i, nil)
			default:
				return err
			}
		}
		questions := func(yield func(db.PredictOptions) bool) {
			for _, i := range known {
				if !yield(question(i)) {
					return
				}
			}
		}
		at := 0
		for r, err := range tx.PredictEach(ctx, questions) {
			if err != nil {
				return err
			}
			answered(known[at], r.Links)
			at++
		}
		return nil
	})
}
