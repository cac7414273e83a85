package index

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"kith/index/internal/block"
)

// dict maps keys to ids and back. It only grows: a key keeps its id forever, even while its node is
// deleted, so one dict serves every version. A reader of a version with n ids treats an id >= n as
// absent, and knows which nodes are erased; a key whose node was erased gets another id when it is
// added again. A dict is safe for concurrent use.
//
// The keys of the base are in the store until they are loaded into memory, where they take 8 bytes
// per integer key, 16 bytes plus the string per string key, and 4 more bytes per key if ids are not
// in key order. Keys added later are in a list.
type dict struct {
	n      int                      // number of keys in the base
	memory atomic.Pointer[keyTable] // the base; nil: not loaded
	stored *storedKeys              // nil if the base was made in memory

	mu    sync.RWMutex
	added []Key // keys of the ids from n on
	index keyIndex
}

// keyIndex finds keys in a list to which keys are appended. It is a hash table with open addressing
// and linear probing. A slot holds the upper half of a key's hash and, below it, the place of the
// key in the list, counted from 1; so the table grows without reading keys. Keys may occur several
// times, and places of keys that were removed from the list may be left.
type keyIndex struct {
	seed  maphash.Seed
	slots []uint64 // a power of two of them, at most half of them used; 0 means unused
	used  int
}

// add adds the key at place i of the list.
func (x *keyIndex) add(k Key, i int) {
	if 2*x.used >= len(x.slots) {
		x.grow()
	}
	x.put(x.hash(k)<<32 | uint64(i+1))
	x.used++
}

// hash returns 32 bits of the hash of k.
func (x *keyIndex) hash(k Key) uint64 { return maphash.Comparable(x.seed, k) >> 32 }

func (x *keyIndex) grow() {
	old := x.slots
	if old == nil {
		x.seed = maphash.MakeSeed()
	}
	x.slots = make([]uint64, max(8, 2*len(old)))
	for _, slot := range old {
		if slot != 0 {
			x.put(slot)
		}
	}
}

// put puts a slot at the first unused place.
func (x *keyIndex) put(slot uint64) {
	at := slot >> 32
	for x.slots[at&uint64(len(x.slots)-1)] != 0 {
		at++
	}
	x.slots[at&uint64(len(x.slots)-1)] = slot
}

// find yields the places of k in the list, in no particular order.
func (x *keyIndex) find(k Key, list []Key) iter.Seq[int] {
	return func(yield func(int) bool) {
		if len(x.slots) == 0 {
			return
		}
		hash := x.hash(k)
		for at := hash; ; at++ {
			slot := x.slots[at&uint64(len(x.slots)-1)]
			if slot == 0 {
				return
			}
			i := int(uint32(slot)) - 1
			if slot>>32 == hash && i < len(list) && list[i] == k && !yield(i) {
				return
			}
		}
	}
}

// keyTable holds keys in memory, in both directions.
type keyTable struct {
	block.KeyList
	order []ID // ids by ascending key; nil if they are in key order already
}

// newDict returns the dictionary of keys, in which the id of a key is its index in the list. It
// returns ErrCorrupt if a key occurs twice.
func newDict(keys []Key) (*dict, error) {
	t := &keyTable{KeyList: block.ListOf(keys)}
	d := &dict{n: len(keys)}
	d.memory.Store(t)
	ordered := true
	for i := 1; i < len(keys) && ordered; i++ {
		ordered = keys[i-1].Compare(keys[i]) < 0
	}
	if ordered {
		return d, nil
	}
	t.order = make([]ID, len(keys))
	for i := range t.order {
		t.order[i] = ID(i)
	}
	slices.SortFunc(t.order, func(a, b ID) int { return keys[a].Compare(keys[b]) })
	for i, id := range t.order[1:] {
		if k := keys[id]; k == keys[t.order[i]] {
			return nil, fmt.Errorf("%w: key %v stands twice in the dictionary", ErrCorrupt, k.Literal())
		}
	}
	return d, nil
}

// byKey returns the id of the key with i keys before it.
func (t *keyTable) byKey(i int) ID {
	if t.order == nil {
		return ID(i)
	}
	return t.order[i]
}

