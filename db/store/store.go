package store

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"

	"kith/index"
)

// Store is an open store. Any number of goroutines may read and one may write.
type Store struct {
	badger *badger.DB
	lock   io.Closer // nil for a store in memory
	log    *slog.Logger
	syncs  bool                // whether writes are synced
	onSync func(time.Duration) // may be nil

	syncing   sync.Mutex // protects following fields while there are writes
	names     []string   // names of the durable directory entries
	inventory *inventory // the last one written

	accepted bool // see Accept
	// failed is set when it is unknown whether a commit is on the disk. Memory and disk may then differ, so nothing more
	// is written.
	failed atomic.Pointer[error]
}

// Dir returns the directory of the store, or "" for one in memory.
func (s *Store) Dir() string { return s.badger.Opts().Dir }

// Newest returns the newest timestamp in the store, or 0 for a new store.
func (s *Store) Newest() uint64 { return s.badger.MaxVersion() }

// Discard releases versions of records that only readers below ts could see.
func (s *Store) Discard(ts uint64) { s.badger.SetDiscardTs(ts) }

// Commit durably writes what f writes as one atomic transaction at ts. It returns ErrTooLarge if that does not fit into
// one transaction; the store is then unchanged.
func (s *Store) Commit(ts uint64, f func(index.Writer) error) error {
	r := s.NewRecords()
	if err := f(r); err != nil {
		return err
	}
	if err := r.CheckSize(); err != nil {
		return err
	}
	return s.Write(ts, r)
}

// Write durably writes records as one atomic transaction at ts. After an error the content of the disk is unknown, and
// every further write is refused.
func (s *Store) Write(ts uint64, r *Records) error {
	if err := s.Failure(); err != nil {
		return err
	}
	txn := s.badger.NewTransactionAt(ts, true)
	defer txn.Discard()
	err := r.CopyTo(txn)
	if err == nil {
		err = txn.CommitAt(ts, nil)
	}
	if err = translate(err); err == nil {
		err = s.sync()
	}
	if err != nil {
		s.Fail(err)
	}
	return err
}

// Fail makes the store refuse all further writes because of err.
func (s *Store) Fail(err error) { s.failed.CompareAndSwap(nil, &err) }

// Failure returns the error because of which writes are refused, or nil.
func (s *Store) Failure() error {
	if err := s.failed.Load(); err != nil {
		return fmt.Errorf("db: an earlier commit failed, reopen the database: %w", *err)
	}
	return nil
}

// Batch durably writes what f writes at ts, in as many transactions as necessary. It is only for keys that have no
// reader until a later commit refers to them, or that are no longer needed.
func (s *Store) Batch(ts uint64, f func(index.Writer) error) error {
	if err := s.Failure(); err != nil {
		return err
	}
	b := s.badger.NewWriteBatchAt(ts)
	defer b.Cancel()
	if err := f(&batchWriter{batch: b, store: s}); err != nil {
		return translate(err)
	}
	if err := translate(b.Flush()); err != nil {
		return err
	}
	return s.sync()
}

// batchWriter is an index.Writer that writes in the background while the disk has space.
type batchWriter struct {
	batch *badger.WriteBatch
	store *Store
	bytes int // bytes left until the next check of the disk
}

// roomInterval is the number of bytes written between two checks of the free space.
const roomInterval = 1 << 20

// Set implements index.Writer.
func (w *batchWriter) Set(key, value []byte) error {
	if w.bytes -= len(key) + len(value); w.bytes < 0 {
		if err := w.store.Room(); err != nil {
			return err
		}
		w.bytes = roomInterval
	}
	return w.batch.Set(key, value)
}

// Delete implements index.Writer.
func (w *batchWriter) Delete(key []byte) error { return w.batch.Delete(key) }

// Merge merges the levels of tables into one. It returns ErrFull if the disk cannot hold the tables twice.
func (s *Store) Merge() error {
	if s.Dir() != "" {
		if err := room(s.Dir(), s.Bytes()+reserve*s.badger.Opts().MemTableSize); err != nil {
			return err
		}
	}
	return translate(s.badger.Flatten(1))
}

// Close closes the store.
func (s *Store) Close() error {
	o := s.badger.Opts()
	if o.InMemory || o.ReadOnly || !s.accepted {
		return errors.Join(translate(s.badger.Close()), s.unlock())
	}
	m, err := readManifest(o)
	if err == nil {
		err = readInventory(o.Dir).removeStale(m, o.Dir)
	}
	err = errors.Join(err, translate(s.badger.Close()))
	s.takeInventory()
	return errors.Join(err, s.unlock())
}

func (s *Store) unlock() error {
	if s.lock == nil {
		return nil
	}
	return s.lock.Close()
}

// translate returns an error without Badger's types.
func translate(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrFull), errors.Is(err, ErrCorrupt):
		return err
	case errors.Is(err, badger.ErrDBClosed), errors.Is(err, badger.ErrBlockedWrites):
		return ErrClosed
	}
	return fmt.Errorf("db: store: %w", err)
}
