package index

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"sort"
)

// storedKeys reads the keys of a generation from its blocks when they are asked for. It takes 20 bytes of memory for each
// block of 4 KB if keys are integers, 28 and the length of a key if some are strings, and what its cache allows. What
// cannot be read is an unknown key, and the cache keeps the error.
type storedKeys struct {
	keyDirectory
	cache *blockCache
	byID  *blockSet[keyBlock]
	byKey *blockSet[keyBlock] // the same as byID if keys ascend by id
}

// openKeys returns the keys of a generation, which are read when they are asked for.
func openKeys(r Reader, cache *blockCache, m *Meta) (*storedKeys, error) {
	dir, err := readKeyDirectory(r, m.Generation)
	if err != nil {
		return nil, err
	}
	if dir.keys != uint64(m.BaseNodes) {
		return nil, fmt.Errorf("%w: the base has %d keys, the meta record says %d", ErrCorrupt, dir.keys, m.BaseNodes)
	}
	return pagedKeys(dir, cache), nil
}

// pagedKeys returns the keys of the blocks with the given directory.
func pagedKeys(dir *keyDirectory, cache *blockCache) *storedKeys {
	s := &storedKeys{keyDirectory: *dir, cache: cache}
	s.byID = newBlockSet(cache, len(dir.first), func(i int, b *keyBlock) (int64, error) { return s.read(prefixDict, s.first[i], b) })
	if s.byKey = s.byID; dir.order {
		s.byKey = newBlockSet(cache, dir.low.len(), func(i int, b *keyBlock) (int64, error) { return s.read(prefixKeyOrder, uint32(i), b) })
	}
	return s
}

// dict returns a dictionary of these keys.
func (s *storedKeys) dict() *Dict { return &Dict{n: int(s.keys), stored: s, ids: make(map[Key]ID)} }

// key returns the key of id.
func (s *storedKeys) key(id ID) Key {
	i := sort.Search(len(s.first), func(i int) bool { return s.first[i] > id }) - 1
	if i < 0 {
		s.cache.fail(fmt.Errorf("%w: no block has the key of node %d", ErrCorrupt, id))
		return Key{}
	}
	k, err := s.byID.at(i).at(int(id - s.first[i]))
	if err != nil {
		s.cache.fail(s.cache.wrong(prefixDict, s.first[i], err))
	}
	return k
}

// id returns the id of k and whether k has one.
func (s *storedKeys) id(k Key) (ID, bool) {
	i := sort.Search(s.low.len(), func(i int) bool { return s.low.at(ID(i)).Compare(k) > 0 }) - 1
	if i < 0 {
		return 0, false
	}
	kind, no := s.inOrder(i)
	n, id, ok, err := s.byKey.at(i).find(k)
	if err != nil {
		s.cache.fail(s.cache.wrong(kind, no, err))
	}
	if !s.order {
		id = no + ID(n)
	}
	if ok && uint64(id) >= s.keys {
		s.cache.fail(s.cache.wrong(kind, no, fmt.Errorf("%w: the id of %v is %d of %d", ErrCorrupt, k, id, s.keys)))
		return 0, false
	}
	return id, ok
}

// inOrder returns kind and number of block i in key order.
func (s *storedKeys) inOrder(i int) (kind byte, no uint32) {
	if s.order {
		return prefixKeyOrder, uint32(i)
	}
	return prefixDict, s.first[i]
}

// read reads a block and returns its size in memory.
func (s *storedKeys) read(kind byte, no uint32, b *keyBlock) (bytes int64, err error) {
	err = s.cache.decode(kind, no, func(d *decoder) (err error) {
		*b, err = d.keyBlock(kind == prefixKeyOrder)
		return err
	})
	return int64(cap(b.groups) + 160), err
}

// block yields the keys of a block, and passes by the cache.
func (s *storedKeys) block(kind byte, no uint32) iter.Seq2[keyEntry, error] {
	return func(yield func(keyEntry, error) bool) {
		var b keyBlock
		if _, err := s.read(kind, no, &b); err != nil {
			yield(keyEntry{}, err)
			return
		}
		for k, err := range b.all(no) {
			if err != nil {
				err = s.cache.wrong(kind, no, err)
			}
			if !yield(k, err) {
				return
			}
		}
	}
}

