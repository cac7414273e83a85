package db

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"

	"kith/db/internal/feed"
	"kith/db/internal/record"
	"kith/db/internal/store"
	"kith/index"
)

// Tx is a transaction: a snapshot to read and, in an Update, changes to it, which the transaction
// sees. It must not be used by several goroutines at a time. The Tx and all it returned are valid
// until the function that it was made for returns or, for a transaction of [DB.Begin], until it is
// ended. After that its methods return ErrClosed, or nothing if they return no error.
type Tx struct {
	db           *DB
	snap         *snapshot
	pinned       *snapshot // snapshot whose records are kept for reading; earlier than snap if snap is not durable yet
	reader       *store.Reader
	batch        *index.Batch          // nil in a View
	observed     []*pendingObservation // what Observe received, in order
	decided      []*record.Decision    // decisions that Choose and Reward made, in order
	made         *record.Learner       // the model default if the transaction makes it, otherwise nil
	repeats      *feed.Document        // change that it repeats in a follower, or nil
	assumed      bool                  // batch has the edges of Assuming, and no more may be written
	managed      bool                  // run calls a function with the transaction and ends it
	pendingGroup *group                // group of the last commit that it saw or made, nil if that is durable
	ended        bool

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

// id resolves a key.
func (tx *Tx) id(key any) (index.ID, error) {
	if tx.ended {
		return 0, ErrClosed
	}
	k, err := KeyOf(key)
	if err != nil {
		return 0, err
	}
	id, ok := tx.find(k)
	if !ok {
		return 0, tx.noNode(k)
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

// Begin begins a transaction that the caller must end with Commit or Rollback. [DB.View] and
// [DB.Update] end theirs themselves. Begin is for transactions that span several functions, such as
// the transactions of a session.
//
// A writable transaction waits until the previous one ends or ctx is done, and blocks all other
// writers until it ends. Close waits for every open transaction. Begin does not use ctx after it
// has returned. It returns the errors of View and Update: ErrClosed, ErrReadOnly, ErrFull.
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
	if db.opts.Follower {
		return nil, errFollower
	}
	return db.begin(ctx)
}

// begin begins a transaction that may write, also to a follower.
func (db *DB) begin(ctx context.Context) (*Tx, error) {
	if err := db.waitForCompaction(ctx); err != nil {
		return nil, err
	}
	if err := db.enter(ctx); err != nil {
		return nil, err
	}
	pinned, err := db.pin()
	if err != nil {
		db.unlock()
		return nil, err
	}
	s, pendingGroup := db.head()
	reader := db.store.Read(s.ts, db.groups.records()...)
	return &Tx{db: db, snap: s, pinned: pinned, reader: reader, batch: s.Begin(), pendingGroup: pendingGroup}, nil
}

// Commit makes the changes of a transaction durable, as Update does, and ends it. If Commit returns
// an error, nothing has changed, and the transaction has ended nevertheless. It returns ErrClosed
// for a transaction that has ended, and ErrInput for one that View or Update ends.
func (tx *Tx) Commit() error { return tx.finish(true) }

// Rollback ends a transaction and discards its changes. It returns ErrClosed for a transaction that
// has ended, which a deferred Rollback may ignore, and ErrInput for one that View or Update ends.
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

// end ends the transaction. It returns after everything that the transaction read and wrote is
// durable, or with the reason why it is not.
func (tx *Tx) end(commit bool) error {
	defer tx.db.unpin(tx.pinned)
	unread := tx.snap.Err() // an answer may lack what could not be read
	if tx.batch == nil {
		tx.close()
		return unread
	}
	err := tx.commitAndUnlock(commit && unread == nil)
	return cmp.Or(tx.db.await(tx.pendingGroup), unread, err)
}

func (tx *Tx) close() {
	tx.expire()
	tx.db.saveStatesIfDue(unsavedOps)
	tx.reader.Close()
}

// expire ends the use of the transaction, which sees an empty database from then on.
func (tx *Tx) expire() { tx.ended, tx.snap, tx.batch = true, tx.db.nothing, nil }

// Savepoint calls f, which writes to the transaction. If f returns an error or panics, Savepoint
// undoes the writes of f, and returns the error. Savepoints nest. In a transaction that
// cannot write, Savepoint returns ErrReadOnly without calling f.
func (tx *Tx) Savepoint(f func() error) error {
	b, err := tx.writable()
	if err != nil {
		return err
	}
	observed, decided, snap, made := len(tx.observed), len(tx.decided), tx.snap, tx.made
	kept := false
	defer func() {
		if !kept {
			tx.observed, tx.decided, tx.snap, tx.made = tx.observed[:observed], tx.decided[:decided], snap, made
		}
	}()
	err = b.Savepoint(f)
	kept = err == nil
	return err
}

// Assuming calls f with a read-only transaction that sees the database with more edges. Edges that
// exist already get the given weights and times. Nothing is written. Missing end nodes exist only
// for f. The cached PageRank states do not include the edges, so answers are computed from scratch.
//
// It returns ErrInput for an invalid edge, and in an Update that has changed something. In that
// case, write the edges and return an error from the function to discard them.
func (tx *Tx) Assuming(edges []Edge, f func(*Tx) error) error {
	switch {
	case tx.ended:
		return ErrClosed
	case tx.batch != nil && !tx.batch.Empty():
		return inputf("edges cannot be assumed beside changes that are not committed")
	}
	over := &Tx{db: tx.db, snap: tx.snap, reader: tx.reader, batch: tx.snap.Begin()}
	defer over.expire()
	for _, e := range edges {
		if err := over.PutEdge(e.Src, e.Dst, Weight(e.Weight), At(e.Time)); err != nil {
			return err
		}
	}
	over.assumed = true
	return f(over)
}

// openReaders counts the open transactions by the timestamp they read at, so that the store keeps
// what they may read and Close can wait for them.
type openReaders struct {
	mu     sync.Mutex // protects following fields
	at     map[uint64]int
	closed bool
	idle   *sync.Cond // signals that no transaction is open
}

func newOpenReaders() *openReaders {
	r := &openReaders{at: map[uint64]int{}}
	r.idle = sync.NewCond(&r.mu)
	return r
}

// pin counts and returns the present snapshot. It returns ErrClosed if the database is closed.
func (r *openReaders) pin(now *atomic.Pointer[snapshot]) (*snapshot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, ErrClosed
	}
	s := now.Load()
	r.at[s.ts]++
	return s, nil
}

// unpin counts the end of a transaction. It calls ended after the last one at its timestamp, and
// before close returns.
func (r *openReaders) unpin(s *snapshot, ended func(at map[uint64]int)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at[s.ts]--; r.at[s.ts] == 0 {
		delete(r.at, s.ts)
		ended(r.at)
	}
	if len(r.at) == 0 {
		r.idle.Broadcast()
	}
}

// call calls f with the number of transactions by timestamp, which does not change meanwhile.
func (r *openReaders) call(f func(at map[uint64]int)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(r.at)
}

// close refuses new transactions and waits for the open ones. It reports whether it was the first
// to do so.
func (r *openReaders) close() (first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first, r.closed = !r.closed, true
	for first && len(r.at) > 0 {
		r.idle.Wait()
	}
	return first
}

// open returns the number of open transactions.
func (r *openReaders) open() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, of := range r.at {
		n += of
	}
	return n
}
