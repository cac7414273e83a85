package db

import (
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"kith/index"
)

// records collects the writes of commits. It is an index.Writer. The last write to a key wins.
type records struct {
	values   map[string][]byte // nil means that the key is deleted
	size     int64             // as Badger computes it
	maxCount int64             // maxCount and maxSize are the limits of one transaction
	maxSize  int64
}

// Bytes that Badger counts for a transaction, and for an entry in addition to its key and value.
const (
	txnOverhead   = 21
	entryOverhead = 12
)

func newRecords(b *badger.DB) *records {
	return &records{values: map[string][]byte{}, size: txnOverhead, maxCount: b.MaxBatchCount(), maxSize: b.MaxBatchSize()}
}

// Set implements index.Writer.
func (r *records) Set(key, value []byte) error {
	if value == nil {
		value = []byte{}
	}
	r.put(string(key), value)
	return nil
}

// Delete implements index.Writer.
func (r *records) Delete(key []byte) error {
	r.put(string(key), nil)
	return nil
}

func (r *records) put(key string, value []byte) {
	if old, ok := r.values[key]; ok {
		r.size -= int64(len(key)+len(old)) + entryOverhead
	}
	r.values[key] = value
	r.size += int64(len(key)+len(value)) + entryOverhead
}

// fit returns ErrTooLarge unless the records fit into one transaction, with room for the name of a model that may
// become the answering model when it learns from them.
func (r *records) fit() error {
	if r.size+maxModelName < r.maxSize && int64(len(r.values))+1 < r.maxCount {
		return nil
	}
	return fmt.Errorf("%w: the changes do not fit into one commit; split the update, or use Load", ErrTooLarge)
}

// merge adds the records of a later commit. It reports false, and adds nothing, if both together do not fit.
func (r *records) merge(later *records) bool {
	if r.size+later.size >= r.maxSize || int64(len(r.values)+len(later.values))+1 >= r.maxCount {
		return false
	}
	for k, v := range later.values {
		r.put(k, v)
	}
	return true
}

// copy writes the records to w.
func (r *records) copy(w index.Writer) error {
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
