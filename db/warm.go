package db

import (
	"context"
	"fmt"

	"kith/index"
	"kith/ppr"
)

// Warm brings the PageRank states of nodes into the cache and up to date, with the database's damping factor. A
// prediction that can use them then does. Warm returns ErrNotFound for a missing node.
func (tx *Tx) Warm(ctx context.Context, keys ...any) error {
	ids, err := tx.listed(keys)
	if err != nil {
		return err
	}
	forms := []ppr.Form{ppr.Column}
	if tx.snap.Meta.Directed {
		forms = append(forms, ppr.Row)
	}
	for _, id := range ids {
		if !tx.snap.Live(id) {
			return fmt.Errorf("%w: node %v, before the transaction that makes it has committed", ErrNotFound, tx.key(id))
		}
		for _, form := range forms {
			of := index.StateOf{Form: form, Alpha: tx.snap.Meta.Alpha, Source: id}
			if _, err := tx.db.states.At(ctx, tx.snap.Snapshot, tx.reader, of); err != nil {
				return err
			}
		}
	}
	return nil
}
