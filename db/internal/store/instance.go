package store

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/dgraph-io/badger/v4"

	"kith/index"
)

// instance is a Badger database. It is closed when its last user has released it; the store is a
// user of the present one.
type instance struct {
	*badger.DB
	users atomic.Int64
	flush *flusher // nil if it writes nothing to the disk
	merge *merger  // nil if it writes nothing to the disk
	// space is nil if it writes nothing to the disk, and on Windows, which reserves the blocks of
	// whole files.
	space *logSpace
	ended sync.Once
	err   error // why it did not end well
}

// acquire returns the present instance, which is closed only if the store is. The caller must
// release it.
func (s *Store) acquire() *instance {
	for b := s.badger.Load(); ; b = s.badger.Load() {
		if b.acquire() {
			return b
		}
		s.opening.Lock() // another instance is about to take its place, or the store is closed
		closed := b == s.badger.Load()
		s.opening.Unlock()
		if closed {
			b.users.Add(1)
			return b
		}
	}
}

// acquire reports whether the instance is open. If so, the caller must release it.
func (b *instance) acquire() bool {
	for {
		n := b.users.Load()
		if n == 0 || b.users.CompareAndSwap(n, n+1) {
			return n > 0
		}
	}
}

func (b *instance) release() error {
	if b.users.Add(-1) > 0 {
		return nil
	}
	return b.end()
}

// end closes an instance that has no user. Its last log stays; see settle.
func (b *instance) end() error {
	b.ended.Do(func() {
		var err error
		if b.merge != nil {
			err = b.merge.close()
		}
		closeLog := takeLog(b.DB)
		if b.flush != nil {
			b.flush.close()
		}
		err = errors.Join(err, b.Close(), closeLog())
		if b.flush != nil {
			err = errors.Join(err, b.flush.closeLogs())
		}
		if b.space != nil {
			err = errors.Join(err, b.space.close())
		}
		b.err = translate(err)
	})
	return b.err
}

// open checks the files, recovers what the logs hold, and opens Badger for reading. Badger is
// opened for writing when something is written. If the disk has no space for recovered tables,
// Badger reads the logs.
func (s *Store) open() error {
	if s.opts.InMemory {
		s.verified = true
		return s.start(s.opts)
	}
	names, _ := fileNames(s.Dir()) // examineFiles reports an error
	recovers := !s.opts.ReadOnly && len(withSuffix(names, logSuffix)) > 0
	f, err := examineFiles(s.opts, recovers)
	if err == nil {
		err = f.prepare()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.Dir(), err)
	}
	s.verified = recovers
	s.id, s.boot = cmp.Or(f.inventory.ID, f.newest.ID, rand.Text()), bootID()
	if recovers && f.manifest != nil {
		if err := s.settle(); err != nil && !errors.Is(err, ErrFull) {
			return err
		}
	}
	// On Windows, Badger reads only stores that it also writes.
	readOnly := s.opts.ReadOnly || f.manifest != nil && runtime.GOOS != "windows"
	if !readOnly {
		if err := s.verify(); err != nil {
			return err
		}
	}
	if err := s.start(s.opts.WithReadOnly(readOnly)); err != nil {
		return err
	}
	if err := s.checkNewest(f.newest); err != nil {
		return errors.Join(fmt.Errorf("%s: %w", s.Dir(), err), s.badger.Load().end(), s.newest.close())
	}
	return nil
}

// checkNewest returns ErrCorrupt if the newest commit is missing. The files can hide this if
// records of a later timestamp were written before its commit.
func (s *Store) checkNewest(n *newest) error {
	if !n.binds() || n.Commit == 0 {
		return nil
	}
	r := s.Read(math.MaxUint64)
	defer r.Close()
	meta, found, err := r.get(index.MetaKey())
	if err == nil && meta != nil && found < n.Commit { // package db reports a missing meta record
		err = missingError(found, n.Commit)
	}
	return err
}

// Writing reports whether the store is open for writing.
func (s *Store) Writing() bool { return !s.badger.Load().Opts().ReadOnly }

// forWriting returns the present instance, which is open for writing. The caller must release it.
func (s *Store) forWriting() (*instance, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.badger.Load().Opts().ReadOnly {
		if err := s.prepareToWrite(); err != nil {
			return nil, err
		}
		if err := s.start(s.opts); err != nil {
			return nil, err
		}
		s.syncing.Lock()
		s.takeInventory()
		s.syncing.Unlock()
	}
	b := s.badger.Load()
	if !b.acquire() {
		return nil, ErrClosed
	}
	return b, nil
}

// prepareToWrite makes the files ready for a Badger that writes. It returns ErrFull if the disk has
// no space for that.
func (s *Store) prepareToWrite() error {
	if err := s.verify(); err != nil {
		return err
	}
	if err := s.Room(); err != nil {
		return err
	}
	if err := s.settle(); err != nil {
		return err
	}
	return s.dropStale()
}

