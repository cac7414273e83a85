package store

import (
	"errors"
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/dgraph-io/badger/v4"

	"kith/index"
)

// Reader is an index.Reader at one timestamp.
type Reader struct {
	store   *Store
	ts      uint64
	from    *instance
	txn     *badger.Txn
	pending pending
}

// Read begins a read at ts. The reader also sees the records of later commits that are not in the
// store yet, which are given in commit order. The caller must close the reader.
func (s *Store) Read(ts uint64, later ...*Records) *Reader {
	b := s.acquire()
	return &Reader{s, ts, b, b.NewTransactionAt(ts, false), later}
}

// Close ends the read.
func (r *Reader) Close() {
	r.txn.Discard()
	r.from.release()
}

// Get implements index.Reader.
func (r *Reader) Get(key []byte) ([]byte, bool, error) {
	if v, ok := r.pending.get(key); ok {
		return v, v != nil, nil
	}
	v, _, err := r.get(key)
	return v, v != nil, err
}

// get returns the value of a key in the store, or nil, and its version.
func (r *Reader) get(key []byte) (v []byte, version uint64, err error) {
	r.store.reading.RLock()
	defer r.store.reading.RUnlock()
	if p := r.store.pins[r.ts]; p != nil {
		return p.get(key)
	}
	return r.present(key)
}

// present is get from the present tables. Unless the record is written once, the caller holds
// Store.reading, so that the version is not discarded meanwhile.
func (r *Reader) present(key []byte) (v []byte, version uint64, err error) {
	defer catchDamage(&err)
	item, err := r.txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, translate(err)
	}
	v = []byte{}
	err = item.Value(func(value []byte) error {
		if len(value) > 0 {
			v = value // a copy that only the item has
		}
		return nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("%w: the value of key %q cannot be read", ErrCorrupt, key)
	}
	return v, item.Version(), nil
}

// catchDamage, deferred, turns a panic of Badger over a damaged block into an error.
func catchDamage(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%w: a block of a table cannot be read", ErrCorrupt)
	}
}

// Scan implements index.Reader. Of records that are read on demand it may omit those in damaged
// blocks; see Verify.
func (r *Reader) Scan(prefix, from []byte) iter.Seq2[index.Entry, error] {
	if len(r.pending) == 0 {
		return r.scan(prefix, from)
	}
	return r.pending.scan(r.scan(prefix, from), prefix, from)
}

// scan is Scan without the pending records.
func (r *Reader) scan(prefix, from []byte) iter.Seq2[index.Entry, error] {
	return func(yield func(index.Entry, error) bool) {
		if from == nil {
			from = prefix
		}
		it, p := r.iterator(prefix)
		if p != nil {
			p.scan(prefix, from, yield)
			return
		}
		defer it.Close()
		var e index.Entry
		move := func() { it.Seek(from) }
		for {
			ok, err := next(it, prefix, move, &e)
			if err != nil {
				yield(index.Entry{}, err)
			}
			if err != nil || !ok || !yield(e, nil) {
				return
			}
			move = it.Next
		}
	}
}

// iterator returns an iterator of the present tables, which it keeps, or the pin of the reader.
func (r *Reader) iterator(prefix []byte) (*badger.Iterator, *pin) {
	r.store.reading.RLock()
	defer r.store.reading.RUnlock()
	if p := r.store.pins[r.ts]; p != nil {
		return nil, p
	}
	o := badger.DefaultIteratorOptions
	o.Prefix = prefix
	o.PrefetchValues = false // values are stored with their keys
	return r.txn.NewIterator(o), nil
}

// next moves an iterator and reads the entry there, if its key has the prefix.
func next(it *badger.Iterator, prefix []byte, move func(), e *index.Entry) (ok bool, err error) {
	defer catchDamage(&err)
	if move(); !it.ValidForPrefix(prefix) {
		return false, nil
	}
	item := it.Item()
	e.Key = item.KeyCopy(e.Key)
	if e.Value, err = item.ValueCopy(e.Value); err != nil {
		return false, fmt.Errorf("%w: the value of key %q cannot be read", ErrCorrupt, e.Key)
	}
	return true, nil
}

// At returns the records at ts as an index.Source. Every read is a transaction of its own. A reader
// must be open at ts or later, and must see the same versions of the records as at ts.
func (s *Store) At(ts uint64) index.Source { return &source{store: s, ts: ts} }

// source reads at one timestamp. The records of a generation are written once, at one timestamp, so
// Read looks first at the timestamp of the last such record: Badger then finds the block that
// begins with the key without reading the previous one.
type source struct {
	store   *Store
	ts      uint64
	version atomic.Uint64 // of the last record that is written once; 0 at first
}

// Read implements index.Source.
func (s *source) Read(key []byte) ([]byte, bool, error) {
	once := index.WrittenOnce(key)
	if version := s.version.Load(); once && version > 0 {
		if value, _, err := s.present(key, version); value != nil || err != nil {
			return value, true, err
		}
	}
	value, version, err := s.read(key, once)
	if once && value != nil {
		s.version.Store(version)
	}
	return value, value != nil, err
}

// read returns the value of a key, or nil, and its version. A record that is written once is in the
// present tables until it is deleted. Of any other record, the present tables may have only a later
// version.
func (s *source) read(key []byte, once bool) (value []byte, version uint64, err error) {
	s.store.reading.RLock()
	defer s.store.reading.RUnlock()
	p := s.store.pinned(s.ts)
	if once || p == nil {
		value, version, err = s.present(key, s.ts)
	}
	if value == nil && err == nil && p != nil {
		return p.get(key)
	}
	return value, version, err
}

// present returns the value of a key in the present tables at ts, or nil, and its version.
func (s *source) present(key []byte, ts uint64) ([]byte, uint64, error) {
	r := s.store.Read(ts)
	defer r.Close()
	return r.present(key)
}
