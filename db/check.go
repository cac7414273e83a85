package db

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"kith/model"
)

// Check verifies every invariant of the stored database and of the state in memory. The records are read again and must
// match the graph that is served. Adjacency, degrees, dictionary and counters must agree with each other. Every stored
// PageRank state must belong to the graph. Every document of a version of a model must be readable. The document of the
// deployed version, with the observations since, must give the model that is served, and none of these observations may
// be forgotten. Check returns nil, or all breaches, each an ErrCorrupt, joined, or the error of ctx.
func (db *DB) Check(ctx context.Context) error {
	return db.View(ctx, func(tx *Tx) error {
		found, err := tx.snap.Check(ctx)
		if err != nil {
			return err
		}
		for _, check := range []func(context.Context) error{tx.checkStored, tx.checkStates, tx.checkModels, tx.checkObservations, tx.checkDecisions} {
			if err := check(ctx); err != nil {
				if ctx.Err() != nil {
					return err
				}
				found = append(found, err)
			}
		}
		return errors.Join(found...)
	})
}

// checkStored compares the records with the graph.
func (tx *Tx) checkStored(ctx context.Context) error { return tx.snap.Verify(ctx, tx.reader) }

func (tx *Tx) checkStates(ctx context.Context) error {
	return tx.db.states.CheckStates(ctx, tx.snap.Snapshot, tx.reader)
}

// checkModels opens every document, replays the observations since, and compares the result with the served models.
func (tx *Tx) checkModels(ctx context.Context) error {
	models, _, err := loadModels(ctx, tx.reader, tx.snap.Snapshot)
	if err != nil {
		return err
	}
	if len(models) != len(tx.snap.models) {
		return fmt.Errorf("%w: %d models are stored, %d served", ErrCorrupt, len(models), len(tx.snap.models))
	}
	for name, m := range models {
		now := tx.snap.models[name]
		if now == nil || !reflect.DeepEqual(now.registry, m.registry) || now.rounds != m.rounds || !model.Same(now.scorer, m.scorer) {
			return fmt.Errorf("%w: model %q as stored is not the one that is served", ErrCorrupt, name)
		}
		if err := tx.checkVersions(ctx, m); err != nil {
			return err
		}
	}
	return nil
}
