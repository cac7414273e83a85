package index

import (
	"iter"
	"slices"
	"sort"

	"kith/index/block"
)

// Keyed yields the nodes with keys from low on, in key order, as long as their keys are within. Deleted nodes are left out.
// It takes time for the keys that it passes, and for those that were added since the base.
func (s *Snapshot) Keyed(low Key, within func(Key) bool) iter.Seq2[block.KeyEntry, error] {
	return func(yield func(block.KeyEntry, error) bool) {
		for k, err := range mergeKeys(s.Dict.baseFrom(low), s.Dict.addedFrom(low, within)) {
			if err == nil && !within(k.Key) {
				return
			}
			if (err != nil || s.Live(k.ID)) && !yield(k, err) {
				return
			}
		}
	}
}

// baseFrom yields the keys of the base from low on, in key order.
func (d *Dict) baseFrom(low Key) iter.Seq2[block.KeyEntry, error] {
	t := d.memory.Load()
	if t == nil {
		return d.stored.from(low)
	}
	return func(yield func(block.KeyEntry, error) bool) {
		first := sort.Search(t.Len(), func(i int) bool { return t.At(t.byKey(i)).Compare(low) >= 0 })
		for i := first; i < t.Len(); i++ {
			if id := t.byKey(i); !yield(block.KeyEntry{Key: t.At(id), ID: id}, nil) {
				return
			}
		}
	}
}

// addedFrom yields the keys that were added since the base, from low on and within, in key order.
func (d *Dict) addedFrom(low Key, within func(Key) bool) iter.Seq2[block.KeyEntry, error] {
	var list []block.KeyEntry
	d.mu.RLock()
	for i, k := range d.added {
		if k.Compare(low) >= 0 && within(k) {
			list = append(list, block.KeyEntry{Key: k, ID: ID(d.n + i)})
		}
	}
	d.mu.RUnlock()
	slices.SortFunc(list, func(a, b block.KeyEntry) int { return a.Compare(b.Key) })
	return func(yield func(block.KeyEntry, error) bool) {
		for _, k := range list {
			if !yield(k, nil) {
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
