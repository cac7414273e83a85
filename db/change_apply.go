package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"kith/db/internal/feed"
	"kith/db/internal/record"
	"kith/index"
)

// Apply repeats changes, in order, in a database that was opened with Options.Follower. Each change
// makes the same version as in the database that it comes from, with the same ids, models and
// decisions, or it makes nothing. Apply returns when all changes are durable, so several together
// share a sync. It ignores a change that the database already has, so changes may be delivered more
// than once. After an error, the changes before the one at fault may have been applied.
//
// Apply returns ErrGap if a change does not follow the version of the database, ErrMismatch if it
// comes from another database, from a copy with another history or from a different version of
// kith, and ErrInput if it is not from Changes or the database is not a follower.
func (db *DB) Apply(ctx context.Context, changes ...Change) error {
	if !db.opts.Follower {
		return inputf("a change can be applied to a database that follows another: see Options.Follower")
	}
	var err error
	for i := 0; i < len(changes) && err == nil; i++ {
		d := changes[i].document
		if d == nil {
			err = inputf("a change that is not from Changes cannot be applied")
			break
		}
		if d.Model != nil {
			err = db.applyToModel(ctx, d)
		} else {
			err = db.applyToGraph(ctx, d)
		}
		if err != nil {
			err = fmt.Errorf("change of version %d: %w", d.Version, err)
		}
	}
	return cmp.Or(db.waitDurable(), err)
}

// repeated returns the Commit of a change, which gives the follower the same history.
func (db *DB) repeated(d *feed.Document) index.Commit {
	c := db.recorded()
	c.Time, c.Expect = d.Time, d.After
	if d.Scrubbed != nil {
		c.Sum = &d.Scrubbed.Before
	}
	return c
}

// applyToGraph commits a change of the graph, of observations and of decisions. It need not be
// durable yet.
func (db *DB) applyToGraph(ctx context.Context, d *feed.Document) error {
	tx, err := db.begin(ctx)
	if err != nil {
		return err
	}
	defer db.unpin(tx.pinned)
	apply, err := d.Follows(tx.snap.Snapshot)
	if apply {
		err = tx.repeat(d)
	}
	if err == nil {
		err = tx.snap.Err()
	}
	return cmp.Or(tx.commitAndUnlock(apply && err == nil), err)
}

// repeat makes in tx what the commit did in the database that is followed.
func (tx *Tx) repeat(d *feed.Document) error {
	tx.repeats = d
	if err := tx.batch.Replay(&d.Change); err != nil {
		return unlessMismatch(err)
	}
	observed, decided, err := d.Outcomes()
	if err != nil {
		return err
	}
	for i, o := range observed {
		p, err := tx.repeatedObservation(o, d.Observed[i])
		if err != nil {
			return err
		}
		tx.observed = append(tx.observed, p)
	}
	for _, made := range decided {
		if m := &tx.view().Meta; !made.Consistent(m.Nodes) || made.ID == 0 || made.ID > m.Decisions {
			return fmt.Errorf("%w: decision %d of %d", ErrMismatch, made.ID, m.Decisions)
		}
		tx.decided = append(tx.decided, made)
	}
	if tx.batch.Empty() && len(tx.observed)+len(tx.decided) == 0 {
		return fmt.Errorf("%w: it changes nothing", ErrMismatch)
	}
	return nil
}

// unlessMismatch wraps an error of Replay in ErrMismatch. The change was valid where it was
// committed, so an error means that this database differs.
func unlessMismatch(err error) error {
	if errors.Is(err, ErrMismatch) || errors.Is(err, ErrTooLarge) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrMismatch, err)
}

// repeatedObservation returns an observation of a change in the form in which its model learns it.
// doc is its document.
func (tx *Tx) repeatedObservation(rec *record.Observation, doc []byte) (*pendingObservation, error) {
	l := tx.db.learners[rec.Model]
	if l == nil || rec.Version != l.Version || rec.Frozen != l.Frozen {
		return nil, fmt.Errorf("%w: an observation of model %q version %d, frozen: %v", ErrMismatch, rec.Model, rec.Version, rec.Frozen)
	}
	if len(rec.Contexts) > 0 && rec.Columns != l.Model.Columns() {
		return nil, fmt.Errorf("%w: an observation of model %q was made by another version of kith", ErrMismatch, rec.Model)
	}
	for _, id := range rec.IDs() {
		if int64(id) >= tx.view().Meta.Nodes {
			return nil, fmt.Errorf("%w: an observation of node %d", ErrMismatch, id)
		}
	}
	o := &pendingObservation{rec.ID, rec.Model, rec.Relation, rec.Decision, rec.Outcome(l.Model), doc}
	if !l.Model.Fits(o.outcome) {
		return nil, fmt.Errorf("%w: an observation that model %q cannot learn", ErrMismatch, rec.Model)
	}
	return o, nil
}

