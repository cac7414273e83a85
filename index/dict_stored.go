package index

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"sort"

	"kith/index/internal/block"
)

// storedKeys reads the keys of a generation from its blocks when they are asked for. It takes 20
// bytes of memory for each block of 4 KB if keys are integers, 28 and the length of a key if some
// are strings, and what its cache allows. What cannot be read is an unknown key, and the cache
// keeps the error.
type storedKeys struct {
	block.KeyDirectory
	cache *blockCache
	byID  *block.Set[block.KeyBlock]
	byKey *block.Set[block.KeyBlock] // the same as byID if keys ascend by id
}

// openKeys returns the keys of a generation, which are read when they are asked for.
func openKeys(r Reader, cache *blockCache, m *Meta) (*storedKeys, error) {
	dir, err := readDirectory(r, prefixDict, m.Generation, block.DecodeKeyDirectory)
	if err != nil {
		return nil, err
	}
	if dir.Keys != uint64(m.BaseNodes) {
		return nil, fmt.Errorf("%w: the base has %d keys, the meta record says %d", ErrCorrupt, dir.Keys, m.BaseNodes)
	}
	return pagedKeys(dir, cache), nil
}

// pagedKeys returns the keys of the blocks with the given directory.
func pagedKeys(dir *block.KeyDirectory, cache *blockCache) *storedKeys {
	s := &storedKeys{KeyDirectory: *dir, cache: cache}
	s.byID = block.NewSet(&cache.Cache, len(dir.First), func(i int, b *block.KeyBlock) (int64, error) { return s.read(prefixDict, s.First[i], b) })
	if s.byKey = s.byID; dir.Order {
		s.byKey = block.NewSet(&cache.Cache, dir.Low.Len(), func(i int, b *block.KeyBlock) (int64, error) { return s.read(prefixKeyOrder, uint32(i), b) })
	}
	return s
}

// dict returns a dictionary of the stored keys.
func (s *storedKeys) dict() *dict { return &dict{n: int(s.Keys), stored: s} }

// key returns the key of id.
func (s *storedKeys) key(id ID) Key {
	i := sort.Search(len(s.First), func(i int) bool { return s.First[i] > id }) - 1
	if i < 0 {
		s.cache.Fail(fmt.Errorf("%w: no block has the key of node %d", ErrCorrupt, id))
		return Key{}
	}
	k, err := s.byID.At(i).At(int(id - s.First[i]))
	if err != nil {
		s.cache.Fail(s.cache.wrong(prefixDict, s.First[i], err))
	}
	return k
}

// id returns the id of k and whether k has one.
func (s *storedKeys) id(k Key) (ID, bool) {
	i := sort.Search(s.Low.Len(), func(i int) bool { return s.Low.At(ID(i)).Compare(k) > 0 }) - 1
	if i < 0 {
		return 0, false
	}
	kind, no := s.inOrder(i)
	n, id, ok, err := s.byKey.At(i).Find(k)
	if err != nil {
		s.cache.Fail(s.cache.wrong(kind, no, err))
	}
	if !s.Order {
		id = no + ID(n)
	}
	if ok && uint64(id) >= s.Keys {
		s.cache.Fail(s.cache.wrong(kind, no, fmt.Errorf("%w: the id of %v is %d of %d", ErrCorrupt, k.Literal(), id, s.Keys)))
		return 0, false
	}
	return id, ok
}

// inOrder returns kind and number of block i in key order.
func (s *storedKeys) inOrder(i int) (kind byte, no uint32) {
	if s.Order {
		return prefixKeyOrder, uint32(i)
	}
	return prefixDict, s.First[i]
}

// read reads a block and returns its size in memory.
func (s *storedKeys) read(kind byte, no uint32, b *block.KeyBlock) (bytes int64, err error) {
	err = s.cache.decode(kind, no, func(d *block.Decoder) (err error) {
		*b, err = d.KeyBlock(kind == prefixKeyOrder)
		return err
	})
	return b.Bytes(), err
}

