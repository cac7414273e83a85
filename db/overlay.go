package db

import (
	"bytes"
	"iter"
	"maps"
	"slices"
	"strings"

	"kith/index"
)

// overlay is the records of commits that are not in the store yet, in commit order. An Update reads the store as it
// will be after them. An overlay is valid while its Update holds the writer lock.
type overlay []*records

// over returns the records of the queued commits. The writer calls it.
func (q *groups) over() (all overlay) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, g := range q.queue {
		all = append(all, g.records)
	}
	return all
}

// get returns the value that the records set for a key, or nil if they delete it, and whether they contain the key.
func (o overlay) get(key []byte) (value []byte, known bool) {
	for _, r := range slices.Backward(o) {
		if v, ok := r.values[string(key)]; ok {
			return bytes.Clone(v), true
		}
	}
	return nil, false
}

// under returns the values that the records set for keys with a prefix, from the key from on. A nil value means
// deleted.
func (o overlay) under(prefix, from []byte) map[string][]byte {
	all := map[string][]byte{}
	for _, r := range o {
		for k, v := range r.values {
			if strings.HasPrefix(k, string(prefix)) && k >= string(from) {
				all[k] = v
			}
		}
	}
	return all
}

// scan merges the records into a scan of the store.
func (o overlay) scan(stored iter.Seq2[index.Entry, error], prefix, from []byte) iter.Seq2[index.Entry, error] {
	return func(yield func(index.Entry, error) bool) {
		later := o.under(prefix, from)
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
