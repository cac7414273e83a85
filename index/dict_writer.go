package index

import "iter"

// writeDict writes the dictionary of a generation: its blocks by id, those by key if ids are not in key order, and their
// directory.
func (c *content) writeDict(w Writer, generation uint32) error {
	var dir keyDirectory
	var low []Key
	byID := keyPacker{emit: func(first keyEntry, block []byte) error {
		dir.first, low = append(dir.first, first.id), append(low, first.Key)
		return w.Set(makeKey(prefixDict, generation, first.id), block)
	}}
	if err := byID.pack(dir.counted(c.keys)); err != nil {
		return err
	}
	if dir.order {
		low = nil
		byKey := keyPacker{withIDs: true, emit: func(first keyEntry, block []byte) error {
			low = append(low, first.Key)
			return w.Set(makeKey(prefixKeyOrder, generation, uint32(len(low)-1)), block)
		}}
		if err := byKey.pack(c.ascending); err != nil {
			return err
		}
	}
	dir.low = listOf(low)
	return putSplit(w, directoryKey(prefixDict, generation), dir.encode())
}

// counted yields the keys with their ids, and counts them.
func (c *keyCounter) counted(keys iter.Seq2[Key, error]) iter.Seq2[keyEntry, error] {
	return func(yield func(keyEntry, error) bool) {
		for k, err := range keys {
			id := ID(c.keys)
			if err == nil {
				c.count(k)
			}
			if !yield(keyEntry{k, id}, err) {
				return
			}
		}
	}
}

// keyCounter counts keys that are added by id.
type keyCounter struct {
	order bool   // whether keys do not ascend by id, so that there are blocks by key
	keys  uint64 // number of keys
	strs  uint64 // number of string keys
	text  uint64 // number of their bytes
	last  Key
}

func (c *keyCounter) count(k Key) {
	c.order = c.order || c.keys > 0 && c.last.Compare(k) >= 0
	c.last = k
	c.keys++
	if k.isStr {
		c.strs++
		c.text += uint64(len(k.str))
	}
}
