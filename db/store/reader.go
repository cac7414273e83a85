package store

import (
	"errors"
	"fmt"
	"iter"

	"github.com/dgraph-io/badger/v4"

	"kith/index"
)

// Reader is an index.Reader at one timestamp.
type Reader struct {
	txn     *badger.Txn
	pending pending
}

// Read begins a read at ts. The reader also sees the records of later commits that are not in the store yet, which are
// given in commit order. The caller must close the reader.
func (s *Store) Read(ts uint64, later ...*Records) *Reader {
	return &Reader{s.badger.NewTransactionAt(ts, false), later}
}

// Close ends the read.
func (r *Reader) Close() { r.txn.Discard() }

// Get implements index.Reader.
func (r *Reader) Get(key []byte) ([]byte, bool, error) {
	if v, ok := r.pending.get(key); ok {
		return v, v != nil, nil
	}
	item, err := r.txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, translate(err)
	}
	v, err := item.ValueCopy(nil)
	if err != nil {
		return nil, false, fmt.Errorf("%w: key %q: %v", ErrCorrupt, key, err)
	}
	return v, true, nil
}

// Scan implements index.Reader.
func (r *Reader) Scan(prefix, from []byte) iter.Seq2[index.Entry, error] {
	if len(r.pending) == 0 {
		return r.scan(prefix, from)
	}
	return r.pending.scan(r.scan(prefix, from), prefix, from)
}

// scan is Scan without the pending records.
func (r *Reader) scan(prefix, from []byte) iter.Seq2[index.Entry, error] {
	return func(yield func(index.Entry, error) bool) {
		o := badger.DefaultIteratorOptions
		o.Prefix = prefix
		o.PrefetchValues = false // values are stored with their keys
		it := r.txn.NewIterator(o)
		defer it.Close()
		if from == nil {
			from = prefix
		}
		var key, value []byte
		for it.Seek(from); it.ValidForPrefix(prefix); it.Next() {
			item := it.Item()
			key = item.KeyCopy(key)
			var err error
			if value, err = item.ValueCopy(value); err != nil {
				yield(index.Entry{}, fmt.Errorf("%w: key %q: %v", ErrCorrupt, key, err))
				return
			}
			if !yield(index.Entry{Key: key, Value: value}, nil) {
				return
			}
		}
	}
}

// At returns the records at ts as an index.Source. Every read is a transaction of its own.
func (s *Store) At(ts uint64) index.Source { return source{s, ts} }

type source struct {
	store *Store
	ts    uint64
}

// Read implements index.Source.
func (s source) Read(key []byte) ([]byte, bool, error) {
	r := s.store.Read(s.ts)
	defer r.Close()
	return r.Get(key)
}
