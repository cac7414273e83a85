package index

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"kith/index/internal/block"
)

// dictionary reads the keys, or prepares to read the keys of the base on demand.
func (o *opener) dictionary() error {
	o.erase()
	if o.on != nil && o.s.Meta.Generation > 0 {
		o.cache = o.on.cache(o.s.Meta.Generation)
		return o.openDict()
	}
	keys := make([]Key, o.s.Meta.Nodes)
	known := make([]bool, len(keys))
	err := o.eachKeys(func(first ID, list []Key) error {
		for i, k := range list {
			id := int(first) + i
			if known[id] && keys[id] != k {
				return fmt.Errorf("%w: node %d has the keys %v and %v", ErrCorrupt, id, keys[id].Literal(), k.Literal())
			}
			keys[id], known[id] = k, true
		}
		return nil
	})
	if err != nil {
		return err
	}
	o.assignLostKeys(keys, known)
	base := o.s.Meta.BaseNodes
	if o.s.dict, err = newDict(keys[:base]); err != nil {
		return err
	}
	for i, k := range keys[base:] {
		if id, ok := o.s.lookup(k, int(base)+i); ok {
			return fmt.Errorf("%w: key %v of node %d is that of node %d already", ErrCorrupt, k.Literal(), base+int64(i), id)
		}
		o.s.dict.add([]Key{k})
	}
	return nil
}

// erase notes the nodes that the log erases. Their keys may still be in the base and in earlier
// records of the log.
func (o *opener) erase() {
	o.erased = map[ID]bool{}
	for _, l := range o.records {
		if l.record == nil {
			continue
		}
		for _, id := range l.record.erased {
			if int64(id) >= o.s.Meta.Nodes {
				o.report("%w: log of version %d: node %d of %d is erased", ErrCorrupt, l.version, id, o.s.Meta.Nodes)
				continue
			}
			o.erased[id] = true
			if l.version > o.s.Meta.Base {
				o.s.erased.Set(o.by, id, true)
			}
		}
	}
}

// openDict makes a dictionary of the keys in the store and the keys of the log. [Snapshot.Check]
// verifies that no key occurs twice, and so does loading the keys.
func (o *opener) openDict() error {
	m := &o.s.Meta
	stored, err := openKeys(o.r, o.cache, m)
	if err != nil {
		return err
	}
	d := stored.dict()
	for _, l := range o.records {
		if l.record == nil {
			continue
		}
		if err := o.checkKeys(l.first, len(l.keys)); err != nil {
			o.report("log of version %d: %w", l.version, err)
			continue
		}
		d.add(l.keys[min(max(d.len()-int(l.first), 0), len(l.keys)):]) // redo reports a gap
	}
	if n := d.len(); int64(n) != m.Nodes {
		o.report("%w: %d keys are stored for %d nodes", ErrCorrupt, n, m.Nodes)
	}
	o.s.dict = d
	return nil
}

// checkKeys checks the ids of n keys.
func (o *opener) checkKeys(first ID, n int) error {
	if end := int64(first) + int64(n); end > o.s.Meta.Nodes {
		return fmt.Errorf("%w: keys of nodes %d to %d of %d", ErrCorrupt, first, end-1, o.s.Meta.Nodes)
	}
	return nil
}

// eachKeys passes the keys of the base and of the log to visit, in lists of consecutive ids, and
// reports the errors of visit. Each list states its first id, so lost keys do not shift others.
// Nodes that the log erases have their last keys.
func (o *opener) eachKeys(visit func(first ID, keys []Key) error) error {
	check := func(first ID, keys []Key) error {
		if err := o.checkKeys(first, len(keys)); err != nil {
			return err
		}
		if len(o.erased) > 0 {
			keys = slices.Clone(keys)
			for i := range keys {
				if id := first + ID(i); o.erased[id] {
					keys[i] = Erased(id)
				}
			}
		}
		return visit(first, keys)
	}
	var read block.KeyDirectory // of the blocks that were read
	var low []Key
	sum := uint64(0)
	err := o.blocks(prefixDict, func(first uint32, d *block.Decoder) error {
		keys, err := decodeKeys(d, first)
		if err != nil {
			return err
		}
		read.First, low = append(read.First, first), append(low, keys[0])
		for i, k := range keys {
			read.Count(k)
			sum += keyHash(block.KeyEntry{Key: k, ID: first + ID(i)})
		}
		return check(first, keys)
	})
	if base := o.s.Meta.BaseNodes; err == nil && !o.damaged && int64(read.Keys) != base {
		o.damage("%w: the base has %d keys, the meta record says %d", ErrCorrupt, read.Keys, base)
	}
	if err == nil && o.s.Meta.Generation > 0 {
		err = o.keyOrder(&read, low, sum)
	}
	for _, l := range o.records {
		if l.record == nil {
			continue
		}
		if err := check(l.first, l.keys); err != nil {
			o.report("log of version %d: %w", l.version, err)
		}
	}
	return err
}

// decodeKeys decodes a block of the dictionary by id.
func decodeKeys(d *block.Decoder, first ID) (keys []Key, err error) {
	b, err := d.KeyBlock(false)
	if err != nil {
		return nil, err
	}
	for k, err := range b.All(first) {
		if err != nil {
			return nil, err
		}
		keys = append(keys, k.Key)
	}
	return keys, nil
}

// keyOrder compares the blocks of the dictionary by key, and the directory, with the blocks by id:
// their directory, their first keys and the sum of the hashes of their keys.
func (o *opener) keyOrder(read *block.KeyDirectory, low []Key, sum uint64) error {
	order := keyOrder{n: read.Keys}
	var lowest []Key
	err := o.blocks(prefixKeyOrder, func(no uint32, d *block.Decoder) error {
		if next := len(lowest); int(no) != next {
			return fmt.Errorf("%w: block %d is missing", ErrCorrupt, next)
		}
		b, err := d.KeyBlock(true)
		if err != nil {
			return err
		}
		first := order.count
		for k, err := range b.All(0) {
			if order.count == first {
				lowest = append(lowest, k.Key)
			}
			if err := cmp.Or(err, order.add(k)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || o.damaged {
		return err
	}
	if read.Order {
		low = lowest
		if err := order.end(); err != nil {
			o.report("%w", err)
		} else if order.sum != sum {
			o.report("%w: the dictionary in key order has other keys than the one by id", ErrCorrupt)
		}
	} else if len(lowest) > 0 {
		o.report("%w: there is a dictionary in key order, although ids are in key order", ErrCorrupt)
	}
	read.Low = block.ListOf(low)
	stored, unreadable := readDirectory(o.r, prefixDict, o.s.Meta.Generation, block.DecodeKeyDirectory)
	if unreadable != nil {
		o.report("%w", unreadable)
	} else if !bytes.Equal(stored.Encode(), read.Encode()) {
		o.report("%w: the directory of the blocks %c is not that of the blocks", ErrCorrupt, prefixDict)
	}
	return nil
}
