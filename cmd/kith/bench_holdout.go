package main

import (
	"context"
	"errors"
	"iter"
	"time"

	"kith/db"
)

// holdoutNodes is the maximum number of nodes in the measurement of a holdout.
const holdoutNodes = 100

// holdout measures the questions of a holdout and predictions for the same nodes, alternating between them.
func (p *predictor) holdout(ctx context.Context) error {
	held, predicted := p.line("Holdout", "of=holdout"), p.line("Holdout", "of=predict")
	err := p.g.View(ctx, func(tx *db.Tx) error {
		start := time.Now()
		set, err := tx.Holdout(ctx, db.Holdout{Share: 0.1, Sample: min(holdoutNodes, p.queries)})
		if err != nil {
			return err
		}
		_, asked, err := set.Ask(ctx, db.Contender{Model: trained})
		if err != nil {
			return err
		}
		held.add(float64(time.Since(start)), "hide-ns")
		next, stop := iter.Pull2(asked)
		defer stop()
		for {
			var out db.HeldOut
			var more bool
			if err := held.time(func() (err error) { out, err, more = next(); return err }); err != nil {
				return err
			}
			if !more {
				held.took = held.took[:len(held.took)-1] // the last sample is the end of the iteration
				return nil
			}
			err := predicted.time(func() error {
				return discard(tx.Predict(ctx, db.Prediction{For: out.Source, Model: trained}))
			})
			if err != nil {
				return err
			}
		}
	})
	if err != nil {
		return err
	}
	return errors.Join(held.write(p.stdout), predicted.write(p.stdout))
}