// all yields all keys by id.
func (s *storedKeys) all(yield func(keyEntry, error) bool) {
	next := ID(0)
	for _, first := range s.first {
		if first != next {
			yield(keyEntry{}, s.cache.wrong(prefixDict, first, fmt.Errorf("%w: the previous one ends before node %d", ErrCorrupt, next)))
			return
		}
		for k, err := range s.block(prefixDict, first) {
			if !yield(k, err) || err != nil {
				return
			}
			next++
		}
	}
	if uint64(next) != s.keys {
		yield(keyEntry{}, fmt.Errorf("%w: the blocks %c have %d keys, the directory says %d", ErrCorrupt, prefixDict, next, s.keys))
	}
}

// ascending yields all keys in their order.
func (s *storedKeys) ascending(yield func(keyEntry, error) bool) {
	if !s.order {
		s.all(yield)
		return
	}
	for i := range s.byKey.places {
		for k, err := range s.block(prefixKeyOrder, uint32(i)) {
			if !yield(k, err) || err != nil {
				return
			}
		}
	}
}

// load reads all keys.
func (s *storedKeys) load(ctx context.Context) (*keyTable, error) {
	t, n := new(keyTable), int(s.keys)
	for k, err := range s.all {
		if err == nil && int(k.id) >= n {
			err = fmt.Errorf("%w: a key of node %d of %d", ErrCorrupt, k.id, n)
		}
		if err := cmp.Or(err, checkEvery(ctx, int(k.id))); err != nil {
			return nil, err
		}
		t.set(k.id, k.Key, n)
		t.text += int64(len(k.str))
	}
	order := keyOrder{n: s.keys}
	ascending := t.ascending
	if s.order {
		t.order = make([]ID, 0, n)
		ascending = s.ascending
	}
	for k, err := range ascending {
		if err == nil && (int(k.id) >= n || t.at(k.id) != k.Key) {
			err = fmt.Errorf("%w: the blocks %c have %v as the key of node %d", ErrCorrupt, prefixKeyOrder, k.Key, k.id)
		}
		if err := cmp.Or(err, order.add(k), checkEvery(ctx, int(order.count))); err != nil {
			return nil, err
		}
		if s.order {
			t.order = append(t.order, k.id)
		}
	}
	return t, order.end()
}

// check checks that both directions agree. It compares sums of hashes.
func (s *storedKeys) check(ctx context.Context) error {
	byID, order := uint64(0), keyOrder{n: s.keys}
	for k, err := range s.all {
		if err := cmp.Or(err, checkEvery(ctx, int(k.id))); err != nil {
			return err
		}
		byID += k.hash()
	}
	for k, err := range s.ascending {
		if err := cmp.Or(err, order.add(k), checkEvery(ctx, int(order.count))); err != nil {
			return err
		}
	}
	if order.sum != byID {
		return fmt.Errorf("%w: the dictionary in key order has other keys than the one by id", ErrCorrupt)
	}
	return order.end()
}

// keyOrder checks that n keys ascend strictly, so that none occurs twice, and sums their hashes.
type keyOrder struct {
	n, count, sum uint64
	last          Key
}

func (o *keyOrder) add(k keyEntry) error {
	if o.count > 0 && o.last.Compare(k.Key) >= 0 {
		return fmt.Errorf("%w: key %v after %v in the dictionary in key order", ErrCorrupt, k.Key, o.last)
	}
	o.last = k.Key
	o.count++
	o.sum += k.hash()
	return nil
}

func (o *keyOrder) end() error {
	if o.count != o.n {
		return fmt.Errorf("%w: the dictionary in key order has %d keys of %d", ErrCorrupt, o.count, o.n)
	}
	return nil
}

// hash returns a hash of the key and its id.
func (k *keyEntry) hash() uint64 {
	h := entryHash(k.id, 0, 1, k.num)
	for i := range len(k.str) {
		h = (h ^ uint64(k.str[i])) * 0x100000001b3
	}
	return h
}