// applyToModel commits a change of a model.
func (db *DB) applyToModel(ctx context.Context, d *feed.Document) error {
	if err := db.lockAnyway(ctx); err != nil {
		return err
	}
	defer db.unlock()
	if apply, err := d.Follows(db.now.Load().Snapshot); !apply {
		return err
	}
	name := d.Model.Name
	now := db.learners[name]
	if len(d.Model.Note) == 0 {
		if now == nil {
			return fmt.Errorf("%w: there is no model %q", ErrMismatch, name)
		}
		return db.dropModel(name, d.Model.Answering, db.repeated(d))
	}
	if now != nil {
		if err := db.checkpoint(now); err != nil { // so that the version that is deployed has a document
			return err
		}
	}
	l, err := db.repeatedLearner(d, now)
	if err != nil {
		return err
	}
	return db.replace(l, d.Model.Answering, db.repeated(d))
}

// repeatedLearner returns the learner after a change of a model; now is the learner before it, or
// nil. It stores the new versions that are not deployed. The caller holds the writer lock.
func (db *DB) repeatedLearner(d *feed.Document, now *record.Learner) (*record.Learner, error) {
	r, err := d.Registry()
	if err != nil {
		return nil, err
	}
	l := &record.Learner{Name: d.Model.Name, Registry: r}
	if now != nil && now.Version == r.Version {
		l.Model, l.Stored = now.Model, now.Stored
	}
	made := map[int]feed.Made{}
	for _, m := range d.Made {
		made[m.Number] = m
	}
	for i := range l.Versions {
		v := &l.Versions[i]
		if m, ok := made[v.Number]; ok {
			err = db.storeRepeated(l, v, m)
		} else {
			err = db.findRepeated(l, v, now)
		}
		if err != nil {
			return nil, fmt.Errorf("model %q, version %d: %w", l.Name, v.Number, err)
		}
	}
	return l, nil
}

// storeRepeated opens a version that the change made. A deployed version becomes the model of l;
// another is stored.
func (db *DB) storeRepeated(l *record.Learner, v *record.Version, m feed.Made) error {
	repeated, err := record.OpenDocument(l.Name, m.Document, m.Vectors)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	case repeated.Version != v.Number:
		return fmt.Errorf("%w: its document is that of version %d", ErrCorrupt, repeated.Version)
	case repeated.Model.Outdated():
		return fmt.Errorf("%w: another version of kith made it", ErrMismatch)
	}
	v.Serial, v.Vectors = 0, 0
	if v.Number == l.Version {
		l.Model, l.Stored = repeated.Model, record.Checkpoint{}
		return nil
	}
	serial := db.now.Load().ts + 1
	if v.Vectors, err = db.writeDocument(repeated, serial, 0); err != nil {
		return err
	}
	v.Serial = serial
	return nil
}

// findRepeated fills in where a version of l is stored that existed before the change. now is the
// learner before it.
func (db *DB) findRepeated(l *record.Learner, v *record.Version, now *record.Learner) error {
	var has record.Version
	found := false
	if now != nil {
		has, found = now.Find(v.Number)
	}
	if !found {
		return fmt.Errorf("%w: there is no such version", ErrMismatch)
	}
	v.Serial, v.Vectors = has.Serial, has.Vectors
	if v.Number != l.Version || l.Model != nil {
		return nil
	}
	s := db.now.Load()
	r := db.store.Read(s.ts)
	defer r.Close()
	stored, err := record.OpenVersion(r, l.Name, has)
	if err != nil {
		return err
	}
	l.Model, l.Stored = stored.Model, record.Checkpoint{Serial: has.Serial, Rounds: stored.Model.Rounds()}
	return nil
}
