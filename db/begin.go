package db

import (
	"context"
	"fmt"
)

// Begin begins a transaction that its caller ends, with Commit or Rollback. [DB.View] and [DB.Update]
// do that by themselves; Begin is for transactions that no one function holds, as those of a session.
//
// One that is writable waits, until ctx is over, for the one before it to end, and lets no other write
// before it ends itself. Any open transaction makes Close wait. ctx is not looked at after Begin has
// returned. Errors are those of View and Update: ErrClosed, ErrReadOnly, ErrFull.
func (db *DB) Begin(ctx context.Context, writable bool) (*Tx, error) {
	if !writable {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s, err := db.pin()
		if err != nil {
			return nil, err
		}
		return &Tx{db: db, snap: s, pinned: s, reader: db.store.read(s.ts)}, nil
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
	tx := &Tx{db: db, snap: s, pinned: pinned, reader: db.store.read(s.ts), batch: s.Begin(), rests: rests}
	tx.reader.over = db.groups.over()
	return tx, nil
}

// Commit makes the changes of a transaction durable, as Update does, and ends it. Where it returns an
// error, nothing has happened, and the transaction has ended all the same. It returns ErrClosed for
// one that has ended, and ErrInput for one that View or Update ends.
func (tx *Tx) Commit() error { return tx.finish(true) }

// Rollback ends a transaction without its changes. It returns ErrClosed for one that has ended, which
// a deferred Rollback need not care about, and ErrInput for one that View or Update ends.
func (tx *Tx) Rollback() error { return tx.finish(false) }

func (tx *Tx) finish(commit bool) error {
	switch {
	case tx.managed || tx.assumed:
		return fmt.Errorf("%w: the transaction ends with the function that it was made for", ErrInput)
	case tx.ended:
		return ErrClosed
	}
	return tx.end(commit)
}

// run calls f and ends the transaction, with its changes if f returns nil.
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

// end ends the transaction, and returns when all that it saw and made is durable, or why it is not.
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

// leave commits what was changed, if asked to, and lets the next writer in.
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
	tx.reader.close()
}

// Savepoint calls f, which writes to the transaction, and takes back what has been written since if f
// returns an error or panics. The error is returned. Savepoints nest. It returns ErrReadOnly, and does
// not call f, in a transaction that cannot write.
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