// id returns the id of k and whether k has one. The place of an integer is guessed first, because
// integer keys are often evenly spaced.
func (t *keyTable) id(k Key) (ID, bool) {
	n := t.Len()
	if i, isInt := k.Int(); isInt && n > 1 {
		first, _ := t.At(t.byKey(0)).Int()
		last, isLast := t.At(t.byKey(n - 1)).Int()
		if i < first || isLast && i > last {
			return 0, false
		}
		at := (float64(i) - float64(first)) / (float64(last) - float64(first)) * float64(n-1)
		if at >= 0 && at < float64(n) {
			if id := t.byKey(min(int(at+0.5), n-1)); t.At(id) == k {
				return id, true
			}
		}
	}
	i := sort.Search(n, func(i int) bool { return t.At(t.byKey(i)).Compare(k) >= 0 })
	if i == n {
		return 0, false
	}
	id := t.byKey(i)
	return id, t.At(id) == k
}

// bytes returns the memory of the table in bytes.
func (t *keyTable) bytes() int64 {
	return t.Bytes() + 4*int64(len(t.order))
}

// addedKey is the approximate memory that a key takes until it is in a base, in bytes, with spare
// room in the list and the index.
const addedKey = 100

// len returns the number of keys.
func (d *dict) len() int {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.n + len(d.added)
}

// id returns the id of k and whether k has one.
func (d *dict) id(k Key) (id ID, ok bool) {
	if t := d.memory.Load(); t != nil {
		id, ok = t.id(k)
	} else {
		id, ok = d.stored.id(k)
	}
	if ok {
		return id, true
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	for i := range d.index.find(k, d.added) {
		if at := ID(d.n + i); !ok || at < id {
			id, ok = at, true
		}
	}
	return id, ok
}

// later returns the ids of k that are not in the base.
func (d *dict) later(k Key) (all []ID) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for i := range d.index.find(k, d.added) {
		all = append(all, ID(d.n+i))
	}
	return all
}

// key returns the key of id, which must be below len.
func (d *dict) key(id ID) Key {
	if int(id) >= d.n {
		d.mu.RLock()
		defer d.mu.RUnlock()
		return d.added[int(id)-d.n]
	}
	if t := d.memory.Load(); t != nil {
		return t.At(id)
	}
	return d.stored.key(id)
}

// add assigns the next ids to keys, which must be new or keys of erased nodes.
func (d *dict) add(keys []Key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.added = withRoom(d.added, len(keys))
	for _, k := range keys {
		d.index.add(k, len(d.added))
		d.added = append(d.added, k)
	}
}

// withRoom returns a list with room for n more items. A list that moves doubles its room, where
// append would add a quarter and copy a long list more often.
func withRoom[T any](list []T, n int) []T {
	if cap(list)-len(list) < n {
		list = slices.Grow(list, max(n, len(list)))
	}
	return list
}

// first yields the keys of the ids below n, which is at least the number of keys in the base, by
// id.
func (d *dict) first(n int) iter.Seq2[Key, error] {
	return func(yield func(Key, error) bool) {
		next := ID(0)
		if d.memory.Load() == nil {
			for k, err := range d.stored.all {
				if !yield(k.Key, err) || err != nil {
					return
				}
			}
			next = ID(d.n)
		}
		for ; next < ID(n); next++ {
			if !yield(d.key(next), nil) {
				return
			}
		}
	}
}

// ascending yields the keys of the ids below n, which is at least the number of keys in the base,
// in key order.
func (d *dict) ascending(n int) iter.Seq2[block.KeyEntry, error] {
	added := d.addedWhere(n-d.n, func(k block.KeyEntry) bool { return int(k.ID) < n })
	if t := d.memory.Load(); t != nil {
		return mergeKeys(t.from(0), added)
	}
	return mergeKeys(d.stored.ascending, added)
}

// from yields the keys in their order, without the first ones. The errors are nil.
func (t *keyTable) from(first int) iter.Seq2[block.KeyEntry, error] {
	return func(yield func(block.KeyEntry, error) bool) {
		for i := first; i < t.Len(); i++ {
			if id := t.byKey(i); !yield(block.KeyEntry{Key: t.At(id), ID: id}, nil) {
				return
			}
		}
	}
}

