package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/y"

	"kith/index"
)

// Errors to test for with errors.Is. Package db exports them under the same names.
var (
	ErrNotFound = errors.New("db: not found")
	ErrClosed   = errors.New("db: closed")
	ErrReadOnly = errors.New("db: read only")
	ErrLocked   = errors.New("db: locked")
	ErrCorrupt  = index.ErrCorrupt
	ErrMismatch = index.ErrMismatch
	ErrTooLarge = errors.New("db: too large")
	ErrFull     = errors.New("db: disk full")
)

// Store is an open store. Any number of goroutines may read and one may write.
//
// INVARIANT: until the first write, the files are as the last process left them, and Badger only
// reads them.
type Store struct {
	opts   badger.Options // for writing, unless the store is read-only
	badger atomic.Pointer[instance]
	lock   io.Closer   // nil for a store in memory
	place  os.FileInfo // of the directory when it was locked; nil for a store in memory
	// bulkTable is the size of the tables of Bulk, in bytes. One takes four times as much memory
	// while it is written, and each takes 0.1 ms when the store is opened.
	bulkTable int64
	log       *slog.Logger
	syncs     bool                // whether writes are synced
	onSync    func(time.Duration) // may be nil
	onStep    func()              // may be nil

	syncing   sync.Mutex // protects following fields while there are writes
	synced    synced
	inventory *inventory // the last one written

	id     string // identity of the directory
	boot   string // identity of the system's run
	newest newestWriter
	runs   atomic.Int64 // number of instances of Badger that were started

	opening  sync.Mutex // protects verified, and is held while Badger is opened for writing
	verified bool       // see Verify
	accepted bool       // see Accept
	settled  bool       // tables were made of logs
	// failed is set when it is unknown whether a commit is on the disk. Memory and disk may then
	// differ, so nothing more is written.
	failed atomic.Pointer[error]
	// discarded is the timestamp up to which only the newest version of a record is kept; see
	// Discard.
	discarded atomic.Uint64
	written   atomic.Int64 // bytes written since discarded was the newest timestamp
	tables    atomic.Int64 // number of times that a table was made of a log, or that tables were merged
	waiting   atomic.Int32 // number of goroutines that wait for space for tables

	// reading is held by a read of the present tables, so that no version that it may see is
	// discarded meanwhile.
	reading sync.RWMutex
	pins    map[uint64]*pin // by the timestamp of the reads; protected by reading
}

// Dir returns the directory of the store, or "" for one in memory.
func (s *Store) Dir() string { return s.opts.Dir }

// inPlace returns ErrNotFound if the directory is no longer where it was.
func (s *Store) inPlace() error {
	if s.place == nil {
		return nil
	}
	if now, err := os.Stat(s.Dir()); err == nil && os.SameFile(now, s.place) {
		return nil
	}
	return fmt.Errorf("%w: %s was removed, renamed or replaced while it was open", ErrNotFound, s.Dir())
}

// Newest returns the newest timestamp in the store, or 0 for a new store.
func (s *Store) Newest() uint64 {
	b := s.acquire()
	defer b.release()
	return b.MaxVersion()
}

// LastCommit returns the timestamp of the newest commit, or 0 if it is unknown.
func (s *Store) LastCommit() uint64 {
	r := s.Read(math.MaxUint64)
	defer r.Close()
	_, ts, err := r.get(index.MetaKey())
	if err != nil {
		return 0
	}
	return ts
}

// Commit durably writes what f writes as one atomic transaction at ts. It returns ErrTooLarge if
// that does not fit into one transaction; the store is then unchanged.
func (s *Store) Commit(ts uint64, f func(index.Writer) error) error {
	r := s.NewRecords()
	if err := f(r); err != nil {
		return err
	}
	if err := r.CheckSize(); err != nil {
		return err
	}
	if err := s.Reserve(r); err != nil {
		return err
	}
	return s.Write(ts, r)
}

// Reserve reserves space on the disk for records that will be written. It returns ErrFull if the
// disk lacks space.
func (s *Store) Reserve(r *Records) error {
	if s.Dir() == "" {
		return nil
	}
	b, err := s.forWriting()
	if err != nil {
		return err
	}
	defer b.release()
	if b.space == nil || b.space == r.space {
		return nil
	}
	r.release() // by an earlier instance
	n := r.logBytes()
	if err := b.space.reserve(n); isFull(err) {
		return fmt.Errorf("%w: %s: there is no room for a write of %.1f MB: %w", ErrFull, s.Dir(), float64(n)/(1<<20), err)
	} else if err != nil {
		return fmt.Errorf("db: %w", err)
	}
	r.space, r.promised = b.space, n
	if !b.space.ends() {
		return nil
	}
	if err = s.waitToGrow(); err != nil {
		r.release()
	}
	return err
}

// Write durably writes records as one atomic transaction at ts. After an error the content of the
// disk is unknown, and every further write is refused.
func (s *Store) Write(ts uint64, r *Records) error {
	if err := s.Failure(); err != nil {
		return err
	}
	at, err := s.commit(ts, r)
	if err == nil {
		err = s.sync()
	}
	if err != nil {
		s.Fail(err)
		return err
	}
	s.note(ts, r, at)
	return nil
}

