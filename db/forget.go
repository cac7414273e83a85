package db

import (
	"context"
	"fmt"

	"kith/index"
)

// forgetIfDue forgets the oldest observations when the log is an eighth larger than Options.ObservationBytes. The
// writer calls it.
func (db *DB) forgetIfDue(s *snapshot) error {
	if limit := db.opts.ObservationBytes; s.Meta.Observed-limit <= limit/8 {
		return nil
	}
	if err := db.settle(); err != nil {
		return err
	}
	if err := db.forget(); err != nil {
		db.opts.Logger.Error("forgetting observations", "err", err)
	}
	return nil
}

// forget marks the oldest observations as forgotten in the meta record, and then deletes them.
//
// INVARIANT: every model has stored what it learned up to that version, and no running training began before it, so the
// forgotten observations have no reader.
func (db *DB) forget() error {
	s := db.now.Load()
	r := db.store.Read(s.ts)
	defer r.Close()
	next, err := s.Forget(r, db.opts.ObservationBytes, db.trainings.oldest(s.Meta.Version))
	if err != nil || next.Meta.Forgotten == s.Meta.Forgotten {
		return err
	}
	for _, l := range db.learners {
		if l.stored.at >= next.Meta.Forgotten {
			continue
		}
		if err := db.checkpoint(l, s.models); err != nil {
			return err
		}
	}
	ts := db.now.Load().ts + 1
	if err := db.store.Commit(ts, next.WriteMeta); err != nil {
		return err
	}
	db.publish(&snapshot{next, s.models, ts})
	db.tidy(ts, func(r index.Reader, w index.Writer) error {
		return index.DropObservations(r, w, s.Meta.Forgotten, next.Meta.Forgotten)
	})
	return nil
}

// checkObservations opens every observation, and verifies that every model has learned all that is forgotten.
func (tx *Tx) checkObservations(ctx context.Context) error {
	m := &tx.snap.Meta
	bytes := int64(0)
	for doc := range index.Observations(tx.reader, m.Forgotten) {
		if _, err := openLesson(doc); err != nil {
			return fmt.Errorf("observation of version %d: %w", doc.At, err)
		}
		if doc.At > m.Version {
			return fmt.Errorf("%w: an observation of version %d, the graph is at %d", ErrCorrupt, doc.At, m.Version)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		bytes += int64(len(doc.Bytes))
	}
	if bytes != m.Observed {
		return fmt.Errorf("%w: the observations have %d bytes, and were counted as %d", ErrCorrupt, bytes, m.Observed)
	}
	for name, doc := range index.Models(tx.reader) {
		if doc.Err == nil && doc.At < m.Forgotten {
			return fmt.Errorf("%w: model %q has learned up to version %d, observations up to %d are forgotten", ErrCorrupt, name, doc.At, m.Forgotten)
		}
	}
	return nil
}
