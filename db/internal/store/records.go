package store

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"kith/index"
)

// Records collects the writes of commits. It is an index.Writer. The last write to a key wins.
type Records struct {
	values   map[string][]byte // nil means that the key is deleted
	size     int64             // as Badger computes it
	maxCount int64             // maxCount and maxSize are the limits of a transaction
	maxSize  int64
	space    *logSpace // that promised space for the records; may be nil
	promised int64     // bytes that it promised
}

// Bytes that Badger counts for a transaction, and for an entry in addition to its key and value.
const (
	txnOverhead   = 21
	entryOverhead = 12
)

// NewRecords returns an empty collection for the store.
func (s *Store) NewRecords() *Records {
	b := s.acquire()
	defer b.release()
	return &Records{values: map[string][]byte{}, size: txnOverhead, maxCount: b.MaxBatchCount(), maxSize: b.MaxBatchSize()}
}

// Set implements index.Writer.
func (r *Records) Set(key, value []byte) error {
	if value == nil {
		value = []byte{}
	}
	r.put(string(key), value)
	return nil
}

// Delete implements index.Writer.
func (r *Records) Delete(key []byte) error {
	r.put(string(key), nil)
	return nil
}

func (r *Records) put(key string, value []byte) {
	if old, ok := r.values[key]; ok {
		r.size -= int64(len(key)+len(old)) + entryOverhead
	}
	r.values[key] = value
	r.size += int64(len(key)+len(value)) + entryOverhead
}

// spare is the space that CheckSize leaves for a record that grows after the check.
const spare = 128

// CheckSize returns ErrTooLarge unless the records fit into one transaction. A record may grow by
// 128 bytes afterwards.
func (r *Records) CheckSize() error {
	if r.size+spare < r.maxSize && int64(len(r.values))+1 < r.maxCount {
		return nil
	}
	return fmt.Errorf("%w: the changes do not fit into one commit; split the update, or use BulkWriter or Load", ErrTooLarge)
}

// fits reports whether a record of n bytes can be added.
func (r *Records) fits(n int) bool {
	return r.size+int64(n)+entryOverhead+spare < r.maxSize && int64(len(r.values))+2 < r.maxCount
}

// Merge adds the records of a later commit. It reports false, and adds nothing, if both together do
// not fit.
func (r *Records) Merge(later *Records) bool {
	if r.size+later.size >= r.maxSize || int64(len(r.values)+len(later.values))+1 >= r.maxCount {
		return false
	}
	for k, v := range later.values {
		r.put(k, v)
	}
	if r.space != later.space { // Badger was opened again meanwhile
		r.release()
		later.release()
		return true
	}
	r.promised += later.promised
	return true
}

// release takes back what Reserve promised.
func (r *Records) release() {
	if r.space != nil {
		r.space.written(r.promised)
		r.space, r.promised = nil, 0
	}
}

// CopyTo writes the records to w.
func (r *Records) CopyTo(w index.Writer) error {
	for k, v := range r.values {
		var err error
		if v == nil {
			err = w.Delete([]byte(k))
		} else {
			err = w.Set([]byte(k), v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pending is the records of commits that are not in the store yet, in commit order.
type pending []*Records

// get returns the value that the records set for a key, or nil if they delete it, and whether they
// contain the key.
func (p pending) get(key []byte) (value []byte, known bool) {
	for _, r := range slices.Backward(p) {
		if v, ok := r.values[string(key)]; ok {
			return bytes.Clone(v), true
		}
	}
	return nil, false
}

// under returns the values that the records set for keys with a prefix, from the key from on. A nil
// value means deleted.
func (p pending) under(prefix, from []byte) map[string][]byte {
	all := map[string][]byte{}
	for _, r := range p {
		for k, v := range r.values {
			if strings.HasPrefix(k, string(prefix)) && k >= string(from) {
				all[k] = v
			}
		}
	}
	return all
}

// scan merges the records into a scan of the store.
func (p pending) scan(stored iter.Seq2[index.Entry, error], prefix, from []byte) iter.Seq2[index.Entry, error] {
	return func(yield func(index.Entry, error) bool) {
		later := p.under(prefix, from)
		keys := slices.Sorted(maps.Keys(later))
		put := func(k string) bool {
			v := later[k]
			return v == nil || yield(index.Entry{Key: []byte(k), Value: bytes.Clone(v)}, nil)
		}
		for e, err := range stored {
			if err != nil {
				yield(e, err)
				return
			}
			for ; len(keys) > 0 && keys[0] < string(e.Key); keys = keys[1:] {
				if !put(keys[0]) {
					return
				}
			}
			if _, replaced := later[string(e.Key)]; !replaced && !yield(e, nil) {
				return
			}
		}
		for _, k := range keys {
			if !put(k) {
				return
			}
		}
	}
}
