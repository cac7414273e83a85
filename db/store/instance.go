package store

import (
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
	for {
		b := s.badger.Load()
		if n := b.users.Load(); (n > 0 || b == s.badger.Load()) && b.users.CompareAndSwap(n, n+1) {
			return b
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
	f, err := examineFiles(s.opts, false)
	if err == nil {
		err = f.prepare()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.Dir(), err)
	}
	settled := f.manifest != nil && len(f.with(logSuffix)) == 0 && s.Complete()
	readOnly := s.opts.ReadOnly || settled && runtime.GOOS != "windows" // where Badger reads only what it also writes
	if !readOnly {
		if err := s.verify(); err != nil {
			return err
		}
	}
	return s.start(s.opts.WithReadOnly(readOnly))
}

// forWriting returns the present instance, which is open for writing. Only the writer calls it, and need not release it.
func (s *Store) forWriting() (*instance, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	if b := s.badger.Load(); !b.Opts().ReadOnly {
		return b, nil
	}
	if err := s.verify(); err != nil {
		return nil, err
	}
	if err := s.start(s.opts); err != nil {
		return nil, err
	}
	s.takeInventory()
	return s.badger.Load(), nil
}

// Verify verifies the blocks that Open has not read, once. It returns the first fault.
func (s *Store) Verify() error {
	s.opening.Lock()
	defer s.opening.Unlock()
	return s.verify()
}

// verify is Verify for a caller that holds the lock. Badger merges tables once it writes, and loses what follows a
// damaged block, so this comes first.
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
	if old := s.badger.Swap(next); old != nil {
		if err := old.release(); err != nil {
			s.log.Warn("closing the files that were read", "err", err)
		}
	}
	return nil
}
