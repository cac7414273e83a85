package store

import (
	"bytes"
	"sync"

	"github.com/dgraph-io/badger/v4"

	"kith/index"
)

// pin serves the reads at one timestamp from the tables and the memtables that there were when it
// was made. An iterator of Badger keeps them, so the store may discard the versions that only these
// reads could see. Otherwise every commit would leave a version of each record that it writes, as
// long as a reader is open. Badger puts all versions of a record into one table, and holds several
// times their bytes in memory whenever it merges that table.
//
// The tables take at most as much space on the disk as the store did when the pin was made. The
// memtables take at most Options.MemTableSize each, and the pins that are made at the same time
// share them.
type pin struct {
	from *instance
	txn  *badger.Txn
	mu   sync.Mutex // protects it
	it   *badger.Iterator
}

// Discard releases the versions of records that no reader sees. Readers read at newest, or at the
// timestamps that are keys of open, which must not change meanwhile. Calls must not overlap.
func (s *Store) Discard(newest uint64, open map[uint64]int) {
	b := s.acquire()
	defer b.release()
	s.unpin(open)
	oldest := newest
	for ts := range open {
		if s.pins[ts] == nil {
			oldest = min(oldest, ts)
		}
	}
	if oldest < newest && s.written.Load() >= s.opts.MemTableSize {
		s.pin(b, newest, open)
		oldest = newest
	}
	if oldest == newest {
		s.written.Store(0)
	}
	s.discarded.Store(oldest)
	b.SetDiscardTs(oldest)
}

// pin makes pins for the timestamps below newest that lack one.
func (s *Store) pin(b *instance, newest uint64, open map[uint64]int) {
	s.reading.Lock()
	defer s.reading.Unlock()
	for ts := range open {
		if ts >= newest || s.pins[ts] != nil {
			continue
		}
		b.users.Add(1) // the caller is a user, too
		p := &pin{from: b, txn: b.NewTransactionAt(ts, false)}
		o := badger.DefaultIteratorOptions
		o.PrefetchValues = false // values are stored with their keys
		p.it = p.txn.NewIterator(o)
		s.pins[ts] = p
	}
}

// unpin releases the pins of all timestamps at which no reader reads.
func (s *Store) unpin(open map[uint64]int) {
	for ts, p := range s.pins { // only calls of Discard and Close write to pins
		if open[ts] > 0 {
			continue
		}
		s.reading.Lock()
		delete(s.pins, ts)
		s.reading.Unlock()
		if err := p.close(); err != nil {
			s.log.Warn("closing the files that were read", "err", err)
		}
	}
}

// close ends a pin. Reads that come later return ErrClosed.
func (p *pin) close() error {
	p.mu.Lock()
	p.it.Close()
	p.it = nil
	p.mu.Unlock()
	p.txn.Discard()
	return p.from.release()
}

// Pins reports whether there are pins, which a call of Discard releases when their readers have
// ended.
func (s *Store) Pins() bool {
	s.reading.RLock()
	defer s.reading.RUnlock()
	return len(s.pins) > 0
}

// pinned returns the oldest pin at ts or later, or nil if no pin is. The caller holds reading.
func (s *Store) pinned(ts uint64) (oldest *pin) {
	first := uint64(0)
	for at, p := range s.pins {
		if at >= ts && (oldest == nil || at < first) {
			oldest, first = p, at
		}
	}
	return oldest
}

// get returns the value of a key, or nil, and its version.
func (p *pin) get(key []byte) (v []byte, version uint64, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.it == nil {
		return nil, 0, ErrClosed
	}
	var e index.Entry
	ok, err := next(p.it, key, func() { p.it.Seek(key) }, &e)
	if err != nil || !ok || !bytes.Equal(e.Key, key) {
		return nil, 0, err
	}
	if e.Value == nil {
		e.Value = []byte{}
	}
	return e.Value, p.it.Item().Version(), nil
}

// Numbers of entries and bytes that a pin reads at once.
const (
	pinEntries = 256
	pinBytes   = 64 << 10
)

// scan yields the entries whose keys have the prefix, starting at the key from. Other reads may
// come between them.
func (p *pin) scan(prefix, from []byte, yield func(index.Entry, error) bool) {
	for most := 1; ; most = min(2*most, pinEntries) {
		entries, err := p.read(prefix, from, most)
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
		if err != nil {
			yield(index.Entry{}, err)
		}
		if err != nil || len(entries) == 0 {
			return
		}
		from = append(bytes.Clone(entries[len(entries)-1].Key), 0)
	}
}

// read returns the first entries of a scan, at most the given number.
func (p *pin) read(prefix, from []byte, most int) (entries []index.Entry, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.it == nil {
		return nil, ErrClosed
	}
	move := func() { p.it.Seek(from) }
	for size := 0; len(entries) < most && size < pinBytes; move = p.it.Next {
		var e index.Entry
		if ok, err := next(p.it, prefix, move, &e); err != nil || !ok {
			return entries, err
		}
		entries = append(entries, e)
		size += len(e.Key) + len(e.Value)
	}
	return entries, nil
}
