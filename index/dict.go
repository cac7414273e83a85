package index

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sort"
	"sync"
)

// Dict maps keys to ids and back. It only grows: a key keeps its id forever, even while its node is deleted, so one
// Dict serves every version. A reader of a version with n ids treats an id >= n as absent. A Dict is safe for
// concurrent use.
//
// The whole dictionary is in memory: an answer needs both directions for each of its candidates, and reading the
// store for each would cost more than the ranking. The base takes 8 bytes per integer key, 16 bytes plus the string
// per string key, and 4 more bytes per key if ids are not in key order. Keys added later are in a map as well.
type Dict struct {
	mu   sync.RWMutex
	base keyList
	text int64 // number of bytes of the base's strings
	// order holds the base's ids by ascending key; nil if they are in key order already.
	order []ID
	added []Key // keys of the ids from base.len() on
	ids   map[Key]ID
}

// keyList holds the keys of consecutive ids.
type keyList struct {
	num []int64  // nil if no key is an integer
	str []string // nil if no key is a string; "" means an integer key
}

func (l *keyList) len() int { return max(len(l.num), len(l.str)) }

func (l *keyList) at(i ID) Key {
	if l.str != nil && l.str[i] != "" {
		return Str(l.str[i])
	}
	return Int(l.num[i])
}

func listOf(keys []Key) keyList {
	var l keyList
	for i, k := range keys {
		if k.isStr {
			if l.str == nil {
				l.str = make([]string, len(keys))
			}
			l.str[i] = k.str
			continue
		}
		if l.num == nil {
			l.num = make([]int64, len(keys))
		}
		l.num[i] = k.num
	}
	return l
}

// newDict returns the dictionary of keys, in which the id of a key is its index in the list. It returns ErrCorrupt
// if a key occurs twice.
func newDict(keys []Key) (*Dict, error) {
	d := &Dict{base: listOf(keys), ids: make(map[Key]ID)}
	for _, k := range keys {
		d.text += int64(len(k.str))
	}
	ordered := true
	for i := 1; i < len(keys) && ordered; i++ {
		ordered = keys[i-1].Compare(keys[i]) < 0
	}
	if ordered {
		return d, nil
	}
	d.order = make([]ID, len(keys))
	for i := range d.order {
		d.order[i] = ID(i)
	}
	slices.SortFunc(d.order, func(a, b ID) int { return keys[a].Compare(keys[b]) })
	for i, id := range d.order[1:] {
		if k := keys[id]; k == keys[d.order[i]] {
			return nil, fmt.Errorf("%w: key %v stands twice in the dictionary", ErrCorrupt, k)
		}
	}
	return d, nil
}

// addedKey is the approximate memory that a key takes until it is in a base, in bytes.
const addedKey = 100

// Len returns the number of keys.
func (d *Dict) Len() int {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.base.len() + len(d.added)
}

// ID returns the id of k and whether k has one.
func (d *Dict) ID(k Key) (ID, bool) {
	n := d.base.len()
	i := sort.Search(n, func(i int) bool { return d.base.at(d.byKey(i)).Compare(k) >= 0 })
	if i < n {
		if id := d.byKey(i); d.base.at(id) == k {
			return id, true
		}
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	id, ok := d.ids[k]
	return id, ok
}

// Key returns the key of id, which must be below Len.
func (d *Dict) Key(id ID) Key {
	if n := d.base.len(); int(id) >= n {
		d.mu.RLock()
		defer d.mu.RUnlock()
		return d.added[int(id)-n]
	}
	return d.base.at(id)
}

// Add assigns the next ids to keys, which must be new.
func (d *Dict) Add(keys []Key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.base.len()
	for _, k := range keys {
		d.ids[k] = ID(n + len(d.added))
		d.added = append(d.added, k)
	}
}

// Keys returns all keys, ordered by id.
func (d *Dict) Keys() []Key {
	keys := make([]Key, d.Len())
	for i := range keys {
		keys[i] = d.Key(ID(i))
	}
	return keys
}

// first yields the keys of the ids below n. The errors are nil.
func (d *Dict) first(n int) iter.Seq2[Key, error] {
	return func(yield func(Key, error) bool) {
		for id := range ID(n) {
			if !yield(d.Key(id), nil) {
				return
			}
		}
	}
}

// Bytes returns the approximate memory that the dictionary holds, in bytes.
func (d *Dict) Bytes() int64 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return 8*int64(len(d.base.num)) + 16*int64(len(d.base.str)) + d.text + 4*int64(len(d.order)) + addedKey*int64(len(d.added))
}

func (d *Dict) byKey(i int) ID {
	if d.order == nil {
		return ID(i)
	}
	return d.order[i]
}

// Check returns an error unless both directions agree for every id. It may also return the error of ctx.
func (d *Dict) Check(ctx context.Context) error {
	for id := range ID(d.Len()) {
		if id%nodesPerCheck == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		k := d.Key(id)
		if back, ok := d.ID(k); !ok || back != id {
			return fmt.Errorf("%w: node %d has key %v, which has node %d", ErrCorrupt, id, k, back)
		}
	}
	return nil
}