// addedWhere yields the keys that were added since the base and that is accepts, about n, in key
// order. The errors are nil.
func (d *dict) addedWhere(n int, is func(block.KeyEntry) bool) iter.Seq2[block.KeyEntry, error] {
	list := make([]block.KeyEntry, 0, n)
	d.mu.RLock()
	for i, k := range d.added {
		if e := (block.KeyEntry{Key: k, ID: ID(d.n + i)}); is(e) {
			list = append(list, e)
		}
	}
	d.mu.RUnlock()
	slices.SortFunc(list, func(a, b block.KeyEntry) int { return a.Compare(b.Key) })
	return withoutErrors(list)
}

// withoutErrors yields the items of a list.
func withoutErrors[T any](list []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, x := range list {
			if !yield(x, nil) {
				return
			}
		}
	}
}

// mergeKeys merges two ascending lists of keys. It yields the first error of a list and ends.
func mergeKeys(a, b iter.Seq2[block.KeyEntry, error]) iter.Seq2[block.KeyEntry, error] {
	return func(yield func(block.KeyEntry, error) bool) {
		next, stop := iter.Pull2(b)
		defer stop()
		head, err, ok := next()
		for k, failed := range a {
			for ; ok && err == nil && failed == nil && head.Compare(k.Key) < 0; head, err, ok = next() {
				if !yield(head, nil) {
					return
				}
			}
			if failed = cmp.Or(failed, err); !yield(k, failed) || failed != nil {
				return
			}
		}
		for ; ok; head, err, ok = next() {
			if !yield(head, err) || err != nil {
				return
			}
		}
	}
}

// Loaded reports whether all keys of the base are in memory.
func (d *dict) Loaded() bool { return d.memory.Load() != nil }

// Load reads all keys of the base into memory. It returns ErrCorrupt, which err returns from then
// on, too, or the error of ctx.
func (d *dict) Load(ctx context.Context) error {
	if d.Loaded() {
		return nil
	}
	t, err := d.stored.load(ctx)
	if err == nil {
		d.memory.Store(t)
	} else if ctx.Err() == nil {
		d.stored.cache.Fail(err)
	}
	return err
}

// since returns the keys of the ids from n on, which must not be below the number of keys in the
// base.
func (d *dict) since(n int) []Key {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.added[n-d.n:]
}

// err returns the error of the first block that could not be read.
func (d *dict) err() error {
	if d.stored == nil {
		return nil
	}
	return d.stored.cache.Err()
}

// keptBytes returns the approximate memory of the keys that are not in the base, in bytes.
func (d *dict) keptBytes() int64 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return addedKey * int64(len(d.added))
}

// bytes returns the memory of the base, in bytes, apart from cached blocks.
func (d *dict) bytes() (n int64) {
	if t := d.memory.Load(); t != nil {
		n = t.bytes()
	}
	if d.stored != nil {
		n += 28 * int64(d.stored.byID.Len()+d.stored.byKey.Len())
	}
	return n
}

// loadedBytes returns the memory of the base once it is loaded, in bytes.
func (d *dict) loadedBytes() int64 {
	if d.memory.Load() != nil {
		return d.bytes()
	}
	return d.bytes() + d.stored.Bytes()
}

// Check returns an error, which err returns from then on, too, unless both directions agree for
// every id. It may also return the error of ctx.
func (d *dict) Check(ctx context.Context) error {
	return d.check(ctx, func(k Key, id ID) bool {
		back, ok := d.id(k)
		return ok && back == id
	})
}

// check is Check for a version in which finds reports whether a key leads to a node.
func (d *dict) check(ctx context.Context, finds func(Key, ID) bool) error {
	next := ID(d.n)
	if d.Loaded() {
		next = 0
	} else if err := d.stored.check(ctx); err != nil {
		if ctx.Err() == nil {
			d.stored.cache.Fail(err)
		}
		return err
	}
	for id := next; id < ID(d.len()); id++ {
		if err := checkEvery(ctx, int(id)); err != nil {
			return err
		}
		if k := d.key(id); !finds(k, id) {
			return fmt.Errorf("%w: node %d has key %v, which does not lead to it", ErrCorrupt, id, k.Literal())
		}
	}
	return nil
}

// baseFrom yields the keys of the base from low on, in key order.
func (d *dict) baseFrom(low Key) iter.Seq2[block.KeyEntry, error] {
	t := d.memory.Load()
	if t == nil {
		return d.stored.from(low)
	}
	return t.from(sort.Search(t.Len(), func(i int) bool { return t.At(t.byKey(i)).Compare(low) >= 0 }))
}
