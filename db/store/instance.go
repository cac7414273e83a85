package store

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/dgraph-io/badger/v4"
)

// instance is a Badger database. It is closed when its last user has released it; the store is a user of the present
// one.
type instance struct {
	*badger.DB
	users atomic.Int64
}

// acquire returns the present instance, which is closed only if the store is. The caller must release it.
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
	return translate(b.Close())
}

// open checks the files and opens Badger. If it has nothing to recover, it opens them for reading, and for writing when
// something is written.
func (s *Store) open() error {
	if s.opts.InMemory {
		s.verified = true
		return s.start(s.opts)
	}
	names, _ := fileNames(s.Dir())                                        // examineFiles reports an error
	recovers := !s.opts.ReadOnly && len(withSuffix(names, logSuffix)) > 0 // Badger will write
	f, err := examineFiles(s.opts, recovers)
	if err == nil {
		err = f.prepare()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.Dir(), err)
	}
	s.verified = recovers
	settled := f.manifest != nil && len(f.with(logSuffix)) == 0 && s.Complete()
	readOnly := s.opts.ReadOnly || settled && runtime.GOOS != "windows" // where Badger reads only what it also writes
	if !readOnly {
		if err := s.verify(); err != nil {
			return err
		}
	}
	return s.start(s.opts.WithReadOnly(readOnly))
}

// Writing reports whether the store is open for writing.
func (s *Store) Writing() bool { return !s.badger.Load().Opts().ReadOnly }

// forWriting returns the present instance, which is open for writing. The caller must release it.
func (s *Store) forWriting() (*instance, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.badger.Load().Opts().ReadOnly {
		if err := s.verify(); err != nil {
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

// finish calls closeFiles to close an instance that writes, and takes an inventory of the files that are left.
func (s *Store) finish(closeFiles func() error) error {
	err := errors.Join(s.dropStale(), closeFiles())
	s.inventory = new(inventory) // Badger will use the numbers of deleted tables again
	s.takeInventory()
	return err
}

// stopWriting puts an instance that only reads in the place of the present one, and reports whether it could: not while a
// transaction uses an instance that writes. The caller holds both locks.
func (s *Store) stopWriting() (bool, error) {
	b := s.badger.Load()
	if b.Opts().ReadOnly {
		return true, nil
	}
	if !b.users.CompareAndSwap(1, 0) { // from here on, readers wait
		return false, nil
	}
	err := s.finish(func() error { return translate(b.Close()) })
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

// verify is Verify for a caller that holds the lock. It must run before the first write, which costs a second for each
// GB: Badger then merges tables in the background, and a merge ends at a damaged block without an error, so that the
// records after it are lost. The checksum that Badger verifies with each read does not help there. The blocks that Open
// has read are read again; they are few in a large store, and a small one is read in milliseconds.
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
	b, err := openBadger(o)
	if err != nil {
		return openError(o.Dir, err)
	}
	next := &instance{DB: b}
	next.users.Store(1)
	if old := s.badger.Swap(next); old != nil && old.users.Load() > 0 { // 0: stopWriting has closed it
		if err := old.release(); err != nil {
			s.log.Warn("closing the files that were read", "err", err)
		}
	}
	return nil
}