// settle makes tables of the logs, if there are any. No instance may write.
func (s *Store) settle() error {
	f := &storeFiles{opts: s.opts, inventory: readInventory(s.Dir())}
	var err error
	if f.names, err = fileNames(s.Dir()); err != nil {
		return fmt.Errorf("db: %w", err)
	}
	if len(f.with(logSuffix)) == 0 {
		return nil
	}
	if f.manifest, err = readManifest(s.opts); err != nil {
		return err
	}
	s.settled = true
	if err := f.settle(); err != nil {
		return err
	}
	return removeStaleLogs(s.Dir())
}

// finish closes an instance that writes, makes a table of its log if the disk has space, and takes
// an inventory.
func (s *Store) finish(b *instance) error {
	full := s.dropStale()
	err := b.end()
	if err == nil && full == nil {
		full = s.settle()
	}
	if errors.Is(full, ErrFull) {
		s.log.Warn("the last commits stay in the log, because the disk is full", "err", full)
		full = nil
	}
	s.inventory = new(inventory) // Badger will use the numbers of deleted tables again
	s.takeInventory()
	if err := s.finishNewest(); err != nil {
		s.log.Warn("noting the newest commit", "err", err)
	}
	return errors.Join(full, err)
}

// stopWriting puts an instance that only reads in the place of the present one, and reports whether
// it could: not while a transaction uses an instance that writes. The caller holds both locks.
func (s *Store) stopWriting() (bool, error) {
	b := s.badger.Load()
	if b.Opts().ReadOnly {
		return true, nil
	}
	if !b.users.CompareAndSwap(1, 0) { // from here on, readers wait
		return false, nil
	}
	err := s.finish(b)
	if err == nil {
		err = s.start(s.opts.WithReadOnly(true))
	}
	if err != nil {
		s.Fail(err)
	}
	return err == nil, err
}

// Verify verifies the blocks that Open has not read, once. It returns the first fault.
func (s *Store) Verify() error {
	s.opening.Lock()
	defer s.opening.Unlock()
	return s.verify()
}

// verify is Verify for a caller that holds the lock. It must run before the first write, which
// costs a second for each GB: Badger then merges tables in the background, and a merge ends at a
// damaged block without an error, so that the records after it are lost. The checksum that Badger
// verifies with each read does not help there. The blocks that Open has read are read again; they
// are few in a large store, and a small one is read in milliseconds.
func (s *Store) verify() error {
	if s.verified {
		return nil
	}
	f, err := examineFiles(s.opts, true)
	if err == nil && len(f.faults) > 0 {
		err = fmt.Errorf("%s: %w", s.Dir(), f.faults[0])
	}
	s.verified = err == nil
	return err
}

// start makes an instance with the given options the present one, and releases the previous one.
func (s *Store) start(o badger.Options) error {
	if !o.ReadOnly && !o.InMemory {
		if err := s.prepareToOpen(); err != nil {
			return err
		}
	}
	b, err := openBadger(o)
	if err != nil {
		s.log.Debug("opening Badger", "err", err) // openError keeps little of it
		return openError(o.Dir, err)
	}
	next := &instance{DB: b}
	next.users.Store(1)
	s.runs.Add(1)
	if !o.ReadOnly && !o.InMemory {
		if err := s.startWriting(next); err != nil {
			return errors.Join(err, next.end())
		}
	}
	if old := s.badger.Swap(next); old != nil && old.users.Load() > 0 {
		// Without users, stopWriting has closed it.
		if err := old.release(); err != nil {
			s.log.Warn("closing the files that were read", "err", err)
		}
	}
	return nil
}

// prepareToOpen makes the file of Badger's statistics as Badger would make it, and looks for space
// just before Badger writes the first pages of a log and a value log through their mappings.
func (s *Store) prepareToOpen() error {
	name := filepath.Join(s.Dir(), discardFile)
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		err := writeSynced(name, make([]byte, os.Getpagesize()))
		if err = errors.Join(err, os.Truncate(name, discardBytes)); err != nil {
			return fmt.Errorf("db: %w", errors.Join(fullError(err), os.Remove(name)))
		}
	} else if err != nil {
		return fmt.Errorf("db: %w", err)
	}
	if err := s.Room(); err != nil {
		return err
	}
	return s.lastingRoom(openingRoom)
}

// startWriting prepares what an instance that writes to the disk needs besides Badger.
func (s *Store) startWriting(b *instance) (err error) {
	b.merge = s.newMerger(b.DB)
	b.flush = s.newFlusher(b.DB, b.merge.look)
	if err := s.startNewest(); err != nil || runtime.GOOS == "windows" {
		return err
	}
	if b.space, err = newLogSpace(b.Opts()); err != nil {
		return fmt.Errorf("db: %w", fullError(err))
	}
	return nil
}
