package db

import (
	"context"
)

// Begin begins a transaction that the caller must end with Commit or Rollback. [DB.View] and [DB.Update] end theirs
// themselves. Begin is for transactions that span several functions, such as those of a session.
//
// A writable transaction waits until the previous one ends or ctx is done, and blocks all other writers until it ends.
// Close waits for every open transaction. Begin does not use ctx after it has returned. It returns the errors of View
// and Update: ErrClosed, ErrReadOnly, ErrFull.
func (db *DB) Begin(ctx context.Context, writable bool) (*Tx, error) {
	if !writable {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s, err := db.pin()
		if err != nil {
			return nil, err
		}
		return &Tx{db: db, snap: s, pinned: s, reader: db.store.Read(s.ts)}, nil
	}
	if err := db.enter(ctx); err != nil {
		return nil, err
	}
	pinned, err := db.pin()
	if err != nil {
		db.unlock()
		return nil, err
	}
	s, rests := db.head()
	reader := db.store.Read(s.ts, db.groups.records()...)
	return &Tx{db: db, snap: s, pinned: pinned, reader: reader, batch: s.Begin(), rests: rests}, nil
}

// Commit makes the changes of a transaction durable, as Update does, and ends it. If Commit returns an error, nothing
// has changed, and the transaction has ended nevertheless. It returns ErrClosed for a transaction that has ended, and
// ErrInput for one that View or Update ends.
func (tx *Tx) Commit() error { return tx.finish(true) }

// Rollback ends a transaction and discards its changes. It returns ErrClosed for a transaction that has ended, which a
// deferred Rollback may ignore, and ErrInput for one that View or Update ends.
func (tx *Tx) Rollback() error { return tx.finish(false) }

func (tx *Tx) finish(commit bool) error {
	switch {
	case tx.managed || tx.assumed:
		return inputf("the transaction ends with the function that it was made for")
	case tx.ended:
		return ErrClosed
	}
	return tx.end(commit)
}

// run calls f and ends the transaction. It commits the changes if f returns nil.
func (tx *Tx) run(f func(*Tx) error) error {
	tx.managed = true
	returned := false
	defer func() {
		if !returned { // f panicked, or ended its goroutine
			_ = tx.end(false)
		}
	}()
	err := f(tx)
	returned = true
	if failed := tx.end(err == nil); failed != nil {
		return failed
	}
	return err
}

// end ends the transaction. It returns after everything that the transaction read and wrote is durable, or with the
// reason why it is not.
func (tx *Tx) end(commit bool) error {
	defer tx.db.unpin(tx.pinned)
	if tx.batch == nil {
		tx.close()
		return nil
	}
	err := tx.leave(commit)
	if lost := tx.db.await(tx.rests); lost != nil {
		return lost
	}
	return err
}

// leave commits the changes if commit is set, and releases the writer lock.
func (tx *Tx) leave(commit bool) error {
	defer tx.db.unlock()
	defer tx.close()
	if commit {
		return tx.commit()
	}
	return nil
}

func (tx *Tx) close() {
	tx.ended = true
	tx.reader.Close()
}

// Savepoint calls f, which writes to the transaction. If f returns an error or panics, Savepoint undoes what was
// written since, and returns the error. Savepoints nest. In a transaction that cannot write, Savepoint returns
// ErrReadOnly without calling f.
func (tx *Tx) Savepoint(f func() error) error {
	b, err := tx.writable()
	if err != nil {
		return err
	}
	learned, decided := len(tx.learned), len(tx.decided)
	kept := false
	defer func() {
		if !kept {
			tx.learned, tx.decided = tx.learned[:learned], tx.decided[:decided]
		}
	}()
	err = b.Savepoint(f)
	kept = err == nil
	return err
}