// block yields the keys of a block, and passes by the cache.
func (s *storedKeys) block(kind byte, no uint32) iter.Seq2[block.KeyEntry, error] {
	return func(yield func(block.KeyEntry, error) bool) {
		var b block.KeyBlock
		if _, err := s.read(kind, no, &b); err != nil {
			yield(block.KeyEntry{}, err)
			return
		}
		for k, err := range b.All(no) {
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
func (s *storedKeys) all(yield func(block.KeyEntry, error) bool) {
	next := ID(0)
	for _, first := range s.First {
		if first != next {
			yield(block.KeyEntry{}, s.cache.wrong(prefixDict, first, fmt.Errorf("%w: the previous one ends before node %d", ErrCorrupt, next)))
			return
		}
		for k, err := range s.block(prefixDict, first) {
			if !yield(k, err) || err != nil {
				return
			}
			next++
		}
	}
	if uint64(next) != s.Keys {
		yield(block.KeyEntry{}, fmt.Errorf("%w: the blocks %c have %d keys, the directory says %d", ErrCorrupt, prefixDict, next, s.Keys))
	}
}

// ascending yields all keys in their order.
func (s *storedKeys) ascending(yield func(block.KeyEntry, error) bool) {
	if !s.Order {
		s.all(yield)
		return
	}
	for i := range s.byKey.Len() {
		for k, err := range s.block(prefixKeyOrder, uint32(i)) {
			if !yield(k, err) || err != nil {
				return
			}
		}
	}
}

// from yields the keys from low on, in key order.
func (s *storedKeys) from(low Key) iter.Seq2[block.KeyEntry, error] {
	return func(yield func(block.KeyEntry, error) bool) {
		n := s.Low.Len()
		first := max(sort.Search(n, func(i int) bool { return s.Low.At(ID(i)).Compare(low) > 0 })-1, 0)
		for i := first; i < n; i++ {
			for k, err := range s.block(s.inOrder(i)) {
				if err == nil && k.Compare(low) < 0 {
					continue
				}
				if !yield(k, err) || err != nil {
					return
				}
			}
		}
	}
}

// load reads all keys.
func (s *storedKeys) load(ctx context.Context) (*keyTable, error) {
	t, n := new(keyTable), int(s.Keys)
	for k, err := range s.all {
		if err == nil && int(k.ID) >= n {
			err = fmt.Errorf("%w: a key of node %d of %d", ErrCorrupt, k.ID, n)
		}
		if err := cmp.Or(err, checkEvery(ctx, int(k.ID))); err != nil {
			return nil, err
		}
		t.Set(k.ID, k.Key, n)
	}
	order := keyOrder{n: s.Keys}
	ascending := t.from(0)
	if s.Order {
		t.order = make([]ID, 0, n)
		ascending = s.ascending
	}
	for k, err := range ascending {
		if err == nil && (int(k.ID) >= n || t.At(k.ID) != k.Key) {
			err = fmt.Errorf("%w: the blocks %c have %v as the key of node %d", ErrCorrupt, prefixKeyOrder, k.Key.Literal(), k.ID)
		}
		if err := cmp.Or(err, order.add(k), checkEvery(ctx, int(order.count))); err != nil {
			return nil, err
		}
		if s.Order {
			t.order = append(t.order, k.ID)
		}
	}
	return t, order.end()
}

// check checks that both directions agree. It compares sums of hashes.
func (s *storedKeys) check(ctx context.Context) error {
	byID, order := uint64(0), keyOrder{n: s.Keys}
	for k, err := range s.all {
		if err := cmp.Or(err, checkEvery(ctx, int(k.ID))); err != nil {
			return err
		}
		byID += keyHash(k)
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

func (o *keyOrder) add(k block.KeyEntry) error {
	if o.count > 0 && o.last.Compare(k.Key) >= 0 {
		return fmt.Errorf("%w: key %v after %v in the dictionary in key order", ErrCorrupt, k.Key.Literal(), o.last.Literal())
	}
	o.last = k.Key
	o.count++
	o.sum += keyHash(k)
	return nil
}

func (o *keyOrder) end() error {
	if o.count != o.n {
		return fmt.Errorf("%w: the dictionary in key order has %d keys of %d", ErrCorrupt, o.count, o.n)
	}
	return nil
}

// keyHash returns a hash of a key and its id.
func keyHash(k block.KeyEntry) uint64 {
	num, _ := k.Int()
	str, _ := k.Str()
	h := entryHash(k.ID, 0, 0, 1, num)
	for i := range len(str) {
		h = (h ^ uint64(str[i])) * 0x100000001b3
	}
	return h
}
