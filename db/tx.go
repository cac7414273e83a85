package db

import (
	"fmt"

	"kith/index"
)

// Tx is a transaction: a snapshot to read and, in an Update, changes on top of it, which it sees. It
// serves one goroutine at a time, and it and all it returned die with the function it was made for or,
// if it was made by [DB.Begin], when it is ended.
type Tx struct {
	db      *DB
	snap    *snapshot
	pinned  *snapshot // keeps what it reads; where snap is not durable yet, an earlier one
	reader  *reader
	batch   *index.Batch // nil in a View
	learned []*lesson    // what Observe was told, in order
	decided []*decision  // what Choose and Reward made, in order
	assumed bool         // batch is what Assuming was told: there is no more to write
	managed bool         // a function is run with it, and whoever runs it ends it
	rests   *group       // the last commit that it saw or made, nil if that is durable
	ended   bool

	earliest int64 // no decision ends before, when those are dropped that this commit drops
}

// view is the snapshot with the transaction's own changes.
func (tx *Tx) view() *index.Snapshot {
	if tx.batch != nil {
		return tx.batch.View()
	}
	return tx.snap.Snapshot
}

// writable returns the batch to write to.
func (tx *Tx) writable() (*index.Batch, error) {
	switch {
	case tx.ended:
		return nil, ErrClosed
	case tx.batch == nil, tx.assumed:
		return nil, ErrReadOnly
	}
	return tx.batch, nil
}

// commit queues the changes to become durable and learns what was observed. The next Update builds on
// both; readers see them when they are durable.
func (tx *Tx) commit() error {
	db := tx.db
	if tx.batch.Empty() && len(tx.learned) == 0 && len(tx.decided) == 0 {
		return nil
	}
	if tx.batch.Grows() {
		if err := db.fits(tx.batch.Bytes(), growShare); err != nil {
			return err
		}
	}
	r := newRecords(db.store.badger)
	if err := tx.writeLessons(r); err != nil {
		return err
	}
	if err := tx.writeDecisions(r); err != nil {
		return err
	}
	if err := tx.batch.Write(r); err != nil {
		return err
	}
	if err := r.fit(); err != nil {
		return err
	}
	models, err := tx.learn()
	if err != nil {
		db.store.fail(err)
		return err
	}
	next := &snapshot{Snapshot: tx.batch.Snapshot(), models: models, ts: tx.snap.ts + 1}
	if next.Meta.Model != tx.snap.Meta.Model {
		if err := next.WriteMeta(r); err != nil {
			db.store.fail(err)
			return err
		}
	}
	tx.rests = db.groups.add(r, next)
	tx.noteEnds()
	return db.afterCommit(next)
}

// afterCommit does what falls due now and then: a checkpoint of a model that has learned much since
// its last one, for which all commits must be durable, a new base when the changes have grown, and
// to forget observations when they have. The commit stands whether or not that succeeds, and what did
// not is due again at the next.
func (db *DB) afterCommit(s *snapshot) error {
	for _, l := range db.learners {
		if !l.checkpointDue() {
			continue
		}
		if err := db.settle(); err != nil {
			return err
		}
		if err := db.checkpoint(l, s.models); err != nil {
			db.opts.Logger.Error("checkpoint", "err", err)
		}
	}
	db.compactIfDue(s)
	db.refreshIfDue(s)
	return db.forgetIfDue(s)
}

// id resolves a user's key.
func (tx *Tx) id(key any) (index.ID, error) {
	k, err := KeyOf(key)
	if err != nil {
		return 0, err
	}
	id, ok := tx.find(k)
	if !ok {
		return 0, fmt.Errorf("%w: node %v", ErrNotFound, k)
	}
	return id, nil
}

func (tx *Tx) find(k Key) (index.ID, bool) {
	if tx.batch != nil {
		return tx.batch.ID(k)
	}
	return tx.snap.ID(k)
}

// key returns the key of a node.
func (tx *Tx) key(id index.ID) Key {
	if tx.batch != nil {
		return tx.batch.Key(id)
	}
	return tx.snap.Key(id)
}