// commit writes records as one transaction, and returns a position before it.
func (s *Store) commit(ts uint64, r *Records) (at position, err error) {
	if err := s.inPlace(); err != nil {
		return at, err
	}
	if err := s.Reserve(r); err != nil {
		return at, err
	}
	defer r.release()
	b, err := s.forWriting()
	if err != nil {
		return at, err
	}
	defer b.release()
	at = s.position(false)
	txn := b.NewTransactionAt(ts, true)
	defer txn.Discard()
	if err = r.CopyTo(txn); err == nil {
		err = txn.CommitAt(ts, nil)
	}
	s.written.Add(r.size)
	return at, translate(err)
}

// Fail makes the store refuse all further writes because of err.
func (s *Store) Fail(err error) { s.failed.CompareAndSwap(nil, &err) }

// Failure returns the error for which writes are refused, or nil.
func (s *Store) Failure() error {
	if err := s.failed.Load(); err != nil {
		return fmt.Errorf("db: an earlier commit failed, reopen the database: %w", *err)
	}
	return nil
}

// Batch durably writes what f writes at ts, in as many transactions as necessary. It is only for
// keys that have no reader until a later commit refers to them, or that are no longer needed.
func (s *Store) Batch(ts uint64, f func(index.Writer) error) error {
	if err := s.Failure(); err != nil {
		return err
	}
	w := &batchWriter{store: s, ts: ts}
	err := f(w)
	if w.records == nil {
		return err
	}
	if err == nil {
		err = w.write()
	}
	if err != nil {
		return err
	}
	return s.sync()
}

// batchWriter is an index.Writer that writes transactions one after another.
type batchWriter struct {
	store   *Store
	ts      uint64
	records *Records // of the next transaction; nil before the first record
}

// Set implements index.Writer.
func (w *batchWriter) Set(key, value []byte) error {
	if err := w.makeRoom(len(key) + len(value)); err != nil {
		return err
	}
	w.store.written.Add(int64(len(key) + len(value)))
	return w.records.Set(key, value)
}

// Delete implements index.Writer.
func (w *batchWriter) Delete(key []byte) error {
	if err := w.makeRoom(len(key)); err != nil {
		return err
	}
	return w.records.Delete(key)
}

// makeRoom writes the records if a record of n bytes does not fit.
func (w *batchWriter) makeRoom(n int) error {
	if w.records != nil && w.records.fits(n) {
		return nil
	}
	if w.records != nil {
		if err := w.write(); err != nil {
			return err
		}
	}
	w.records = w.store.NewRecords()
	return nil
}

func (w *batchWriter) write() error {
	if err := w.records.CheckSize(); err != nil {
		return err
	}
	_, err := w.store.commit(w.ts, w.records)
	return err
}

// Flush makes tables of the logs of the last commits, and reports whether it could: not while a
// transaction uses the store for about a second, and not on Windows.
func (s *Store) Flush() (bool, error) {
	if s.Dir() == "" || runtime.GOOS == "windows" {
		return s.Dir() == "", nil
	}
	for end := time.Now().Add(adoptWait); ; time.Sleep(time.Millisecond) {
		if done, err := s.flush(); done || err != nil || time.Now().After(end) {
			return done, err
		}
	}
}

func (s *Store) flush() (bool, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	s.syncing.Lock()
	defer s.syncing.Unlock()
	if err := errors.Join(s.inPlace(), s.verify()); err != nil {
		return false, err
	}
	return s.stopWriting()
}

// Discarded returns the timestamp up to which a merge keeps only the newest version of a record.
func (s *Store) Discarded() uint64 { return s.discarded.Load() }

// Merge merges the levels of tables into one, and reports whether all tables were written again. It
// returns ErrFull if the disk cannot hold the tables twice.
func (s *Store) Merge() (rewritten bool, err error) {
	if s.Dir() != "" {
		if err := room(s.Dir(), s.Bytes()+maintenance*s.opts.MemTableSize+openingRoom, "merging all tables"); err != nil {
			return false, err
		}
	}
	b, err := s.forWriting()
	if err != nil {
		return false, err
	}
	defer b.release()
	if b.merge == nil {
		return s.Dir() == "", translate(b.Flatten(1))
	}
	defer b.merge.look()
	for more := true; more && err == nil; rewritten = rewritten || more {
		more, err = b.merge.step(b.merge.pickAll)
	}
	if errors.Is(err, errClosing) {
		return false, s.Failure()
	}
	return rewritten, translate(fullError(err))
}

// Close closes the store.
func (s *Store) Close() error {
	s.unpin(nil)
	b := s.badger.Load()
	err := s.inPlace()
	if o := b.Opts(); o.InMemory || o.ReadOnly || !s.accepted || err != nil {
		err = errors.Join(err, b.end(), s.newest.close())
	} else {
		err = s.finish(b)
	}
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
	case errors.Is(err, ErrFull), errors.Is(err, ErrCorrupt), errors.Is(err, ErrNotFound):
		return err
	case errors.Is(err, badger.ErrDBClosed), errors.Is(err, badger.ErrBlockedWrites):
		return ErrClosed
	case errors.Is(err, y.ErrChecksumMismatch):
		return fmt.Errorf("%w: a block of a table does not fit its checksum", ErrCorrupt)
	}
	if system := (*fs.PathError)(nil); errors.As(err, &system) {
		return fmt.Errorf("db: store: %w", system) // without Badger's words
	}
	return fmt.Errorf("db: store: %w", err)
}
