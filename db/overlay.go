package db

import (
	"bytes"
	"iter"
	"maps"
	"slices"
	"strings"

	"kith/index"
)

// overlay is the records of commits that are not in the store yet, in commit order: an Update reads
// the store as it will be when they are. It is valid while its Update has the right to write.
type overlay []*records

// over returns the records of the commits that are queued. The writer calls it.
func (q *groups) over() (all overlay) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, g := range q.queue {
		all = append(all, g.records)
	}
	return all
}

// get returns what the records say of a key, nil if it is deleted, and whether they say anything.
func (o overlay) get(key []byte) (value []byte, known bool) {
	for _, r := range slices.Backward(o) {
		if v, ok := r.values[string(key)]; ok {
			return bytes.Clone(v), true
		}
	}
	return nil, false
}

// under returns what the records say of the keys with a prefix, from the key from on.
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

// scan lays the records over a scan of the store.
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
