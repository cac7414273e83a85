package db

import (
	"kith/db/store"
	"kith/index"
)

// Tx is a transaction: a snapshot to read and, in an Update, changes to it, which the transaction sees. It must not be
// used by several goroutines at a time. The Tx and all it returned are valid until the function that it was made for
// returns or, for a transaction of [DB.Begin], until it is ended.
type Tx struct {
	db      *DB
	snap    *snapshot
	pinned  *snapshot // snapshot whose records are kept for reading; earlier than snap if snap is not durable yet
	reader  *store.Reader
	batch   *index.Batch // nil in a View
	learned []*lesson    // what Observe received, in order
	decided []*decision  // decisions that Choose and Reward made, in order
	assumed bool         // batch has the edges of Assuming, and no more may be written
	managed bool         // run calls a function with the transaction and ends it
	rests   *group       // group of the last commit that it saw or made, nil if that is durable
	ended   bool

	earliest int64 // the value of DB.earliest after this commit has dropped expired decisions
}

// view returns the snapshot with the transaction's own changes.
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

// commit queues the changes and makes the models learn the observations. The next Update builds on both. Readers see
// them when they are durable.
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
	r := db.store.NewRecords()
	if err := tx.writeLessons(r); err != nil {
		return err
	}
	if err := tx.writeDecisions(r); err != nil {
		return err
	}
	if err := tx.batch.Write(r); err != nil {
		return err
	}
	if err := r.CheckSize(); err != nil {
		return err
	}
	models, err := tx.learn()
	if err != nil {
		db.store.Fail(err)
		return err
	}
	next := &snapshot{Snapshot: tx.batch.Snapshot(), models: models, ts: tx.snap.ts + 1}
	if next.Meta.Model != tx.snap.Meta.Model {
		if err := next.WriteMeta(r); err != nil {
			db.store.Fail(err)
			return err
		}
	}
	tx.rests = db.groups.add(r, next)
	tx.noteEnds()
	return db.afterCommit(next)
}

// afterCommit does work that is due from time to time: it stores a model that has learned much since its last
// checkpoint, for which all commits must be durable, makes a new base when there are many changes, trains models again,
// and forgets observations when there are too many. The commit is valid even if this work fails; failed work is due
// again after the next commit.
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

// id resolves a key.
func (tx *Tx) id(key any) (index.ID, error) {
	k, err := KeyOf(key)
	if err != nil {
		return 0, err
	}
	id, ok := tx.find(k)
	if !ok {
		return 0, noNode(k)
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
